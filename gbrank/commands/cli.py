"""Gradient-boosted tree rankers trained on ranking metrics.

commands:
  demo      train three rankers on built-in data and compare them
  train     train a ranker and save it
  tune      find the best ranker in some minutes and save it
  predict   score documents with a model
  evaluate  evaluate a model, scores or runs
  compare   compare rankers by cross-validation
  explain   explain why documents are ranked as they are
  report    write a page on what a model is worth and where it fails
  info      describe a model
  export    write a model as search engines load it
  list      list objectives and metrics

first steps:
  gbrank demo
  gbrank train train.txt --valid valid.txt --early-stopping-rounds auto --model my-ranker
  gbrank evaluate test.txt --model my-ranker --metric ndcg@10 map
  gbrank predict test.txt --model my-ranker --output scores.txt
  gbrank COMMAND --help
"""

import argparse
import importlib
import io
import os
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from importlib.machinery import SourceFileLoader
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType
from typing import Any, NoReturn

from gbrank.common.checks import ArgumentError
from gbrank.common.version import __version__
from gbrank.fit.interrupted import FitInterrupted

from .options import FLAGS, arguments_of, check_paths, command_parser

COMMANDS = {  # by name, the function of each, whose module is imported when it is called
    "demo": "comparisons:demo", "compare": "comparisons:compare",
    "train": "training:train", "tune": "training:tune",
    "predict": "measuring:predict", "evaluate": "measuring:evaluate",
    "explain": "models:explain", "report": "models:report",
    "info": "models:info", "export": "models:export", "list": "models:list_registered",
}  # fmt: skip
INTERRUPTED = 130  # as shells report SIGINT
BROKEN_PIPE = 141  # as shells report SIGPIPE


def main(argv: Sequence[str] | None = None) -> int:
    """Run the ``gbrank`` command and return its exit code.

    Answers go to standard output, all else to standard error. The code is 0 if all went well, 1 if
    data, a model or the content of an argument is at fault (one line says why), 130 after Ctrl-C,
    141 on a broken pipe. On wrong usage, argparse exits with 2.
    """
    flags = dict[str, str]()
    kinds = set[type[Warning]]()

    def show(message: object, category: type[Warning], *_: Any, **__: Any) -> None:
        kinds.add(category)
        _say(f"warning: {message}")

    try:
        _open_streams()
        words = list(sys.argv[1:] if argv is None else argv)
        if not words or words[0] not in COMMANDS:
            _print_help(words)
        with warnings.catch_warnings():
            warnings.showwarning = show
            warnings.simplefilter("always", FitInterrupted)  # whatever PYTHONWARNINGS says
            _call(words, flags)
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


def _open_streams() -> None:
    """Replace closed standard streams, and let the others print what their encoding lacks."""
    sys.stdin = sys.stdin or io.StringIO()  # None where it is closed
    sys.stdout = sys.stdout or io.StringIO()
    sys.stderr = sys.stderr or io.StringIO()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _call(words: Sequence[str], flags: dict[str, str]) -> None:
    """Call a command with the values of its options, whose flags are added by parameter."""
    command = resolve_name(f"gbrank.commands.{COMMANDS[words[0]]}")
    parser, options = command_parser(words[0], command)
    flags |= {item.dest: next(iter(item.option_strings), item.dest) for item in options}
    values = _parsed(parser, flags, words[1:])
    check_paths(options, values)
    with plugins(values.pop("plugin")):
        command(**arguments_of(command, values))


def _print_help(words: Sequence[str]) -> NoReturn:
    """Print help, the version, or an error where the first word is no command, and exit."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("gbrank", description=__doc__, formatter_class=form)
    parser.add_argument("--version", action="version", version=f"gbrank {__version__}")
    parser.add_argument("command", metavar="COMMAND", help="one of these")
    name = parser.parse_args(words[:1]).command
    from gbrank.common.checks import unknown_name  # not loaded for help

    parser.error(str(unknown_name("command", name, COMMANDS)))


def _parsed(
    parser: argparse.ArgumentParser, flags: Mapping[str, str], words: Sequence[str]
) -> dict[str, Any]:
    """Parse the words of a command; --n_estimators=5 is --n-estimators=5."""
    end = words.index("--") if "--" in words else len(words)  # what follows are files
    dashed = [re.sub("^--[^=]+", lambda m: m[0].replace("_", "-"), word) for word in words[:end]]
    known = parser._option_string_actions
    for flag in (word.partition("=")[0] for word in dashed):
        if flag.startswith("--") and not any(option.startswith(flag) for option in known):
            from gbrank.common.checks import nearest  # not loaded for help
            from gbrank.fit.known_elsewhere import HERE

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


def plugins(names: Sequence[str]) -> Any:
    """Import modules, and return the context in which other processes import them too."""
    import_plugins(names)
    if not names:
        return nullcontext()
    import joblib  # takes long to import

    return joblib.parallel_config(backend="loky", initializer=import_plugins, initargs=(names,))


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
