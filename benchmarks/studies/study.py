"""What the studies share: run a comparison, write its numbers and its page.

Each study compares rankers under one protocol: five folds (train, validate, test as in LETOR),
LightGBM trees of 15 leaves, learning rate 0.05, at least 20 documents a leaf, 80% of the documents
and 70% of the features a tree, stopped after 100 rounds without a better value of the first measure
on the validation queries. Data folders hold S1.txt, S2.txt, ....
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.named_rankers import ranker_from_name
from benchmarks.strata import pooled_rows
from benchmarks.writing import RESULTS, markdown_table, rows_to_json
from gbrank import compare_rankers
from gbrank.evaluation import Comparison, read_letor_folds

PARTS = {"valid": "Validation queries", "test": "Test queries"}
HEAD = ("ranker", "mean", "difference", "95% interval", "p (Holm)", "rounds", "CPU s")
LEGEND = """\
Differences are from the ranker that says "baseline", with 95% bootstrap intervals over queries; p
is that of the paired randomization test, corrected for the number of rankers (Holm), which
intervals are not: one without 0 may stand beside a large p. "rounds" is the mean number of rounds
kept, "CPU s" the mean CPU seconds of a fit. A query without a relevant document is skipped. [The
numbers]({numbers}) have also intervals of the means, deviations over seeds and t tests.
"""


def options(description: str | None) -> argparse.ArgumentParser:
    """Return a parser of what all scripts on data folders take."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", nargs="+", required=True, metavar="FOLDER")
    parser.add_argument("--jobs", type=int, default=-1, help="processes")
    return parser


def study(
    name: str,
    text: str,
    rankers: Mapping[str, Any],
    *,
    metric: Sequence[str] = ("ndcg@10",),
    baseline: str | None = None,
    seeds: int = 5,
    parts: Sequence[str] = tuple(PARTS),
) -> None:
    """Compare rankers on the folders of the command line, and write what came out.

    `text` is the page's heading and explanation, `parts` the queries that it shows, `seeds` their
    number unless the command line says otherwise; the rest is as for `compare_rankers`.
    """
    parser = options(text.splitlines()[0].lstrip("# "))
    parser.add_argument("--seeds", type=int, default=seeds)
    arguments = parser.parse_args()
    built = {
        name: ranker_from_name(ranker) if isinstance(ranker, str) else ranker
        for name, ranker in rankers.items()
    }
    comparisons = compare_rankers(
        built,
        [read_letor_folds(folder) for folder in arguments.data],
        seeds=arguments.seeds,
        metric=metric,
        baseline=baseline,
        n_jobs=arguments.jobs,
    )
    folders = " ".join(Path(folder).name for folder in arguments.data)
    command = f"python -m benchmarks.studies.{name} --data {folders} --seeds {arguments.seeds}"
    publish(name, text, command, comparisons, parts)


def publish(
    name: str,
    text: str,
    command: str,
    comparisons: Sequence[Comparison],
    parts: Sequence[str] = tuple(PARTS),
) -> None:
    """Write the numbers of comparisons of different data, and their page."""
    rows = list(flat_rows(comparisons))
    numbers = f"{name}.json"
    (RESULTS / numbers).write_text(rows_to_json(rows), encoding="utf-8")
    written = page(numbers, text, command, rows, parts)
    (RESULTS / f"{name}.md").write_text(written, encoding="utf-8")
    print(*(comparison.table(parts[-1]) for comparison in comparisons), sep="\n\n")


def flat_rows(comparisons: Sequence[Comparison]) -> Iterator[dict[str, Any]]:
    """Yield the rows of comparisons, part by part, and those of all data sets together."""
    seeds = len(comparisons[0].seeds)
    for part in PARTS:
        for comparison in comparisons:
            for row in comparison.to_json()[part]:
                yield {"part": part, "seeds": seeds, **row}
        if len(comparisons) > 1:
            for row in pooled_rows(comparisons, part):
                yield {"part": part, "seeds": seeds, **row}


def page(
    numbers: str, text: str, command: str, rows: Sequence[Mapping[str, Any]], parts: Sequence[str]
) -> str:
    """Return a study's page: a link to its numbers, a table for each part, data set and measure."""
    blocks = [text.strip(), f"```bash\n{command}\n```", LEGEND.format(numbers=numbers).strip()]
    for part in parts:
        blocks.append(f"## {PARTS[part]}")
        own = (row for row in rows if row["part"] == part)
        for (data, measure), block in groupby(own, lambda row: (row["data"], row["metric"])):
            some = list(block)
            counts = f"{some[0]['n_queries']:,} queries, {some[0]['n_skipped']:,} skipped"
            blocks += [f"### {data}, {measure}: {counts}", markdown_table(HEAD, map(cells, some))]
    return "\n\n".join(blocks) + "\n"


def cells(row: Mapping[str, Any]) -> list[str]:
    """Return a table's line."""
    compared = row["p_randomization"] is not None
    low, high = row["difference_low"], row["difference_high"]
    return [
        f"`{row['ranker']}`",
        f"{row['mean']:.4f}",
        f"{row['difference']:+.4f}" if compared else "baseline",
        f"{low:+.4f} to {high:+.4f}" if compared else "",
        f"{row['p_randomization']:.4f}" if compared else "",
        "" if row["rounds"] is None else f"{row['rounds']:.0f}",
        f"{row['cpu_seconds']:.1f}",
    ]
