"""`gbrank list`."""

import argparse
from dataclasses import asdict
from typing import Any

from gbrank.commands.catalogue import measures_page, objectives_page
from gbrank.commands.plugins import add_plugin, import_plugins
from gbrank.measures.measure_registry import MeasureFacts, list_measures
from gbrank.objectives.objective_registry import ObjectiveFacts, list_objectives

__all__ = ["add_options", "run"]

USAGE = "gbrank list [objectives | measures] [options]"
DETAILS = "Prints every registered objective and measure, one a line; with -v, what is known of it."
EXAMPLES = """\
  gbrank list
  gbrank list objectives --markdown > docs/objectives.md
  gbrank list measures --plugin mine.py"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank list`."""
    parser.add_argument(
        "kind", nargs="?", choices=["objectives", "measures"], help="what to list (default: both)"
    )
    parser.add_argument(
        "--markdown", action="store_true", help="print the catalogue: also parameters and formulas"
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="print formulas, sources and properties too"
    )
    add_plugin(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print what is registered."""
    import_plugins(arguments.plugin)
    objectives, measures = arguments.kind != "measures", arguments.kind != "objectives"
    if arguments.markdown:
        pages = [objectives_page] * objectives + [measures_page] * measures
        print("\n".join(page() for page in pages), end="")
        return
    show = _print_entries if arguments.verbose else _print_lines
    if objectives:
        show("objectives", [(item, _of_objective(item)) for item in list_objectives()])
    if measures:
        show("measures", [(item, _of_measure(item)) for item in list_measures()])


def _of_objective(objective: ObjectiveFacts) -> dict[str, Any]:
    facts = asdict(objective.facts)
    del facts["takes_measure"]  # as the entry's first line says
    return facts


def _of_measure(measure: MeasureFacts) -> dict[str, Any]:
    cls = measure.cls
    facts = {"formula": cls.formula, "source": cls.source, "labels": cls.labels}
    return {**facts, "trains LambdaRank": measure.swaps}


def _print_lines(title: str, entries: list[tuple[Any, dict[str, Any]]]) -> None:
    width = max(len(item.usage) for item, _ in entries)
    print(title)
    for item, _ in entries:
        print(f"  {item.usage:<{width}}  {item.summary}")


def _print_entries(title: str, entries: list[tuple[Any, dict[str, Any]]]) -> None:
    for item, facts in entries:
        _print_entry(item, facts)


def _print_entry(item: ObjectiveFacts | MeasureFacts, facts: dict[str, Any]) -> None:
    facts = {key.replace("_", " "): value for key, value in facts.items()}
    flags = {key: value for key, value in facts.items() if isinstance(value, bool)}
    texts = [f"{key}: {value}" for key, value in facts.items() if key not in flags and value]
    answers = [f"{key}: {'yes' if value else 'no'}" for key, value in flags.items()]
    print(f"{item.usage} (also {', '.join(item.aliases)})" if item.aliases else item.usage)
    for line in (item.summary, *texts, ", ".join(answers)):
        print(f"    {line}")
