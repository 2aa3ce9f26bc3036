"""The ``gbrank`` command: train, apply, judge and inspect rankers from a shell."""

import argparse
import importlib
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from gbrank.common.version import __version__

__all__ = ["main"]

COMMANDS = {  # name -> summary; the rest of a command is in the file of its name in commands/
    "demo": "train three rankers on built-in data and compare them",
    "train": "train a ranker and save it",
    "predict": "score documents with a model",
    "evaluate": "measure how good a model or scores are",
    "compare": "compare rankers by cross-validation",
    "info": "say what a model is",
    "export": "write a model as search engines load it",
    "list": "list objectives and measures",
}
EXAMPLES = """\
examples:
  gbrank demo
  gbrank train train.txt --valid valid.txt --early-stopping-rounds 50 --model my-ranker
  gbrank evaluate test.txt --model my-ranker --metric ndcg@10 map
  gbrank predict my-ranker test.txt --output scores.txt
  gbrank COMMAND --help
"""
INTERRUPTED, BROKEN_PIPE = 130, 141  # what shells report after SIGINT and SIGPIPE


def main(argv: Sequence[str] | None = None) -> int:
    """Run the ``gbrank`` command and return its exit code.

    Answers go to standard output, progress and messages to standard error. The code is 0 if all
    went well, 1 if data, a model or the content of an argument is at fault (one line on standard
    error says why), 130 after Ctrl-C, 141 if nobody reads standard output any more. Where the usage
    is wrong, argparse ends the process with 2.
    """
    try:
        arguments = _parser().parse_args(argv)
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: _say(f"warning: {message}")
            arguments.run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Python flushes what is left when it exits, which would fail once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as error:
        _say(f"error: {error.filename}: {error.strerror}" if error.filename else f"error: {error}")
        return 1
    except (ImportError, ValueError, TypeError) as error:
        _say(f"error: {error}")
        return 1
    return 0


def _say(message: str) -> None:
    print("gbrank:", *message.splitlines(), file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    layout: dict[str, Any] = {"formatter_class": argparse.RawDescriptionHelpFormatter}
    parser = argparse.ArgumentParser(
        prog="gbrank",
        description="Gradient-boosted tree rankers trained on the measure that they are judged by.",
        epilog=EXAMPLES,
        **layout,
    )
    parser.add_argument("--version", action="version", version=f"gbrank {__version__}")
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True, parser_class=_CommandParser
    )
    for name, summary in COMMANDS.items():
        commands.add_parser(name, help=summary, **layout).set_defaults(command=name)
    return parser


class _CommandParser(argparse.ArgumentParser):
    """The parser of a command, completed when the command is called: that takes a second."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        command = importlib.import_module(f"gbrank.commands.{self.get_default('command')}")
        self.usage, self.description = command.USAGE, command.DETAILS
        self.epilog = f"examples:\n{command.EXAMPLES}"
        command.add_options(self)
        self.set_defaults(run=command.run)
        return super().parse_known_args(args, namespace)
