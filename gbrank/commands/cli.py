"""The ``gbrank`` command: train, apply, judge and inspect rankers from a shell."""

import argparse
import difflib
import importlib
import io
import os
import re
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gbrank.commands.outputs import check_outputs
from gbrank.commands.shared import import_plugins
from gbrank.common.argument_error import ArgumentError
from gbrank.common.version import __version__

COMMANDS = {  # name -> summary; the rest of a command is in the file of its name in commands/
    "demo": "train three rankers on built-in data and compare them",
    "train": "train a ranker and save it",
    "tune": "find the best ranker in some minutes and save it",
    "predict": "score documents with a model",
    "evaluate": "measure how good a model or scores are",
    "compare": "compare rankers by cross-validation",
    "explain": "say why documents are ranked as they are",
    "report": "write a page on what a model is worth and where it fails",
    "info": "say what a model is",
    "export": "write a model as search engines load it",
    "list": "list objectives and measures",
}
EXAMPLES = """\
examples:
  gbrank demo
  gbrank train train.txt --valid valid.txt --early-stopping-rounds auto --model my-ranker
  gbrank evaluate test.txt --model my-ranker --metric ndcg@10 map
  gbrank predict test.txt --model my-ranker --output scores.txt
  gbrank COMMAND --help
"""
INTERRUPTED, BROKEN_PIPE = 130, 141  # what shells report after SIGINT and SIGPIPE
PATHS = ("FILE", "FOLDER", "PATH", "MODULE")  # what help calls the arguments that are files


def main(argv: Sequence[str] | None = None) -> int:
    """Run the ``gbrank`` command and return its exit code.

    Answers go to standard output, all else to standard error. The code is 0 if all went well, 1 if
    data, a model or the content of an argument is at fault (one line says why), 130 after Ctrl-C,
    141 if nobody reads standard output any more. On wrong usage, argparse exits with 2.
    """
    flags: dict[str, str] = {}
    try:
        _prepare_streams()
        arguments = _parser().parse_args(argv)
        flags = arguments.flags
        check_outputs(arguments)
        with warnings.catch_warnings():
            warnings.showwarning = lambda text, *_: _say(f"warning: {text}")
            import_plugins(getattr(arguments, "plugin", ()))
            arguments.run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _flush_or_discard()
        return BROKEN_PIPE
    except OSError as error:
        _flush_or_discard()
        reason = f"{error.filename}: {error.strerror}" if error.filename else f"{error}"
    except MemoryError as error:
        reason = f"not enough memory: {error}"
    except ArgumentError as error:
        error.hint = re.sub(r"\b(\w+)=", lambda word: _option(word, flags), error.hint)
        reason = error.message(flags.get(error.argument, error.argument))
    except (ImportError, ValueError, TypeError, RecursionError) as error:
        reason = str(error)
    else:
        return 0
    _say(f"error: {reason}")
    return 1


def _option(word: re.Match[str], flags: Mapping[str, str]) -> str:
    """Return the option for an argument that a hint names, as "unjudged=", or what it says."""
    return f"{flags[word[1]]} " if word[1] in flags else word[0]


def _prepare_streams() -> None:
    """Write what the encoding of an output lacks as its number."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _flush_or_discard() -> None:
    """Flush standard output, or drop the rest: at exit Python would try again, and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(message: str) -> None:
    print("gbrank:", *message.splitlines(), file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    layout: dict[str, Any] = {"formatter_class": argparse.RawDescriptionHelpFormatter}
    text = "Gradient-boosted tree rankers trained on the measure that they are judged by."
    parser = _Parser("gbrank", description=text, epilog=EXAMPLES, **layout)
    parser.add_argument("--version", action="version", version=f"gbrank {__version__}")
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True, parser_class=_CommandParser
    )
    for name, summary in COMMANDS.items():
        commands.add_parser(name, help=summary, **layout).set_defaults(command=name)
    return parser


class _Parser(argparse.ArgumentParser):
    """The parser of the first word, which is a command."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        words = sys.argv[1:] if args is None else list(args)
        if words and not words[0].startswith("-") and words[0] not in COMMANDS:
            known = ", ".join(COMMANDS)
            hint = _meant(words[0], COMMANDS)
            self.error(f"unknown command {words[0]!r}.{hint} Known: {known}.")
        return super().parse_known_args(words, namespace)


class _CommandParser(argparse.ArgumentParser):
    """The parser of a command, completed when it is called: to import a command takes a second."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        command = importlib.import_module(f"gbrank.commands.{self.get_default('command')}")
        text, _, examples = (command.__doc__ or "").partition("For example:\n\n")
        self.usage, self.description, self.epilog = command.USAGE, text, f"examples:\n{examples}"
        self.set_defaults(run=command.run, outputs={})
        command.add_options(self)
        flags = {item.dest: item.option_strings[0] for item in self._actions if item.option_strings}
        paths = {item.dest: str(item.metavar) for item in self._actions if item.metavar in PATHS}
        self.set_defaults(flags=flags, paths=paths)
        # --early_stopping_rounds=5 is known too
        args = [re.sub("^--[^=]+", lambda flag: flag[0].replace("_", "-"), text) for text in args]
        for text in args[: args.index("--")] if "--" in args else args:
            if text.startswith("--"):
                self._check_flag(text.partition("=")[0], flags)
        return super().parse_known_args(args, namespace)

    def _check_flag(self, flag: str, flags: dict[str, str]) -> None:
        """Refuse an unknown option, with what stands for it, or with the one that may be meant."""
        known = self._option_string_actions
        if " " in flag or any(option.startswith(flag) for option in known):
            return  # a text, or an option that may be shortened
        from gbrank.fit.known_elsewhere import option_instead

        if meant := option_instead(flag.strip("-").replace("-", "_"), flags):
            self.error(f"unrecognized argument {flag}: {meant}")
        self.error(f"unrecognized argument {flag}.{_meant(flag, known)}")


def _meant(word: str, known: Iterable[str]) -> str:
    """Return a hint at the known word that may be meant, if there is one."""
    nearest = difflib.get_close_matches(word, list(known), n=1)
    return f" Did you mean {nearest[0]!r}?" if nearest else ""
