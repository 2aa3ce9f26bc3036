"""Modules of users, which register objectives and measures."""

import importlib
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any


def plugins(names: Sequence[str]) -> AbstractContextManager[Any]:
    """Import modules, and return the context in which other processes import them too."""
    import_plugins(names)
    if not names:
        return nullcontext()
    import joblib  # takes long to import

    context: AbstractContextManager[Any] = joblib.parallel_config(
        backend="loky", initializer=import_plugins, initargs=(names,)
    )
    return context


def import_plugins(names: Sequence[str]) -> None:
    """Import modules, given by name or as .py files."""
    for name in names:
        try:
            if not name.endswith(".py"):
                importlib.import_module(name)
                continue
            loader = SourceFileLoader(f"gbrank_plugin_{Path(name).stem}", name)
            module = sys.modules[loader.name] = ModuleType(loader.name)
            loader.exec_module(module)
        except Exception as error:
            raise ValueError(f"--plugin {name}: {type(error).__name__}: {error}") from error
