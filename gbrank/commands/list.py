"""Print every registered objective and measure, one a line; with -v, what is known of it.

For example:

  gbrank list
  gbrank list objectives --verbose
  gbrank list measures --plugin mine.py
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, TypeAlias

from gbrank.commands.shared import add_plugin
from gbrank.measures.measure_registry import MeasureFacts, list_measures
from gbrank.objectives.objective_registry import ObjectiveFacts, list_objectives

Item: TypeAlias = ObjectiveFacts | MeasureFacts

USAGE = "gbrank list [objectives | measures] [options]"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank list`."""
    parser.add_argument(
        "kind", nargs="?", choices=["objectives", "measures"], help="what to list (default: both)"
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="print formulas, sources and properties too"
    )
    add_plugin(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print what is registered."""
    if arguments.kind != "measures":
        _print("objectives", list_objectives(), arguments.verbose)
    if arguments.kind != "objectives":
        _print("measures", list_measures(), arguments.verbose)


def _print(title: str, items: Sequence[Item], verbose: bool) -> None:
    width = max(len(item.usage) for item in items)
    lines = [] if verbose else [title]
    for item in items:
        lines += _entry(item) if verbose else [f"  {item.usage:<{width}}  {item.summary}"]
    print("\n".join(lines))


def _entry(item: Item) -> Iterator[str]:
    yield f"{item.usage} (also {', '.join(item.aliases)})" if item.aliases else item.usage
    facts = [(name.replace("_", " "), value) for name, value in _facts(item).items()]
    texts = [f"{name}: {text}" for name, text in facts if isinstance(text, str) and text]
    flags = [f"{name}: {'yes' if flag else 'no'}" for name, flag in facts if isinstance(flag, bool)]
    yield from (f"    {line}" for line in (item.summary, *texts, ", ".join(flags)))


def _facts(item: Item) -> dict[str, Any]:
    if isinstance(item, ObjectiveFacts):
        facts = asdict(item.facts)
        del facts["takes_measure"]  # as the entry's first line says
        return facts
    facts = {name: getattr(item.cls, name) for name in ("formula", "source", "labels")}
    return {**facts, "trains LambdaRank": item.swaps}
