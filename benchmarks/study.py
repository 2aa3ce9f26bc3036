"""What the studies share: run a comparison, and write its tables to docs/studies.

Each study compares rankers under one protocol: five folds (train, validate, test as in LETOR),
LightGBM trees of 15 leaves, learning rate 0.05, at least 20 documents a leaf, 80% of the documents
and 70% of the features a tree, at most 500 rounds, stopped after 100 without a better value of the
first measure on the validation queries. Data folders are as for `gbrank compare`.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gbrank import Comparison, compare_rankers, read_folds
from gbrank.papers.bench import cubic_queries

DOCS = Path(__file__).parents[1] / "docs" / "studies"
QUERIES = 3750  # of artificial data: 1,500 to train on, 750 to validate, 1,500 to test


def study(
    name: str,
    text: str,
    rankers: Mapping[str, Any],
    *,
    measures: Sequence[str] = ("ndcg@10",),
    baseline: str | None = None,
    seeds: int = 5,
    parts: Sequence[str] = ("valid", "test"),
) -> None:
    """Compare rankers on the folders of the command line, and write what came out.

    Parameters
    ----------
    name : str
        Of the files in docs/studies.
    text : str
        Heading and explanation, in Markdown.
    rankers, measures, baseline
        As for `compare_rankers`.
    seeds : int
        How many, unless the command line says otherwise.
    parts : sequence of {"valid", "test"}
        Which queries to show.
    """
    parser = argparse.ArgumentParser(description=text.splitlines()[0].lstrip("# "))
    parser.add_argument("--data", nargs="+", required=True, metavar="FOLDER")
    parser.add_argument("--cubic", action="store_true", help="also on artificial data (one fold)")
    parser.add_argument("--seeds", type=int, default=seeds)
    parser.add_argument("--results", help="folder that keeps what is done")
    parser.add_argument("--jobs", type=int)
    arguments = parser.parse_args()
    datasets = [read_folds(folder) for folder in arguments.data]
    if arguments.cubic:
        datasets.append(cubic_queries(QUERIES))
    comparison = compare_rankers(
        rankers,
        datasets,
        seeds=arguments.seeds,
        measures=measures,
        baseline=baseline,
        results=arguments.results,
        n_jobs=arguments.jobs,
    )
    folders = " ".join(Path(folder).name for folder in arguments.data)
    command = f"python benchmarks/{name}.py --data {folders} --seeds {arguments.seeds}"
    command += " --cubic" if arguments.cubic else ""
    publish(name, text, command, comparison, parts)


def publish(
    name: str, text: str, command: str, comparison: Comparison, parts: Sequence[str]
) -> None:
    """Write a comparison to docs/studies, and print its last table.

    Parameters
    ----------
    name, text, parts
        As for `study`.
    command : str
        What reproduces it.
    comparison : Comparison
    """
    titles = {"valid": "Validation queries", "test": "Test queries"}
    tables = [f"## {titles[part]}\n\n```text\n{comparison.table(part)}\n```\n" for part in parts]
    DOCS.mkdir(parents=True, exist_ok=True)
    page = "\n".join([text.strip(), f"\n```bash\n{command}\n```\n", *tables])
    (DOCS / f"{name}.md").write_text(page, encoding="utf-8")
    content = json.dumps(comparison.to_json(), indent=1)
    (DOCS / f"{name}.json").write_text(content + "\n", encoding="utf-8")
    print(comparison.table(parts[-1]))
