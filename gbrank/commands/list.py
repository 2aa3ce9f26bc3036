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
DETAILS = "Prints every registered objective and measure with what is known of it."
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
    add_plugin(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print what is registered."""
    import_plugins(arguments.plugin)
    objectives, measures = arguments.kind != "measures", arguments.kind != "objectives"
    if arguments.markdown:
        pages = [objectives_page] * objectives + [measures_page] * measures
        print("\n".join(page() for page in pages), end="")
        return
    for objective in list_objectives() if objectives else []:
        facts = asdict(objective.facts)
        del facts["takes_measure"]  # as the entry's first line says
        _print_entry(objective, facts)
    for measure in list_measures() if measures else []:
        cls = measure.cls
        facts = {"formula": cls.formula, "source": cls.source, "labels": cls.labels}
        _print_entry(measure, {**facts, "trains LambdaRank": measure.swaps})


def _print_entry(item: ObjectiveFacts | MeasureFacts, facts: dict[str, Any]) -> None:
    facts = {key.replace("_", " "): value for key, value in facts.items()}
    flags = {key: value for key, value in facts.items() if isinstance(value, bool)}
    texts = [f"{key}: {value}" for key, value in facts.items() if key not in flags and value]
    answers = [f"{key}: {'yes' if value else 'no'}" for key, value in flags.items()]
    print(f"{item.usage} (also {', '.join(item.aliases)})" if item.aliases else item.usage)
    for line in (item.summary, *texts, ", ".join(answers)):
        print(f"    {line}")
