"""Modules of a user's, which register objectives and measures."""

import argparse
import importlib
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path

from gbrank.commands.shared import add


def add_plugin(parser: argparse.ArgumentParser) -> None:
    """Add the option of `import_plugins`."""
    text = "import this module or .py file, which registers objectives or measures"
    add(parser, "--plugin MODULE", text, action="append", default=[])


def import_plugins(names: Sequence[str]) -> None:
    """Import a user's modules, given by name or as .py files."""
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
