"""What the studies share: run a comparison, and write its tables to docs/studies.

Each study compares rankers under one protocol: five folds (train, validate, test as in LETOR),
LightGBM trees of 15 leaves, learning rate 0.05, at least 20 documents a leaf, 80% of the documents
and 70% of the features a tree, at most 500 rounds, stopped after 100 without a better value of the
first measure on the validation queries. Artificial data are one fold of 1,500, 750 and 1,500
queries, with 300 rounds of 31 leaves at a learning rate of 0.1. Data folders are as for
`gbrank compare`.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sklearn.base import clone

from gbrank import Comparison, compare_rankers, ranker_from_name, read_folds
from gbrank.papers.bench import cubic_queries

DOCS = Path(__file__).parents[1] / "docs" / "studies"
QUERIES = 3750  # of artificial data
ARTIFICIAL = {"n_estimators": 300, "learning_rate": 0.1, "num_leaves": 31}
UNSAMPLED = ARTIFICIAL | {"subsample": 1.0, "colsample": 1.0, "early_stopping_rounds": 50}
PARTS = ("valid", "test")


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
    measures: Sequence[str] = ("ndcg@10",),
    baseline: str | None = None,
    seeds: int = 5,
    parts: Sequence[str] = PARTS,
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
    parser = options(text.splitlines()[0].lstrip("# "))
    parser.add_argument("--cubic", type=int, metavar="SEEDS", help="also on artificial data")
    parser.add_argument("--seeds", type=int, default=seeds)
    parser.add_argument("--results", help="folder that keeps what is done")
    arguments = parser.parse_args()
    built = {
        name: ranker_from_name(ranker) if isinstance(ranker, str) else ranker
        for name, ranker in rankers.items()
    }
    runs = [(built, [read_folds(folder) for folder in arguments.data], arguments.seeds)]
    if arguments.cubic:
        larger = {name: clone(ranker).set_params(**ARTIFICIAL) for name, ranker in built.items()}
        runs.append((larger, [cubic_queries(QUERIES)], arguments.cubic))
    comparisons = [
        compare_rankers(
            trained,
            datasets,
            seeds=seeds,
            measures=measures,
            baseline=baseline,
            results=arguments.results,
            n_jobs=arguments.jobs,
        )
        for trained, datasets, seeds in runs
    ]
    folders = " ".join(Path(folder).name for folder in arguments.data)
    command = f"python benchmarks/{name}.py --data {folders} --seeds {arguments.seeds}"
    command += f" --cubic {arguments.cubic}" if arguments.cubic else ""
    publish(name, text, command, comparisons, parts)


def publish(
    name: str, text: str, command: str, comparisons: Sequence[Comparison], parts: Sequence[str]
) -> None:
    """Write comparisons to docs/studies, and print their last tables.

    Parameters
    ----------
    name, text, parts
        As for `study`.
    command : str
        What reproduces it.
    comparisons : sequence of Comparison
        Of different data sets.
    """
    titles = {"valid": "Validation queries", "test": "Test queries"}
    tables = []
    for part in parts:
        blocks = (f"```text\n{comparison.table(part)}\n```\n" for comparison in comparisons)
        tables.append("\n".join([f"## {titles[part]}\n", *blocks]))
    DOCS.mkdir(parents=True, exist_ok=True)
    page = "\n".join([text.strip(), f"\n```bash\n{command}\n```\n", *tables])
    (DOCS / f"{name}.md").write_text(page, encoding="utf-8")
    content = json.dumps([comparison.to_json() for comparison in comparisons], indent=1)
    (DOCS / f"{name}.json").write_text(content + "\n", encoding="utf-8")
    print(*(comparison.table(parts[-1]) for comparison in comparisons), sep="\n\n")
