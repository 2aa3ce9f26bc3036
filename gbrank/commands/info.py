"""`gbrank info`."""

import argparse
from typing import Any

from gbrank.commands.shared import add_model, print_json, validation_curve
from gbrank.fit.storage import read_saved
from gbrank.ranker import GBRanker

__all__ = ["add_options", "run"]

USAGE = "gbrank info --model FOLDER [--json]"
DETAILS = """\
Prints a model's booster, rounds, parameters, value on the validation data, and the features of
largest gain. Features are called by their index in LETOR files, or by their column's name."""
EXAMPLES = """\
  gbrank info --model my-ranker
  gbrank info --model my-ranker --json"""

LARGEST = 10


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank info`."""
    add_model(parser)
    parser.add_argument("--json", action="store_true", help="print JSON, with all features")


def run(arguments: argparse.Namespace) -> None:
    """Print what a model is."""
    ranker = GBRanker.load(arguments.model)
    description = read_saved(arguments.model).description
    measure, curve = validation_curve(ranker)
    names = getattr(ranker, "feature_names_in_", range(1, ranker.n_features_in_ + 1))
    shares = zip(map(str, names), ranker.feature_importances_.tolist(), strict=True)
    importances = sorted(shares, key=lambda item: item[1], reverse=True)
    facts = {
        "gbrank": description["gbrank"],
        "format": description["format"],
        "booster": description["booster"],
        "rounds": ranker.best_iteration_,
        "features": ranker.n_features_in_,
        "validation": {measure: ranker.best_score_} if curve else {},
    }
    if arguments.json:
        print_json({**facts, "parameters": description["params"], "importances": importances})
        return
    value = f"{measure} {ranker.best_score_:.4f}" if curve else "none"
    _print_rows("model", facts | {"validation": value})
    _print_rows("parameters", description["params"])
    largest = {name: f"{share:.4f}" for name, share in importances[:LARGEST]}
    _print_rows(f"share of the gain, {len(largest)} of {len(importances)} features", largest)


def _print_rows(title: str, rows: dict[str, Any]) -> None:
    print(title)
    width = max(map(len, rows))
    for name, value in rows.items():
        print(f"  {name:<{width}}  {value}")
