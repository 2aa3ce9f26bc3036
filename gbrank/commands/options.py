"""What several commands share: reading data, opening text files, plugins, results."""

import argparse
import importlib
import importlib.util
import inspect
import json
import math
import re
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, TextIO, cast

import numpy as np

from gbrank.datasets import read_letor
from gbrank.datasets.stacking import check_disjoint, stack_features
from gbrank.ranker import GBRanker

__all__ = [
    "add_files",
    "add_plugin",
    "documented_parameters",
    "import_plugins",
    "open_text",
    "print_json",
    "read_files",
    "read_numbers",
    "validation",
]


def add_files(parser: argparse.ArgumentParser) -> None:
    """Add the options of `read_files`."""
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="data in LETOR (SVMlight) format, gzipped or not"
    )
    parser.add_argument("--sparse", action="store_true", help="keep the features sparse in memory")


def read_files(paths: Sequence[str], **options: Any) -> tuple[Any, ...]:
    """Return what `read_letor` does, of all files one after the other.

    Parameters
    ----------
    paths : sequence of str
    **options
        For `read_letor`.

    Returns
    -------
    X, y, qid
        And comments, if options ask for them.

    Raises
    ------
    ValueError
        If a file is malformed, or two files share a query.
    """
    parts = [read_letor(path, **options) for path in paths]
    if len(parts) == 1:
        return parts[0]
    matrices, *columns = zip(*parts, strict=True)
    check_disjoint(paths, columns[1])
    return stack_features(matrices), *map(np.concatenate, columns)


def open_text(path: str, mode: str) -> AbstractContextManager[TextIO]:
    """Open a text file; "-" is standard input or output."""
    if path == "-":
        return nullcontext(sys.stdin if mode == "r" else sys.stdout)
    return cast(TextIO, open(path, mode, encoding="utf-8"))


def read_numbers(path: str, what: str, length: int) -> list[float]:
    """Return the numbers in a text file with one a line, for each document one.

    Parameters
    ----------
    path : str
        "-" is standard input.
    what : str
        What they are.
    length : int
        How many there must be.

    Returns
    -------
    list of float

    Raises
    ------
    ValueError
        If there are more or fewer, or a line is not a finite number.
    """
    with open_text(path, "r") as file:
        numbers = [_number(path, line, text.strip()) for line, text in enumerate(file, 1)]
    if len(numbers) != length:
        raise ValueError(f"{path}: expected {length} {what}, one a document, got {len(numbers)}")
    return numbers


def _number(path: str, line: int, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{path}, line {line}: expected a finite number, got {text!r}")
    return number


def add_plugin(parser: argparse.ArgumentParser) -> None:
    """Add the option of `import_plugins`."""
    parser.add_argument(
        "--plugin",
        action="append",
        default=[],
        metavar="MODULE",
        help="import this module or .py file, which registers objectives or measures",
    )


def import_plugins(names: Sequence[str]) -> None:
    """Import a user's modules, given by name or as .py files.

    Parameters
    ----------
    names : sequence of str

    Raises
    ------
    ValueError
        If one cannot be imported, for whatever reason.
    """
    for name in names:
        try:
            _import(name)
        except Exception as error:
            raise ValueError(f"--plugin {name}: {type(error).__name__}: {error}") from error


def _import(name: str) -> None:
    if not name.endswith(".py"):
        importlib.import_module(name)
        return
    spec = importlib.util.spec_from_file_location(f"gbrank_plugin_{Path(name).stem}", name)
    assert spec is not None
    assert spec.loader is not None  # as the name ends in .py
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)


def documented_parameters(item: Any) -> dict[str, tuple[str, str]]:
    """Return the type and the text of each parameter in a docstring.

    Parameters
    ----------
    item : function or class

    Returns
    -------
    dict of str to (str, str)
    """
    entry = re.compile(r"^(\w+) : (.*)\n((?:    .*\n)+)", re.MULTILINE)
    return {
        name: (kind.removesuffix(", optional"), " ".join(text.replace("`", "").split()))
        for name, kind, text in entry.findall(inspect.getdoc(item) or "")
    }


def validation(ranker: GBRanker) -> tuple[str, list[float]]:
    """Return the deciding measure and its value by round, none without validation data."""
    return next(iter(ranker.evals_result_.get("valid_0", {}).items()), ("", []))


def print_json(content: dict[str, Any]) -> None:
    """Print JSON, with null for NaN."""
    print(json.dumps(_without_nan(content), indent=1, allow_nan=False))


def _without_nan(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _without_nan(value) for key, value in content.items()}
    return None if isinstance(content, float) and math.isnan(content) else content
