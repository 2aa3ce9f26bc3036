"""`gbrank demo`."""

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gbrank.commands.shared import check_folder
from gbrank.common.checks import check_number
from gbrank.data.queries import Queries
from gbrank.datasets import make_cubic
from gbrank.evaluation import Documents
from gbrank.measures.measure_registry import get_measure
from gbrank.plots.style import PALETTE, tidy
from gbrank.ranker import GBRanker

__all__ = ["add_options", "run"]

USAGE = "gbrank demo [options]"
DETAILS = """\
Trains GBRanker, LGBMRanker and XGBRanker as they come, without a parameter, on artificial data,
prints how good they are on other queries, and draws that against the seconds of training. It takes
about half a minute."""
EXAMPLES = """\
  gbrank demo
  gbrank demo --queries 2000 --output larger.png"""

METRIC = "ndcg@10"
RELEVANT = 2  # labels are 0 to 4, and one document in six has 2 or more
COLUMNS = {
    "NDCG@1": "ndcg@1",
    "NDCG@5": "ndcg@5",
    "NDCG@10": METRIC,
    "AP": f"ap(threshold={RELEVANT})",
    "RR": f"rr(threshold={RELEVANT})",
}
POINTS = 20  # of each curve


class _Fit(NamedTuple):
    """A trained ranker: scores after some rounds, how many it has, and its CPU seconds."""

    name: str
    scores: Callable[[int], NDArray[np.float64]]
    rounds: int
    seconds: float


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank demo`."""

    def add(flag: str, default: int | str, text: str, **options: Any) -> None:
        text = f"{text} (default: {default})"
        parser.add_argument(flag, type=type(default), default=default, help=text, **options)

    add("--output", "gbrank-demo.png", "where the picture goes", metavar="PATH")
    add("--queries", 600, "how many queries to make, at least 3", metavar="N")
    add("--seed", 0, "seed of data and training", metavar="N")
    add("--n-jobs", 1, "threads", metavar="N")


def run(arguments: argparse.Namespace) -> None:
    """Train three rankers, print a table of measures and draw them against seconds."""
    check_number(arguments.queries, "--queries", 3, integer=True)
    check_folder(arguments.output, "--output")
    X, y, qid = make_cubic(arguments.queries, random_state=arguments.seed)
    n_train = arguments.queries * 2 // 3
    chosen = qid < n_train
    train = Documents(X[chosen], y[chosen], qid[chosen])
    test = Documents(X[~chosen], y[~chosen], qid[~chosen])
    print(
        f"Data: {arguments.queries} queries of 50 documents, 50 features, labels 0 to 4 "
        f"(make_cubic, seed {arguments.seed}):\n"
        f"  {n_train} queries to train on, {arguments.queries - n_train} to test.\n"
        "Rankers as they come, without a parameter but the seed and the number of threads.",
        flush=True,
    )
    common = {"random_state": arguments.seed, "n_jobs": arguments.n_jobs}
    _say("Compiling ...")
    GBRanker(n_estimators=1, **common).fit(train.X, train.y, qid=train.qid)
    fits = []
    for name, fit in (
        ("GBRanker", _fit_gbrank), ("LGBMRanker", _fit_lightgbm), ("XGBRanker", _fit_xgboost)
    ):  # fmt: skip
        _say(f"Training {name} ...")
        start = time.process_time()
        scores, rounds = fit(train, test.X, common)
        fits.append(_Fit(name, scores, rounds, time.process_time() - start))
    print(
        f"\nMeans over the test queries; for AP and RR, labels from {RELEVANT} on are "
        f"relevant:\n\n{_table(fits, test)}\n"
    )
    _draw(fits, test).savefig(arguments.output, dpi=150)
    print(f"NDCG@10 against seconds: {arguments.output}")


def _fit_gbrank(train: Documents, X: Any, common: dict[str, Any]) -> tuple[Any, int]:
    ranker = GBRanker(**common).fit(train.X, train.y, qid=train.qid)
    return lambda n: ranker.booster_.predict(X, num_iteration=n), ranker.best_iteration_


def _fit_lightgbm(train: Documents, X: Any, common: dict[str, Any]) -> tuple[Any, int]:
    sizes = Queries.from_qid(train.qid).sizes
    ranker = lgb.LGBMRanker(**common, verbosity=-1).fit(train.X, train.y, group=sizes)
    return lambda n: ranker.predict(X, num_iteration=n), ranker.n_estimators


def _fit_xgboost(train: Documents, X: Any, common: dict[str, Any]) -> tuple[Any, int]:
    ranker = xgb.XGBRanker(**common).fit(train.X, train.y, qid=train.qid)
    rounds = ranker.get_booster().num_boosted_rounds()
    return lambda n: ranker.predict(X, iteration_range=(0, n)), rounds


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def _table(fits: list[_Fit], test: Documents) -> str:
    rows = [["as it comes", *COLUMNS, "rounds", "CPU time"]]
    for ranker, scores_after, rounds, seconds in fits:
        scores = scores_after(rounds)
        values = [get_measure(name)(test.y, scores, qid=test.qid) for name in COLUMNS.values()]
        cells = [f"{value:.4f}" for value in values]
        rows.append([ranker, *cells, str(rounds), f"{seconds:.1f} s"])
    width = max(len(row[0]) for row in rows)
    return "\n".join(
        f"  {first:<{width}}" + "".join(f"{cell:>10}" for cell in others) for first, *others in rows
    )


def _draw(fits: list[_Fit], test: Documents) -> Figure:
    """Draw the measure of the first trees against their share of the seconds."""
    measure = get_measure(METRIC)
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    for (name, scores_after, rounds, seconds), colour in zip(fits, PALETTE, strict=False):
        after = np.unique(np.linspace(1, rounds, POINTS).astype(int))
        values = [measure(test.y, scores_after(int(n)), qid=test.qid) for n in after]
        axes.plot(after / rounds * seconds, values, color=colour)
        axes.plot(seconds, values[-1], "o", color=colour, label=f"{name}: {values[-1]:.3f}")
    axes.set_title("Rankers as they come; dots mark where they stop")
    axes.set_xscale("log")
    axes.set_xlabel("CPU seconds of training")
    axes.set_ylabel("NDCG@10, mean over test queries")
    tidy(axes)
    axes.legend(loc="lower right", frameon=False)
    return figure
