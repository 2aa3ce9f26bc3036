"""The page of all tables, their numbers, and the pictures."""

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.papers.experiment import Experiment
from benchmarks.papers.explanations import CONTRADICTIONS, VERDICTS, explanation
from benchmarks.papers.paper_rows import AVERAGE, FAR, PaperRow
from benchmarks.papers.settings import Settings
from benchmarks.writing import RESULTS, markdown_table, rows_to_json

__all__ = ["DOCS", "introduction", "page", "publish", "published", "table", "with_values"]

# Words that figures begin and end with.
Shape: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
DOCS = Path(__file__).parents[2] / "docs"

INTRODUCTION = """\
# The papers' tables, recomputed

Our results beside those of the five papers whose methods gbrank implements:

{verdicts}

To recompute the tables in a clone of the repository:

```bash
python -m benchmarks.papers --data FOLDER{options}
```

- **Values** are means over folds of means over queries, as LETOR's scripts average (a query without
  a relevant document counts as 0). Parameters are chosen on the validation queries of each fold.
- **Intervals** are 95% bootstrap intervals over queries. In {several},
  values are means over several trainings, and intervals those of t, with their variation.
- **Precision.** OHSUMED has 106 queries: differences in the second digit are not significant.
  Computers that add in another order find slightly different results.
- **Everything**, including what the papers only describe or draw, and notes, is in
  [all tables](../benchmarks/results/papers.md) and [their JSON](../benchmarks/results/papers.json).

Of our {n_numbers} figures with a number in a paper, {n_near} are within {far} of it. They concern
{n_papers_numbers} different numbers, of which {n_within} are within our interval. A ranker
evaluated with two discounts counts once. Larger differences are explained below the tables."""


ALL = """\
# All figures of the papers, and ours

[The page](../../docs/papers.md) describes how they were measured, and shows pictures."""


def publish(tables: Mapping[str, list[PaperRow]], experiments: Mapping[str, Experiment],
            settings: Settings) -> None:  # fmt: skip
    """Write the page, all tables beside the numbers, and the pictures that both show."""
    pictures = DOCS / "papers"
    pictures.mkdir(exist_ok=True)
    for experiment in experiments.values():
        for picture in experiment.pictures:
            shutil.copy(settings.results / f"{picture}.png", pictures)
    head = introduction(tables, settings)
    shown = {name: experiment.pictures for name, experiment in experiments.items()}
    (DOCS / "papers.md").write_text(page(head, tables, shown), encoding="utf-8")
    everything = "\n\n".join(
        [ALL, *(f"## {name}\n\n{table(rows)}" for name, rows in tables.items())]
    )
    (RESULTS / "papers.md").write_text(everything + "\n", encoding="utf-8")
    (RESULTS / "papers.json").write_text(rows_to_json(_flat(tables)), encoding="utf-8")


def page(
    head: str, tables: Mapping[str, list[PaperRow]], pictures: Mapping[str, Mapping[str, str]]
) -> str:
    """Return the page: figures beside a paper's number, what contradicts a paper, and pictures."""
    blocks = [head]
    for name, rows in tables.items():
        numbers = [replace(row, note="") for row in rows if row.difference is not None]
        parts = [table(numbers)] if numbers else []
        if name in CONTRADICTIONS:
            lines = "\n".join(f"- {with_values(text, tables)}" for text in CONTRADICTIONS[name])
            parts.append(f"Differences from the paper:\n\n{lines}")
        parts += [
            f"In the paper: {said}\n\n![{picture}](papers/{picture}.png)"
            for picture, said in pictures.get(name, {}).items()
        ]
        blocks += [f"## {name}", *parts] if parts else []
    return "\n\n".join(blocks) + "\n"


def with_values(text: str, tables: Mapping[str, Sequence[PaperRow]]) -> str:
    """Replace {experiment | figure} by what was measured, {... | field} by a field of the row."""

    def value(match: re.Match[str]) -> str:
        experiment, figure, *field = match[1].split(" | ")
        (row,) = (row for row in tables[experiment] if row.figure == figure)
        return str(getattr(row, field[0])) if field else _number(row.ours)

    return re.sub(r"\{([^}]+)\}", value, text)


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
    if all(row.ours is None for row in rows):
        return _lost(rows)
    columns = {head: [str(getattr(row, field)) for row in rows] for head, field in SHARED.items()}
    columns["Average"] = ["" if text == AVERAGE else text for text in columns["Average"]]
    shared = {head: cells[0] for head, cells in columns.items() if len(set(cells)) == 1}
    above = [f"- {head}: {text}." for head, text in shared.items() if text]
    columns = {head: cells for head, cells in columns.items() if head not in shared}
    last, repeated = _numbered({head: columns.pop(head) for head in LAST if head in columns})
    columns |= {head: [cell(row) for row in rows] for head, cell in NUMBERS.items()} | last
    blocks = [
        _block({head: [cells[i] for i in block] for head, cells in columns.items()}, same)
        for block, same in _alike(rows)
    ]
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if row.is_far:
            reasons.setdefault(explanation(row) or "not explained", []).append(row.figure)
    lines = [f"- {_listed([*dict.fromkeys(own)])}: {why}." for why, own in reasons.items()]
    below = [f"More than {FAR} from the paper:\n\n" + "\n".join(lines)] if lines else []
    return "\n\n".join(filter(None, ["\n".join(above), *blocks, *repeated, *below]))


def _lost(rows: Sequence[PaperRow]) -> str:
    """Return a list of what was not measured, by the reason."""
    reasons: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        figures = reasons.setdefault(row.note, {}).setdefault(f"{row.paper}, {row.figure}", [])
        value = "" if row.paper_value is None else f" {row.paper_value}"
        figures.append(f"{row.data}{value}")
    return "\n".join(
        f"- {reason}: "
        + "; ".join(f"{name}: {', '.join(of)}" for name, of in figures.items())
        + "."
        for reason, figures in reasons.items()
    )


def _alike(rows: Sequence[PaperRow]) -> Iterator[tuple[list[int], Shape | None]]:
    """Yield blocks of rows of one paper, with the words that they have in common; or None."""
    left, single = [*range(len(rows))], list[int]()
    while left:
        candidates = [*_candidates(rows, left), ([left[0]], ((), ()))]
        block, shape = max(candidates, key=lambda found: len(found[0]) * sum(map(len, found[1])))
        if len(block) < SHORTEST_BLOCK:
            single.append(left.pop(0))
            continue
        if single:
            yield single, None
        yield block, shape
        left, single = [i for i in left if i not in block], []
    if single:
        yield single, None


def _candidates(rows: Sequence[PaperRow], left: Sequence[int]) -> Iterator[tuple[list[int], Shape]]:
    """Yield rows that are like the first one: of other data, or with half of the words alike."""
    first, *others = (rows[i] for i in left)
    for other in others:
        shape = _shape(first.figure, other.figure)
        n = sum(map(len, shape))
        block = [i for i in left if rows[i].paper == first.paper]
        if other.figure == first.figure:
            yield [i for i in block if rows[i].figure == first.figure], shape
        elif other.data == first.data:
            yield [i for i in block if rows[i].data == first.data and
                   n < len(rows[i].figure.split()) <= 2 * n and
                   _shape(rows[i].figure, first.figure, shape) == shape], shape  # fmt: skip


def _shape(figure: str, other: str, most: Shape | None = None) -> Shape:
    """Return the words, at most these, with which two figures begin and end."""
    words, others = figure.split(), other.split()
    first, last = map(len, most or (words, words))
    first = min(first, _alike_words(words, others))
    last = min(last, _alike_words(words[first:][::-1], others[first:][::-1]))
    return tuple(words[:first]), tuple(words[len(words) - last :])


def _listed(figures: Sequence[str]) -> str:
    """Return a list of figures; the words with which all begin and end stand there once."""
    if len(figures) == 1:
        return figures[0]
    shape = None
    for other in figures[1:]:
        shape = _shape(figures[0], other, shape)
    assert shape
    begin, end = (" ".join(words) for words in shape)
    own = "; ".join(text.removeprefix(begin).removesuffix(end).strip() for text in figures)
    return f"{begin} {own.replace(',;', ';')} {end}".strip()


def _alike_words(words: Sequence[str], others: Sequence[str]) -> int:
    pairs = zip(words, others, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _block(columns: dict[str, list[str]], shape: Shape | None) -> str:
    """Return a table without empty columns; words that the rows of a block share are its head."""
    columns = {head: cells for head, cells in columns.items() if {*cells} - {"", MISSING}}
    if shape is None:
        return _markdown(columns)
    same = [head for head, cells in columns.items() if len({*cells}) == 1]
    begin, end = shape
    figures = [figure.split() for figure in columns.pop("Figure")]
    varying = [" ".join(words[len(begin) : len(words) - len(end)]) for words in figures]
    dots = []
    if any(varying):
        dots = ["…," if all(text.endswith(",") for text in varying) else "…"]
        columns = {"…": [text.removesuffix(dots[0][1:]) for text in varying], **columns}
    names = [columns.pop(head)[0] for head in ("Paper", "Data") if head in same]
    said = [f"{head}: {columns.pop(head)[0]}" for head in LATER if head in same]
    figure = " ".join([*begin, *dots, *end])
    head = f"*{': '.join([*names, figure])}*{'. ' if said else ''}{'; '.join(said)}:"
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
SHORTEST_BLOCK = 3  # rows
SEVERAL_TRAININGS = "lambdarank-6.3.1, lambdarank-trees, tierank and tierank-learner"
MISSING = "–"
OTHER_DISCOUNT = "1/log2(1 + j)"  # of rows that judge a ranker of another row again
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


def introduction(tables: Mapping[str, Sequence[PaperRow]], settings: Settings) -> str:
    """Return what stands above the tables: a verdict for each paper, and counts."""
    numbers = [
        row
        for rows in tables.values()
        for row in rows
        if row.difference is not None and OTHER_DISCOUNT not in row.figure
    ]
    verdicts = (f"- **{paper}**: {with_values(text, tables)}" for paper, text in VERDICTS.items())
    return INTRODUCTION.format(
        verdicts="\n".join(verdicts),
        options="" if settings.queries == Settings.queries else f" --queries {settings.queries}",
        far=FAR,
        several=SEVERAL_TRAININGS,
        n_numbers=len(numbers),
        n_near=sum(not row.is_far for row in numbers),
        n_papers_numbers=len({row.number for row in numbers}),
        n_within=len({row.number for row in numbers if row.is_within}),
    )


def _flat(tables: Mapping[str, list[PaperRow]]) -> list[dict[str, Any]]:
    return [
        {"experiment": name, **asdict(row), "difference": row.difference,
         "explanation": explanation(row)}
        for name, rows in tables.items()
        for row in rows
    ]  # fmt: skip
