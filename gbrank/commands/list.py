"""Print every registered objective and measure, one a line.

For example:

  gbrank list
  gbrank list measures --plugin mine.py
"""

import argparse
from collections.abc import Sequence

from gbrank.commands.shared import add_plugin
from gbrank.measures.measure_registry import MeasureFacts, list_measures
from gbrank.objectives.objective_registry import ObjectiveFacts, list_objectives

USAGE = "gbrank list [objectives | measures] [options]"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank list`."""
    parser.add_argument(
        "kind", nargs="?", choices=["objectives", "measures"], help="what to list (default: both)"
    )
    add_plugin(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print what is registered."""
    if arguments.kind != "measures":
        _print("objectives", list_objectives())
    if arguments.kind != "objectives":
        _print("measures", list_measures())


def _print(title: str, items: Sequence[ObjectiveFacts | MeasureFacts]) -> None:
    """Print the items below their title."""
    width = max(len(item.usage) for item in items)
    print("\n".join([title, *(f"  {item.usage:<{width}}  {item.summary}" for item in items)]))
