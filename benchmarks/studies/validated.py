"""What studies of one change share: rankers as they come, beside the first, on validation queries.

Five folds, one thread; nothing is chosen, and no test query is read.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.letor_folders import read_folds
from benchmarks.studies.as_they_come import outcomes, summarised
from benchmarks.studies.study import options
from benchmarks.writing import RESULTS, markdown_table, rows_to_json

__all__ = ["validated"]

Scores: TypeAlias = Callable[..., Any]  # of a training part, features to score, and a seed


def validated(
    name: str, text: str, groups: Sequence[tuple[Sequence[str] | None, Mapping[str, Scores]]]
) -> None:
    """Compare the rankers of each group with its first; write numbers and page.

    A group has the names of its data sets, or None for all of the command line, and its rankers.
    """
    parser = options(text.splitlines()[0].lstrip("# "))
    parser.add_argument("--results", type=Path, help="folder that keeps what is done")
    arguments = parser.parse_args()
    sets = [read_folds(folder) for folder in arguments.data]
    tables = []
    for names, rankers in groups:
        chosen = [data for data in sets if names is None or data.name in names]
        found = {data.name: outcomes(data, arguments.results, rankers, "valid") for data in chosen}
        tables.append(summarised(found))
    folders = " ".join(Path(folder).name for folder in arguments.data)
    command = f"python -m benchmarks.studies.{name} --data {folders}"
    numbers = rows_to_json([row for rows in tables for row in rows])
    (RESULTS / f"{name}.json").write_text(numbers, encoding="utf-8")
    blocks = [text.strip(), f"```bash\n{command}\n```", *map(_table, tables)]
    (RESULTS / f"{name}.md").write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return NDCG@10 of the first ranker, and the differences of the others from it."""
    labels = list(dict.fromkeys(row["data"] for row in rows))
    cell = {(row["data"], row["ranker"]): row for row in rows}

    def line(ranker: str) -> list[str]:
        mean = cell["mean", ranker]
        return [
            ranker,
            *(number(cell[label, ranker]) for label in labels),
            "" if mean["p"] is None else f"{mean['low']:+.4f} to {mean['high']:+.4f}",
            "" if mean["p"] is None else f"{mean['p']:.2g}",
            f"{mean['cpu_seconds']:.1f}",
        ]

    def number(row: Mapping[str, Any]) -> str:
        first = row["difference"] is None
        return f"{row['ndcg@10']:.4f}" if first else f"{row['difference']:+.4f}"

    head = ["NDCG@10", *labels, "95% interval of the mean", "p (uncorrected)", "CPU s"]
    return markdown_table(head, map(line, dict.fromkeys(row["ranker"] for row in rows)))
