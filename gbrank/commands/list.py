"""Print every registered objective and measure, one a line.

For example:

  gbrank list
  gbrank list objectives
  gbrank list measures --plugin mine.py
"""

import argparse
from collections.abc import Callable, Sequence
from typing import TypeAlias

from gbrank.commands.shared import add_plugin
from gbrank.measures.measure_registry import MeasureFacts, list_measures
from gbrank.objectives.objective_registry import ObjectiveFacts, list_objectives

Listing: TypeAlias = Callable[[], Sequence[ObjectiveFacts] | Sequence[MeasureFacts]]

LISTS: dict[str, Listing] = {"objectives": list_objectives, "measures": list_measures}
USAGE = "gbrank list [objectives | measures] [options]"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank list`."""
    parser.add_argument("kind", nargs="?", choices=LISTS, help="what to list (default: both)")
    add_plugin(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print what is registered."""
    for kind in [arguments.kind] if arguments.kind else LISTS:
        items = LISTS[kind]()
        width = max(len(item.usage) for item in items)
        print(kind, *(f"  {item.usage:<{width}}  {item.summary}" for item in items), sep="\n")
