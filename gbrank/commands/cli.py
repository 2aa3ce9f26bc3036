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
import io
import sys
from collections.abc import Sequence
from typing import NoReturn

from gbrank.common.version import __version__

COMMANDS = {  # by name, the function of each, whose module is imported when it is called
    "demo": "comparisons:demo", "compare": "comparisons:compare",
    "train": "training:train", "tune": "training:tune",
    "predict": "measuring:predict", "evaluate": "measuring:evaluate",
    "explain": "models:explain", "report": "models:report",
    "info": "models:info", "export": "models:export", "list": "models:list_registered",
}  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Run the ``gbrank`` command and return its exit code.

    Answers go to standard output, all else to standard error. The code is 0 if all went well, 1 if
    data, a model or the content of an argument is at fault (one line says why), 130 after Ctrl-C,
    141 on a broken pipe. On wrong usage, argparse exits with 2.
    """
    sys.stdin = sys.stdin or io.StringIO()  # None where it is closed
    sys.stdout = sys.stdout or io.StringIO()
    sys.stderr = sys.stderr or io.StringIO()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what its encoding lacks
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or words[0] not in COMMANDS:
        _print_help(words)
    from .calling import call  # loads NumPy, which help does not need

    return call(COMMANDS[words[0]], words)


def _print_help(words: Sequence[str]) -> NoReturn:
    """Print help, the version, or an error where the first word is no command, and exit."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("gbrank", description=__doc__, formatter_class=form)
    parser.add_argument("--version", action="version", version=f"gbrank {__version__}")
    parser.add_argument("command", metavar="COMMAND", help="one of these")
    name = parser.parse_args(words[:1]).command
    from gbrank.common.checks import unknown_name  # not loaded for help

    parser.error(str(unknown_name("command", name, COMMANDS)))
