"""Paths among the options of commands: what is read is not written to, nor what cannot be."""

import os
from argparse import Action
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from gbrank.common.argument_error import ArgumentError
from gbrank.common.files import check_folder, is_leftover, refuse_remote

File: TypeAlias = Annotated[str, "FILE"]
Folder: TypeAlias = Annotated[str, "FOLDER"]
FileOrFolder: TypeAlias = Annotated[str, "PATH"]
NewFile: TypeAlias = Annotated[str, "NEW-FILE"]
NewFolder: TypeAlias = Annotated[str, "NEW-FOLDER"]
NewModel: TypeAlias = Annotated[str, "NEW-MODEL"]
NewPicture: TypeAlias = Annotated[str, "PICTURE"]


def printable(path: str) -> str:
    """Return a path, in which bytes that are no text are written as numbers."""
    return os.fsencode(path).decode(errors="backslashreplace")


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


INPUTS = ("FILE", "FOLDER", "PATH", "MODULE")
OUTPUTS: dict[str, Callable[[str, str], None]] = {
    "NEW-FILE": check_folder,
    "NEW-FOLDER": refuse_remote,
    "NEW-MODEL": check_model,
    "PICTURE": check_picture,
}


def check_paths(options: Sequence[Action], values: Mapping[str, Any]) -> None:
    """Refuse, before hours of work, a path to write to that is read or that cannot be written."""
    inputs, outputs = list[str](), dict[Action, str]()
    for option in options:
        value = values.get(option.dest, "-")
        if value in ("", [""]) and option.metavar in (*INPUTS, *OUTPUTS):
            raise ArgumentError(option.dest, "must be a path", "an empty text")
        if option.metavar in OUTPUTS and value != "-":
            outputs[option] = value
        elif option.metavar in INPUTS:
            inputs += [value] if isinstance(value, str) else value
    for option, path in outputs.items():
        if source := next((source for source in inputs if _is_in(path, source)), None):
            demand = "must be no file that is read, and in no folder that is read"
            raise ArgumentError(option.dest, demand, f"{path}, where {source} is read")
    for (option, path), (other, same) in combinations(outputs.items(), 2):
        if "NEW-MODEL" not in (option.metavar, other.metavar) and _is_in(path, same):
            demand = f"must be another file than {other.option_strings[0]}"
            raise ArgumentError(option.dest, demand, path)
    for option, path in outputs.items():
        OUTPUTS[str(option.metavar)](path, option.option_strings[0])


def _is_in(path: str, source: str) -> bool:
    """Return whether a path is a file or folder, by whatever links, or in it."""
    if os.path.exists(path) and os.path.exists(source) and os.path.samefile(path, source):
        return True
    target, folder = Path(path).resolve(), Path(source).resolve()
    return target == folder or folder in target.parents
