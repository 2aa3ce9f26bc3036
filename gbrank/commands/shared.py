"""What several commands share: options, models and results."""

import argparse
import importlib
import importlib.util
import json
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gbrank.common.argument_error import ArgumentError
from gbrank.common.files import replaced

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gbrank.ranker import GBRanker


def add(parser: argparse._ActionsContainer, usage: str, text: str, **options: Any) -> None:
    """Add "--flag" for a switch, "--flag N" or X for a number, "--flag NAME ..." for a list.

    Its default stands in the text. Of a path that is written, `written` is what refuses, before any
    work, what cannot be (see `check_outputs`), or True.
    """
    flag, *value = usage.split()
    if "written" in options:
        name = flag.strip("-").replace("-", "_")
        parser.get_default("outputs")[name] = options.pop("written")
    kind: dict[str, Any] = {"action": "store_true"}
    if value:
        kind = {"metavar": value[0], "type": {"N": int, "X": float}.get(value[0], str)}
    if value[1:]:
        kind |= {"nargs": "+", "action": "extend"}
    if options.get("default") not in (None, []):
        text += f" (default: {options['default']})"
    parser.add_argument(flag, help=text, **kind | options)


def printable(path: str) -> str:
    """Return a path, in which bytes that are no text are written as numbers."""
    return os.fsencode(path).decode(errors="backslashreplace")


def validation_curve(ranker: "GBRanker") -> tuple[str, list[float]]:
    """Return the deciding measure and its value by round, none without validation data."""
    return next(iter(ranker.evals_result_.get("valid_0", {}).items()), ("", []))


def load_any(path: str) -> Any:
    """Return the model of any library that a folder or file holds."""
    if Path(path).is_file():
        from gbrank.evaluation.scorable import opened  # needs all boosters

        return opened(path)
    from gbrank.ranker import load_ranker  # not loaded by all commands

    return load_ranker(path)


def scores_by(path: str, model: Any, X: Any, qid: Any) -> Any:
    """Return the scores of rows by the model that `load_any` found there."""
    if Path(path).is_file():
        from gbrank.evaluation.scorable import scores_from  # needs all boosters

        return scores_from(model, X, qid=qid)
    return model.predict(X)


def columns_of(model: Any) -> set[str]:
    """Return the names of the columns that a model sees, if it says them."""
    names: Any = getattr(getattr(model, "_schema", None), "names", None)
    return set(names or getattr(model, "feature_names_", ()))


def load_trees(path: str) -> "GBRanker":
    """Return the GBRanker in a folder."""
    from gbrank.ranker import GBRanker, load_ranker  # not loaded by all commands

    ranker = load_ranker(path)
    if not isinstance(ranker, GBRanker):
        kind = type(ranker).__name__
        raise ArgumentError("model", "must hold a GBRanker", f"{path} with a {kind}")
    return ranker


def print_json(content: dict[str, Any]) -> None:
    """Print JSON, with null for NaN."""
    print(json.dumps(_without_nan(content), indent=1, allow_nan=False))


def _without_nan(content: object) -> Any:
    if isinstance(content, dict):
        return {key: _without_nan(value) for key, value in content.items()}
    return None if isinstance(content, float) and math.isnan(content) else content


def add_plugin(parser: argparse.ArgumentParser) -> None:
    """Add the option of `import_plugins`."""
    text = "import this module or .py file, which registers objectives or measures"
    add(parser, "--plugin MODULE", text, action="append", default=[])


def import_plugins(names: Sequence[str]) -> None:
    """Import a user's modules, given by name or as .py files."""
    for name in names:
        try:
            if not name.endswith(".py"):
                importlib.import_module(name)
                continue
            spec = importlib.util.spec_from_file_location(f"gbrank_plugin_{Path(name).stem}", name)
            assert spec is not None
            assert spec.loader is not None  # as the name ends in .py
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            spec.loader.exec_module(module)
        except Exception as error:
            raise ValueError(f"--plugin {name}: {type(error).__name__}: {error}") from error


def write_picture(figure: "Figure", path: str) -> None:
    """Write a picture, whole or not at all, in the format of its name."""
    with replaced(path) as file:
        figure.savefig(file, format=Path(path).suffix[1:].lower(), dpi=150)
