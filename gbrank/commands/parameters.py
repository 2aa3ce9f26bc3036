"""Options that follow from the parameters of a function or class, and from its docstring."""

import argparse
import inspect
import json
import re
from collections.abc import Callable, Iterable
from typing import Any, get_args

METAVARS = {str: "TEXT", int: "N", float: "X"}
SEVERAL = {"eval_metric": "MEASURE"}


def parameters_of(source: Callable[..., Any], *without: str) -> list[str]:
    """Return the names of the parameters of a function or class."""
    return [name for name in inspect.signature(source).parameters if name not in without]


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


def add_parameters(
    parser: argparse.ArgumentParser,
    title: str,
    source: Callable[..., Any],
    names: Iterable[str],
    **defaults: object,
) -> None:
    """Add options for parameters; those that are not given are left out of the result."""
    group = parser.add_argument_group(title)
    documentation, known = documented_parameters(source), inspect.signature(source, eval_str=True)
    for name in names:
        parameter = known.parameters[name]
        flag, options = _option(name, parameter.annotation)
        kind, text = documentation[name]
        default = defaults.get(name, parameter.default)
        note = kind.removesuffix(", optional")
        if default is not None:
            note += f"; default: {default}"
        text = f"{text} ({note})".replace("`", "").replace("%", "%%")
        options["default"] = defaults.get(name, argparse.SUPPRESS)
        group.add_argument(flag, dest=name, help=text, **options)


def given_parameters(arguments: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """Return the parameters that are given, and those that have another default."""
    return {name: getattr(arguments, name) for name in names if hasattr(arguments, name)}


def _option(name: str, annotation: object) -> tuple[str, dict[str, Any]]:
    """Return the flag of a parameter, and how argparse reads it: as text where it may be text."""
    if name in SEVERAL:
        flag = "--metric" if name == "eval_metric" else f"--{name}"
        return flag, {"nargs": "+", "action": "extend", "metavar": SEVERAL[name]}
    if name == "booster_params":
        return "--booster-param", {"type": _pair, "action": "append", "metavar": "KEY=VALUE"}
    flag = f"--{name.replace('_', '-')}"
    accepted = (annotation, *get_args(annotation))
    if int in accepted and str in accepted:
        return flag, {"type": _integer_or_text, "metavar": "N"}
    if bool in accepted:
        return flag, {"action": argparse.BooleanOptionalAction}
    kind = next(kind for kind in METAVARS if kind in accepted)
    return flag, {"type": kind, "metavar": METAVARS[kind]}


def _integer_or_text(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text


def _pair(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"expected KEY=VALUE, got {text!r}")
    try:
        return key, json.loads(value)
    except json.JSONDecodeError:
        return key, value
