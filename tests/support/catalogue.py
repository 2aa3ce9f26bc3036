"""The catalogue: the declared facts of every registered objective and measure, as Markdown.

    python tests/support/catalogue.py objectives > docs/objectives.md
    python tests/support/catalogue.py measures > docs/measures.md
    python tests/support/catalogue.py howto/migration > docs/howto/migration.md

write the pages; tests/style/test_catalogue.py checks them.
"""

import inspect
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from gbrank.commands.options import documented_parameters
from gbrank.common.table import Table
from gbrank.extend import Measure
from gbrank.fit.known_elsewhere import LIBRARIES, TABLE
from gbrank.measures.measure_registry import MeasureFacts, list_measures
from gbrank.objectives.objective_registry import ObjectiveFacts, get_objective, list_objectives
from tex import as_tex

NOTE = "<!-- Written by `python tests/support/catalogue.py {kind}`. Do not edit. -->"
LABELS, SIGMA = "floats ≥ 0", ("score", "1")
ANNEALED = ("score", "geometric(0.3, 0.1, unit='spread')")
# What most objectives are, and what an entry says where one is not.
COMMON = {
    "convex": (False, "Convex in the scores"),
    "differentiable": (True, "The gradient is not the exact derivative of the loss"),
    "stochastic": (False, "Random"),
    "shift_invariant": (True, "A constant added to all scores of a query matters"),
    "needs_start": (False, "Needs initial scores: its gradient is zero where all scores tie"),
}
SEVERAL = 2  # measures: a parameter of as many is explained once


def introduction(kind: str) -> str:
    """Return what stands above the entries of a page."""
    path = Path(__file__).parent / "introductions" / f"{kind}.md"
    return path.read_text(encoding="utf-8").rstrip("\n")


def objectives_page() -> str:
    """Return the catalogue of objectives."""
    entries = map(_objective, list_objectives())
    return _page("objectives", "Objectives", [introduction("objectives")], entries)


def measures_page() -> str:
    """Return the catalogue of measures."""
    common = _common_parameters()
    entries = (_measure(item, common) for item in list_measures())
    return _page(
        "measures",
        "Metrics",
        [introduction("measures"), "\n".join(_parameter_lines(common))],
        entries,
    )


def migration_page() -> str:
    """Return what stands for the words of other libraries."""
    note = NOTE.format(kind="howto/migration")
    return f"{note}\n\n{introduction('migration')}\n\n{_migration_table()}\n"


def _migration_table() -> str:
    """Return the table, by what stands here, as a migration guide."""

    def codes(names: Iterable[str]) -> str:
        return ", ".join(f"`{name}`" for name in names)

    shown = {name: title for name, title in LIBRARIES.items() if name != "ranklib"}
    rows = [
        [row["here"].removeprefix("use "), *(codes(row.get(library, ())) for library in shown)]
        for row in TABLE
        if row.keys() & shown.keys() - {"catboost"}
    ]
    head = ["gbrank", *shown.values()]
    return Table(head, rows, words=range(len(head))).to_markdown()


def _page(
    kind: str, title: str, introduction: Iterable[str], entries: Iterable[Iterator[str]]
) -> str:
    parts = [NOTE.format(kind=kind), f"# {title}", *introduction]
    return "\n\n".join([*parts, *(part for entry in entries for part in entry)]) + "\n"


def _objective(item: ObjectiveFacts) -> Iterator[str]:
    facts = item.facts
    yield from _head(item, facts.formula)
    lines = [*_declared(facts.source, facts.labels, item.cls), f"- Cost per query: {facts.cost}."]
    if facts.fast != "none":
        lines.append(f"- Cost per long query: {facts.fast}.")
    if facts.sigma_unit == "none":
        lines.append("- σ has no effect.")
    elif (facts.sigma_unit, str(facts.sigma)) == ANNEALED:
        lines.append("- Annealed.")
    elif (facts.sigma_unit, str(facts.sigma)) != SIGMA:
        lines.append(f"- Annealed; σ is in units of {facts.sigma_unit}, {facts.sigma} by default.")
    lines += [f"- {text}." for name, (usual, text) in COMMON.items()
              if getattr(facts, name) != usual]  # fmt: skip
    if facts.takes_measure:
        names = [measure.name for measure in list_measures()]
        taken = [measure.name for measure in list_measures() if _takes(item, measure)]
        lines.append(f"- Metrics: {'all' if taken == names else _codes(taken)}.")
    lines += _parameter_lines(row for row in _parameters(item.cls) if row[0] != "`measure`")
    yield "\n".join(lines)


def _measure(item: MeasureFacts, common: Sequence[Sequence[str]]) -> Iterator[str]:
    yield from _head(item, item.cls.formula)
    rows = _parameters(item.cls)
    of_all = [f"`{field.name}`" for field in fields(Measure)]
    names = [row[0] for row in rows if row in common and row[0] not in of_all]
    lines = _declared(item.cls.source, item.cls.labels, item.cls)
    if names:
        lines.append(f"- Parameters: {', '.join(names)}.")
    yield "\n".join([*lines, *_parameter_lines(row for row in rows if row not in common)])


def _takes(objective: ObjectiveFacts, measure: MeasureFacts) -> bool:
    try:
        get_objective(f"{objective.name}:{measure.name}")
    except ValueError:
        return False
    return True


def _head(item: ObjectiveFacts | MeasureFacts, formula: str) -> Iterator[str]:
    yield f"## `{item.usage.replace(' or ', '` or `')}`"
    if item.aliases:
        yield f"Also {_codes(item.aliases)}."
    # The docstring up to its first section.
    yield re.split(r"\n\n\S[^\n]*\n---", inspect.cleandoc(item.cls.__doc__ or ""))[0]
    if formula:
        yield f"$$\n{as_tex(formula)}\n$$"


def _declared(source: str, labels: str, cls: type) -> list[str]:
    lines = [f"- Class: `{cls.__module__.split('.')[0]}.{cls.__name__}`.", f"- Source: {source}."]
    return lines if labels == LABELS else [*lines, f"- Labels: {labels}."]


def _parameters(cls: type[Any]) -> list[list[str]]:
    """Return name, type, default and meaning of each parameter."""
    documented = documented_parameters(cls)
    rows = []
    for item in fields(cls):
        default = item.default if item.default_factory is MISSING else item.default_factory()
        if item.name != "name" and item.compare and default is not MISSING:
            kind, text = documented.get(item.name, ("", ""))
            shown = repr(default) if isinstance(default, str) else str(default)
            rows.append([f"`{item.name}`", kind, f"`{shown}`", text])
    return rows


def _common_parameters() -> list[list[str]]:
    """Return the parameters that several measures have."""
    counts = Counter(tuple(row) for item in list_measures() for row in _parameters(item.cls))
    return [list(row) for row, n_measures in counts.items() if n_measures >= SEVERAL]


def _parameter_lines(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for name, kind, default, text in rows:
        shown = kind.removesuffix(", optional")
        yield f"- {name} ({shown}, default {default}): {text}"


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    pages = {
        "objectives": objectives_page,
        "measures": measures_page,
        "howto/migration": migration_page,
    }
    print(pages[sys.argv[1]](), end="")
