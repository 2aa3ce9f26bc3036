"""Command-line options, made from a function's signature and docstring; checks of their paths."""

import argparse
import inspect
import json
import os
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import partial
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

from gbrank.common.checks import ArgumentError, Function
from gbrank.common.files import check_folder, check_local

File: TypeAlias = Annotated[str, "FILE"]
Folder: TypeAlias = Annotated[str, "FOLDER"]
FileOrFolder: TypeAlias = Annotated[str, "PATH"]
FileOrColumn: TypeAlias = Annotated[str, "FILE-OR-COLUMN"]
NewFile: TypeAlias = Annotated[str, "NEW-FILE"]
NewFolder: TypeAlias = Annotated[str, "NEW-FOLDER"]
NewPicture: TypeAlias = Annotated[str, "PICTURE"]

FLAGS = {  # of parameters, also of what commands call, whose options have other names
    "booster_params": "--booster-param",
    "categorical_feature": "--categorical",
    "eval_metric": "--metric",
    "eval_set": "--valid",
    "first": "--pair",
    "second": "--pair",
    "position": "--positions",
    "sample_weight": "--weights",
}
# Names in annotations; a command line gives texts where objects may stand.
NAMES = {"Metric": str, "Objective": str, "Callable": Callable, "Sequence": Sequence, "Any": Any}
METAVARS = {str: "TEXT", int: "N", float: "X"}
PLUGIN = "Module or .py file that registers objectives or metrics"
INPUTS = ("FILE", "FOLDER", "PATH", "FILE-OR-COLUMN", "MODULE")
OUTPUTS = ("NEW-FILE", "NEW-FOLDER", "PICTURE")
WIDTH = 100  # of a line of help
INDENT = 37  # of the texts of options


class _Pairs(argparse.Action):
    """Values by key, of several options."""

    def __call__(self, parser: Any, namespace: Any, values: Any, flag: Any = None) -> None:
        key, _, value = values.partition("=")
        if not key or not value:
            raise argparse.ArgumentError(self, f"expected KEY=VALUE, got {values!r}")
        pairs = getattr(namespace, self.dest, {}) | {key: _number_or_text(value)}
        setattr(namespace, self.dest, pairs)


def documented_parameters(item: object) -> dict[str, tuple[str, str]]:
    """Find type and text of each parameter of a function, or of a class and its bases."""
    result: dict[str, tuple[str, str]] = {}
    entry = re.compile(r"^(\S.*?) : (.*)\n((?: .*\n?)+)", re.M)
    for part in reversed(getattr(item, "__mro__", [item])):
        for names, kind, text in entry.findall(inspect.cleandoc(part.__doc__ or "")):
            result.update(dict.fromkeys(names.split(", "), (kind, " ".join(text.split()))))
    return result


def command_parser(name: str, command: Callable[..., None]) -> argparse.ArgumentParser:
    """Make the parser of a command."""
    text = inspect.cleandoc(command.__doc__ or "")
    description, _, text = text.partition("Parameters\n----------\n")
    _, _, examples = text.partition("Examples\n--------\n")
    form: Any = partial(argparse.RawDescriptionHelpFormatter, max_help_position=INDENT, width=WIDTH)
    parser = argparse.ArgumentParser(
        f"gbrank {name}",
        description=description,
        epilog=f"examples:\n{examples}",
        formatter_class=form,
    )
    _add_options(parser, command)
    parser.add_argument("--plugin", action="append", metavar="MODULE", default=[], help=PLUGIN)
    words = [
        word
        for option in parser._actions
        if option.required
        for word in (*option.option_strings, str(option.metavar))
    ]
    parser.usage = " ".join([parser.prog, *words, "[options]"])
    return parser


def arguments_of(command: Callable[..., None], values: Mapping[str, Any]) -> dict[str, Any]:
    """Make the arguments of a command from the values of its options."""
    arguments = dict(values)
    for name, parameter in inspect.signature(command).parameters.items():
        if cls := _dataclass(parameter):
            fields = inspect.signature(cls).parameters.keys() & values.keys()
            arguments[name] = cls(**{field: arguments.pop(field) for field in fields})
    return arguments


def _dataclass(parameter: inspect.Parameter) -> Any:
    """Return the dataclass of a parameter, if it is one; fields that are no options annotate it."""
    cls = getattr(parameter.annotation, "__origin__", parameter.annotation)
    return cls if is_dataclass(cls) else None


def _add_options(
    parser: argparse._ActionsContainer, source: Function, without: Sequence[str] = ()
) -> None:
    """Add an option for each parameter of a function, and each field of those of dataclasses."""
    documented = documented_parameters(source)
    signature = inspect.signature(source, locals=NAMES, eval_str=True)
    for name, parameter in signature.parameters.items():
        _, text = documented.get(name, ("", ""))
        if cls := _dataclass(parameter):
            group = parser.add_argument_group(text.rstrip("."))
            _add_options(group, cls, getattr(parameter.annotation, "__metadata__", ()))
        elif name not in without:
            flag = FLAGS.get(name, f"--{name.replace('_', '-')}")
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD and not is_dataclass(source):
                flag = name
            _add_option(parser, flag, parameter, text)


def _add_option(
    parser: argparse._ActionsContainer, flag: str, parameter: inspect.Parameter, text: str
) -> None:
    """Add the option of a parameter, with the first sentence of its text."""
    default = parameter.default
    required = default is parameter.empty
    reading = _reading(parameter.annotation)
    shown = " ".join(default) if isinstance(default, tuple) else f"{default}"
    note = "" if required or shown in ("", "None", "False", "True") else f" (default: {shown})"
    sentence = re.split(r"(?<=[^.])\. ", text)[0].rstrip(".").replace("`", "")
    line = textwrap.shorten(sentence, WIDTH - INDENT - len(note), placeholder=" ...") + note
    reading |= {"help": line.replace("%", "%%"), "default": argparse.SUPPRESS}
    if default is True:
        flag = f"--no-{flag[2:]}"
        reading["action"] = "store_false"
    if flag.startswith("--"):
        reading |= {"dest": parameter.name, "required": required}
    elif not required:
        reading |= {"nargs": "?", "default": default}
    parser.add_argument(flag, **reading)


def _reading(annotation: Any) -> dict[str, Any]:
    """Choose how argparse reads values of a type."""
    origin = get_origin(annotation)
    arguments = get_args(annotation)
    if origin is Literal:
        return {"choices": arguments, "metavar": "|".join(arguments)}
    if origin is Annotated:
        kind, metavar = arguments
        return {"type": kind, "metavar": metavar}
    if origin is dict:
        return {"action": _Pairs, "metavar": "KEY=VALUE"}
    if origin is tuple:
        return _reading(arguments[0]) | {"nargs": len(arguments)}
    if origin is Sequence:
        return _reading(arguments[0]) | {"nargs": "+", "action": "extend"}
    if origin in (Union, UnionType):
        return _reading_of_several(arguments)
    if annotation is bool:
        return {"action": "store_true"}
    return {"type": annotation, "metavar": METAVARS[annotation]}


def _reading_of_several(types: Sequence[Any]) -> dict[str, Any]:
    """Choose for several types: several values where they may be, and text where it may be."""
    for kind in types:
        if get_origin(kind) is Sequence:
            return _reading(kind)
    if bool in types:
        return {"action": argparse.BooleanOptionalAction}
    if {*types} == {str, NoneType}:
        return {"type": lambda text: None if text == "none" else text, "metavar": "TEXT|none"}
    if str in types:
        return {"type": _number_or_text if int in types else str, "metavar": METAVARS[str]}
    return _reading(types[0])


def _number_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def printable(path: str) -> str:
    """Write the bytes of a path that are no text as numbers."""
    return os.fsencode(path).decode(errors="backslashreplace")


def check_paths(options: Sequence[argparse.Action], values: Mapping[str, Any]) -> None:
    """Check, before hours of work, that paths to write to are not read and can be written."""
    paths = [(option, values[option.dest]) for option in options if option.dest in values]
    inputs = list[str]()
    files = dict[str, str]()
    for option, value in paths:
        if value in ("", [""]) and option.metavar in (*INPUTS, *OUTPUTS):
            raise ArgumentError(option.dest, "must be a path", "an empty text")
        if option.metavar in INPUTS:
            inputs += [value] if isinstance(value, str) else value
    if inputs.count("-") > 1:
        raise ValueError("only one file can be -, standard input.")
    for option, path in paths:
        if option.metavar in OUTPUTS and path != "-":
            for source in inputs:
                if _is_in(path, source):
                    raise ArgumentError(
                        option.dest,
                        "must be no file that is read, and in no folder that is read",
                        f"{path}, where {source} is read",
                    )
            flag = option.option_strings[0]
            _check_output(str(option.metavar), path, flag)
            if option.metavar != "NEW-FOLDER":
                other = files.setdefault(os.path.realpath(path), flag)
                if other != flag:
                    raise ArgumentError(flag, f"must be another file than {other}", path)


def _is_in(path: str, source: str) -> bool:
    """Whether a path is an existing file or folder, by whatever links, or lies in it."""
    resolved = Path(path).resolve()
    folders = [part for part in (resolved, *resolved.parents) if part.exists()]
    return os.path.exists(source) and any(part.samefile(source) for part in folders)


def _check_output(kind: str, path: str, flag: str) -> None:
    """Check that a path is on this disk, and of its kind; a picture, of a known format."""
    if kind == "NEW-FOLDER":
        check_local(path, flag)
        if os.path.isfile(path):
            raise ArgumentError(flag, "must be a folder", f"the file {path}")
        return
    check_folder(path, flag)
    if kind == "PICTURE":
        from matplotlib.backend_bases import FigureCanvasBase  # takes a good part of a second

        kinds = FigureCanvasBase.get_supported_filetypes()
        if Path(path).suffix[1:].lower() not in kinds:
            raise ArgumentError(flag, f"must end in one of {', '.join(sorted(kinds))}", path)
