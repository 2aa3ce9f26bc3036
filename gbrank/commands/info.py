"""Print a model's booster, rounds, data, parameters, measures and features of largest gain.

It says which gbrank trained the model, when it was saved, and the versions that read it now. The
learning rate is the one that was used; measures are those on the validation data. Features are
called as in `gbrank export`: by their column's name; f3 is the feature that a LETOR file writes as
3:, or, if the model was trained on an array in Python, the column X[:, 3].

For example:

  gbrank info --model my-ranker
  gbrank info --model my-ranker --json
"""

import argparse
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from gbrank.commands.shared import add, load_trees, print_json, validation_curve
from gbrank.common.table import cell_text
from gbrank.export.forest import names_of
from gbrank.fit.storage import FILE, read_saved
from gbrank.ranker import GBRanker

USAGE = "gbrank info --model FOLDER [--json]"

LARGEST = 10


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank info`."""
    add(parser, "--model FOLDER", "folder of a model", required=True)
    add(parser, "--json", "print JSON, with all features")


def run(arguments: argparse.Namespace) -> None:
    """Print what a model is."""
    ranker = load_trees(arguments.model)
    description = read_saved(arguments.model)
    shares = zip(names_of(ranker, None), ranker.feature_importances_.tolist(), strict=True)
    importances = sorted(shares, key=lambda item: item[1], reverse=True)
    facts = {name: description[name] for name in ("gbrank", "format", "booster")}
    facts |= _facts(ranker, Path(arguments.model, FILE))
    if arguments.json:
        print_json({**facts, "parameters": description["params"], "importances": importances})
        return
    data = facts.pop("data")
    largest = importances[:LARGEST]
    tables: dict[str, dict[str, Any]] = {
        "model": {name: _text(value) for name, value in facts.items()},
        "data": {
            name: f"{sizes['documents']:,} documents in {sizes['queries']:,} queries"
            for name, sizes in data.items()
        },
        "parameters": description["params"],
        f"share of the gain, {len(largest)} of {len(importances)} features": {
            name: f"{share:.4f}" for name, share in largest
        },
    }
    for title, rows in tables.items():
        print(title)
        width = max(map(len, rows), default=0)
        for name, value in rows.items():
            print(f"  {name:<{width}}  {value}")


def _facts(ranker: GBRanker, file: Path) -> dict[str, Any]:
    """Return what a fit came to, and what reads it."""
    measure, curve = validation_curve(ranker)
    return {
        "rounds": ranker.best_iteration_,
        "learning_rate": ranker.learning_rate_,
        "colsample": ranker.colsample_,
        "extra_trees": ranker.extra_trees_,
        "saved": f"{date.fromtimestamp(file.stat().st_mtime)}",
        "versions": {name: version(name) for name in ("numpy", ranker.booster)},
        "features": ranker._schema.n_features,
        "data": ranker.training_data_,
        "validation": {measure: ranker.best_score_} if curve else {},
    }


def _text(value: Any) -> str:
    """Return a fact for people: of several things a list, with what there is of each."""
    if isinstance(value, dict):
        measured = {
            name: f"{own:.4f}" if isinstance(own, float) else own for name, own in value.items()
        }
        value = [f"{name} {own}" for name, own in measured.items()]
    return (", ".join(value) or "none") if isinstance(value, list) else cell_text(value)
