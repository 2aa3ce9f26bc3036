"""What a command writes: over nothing that it reads, and to where it can, before hours of work."""

import argparse
import os
from itertools import combinations
from pathlib import Path

from gbrank.common.argument_error import ArgumentError
from gbrank.common.files import check_folder, is_leftover, is_stream, refuse_remote


def check_outputs(arguments: argparse.Namespace) -> None:
    """Refuse what is also an input, and what could not be written."""
    _refuse_inputs(arguments)
    for name, check in arguments.outputs.items():
        path = getattr(arguments, name)
        if callable(check) and path is not None:
            check(path, f"--{name.replace('_', '-')}")


def _refuse_inputs(arguments: argparse.Namespace) -> None:
    """Refuse an output that is also an input, what a folder that is one holds, or another output.

    It may hold a folder that is written, such as a model, by any name that is not read as data.
    """
    given = {name: getattr(arguments, name) for name in arguments.paths}
    if empty := [name for name, path in given.items() if path in ("", [""])]:
        raise ArgumentError(empty[0], "must be a path", "an empty text")
    paths = {name: path for name, path in given.items() if path not in (None, "-")}
    outputs = {name: paths.pop(name) for name in arguments.outputs if name in paths}
    inputs = [path for own in paths.values() for path in ([own] if isinstance(own, str) else own)]
    files = {
        name: path
        for name, path in outputs.items()
        if arguments.paths[name] != "FOLDER" and (not is_stream(path) or os.path.isdir(path))
    }
    for name, path in outputs.items():
        for source in inputs:
            folder = Path(source).resolve()
            inside = folder.is_dir() and folder in Path(path).resolve().parents
            read_as_data = name in files or Path(path).suffix.lower() == ".parquet"
            if _is_same(path, source) or (inside and read_as_data):
                demand = "must be no file that is read, and in no folder that is read"
                raise ArgumentError(name, demand, f"{path}, where {source} is read")
    for (name, path), (other, same) in combinations(files.items(), 2):
        if _is_same(path, same):
            demand = f"must be another file than --{other.replace('_', '-')}"
            raise ArgumentError(name, demand, path)


def _is_same(path: str, other: str) -> bool:
    """Say whether two paths are one file or folder, by whatever links."""
    if os.path.exists(path) and os.path.exists(other):
        return os.path.samefile(path, other)
    return Path(path).resolve() == Path(other).resolve()


def check_model(path: str, option: str) -> None:
    """Refuse a folder for a model that holds anything but a model and a checkpoint."""
    from gbrank.fit import checkpoints, storage  # not loaded by all commands

    refuse_remote(path, option)
    folder = Path(path)
    names = {item.name for item in folder.iterdir()} if folder.exists() else set()
    names -= {storage.FILE, checkpoints.FILE}
    if others := [name for name in names if not is_leftover(name)]:
        demand = "must be a new folder, or one that holds a model and nothing else"
        raise ArgumentError(option, demand, f"{folder} with {min(others)!r}")


def check_picture(path: str, option: str) -> None:
    """Refuse a picture of a kind that is not known."""
    from matplotlib.backend_bases import FigureCanvasBase  # takes a good part of a second

    check_folder(path, option)
    kinds = FigureCanvasBase.get_supported_filetypes()
    if Path(path).suffix[1:].lower() not in kinds:
        raise ArgumentError(option, f"must end in one of {', '.join(sorted(kinds))}", path)


def check_html(path: str, option: str) -> None:
    """Refuse a page that could not be written."""
    from gbrank.plots.report.html_page import check_page  # imports Matplotlib

    check_page(path, option)
