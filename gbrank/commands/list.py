"""`gbrank list`."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from gbrank.commands.common import add_plugin, import_plugins
from gbrank.measures import list_measures
from gbrank.objectives import list_objectives

__all__ = ["add_options", "run"]

USAGE = "gbrank list [objectives | measures] [options]"
DETAILS = "Prints every registered objective and measure with what is known of it."
EXAMPLES = """\
  gbrank list
  gbrank list measures --plugin mine.py"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank list`."""
    parser.add_argument(
        "kind", nargs="?", choices=["objectives", "measures"], help="what to list (default: both)"
    )
    add_plugin(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print what is registered."""
    import_plugins(arguments.plugin)
    if arguments.kind != "measures":
        for objective in list_objectives():
            facts = asdict(objective.facts)
            suffix = ":MEASURE" if facts.pop("takes_measure") else ""
            _print_entry(objective.name + suffix, objective.aliases, objective.summary, facts)
    if arguments.kind != "objectives":
        for measure in list_measures():
            suffix = "[@K]" if measure.truncated else ""
            summary = (measure.cls.__doc__ or "").split("\n")[0]
            facts = {"trains LambdaRank": measure.swaps}
            _print_entry(measure.name + suffix, measure.aliases, summary, facts)


def _print_entry(name: str, aliases: Sequence[str], summary: str, facts: dict[str, Any]) -> None:
    flags = {key: value for key, value in facts.items() if isinstance(value, bool)}
    texts = [f"{key}: {value}" for key, value in facts.items() if key not in flags]
    answers = [f"{key.replace('_', ' ')}: {'yes' if flags[key] else 'no'}" for key in flags]
    print(f"{name} (also {', '.join(aliases)})" if aliases else name)
    for line in (summary, *texts, ", ".join(answers)):
        print(f"    {line}")
