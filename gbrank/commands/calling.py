"""Calls of commands: the words of a command line, errors and warnings, exit codes, plugins."""

import argparse
import importlib
import os
import re
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from importlib.machinery import SourceFileLoader
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType
from typing import Any

from gbrank.common.checks import ArgumentError, nearest
from gbrank.fit.interrupted import FitInterrupted
from gbrank.fit.known_elsewhere import HERE

from .options import FLAGS, arguments_of, check_paths, command_parser

INTERRUPTED = 130  # as shells report SIGINT
BROKEN_PIPE = 141  # as shells report SIGPIPE


def call(place: str, words: Sequence[str]) -> int:
    """Call the function of a command as `words` say, and return the exit code."""
    flags = dict[str, str]()
    kinds = set[type[Warning]]()

    def show(message: object, category: type[Warning], *_: Any, **__: Any) -> None:
        kinds.add(category)
        _say(f"warning: {message}")

    try:
        with warnings.catch_warnings():
            warnings.showwarning = show
            warnings.simplefilter("always", FitInterrupted)  # whatever PYTHONWARNINGS says
            _run(resolve_name(f"gbrank.commands.{place}"), words, flags)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        _flush_or_discard()
        if isinstance(error, BrokenPipeError):
            return BROKEN_PIPE
        reason = f"{error.filename}: {error.strerror}" if error.filename else f"{error}"
    except ArgumentError as error:
        name = (FLAGS | flags).get(error.argument, error.argument)
        remedies = [flags[remedy] for remedy in error.remedies if remedy in flags]
        here = f" Here: {', '.join(remedies)}." if remedies else ""
        reason = f"{error.message(name)}{here}"
    except (ImportError, MemoryError, RecursionError, TypeError, ValueError) as error:
        reason = str(error)
    else:
        return INTERRUPTED if FitInterrupted in kinds else 0
    _say(f"error: {reason}")
    return 1


def _run(command: Callable[..., None], words: Sequence[str], flags: dict[str, str]) -> None:
    """Call a command with the values of its options, whose flags are added by parameter."""
    parser = command_parser(words[0], command)
    options = parser._actions[1:]  # without --help
    flags |= {item.dest: next(iter(item.option_strings), item.dest) for item in options}
    values = _parsed(parser, flags, words[1:])
    check_paths(options, values)
    names = values.pop("plugin")
    import_plugins(names)
    context: Any = nullcontext()
    if names:  # which other processes import, too
        import joblib  # takes long to import

        context = joblib.parallel_config(
            backend="loky", initializer=import_plugins, initargs=(names,)
        )
    with context:
        command(**arguments_of(command, values))


def _parsed(
    parser: argparse.ArgumentParser, flags: Mapping[str, str], words: Sequence[str]
) -> dict[str, Any]:
    """Parse the words of a command; --n_estimators=5 is --n-estimators=5."""
    end = words.index("--") if "--" in words else len(words)  # what follows are files
    dashed = [re.sub("^--[^=]+", lambda m: m[0].replace("_", "-"), word) for word in words[:end]]
    known = parser._option_string_actions
    for flag in (word.partition("=")[0] for word in dashed):
        if flag.startswith("--") and not any(option.startswith(flag) for option in known):
            if text := HERE.get(flag[2:].replace("-", "_")):
                options = [flags[name] for name in re.findall(r"(\w+)=", text) if name in flags]
                here = f" Here: {', '.join(options)}." if options else ""
                parser.error(f"unrecognized argument {flag}: {text}.{here}")
            option = nearest(flag, known)
            hint = f" Did you mean {option!r}?" if option else ""
            parser.error(f"unrecognized argument {flag}.{hint}")
    return vars(parser.parse_args([*dashed, *words[end:]]))


def _flush_or_discard() -> None:
    """Flush standard output, or drop the rest: at exit Python would try again, and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(message: str) -> None:
    print("gbrank:", *message.splitlines(), file=sys.stderr)


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
