r"""Train a ranker on the documents in the files and write it to a folder.

Ctrl-C ends the training early; the model is saved all the same.

For example:

  gbrank train train.txt --model my-ranker
  gbrank train train.txt --model my-ranker --valid valid.txt --early-stopping-rounds auto \
      --objective lambda:map --metric map ndcg@10
  gbrank train train.parquet --label grade --qid query --drop url --model my-ranker
  gbrank train folder-of-parquet-files --valid another-folder --model my-ranker
  gbrank train train.txt.gz --model my-ranker --validation-fraction 0.2
  gbrank train train.txt --model my-ranker --booster xgboost --booster-param max_bin=64
  gbrank train train.txt --model my-ranker --sigma "geometric(1, 0.1)"
  gbrank train train.parquet --model my-ranker --labels margin \
      --objective "noisy:ndcg+0.5*noisy:ndcg[margin]"
  gbrank train clicks.txt --model my-ranker --positions positions.txt
  gbrank train train.txt --model my-ranker --checkpoint unfinished --checkpoint-rounds 20
  gbrank train train.txt --model my-ranker --plugin mine.py --objective mine
"""

import argparse
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gbrank.commands.data_files import add_file, read_labelled, read_numbers
from gbrank.commands.outputs import check_model
from gbrank.commands.parameters import add_parameters, given_parameters, parameters_of
from gbrank.commands.shared import add, add_plugin, validation_curve
from gbrank.data.schema import Schema
from gbrank.fit.interrupted import FitInterrupted
from gbrank.ranker import GBRanker

USAGE = "gbrank train FILE --model FOLDER [options]"

PARAMETERS = parameters_of(GBRanker, "verbose")  # that is --quiet


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank train`."""
    add_file(parser, "features", "categorical", "unjudged")
    add(parser, "--model FOLDER", "where the model goes", written=check_model, required=True)
    add(parser, "--valid FILE", "validation data", dest="eval_set")
    text = "columns of tables that are other labels, for objectives and measures: "
    add(parser, "--labels COLUMN ...", text + '"ndcg@10[COLUMN]"')
    text = "number of features in LETOR files (default: the largest index in the training data)"
    add(parser, "--n-features N", text)
    text = "where each document was shown, from 1, one a line, if labels are clicks; - is "
    add(parser, "--positions PATH", text + "standard input", dest="position")
    text = "write here what the same command, if it is killed, goes on from (see GBRanker.fit)"
    add(parser, "--checkpoint FOLDER", text, written=True)
    add(parser, "--checkpoint-rounds N", "rounds between two checkpoints", default=50)
    add(parser, "--quiet", "show no progress bar")
    add_plugin(parser)
    add_ranker(parser)


def add_ranker(parser: argparse.ArgumentParser, *without: str) -> None:
    """Add options for parameters of GBRanker; the same command makes the same model."""
    names = [name for name in PARAMETERS if name not in without]
    add_parameters(parser, "parameters of GBRanker", GBRanker, names, random_state=0)


def run(arguments: argparse.Namespace) -> None:
    """Train a ranker, save it and say what came out."""
    ranker = ranker_of(arguments)
    ranker.set_params(verbose=int(sys.stderr.isatty() and not arguments.quiet))
    labels = arguments.labels or []
    data = read_labelled(arguments, arguments.file, labels=labels)
    names = ("categorical_feature", "checkpoint", "checkpoint_rounds")
    options: dict[str, Any] = {name: getattr(arguments, name) for name in names}
    if arguments.position is not None:
        options["position"] = read_numbers(arguments.position, "positions", data)
    if arguments.eval_set:
        schema = Schema.learn(data.X, arguments.categorical_feature)
        valid = read_labelled(arguments, arguments.eval_set, schema, labels)
        options |= {"eval_set": [(valid.X, valid.y)], "eval_qid": [valid.qid]}
        if labels:
            options["eval_labels"] = [valid.labels]
    if labels:
        options["labels"] = data.labels
    with noted_interrupt() as interrupted:
        ranker.fit(data.X, data.y, qid=data.qid, **options)
    ranker.save(arguments.model)
    _report(ranker, arguments.model)
    if interrupted:
        raise KeyboardInterrupt


def ranker_of(arguments: argparse.Namespace) -> GBRanker:
    """Return the unfitted ranker with the parameters that are given."""
    given = given_parameters(arguments, PARAMETERS)
    return GBRanker(**given | {"booster_params": dict(given.get("booster_params", ()))})


@contextmanager
def noted_interrupt() -> Iterator[list[object]]:
    """Yield a list that has an entry once Ctrl-C has ended a fit, which keeps what it has."""
    interrupted: list[object] = []
    show = warnings.showwarning

    def note(message: Any, category: type[Warning], *where: Any, **options: Any) -> None:
        if issubclass(category, FitInterrupted):
            interrupted.append(message)
        show(message, category, *where, **options)

    with warnings.catch_warnings():
        warnings.simplefilter("always", FitInterrupted)
        warnings.showwarning = note
        yield interrupted


def _report(ranker: GBRanker, folder: str) -> None:
    measure, curve = validation_curve(ranker)
    n_kept = ranker.best_iteration_
    done = len(curve) or n_kept
    print(f"{ranker.objective} with {ranker.booster}: {n_kept} of {done} rounds kept")
    if curve:
        print(f"validation {measure}: {ranker.best_score_:.4f}")
    print(f"model: {folder}")
