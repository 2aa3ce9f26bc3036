"""What several commands share: models, outputs and results."""

import argparse
import json
import math
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, TextIO

from gbrank.ranker import GBRanker

__all__ = [
    "add_model",
    "check_folder",
    "open_output",
    "print_json",
    "validation_curve",
]


def check_folder(path: str, option: str) -> None:
    """Refuse a file that could not be written, before hours of work."""
    if not Path(path).absolute().parent.is_dir():
        raise ValueError(f"{option} must be in a folder that exists, got {path}.")


def add_model(parser: argparse.ArgumentParser, text: str = "folder of a model") -> None:
    """Add the folder of a model."""
    parser.add_argument("--model", required=True, metavar="FOLDER", help=text)


def open_output(path: str) -> AbstractContextManager[TextIO]:
    """Open a text file to write; "-" is standard output."""
    return nullcontext(sys.stdout) if path == "-" else open(path, "w", encoding="utf-8")


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
