"""`gbrank demo`."""

import argparse
import sys
import time
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from gbrank.commands.shared import check_folder
from gbrank.common.checks import check_number
from gbrank.datasets import make_cubic
from gbrank.evaluation import Dataset, Documents, Fold
from gbrank.measures.measure_registry import get_measure
from gbrank.objectives.from_string import DEFAULT_OBJECTIVE
from gbrank.plots.style import PALETTE, tidy
from gbrank.ranker import GBRanker

__all__ = ["add_options", "run"]

USAGE = "gbrank demo [options]"
DETAILS = """\
Trains the default objective, LambdaRank and the booster's own ranking objective on artificial data,
prints how good they are on other queries, and draws their learning curves. It takes about half a
minute, and another one the first time, to compile."""
EXAMPLES = """\
  gbrank demo
  gbrank demo --booster xgboost --output xgboost.png"""

BUILT_IN = {"lightgbm": "lightgbm:lambdarank", "xgboost": "xgboost:rank:ndcg"}

METRIC = "ndcg@10"
PATIENCE = 50
RELEVANT = 2  # labels are 0 to 4, and one document in six has 2 or more
COLUMNS = {
    "NDCG@1": "ndcg@1",
    "NDCG@5": "ndcg@5",
    "NDCG@10": "ndcg@10",
    "AP": f"ap(threshold={RELEVANT})",
    "RR": f"rr(threshold={RELEVANT})",
}


class _Fit(NamedTuple):
    objective: str
    ranker: GBRanker
    seconds: float


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank demo`."""

    def add(flag: str, default: int | str, text: str, **options: Any) -> None:
        text = f"{text} (default: {default})"
        parser.add_argument(flag, type=type(default), default=default, help=text, **options)

    add("--output", "gbrank-demo.png", "where the picture goes", metavar="PATH")
    add("--booster", "lightgbm", "what grows the trees", choices=list(BUILT_IN))
    add("--queries", 1800, "how many queries to make, at least 9", metavar="N")
    add("--rounds", 400, "largest number of rounds", metavar="N")
    add("--seed", 0, "seed of data and training", metavar="N")
    add("--n-jobs", 1, "threads", metavar="N")


def run(arguments: argparse.Namespace) -> None:
    """Train three rankers, print a table of measures and draw learning curves."""
    booster = arguments.booster
    check_number(arguments.queries, "--queries", 9, integer=True)
    check_folder(arguments.output, "--output")
    X, y, qid = make_cubic(arguments.queries, random_state=arguments.seed)
    bounds = (arguments.queries * 5 // 9, arguments.queries * 6 // 9, arguments.queries)
    n_train, n_valid, n_test = np.diff(bounds, prepend=0).tolist()
    part = np.searchsorted(bounds, qid, side="right")
    fold = Fold(*(np.flatnonzero(part == place) for place in range(3)))
    train, valid, test = Dataset("cubic", X, y, qid, [fold]).fold(1)

    def fit(objective: str, rounds: int) -> _Fit:
        ranker = GBRanker(
            objective,
            booster=booster,
            n_estimators=rounds,
            eval_metric=METRIC,
            early_stopping_rounds=PATIENCE,
            random_state=arguments.seed,
            n_jobs=arguments.n_jobs,
        )
        start = time.perf_counter()
        ranker.fit(
            train.X, train.y, qid=train.qid, eval_set=[(valid.X, valid.y)], eval_qid=[valid.qid]
        )
        return _Fit(objective, ranker, time.perf_counter() - start)

    print(
        f"Data: {arguments.queries} queries of 50 documents, 50 features, labels 0 to 4 "
        f"(make_cubic, seed {arguments.seed}):\n"
        f"  {n_train} queries to train on, {n_valid} to validate, {n_test} to test.\n"
        f"Trees: {booster}, the same settings for all, at most {arguments.rounds} rounds,\n"
        f"  fewer when {PATIENCE} rounds bring no better {METRIC} on the validation queries.",
        flush=True,
    )
    objectives = (DEFAULT_OBJECTIVE, "lambdarank", BUILT_IN[booster])
    _say("Compiling ...")
    for objective in objectives:
        fit(objective, 1)  # so that fit times do not include it
    fits = []
    for objective in objectives:
        _say(f"Training {objective} ...")
        fits.append(fit(objective, arguments.rounds))
    print(
        f"\nMeans over the {n_test} test queries; for AP and RR, labels from {RELEVANT} on are "
        f"relevant:\n\n{_table(fits, test)}\n"
    )
    _draw(fits, booster, n_valid).savefig(arguments.output, dpi=150)
    print(f"Learning curves: {arguments.output}")


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def _table(fits: list[_Fit], test: Documents) -> str:
    rows = [["objective", *COLUMNS, "rounds", "fit time"]]
    for objective, ranker, seconds in fits:
        scores = ranker.predict(test.X)
        values = [get_measure(name)(test.y, scores, qid=test.qid) for name in COLUMNS.values()]
        cells = [f"{value:.4f}" for value in values]
        rows.append([objective, *cells, str(ranker.best_iteration_), f"{seconds:.1f} s"])
    width = max(len(row[0]) for row in rows)
    return "\n".join(
        f"  {first:<{width}}" + "".join(f"{cell:>10}" for cell in others) for first, *others in rows
    )


def _draw(fits: list[_Fit], booster: str, n_queries: int) -> Figure:
    """Draw the validation measure by round, with a dot at each best round."""
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    for (objective, ranker, _), colour in zip(fits, PALETTE, strict=False):
        curve = ranker.evals_result_["valid_0"][METRIC]
        best = ranker.best_iteration_
        label = f"{objective}: {ranker.best_score_:.3f} after {best} rounds"
        axes.plot(range(1, len(curve) + 1), curve, color=colour, label=label)
        axes.plot(best, ranker.best_score_, "o", color=colour)
    axes.set_title(f"Three objectives, the same {booster} trees; dots mark the best rounds")
    axes.set_xlabel("boosting rounds (trees)")
    axes.set_ylabel(f"NDCG@10, mean over {n_queries} validation queries")
    axes.set_xlim(left=0)
    tidy(axes)
    axes.legend(loc="lower right", frameon=False, title="best on validation queries")
    return figure
