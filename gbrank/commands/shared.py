"""What several commands share: reading files, printing results."""

import argparse
import json
import math
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, TextIO, cast

from gbrank.datasets import read_letor
from gbrank.datasets.stacking import stack_files
from gbrank.ranker import GBRanker

__all__ = [
    "add_files",
    "check_folder",
    "open_text",
    "print_json",
    "read_files",
    "read_numbers",
    "validation_curve",
]


def check_folder(path: str, option: str) -> None:
    """Refuse a file that could not be written, before hours of work."""
    if not Path(path).absolute().parent.is_dir():
        raise ValueError(f"{option} must be in a folder that exists, got {path}.")


def add_files(parser: argparse.ArgumentParser) -> None:
    """Add the options of `read_files`."""
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="data in LETOR (SVMlight) format, gzipped or not"
    )
    parser.add_argument("--sparse", action="store_true", help="keep the features sparse in memory")


def read_files(paths: Sequence[str], **options: Any) -> tuple[Any, ...]:
    """Return what `read_letor` does with these options, of all files one after the other."""
    return stack_files(paths, [read_letor(path, **options) for path in paths])


def open_text(path: str, mode: str) -> AbstractContextManager[TextIO]:
    """Open a text file; "-" is standard input or output."""
    if path == "-":
        return nullcontext(sys.stdin if mode == "r" else sys.stdout)
    return cast(TextIO, open(path, mode, encoding="utf-8"))


def read_numbers(path: str, what: str, length: int) -> list[float]:
    """Return the numbers in a text file with one a line, for each of `length` documents one."""
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


def validation_curve(ranker: GBRanker) -> tuple[str, list[float]]:
    """Return the deciding measure and its value by round, none without validation data."""
    return next(iter(ranker.evals_result_.get("valid_0", {}).items()), ("", []))


def print_json(content: dict[str, Any]) -> None:
    """Print JSON, with null for NaN."""
    print(json.dumps(_without_nan(content), indent=1, allow_nan=False))


def _without_nan(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _without_nan(value) for key, value in content.items()}
    return None if isinstance(content, float) and math.isnan(content) else content
