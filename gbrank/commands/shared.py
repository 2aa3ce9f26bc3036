"""What several commands share: options, models and results."""

import argparse
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gbrank.ranker import GBRanker


def add(parser: argparse._ActionsContainer, usage: str, text: str, **options: object) -> None:
    """Add "--flag" for a switch, "--flag N" for an integer, "--flag NAME ..." for a list."""
    flag, *value = usage.split()
    kind: dict[str, Any] = {"metavar": value[0]} if value else {"action": "store_true"}
    if value == ["N"]:
        kind["type"] = int
    elif value[1:]:
        kind |= {"nargs": "+", "action": "extend"}
    parser.add_argument(flag, help=text, **kind | options)


def validation_curve(ranker: "GBRanker") -> tuple[str, list[float]]:
    """Return the deciding measure and its value by round, none without validation data."""
    return next(iter(ranker.evals_result_.get("valid_0", {}).items()), ("", []))


def check_model_folder(path: str) -> None:
    """Refuse a folder for a model that holds anything but a model and a checkpoint."""
    from gbrank.fit.checkpoints import is_of_checkpoint  # not loaded by all commands
    from gbrank.fit.storage import DESCRIPTION, is_of_model

    folder = Path(path)
    names = {item.name for item in folder.iterdir()} if folder.exists() else set()
    names = {name for name in names if not is_of_checkpoint(name)}
    others = {name for name in names if not is_of_model(name)}
    if others or (names and DESCRIPTION not in names):
        raise ValueError(
            "--model must be a new folder, or one that holds a model and nothing else, got "
            f"{folder} with {min(others or names)!r}."
        )


def load_trees(path: str) -> "GBRanker":
    """Return the GBRanker in a folder."""
    from gbrank.ranker import GBRanker, load_ranker  # not loaded by all commands

    ranker = load_ranker(path)
    if not isinstance(ranker, GBRanker):
        raise ValueError(
            f"--model must hold a GBRanker, got {path} with a {type(ranker).__name__}."
        )
    return ranker


def print_json(content: dict[str, Any]) -> None:
    """Print JSON, with null for NaN."""
    print(json.dumps(_without_nan(content), indent=1, allow_nan=False))


def _without_nan(content: object) -> Any:
    if isinstance(content, dict):
        return {key: _without_nan(value) for key, value in content.items()}
    return None if isinstance(content, float) and math.isnan(content) else content
