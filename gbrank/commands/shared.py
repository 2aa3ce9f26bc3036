"""What several commands share: options, models and results."""

import argparse
import importlib
import importlib.util
import inspect
import json
import math
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from gbrank.common.argument_error import ArgumentError
from gbrank.common.files import replaced

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gbrank.ranker import GBRanker

PathCheck: TypeAlias = Callable[[str, str], None]  # of a path, and the name of its option


def add(parser: argparse._ActionsContainer, usage: str, text: str, **options: object) -> None:
    """Add "--flag" for a switch, "--flag N" for an integer, "--flag NAME ..." for a list."""
    flag, *value = usage.split()
    kind: dict[str, Any] = {"metavar": value[0]} if value else {"action": "store_true"}
    if value == ["N"]:
        kind["type"] = int
    elif value[1:]:
        kind |= {"nargs": "+", "action": "extend"}
    parser.add_argument(flag, help=text, **kind | options)


def add_output(
    parser: argparse.ArgumentParser,
    usage: str,
    text: str,
    check: PathCheck | None = None,
    **more: Any,
) -> None:
    """Add an option that is written, perhaps with what refuses, before any work, what cannot be."""
    add(parser, usage, text, **more)
    name = usage.split()[0].strip("-").replace("-", "_")
    parser.get_default("outputs")[name] = check


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
    from gbrank.fit.estimator import scores_of  # not loaded by all commands

    return scores_of(model, X, qid)


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


def documented_parameters(item: object) -> dict[str, tuple[str, str]]:
    """Return type and text of each parameter of a function, or of a class and those it extends."""
    result: dict[str, tuple[str, str]] = {}
    for part in reversed(getattr(item, "__mro__", [item])):
        text = inspect.cleandoc(part.__doc__ or "")
        section = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n---|\Z)", text, re.S | re.M)
        entry = re.compile(r"^(\S.*?) : (.*)\n((?: .*\n?)+)", re.M)
        for names, kind, description in entry.findall(section[1] if section else ""):
            result.update(dict.fromkeys(names.split(", "), (kind, " ".join(description.split()))))
    return result


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
