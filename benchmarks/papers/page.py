"""The page of all tables, their numbers, and the pictures."""

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from benchmarks.papers.experiment import Experiment
from benchmarks.papers.explanations import CONTRADICTIONS, VERDICTS, explanation
from benchmarks.papers.paper_rows import FAR, PaperRow
from benchmarks.papers.settings import Settings
from benchmarks.writing import RESULTS, markdown_table, rows_to_json

__all__ = ["DOCS", "publish", "published", "table"]

DOCS = Path(__file__).parents[2] / "docs"

INTRODUCTION = """\
# The papers' tables, computed anew

{verdicts}

```bash
python -m benchmarks.papers --data FOLDER{options}
```

Means over folds of means over queries, as LETOR's scripts average, with 95% bootstrap intervals
over queries, beside what the papers say. Where training is random, they are means over trainings
too, and intervals and p-values know how much trainings vary. Parameters are chosen on the
validation queries of each fold. OHSUMED has 106 queries: intervals are wide, and no difference from
a paper in the second digit means much.
Searches along steep directions end elsewhere where sums are added in another order: two runs, on
two computers and versions of the code, had NDCG@10 up to 0.007 apart, NDCG@1 up to 0.011, and
differences of two rankers up to 0.016. None changes what is said here.
[The numbers](../benchmarks/results/papers.json) are those of the tables.

Of {n_numbers} figures beside a number of the paper {n_near} are within {far} of it, and {n_within}
papers' numbers are within our interval. Those further away, and what contradicts a paper, are
explained below their tables."""


def publish(tables: Mapping[str, list[PaperRow]], experiments: Mapping[str, Experiment],
            settings: Settings) -> None:  # fmt: skip
    """Write the page, the numbers, and the pictures that the page shows."""
    pictures = DOCS / "papers"
    pictures.mkdir(exist_ok=True)
    blocks = [_introduction([row for rows in tables.values() for row in rows], settings)]
    for name, rows in tables.items():
        blocks += [f"## {name}", table(rows)]
        if name in CONTRADICTIONS:
            lines = "\n".join(f"- {text}" for text in CONTRADICTIONS[name])
            blocks.append(f"Where the paper says otherwise:\n\n{lines}")
        for picture, shown in experiments[name].pictures.items():
            shutil.copy(settings.results / f"{picture}.png", pictures)
            blocks.append(f"The paper's picture: {shown}\n\n![{picture}](papers/{picture}.png)")
    (DOCS / "papers.md").write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
    (RESULTS / "papers.json").write_text(rows_to_json(_flat(tables)), encoding="utf-8")


def published() -> dict[str, list[PaperRow]]:
    """Return the rows of the page, by experiment."""
    tables: dict[str, list[PaperRow]] = {}
    names = [field.name for field in fields(PaperRow)]
    for row in json.loads((RESULTS / "papers.json").read_text(encoding="utf-8")):
        own = PaperRow(**{name: row[name] for name in names})
        tables.setdefault(row["experiment"], []).append(own)
    return tables


def table(rows: Sequence[PaperRow]) -> str:
    """Return rows as tables in Markdown; what rows share is said once, above them."""
    columns = {head: [str(getattr(row, field)) for row in rows] for head, field in SHARED.items()}
    shared = {head: cells[0] for head, cells in columns.items() if len(set(cells)) == 1}
    above = [f"- {head}: {text}." for head, text in shared.items() if text]
    columns = {head: cells for head, cells in columns.items() if head not in shared}
    averages = set(columns.get("Average", [])) - {""}
    if len(averages) == 1:
        above.append(f"- Average: means are {averages.pop()}.")
        del columns["Average"]
    last, repeated = _numbered({head: columns.pop(head) for head in LAST if head in columns})
    columns |= {head: [cell(row) for row in rows] for head, cell in NUMBERS.items()} | last
    blocks = [
        _block({head: cells[first:end] for head, cells in columns.items()}, place)
        for first, end, place in _alike(rows)
    ]
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if row.is_far:
            reasons.setdefault(explanation(row) or "not explained", []).append(row.figure)
    lines = [f"- {'; '.join(dict.fromkeys(figures))}: {why}." for why, figures in reasons.items()]
    below = [f"Further than {FAR} from the paper:\n\n" + "\n".join(lines)] if lines else []
    return "\n\n".join(filter(None, ["\n".join(above), *blocks, *repeated, *below]))


def _alike(rows: Sequence[PaperRow]) -> Iterator[tuple[int, int, int | None]]:
    """Yield where blocks begin and end, and which word of its rows differs; None: several do."""
    words = [(row.paper, row.data, *row.figure.split()) for row in rows]
    start = first = 0
    while first < len(rows):
        end, place = first + 1, None
        while end < len(rows) and (other := _differing(words[first], words[end])) is not None:
            if place not in (None, other):
                break
            end, place = end + 1, other
        if end - first < SHORTEST_BLOCK:
            first += 1
            continue
        if start < first:
            yield start, first, None
        yield first, end, place
        start = first = end
    if start < len(rows):
        yield start, len(rows), None


def _differing(some: Sequence[str], others: Sequence[str]) -> int | None:
    """Return the place of the only word in which two rows differ."""
    if len(some) != len(others):
        return None
    places = [i for i, (one, other) in enumerate(zip(some, others, strict=True)) if one != other]
    return places[0] if len(places) == 1 else None


def _block(columns: dict[str, list[str]], place: int | None) -> str:
    """Return a table without empty columns; words that the rows of a block share are its head."""
    columns = {head: cells for head, cells in columns.items() if {*cells} - {"", MISSING}}
    if place is None:
        return _markdown(columns)
    same = [head for head, cells in columns.items() if len({*cells}) == 1]
    figures = [figure.split() for figure in columns.pop("Figure")]
    figure = figures[0]
    if place >= FIRST_WORD:
        place -= FIRST_WORD
        varying = [words[place].rstrip(",") for words in figures]
        figure[place] = figure[place].replace(varying[0], "…")
        columns = {"…": varying, **columns}
    names = [columns.pop(head)[0] for head in ("Paper", "Data") if head in same]
    said = [f"{head}: {columns.pop(head)[0]}" for head in LATER if head in same]
    head = f"*{': '.join([*names, ' '.join(figure)])}*{'. ' if said else ''}{'; '.join(said)}:"
    return f"{head}\n\n{_markdown(columns)}"


def _markdown(columns: Mapping[str, list[str]]) -> str:
    return markdown_table(list(columns), zip(*columns.values(), strict=True), words=len(columns))


def _numbered(columns: Mapping[str, list[str]]) -> tuple[dict[str, list[str]], list[str]]:
    """Return columns in which numbers stand for texts of several rows, and a list of these."""

    def parts(head: str, cell: str) -> list[str]:
        return [*dict.fromkeys(cell.split("; "))] if head == "Deviations" else [cell]

    counts = Counter(
        part for head, cells in columns.items() for cell in cells for part in parts(head, cell)
    )
    repeated = [text for text, n_rows in counts.items() if text and n_rows > 1]
    numbers = {text: f"({number})" for number, text in enumerate(repeated, 1)}
    short = {
        head: ["; ".join(numbers.get(part, part) for part in parts(head, cell)) for cell in cells]
        for head, cells in columns.items()
    }
    texts = "\n".join(f"- {number} {text}." for text, number in numbers.items())
    return short, [texts] if texts else []


SHARED = {
    "Paper": "paper",
    "Data": "data",
    "Average": "average",
    "Deviations": "deviations",
    "Note": "note",
}
LAST = ("Average", "Deviations", "Note")
LATER = ("Paper's", *LAST)  # what a block says behind its heading
FIRST_WORD = 2  # of a figure, behind paper and data
SHORTEST_BLOCK = 3  # rows
MISSING = "–"
NUMBERS = {
    "Figure": lambda row: row.figure,
    "Ours": lambda row: _number(row.ours),
    "95% interval": lambda row: (
        "" if row.ci_low is None else f"{_number(row.ci_low)} to {_number(row.ci_high)}"
    ),
    "Paper's": lambda row: "lost" if row.paper_value is None else str(row.paper_value),
    "Difference": lambda row: "" if row.difference is None else f"{row.difference:+.4f}",
}


def _number(value: float | None) -> str:
    if value is None:
        return MISSING
    return f"{value:.4f}" if isinstance(value, float) and abs(value) < 1 else f"{value:g}"


def _introduction(rows: Sequence[PaperRow], settings: Settings) -> str:
    numbers = [row for row in rows if row.difference is not None]
    return INTRODUCTION.format(
        verdicts="\n".join(f"- {paper}: {text}" for paper, text in VERDICTS.items()),
        options="" if settings.queries == Settings.queries else f" --queries {settings.queries}",
        far=FAR,
        n_numbers=len(numbers),
        n_near=sum(not row.is_far for row in numbers),
        n_within=sum(row.is_within for row in numbers),
    )


def _flat(tables: Mapping[str, list[PaperRow]]) -> list[dict[str, Any]]:
    return [
        {"experiment": name, **asdict(row), "difference": row.difference,
         "explanation": explanation(row)}
        for name, rows in tables.items()
        for row in rows
    ]  # fmt: skip
