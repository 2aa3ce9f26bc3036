"""Train three rankers on artificial data, print how good they are, and draw it against seconds.

GBRanker, LGBMRanker and XGBRanker are trained as they come, without a parameter, and measured on
other queries. The seconds are those of training. It takes about half a minute.

For example:

  gbrank demo
  gbrank demo --queries 3000 --output larger.png
"""

import argparse
import sys
import time
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from matplotlib.figure import Figure

from gbrank.commands.outputs import check_picture
from gbrank.commands.shared import add, write_picture
from gbrank.common.checks import check_number
from gbrank.data.queries import Queries
from gbrank.data.splitting import query_train_test_split
from gbrank.datasets import make_cubic
from gbrank.evaluation.statistics import holm, randomisation_test
from gbrank.fit.loop import as_part
from gbrank.measures.measure_registry import get_measure
from gbrank.plots.style import PALETTE, tidy
from gbrank.ranker import GBRanker

OUTPUTS = {"output": check_picture}
USAGE = "gbrank demo [options]"

METRIC = "ndcg@10"
RELEVANT = 2  # labels are 0 to 4, and one document in six has 2 or more
COLUMNS = {
    "NDCG@1": "ndcg@1",
    "NDCG@5": "ndcg@5",
    "NDCG@10": METRIC,
    "AP": f"ap(threshold={RELEVANT})",
    "RR": f"rr(threshold={RELEVANT})",
}

# LightGBM's and XGBoost's own rankers without a parameter, in gbrank's words.
OWN: dict[str, Any] = {"n_estimators": 100, "colsample": 1.0, "extra_trees": False}
LIGHTGBM = OWN | {"objective": "lightgbm:lambdarank", "learning_rate": 0.1, "num_leaves": 31}
XGBOOST = OWN | {
    "objective": "xgboost:rank:ndcg",
    "booster": "xgboost",
    "learning_rate": 0.3,
    "num_leaves": 64,
    "max_depth": 6,
    "min_child_samples": 1,
    "reg_lambda": 1.0,
    "booster_params": {"grow_policy": "depthwise"},
}
RANKERS: dict[str, dict[str, Any]] = {"GBRanker": {}, "LGBMRanker": LIGHTGBM, "XGBRanker": XGBOOST}

Fits: TypeAlias = dict[str, tuple[GBRanker, float]]  # with their seconds


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank demo`."""
    text = "where the picture goes (default: gbrank-demo.png)"
    add(parser, "--output PATH", text, default="gbrank-demo.png")
    text = "how many queries to make, at least 3 (default: 1,000)"
    add(parser, "--queries N", text, default=1000)
    add(parser, "--seed N", "seed of data and training (default: 0)", default=0)
    add(parser, "--n-jobs N", "threads (default: 1)", default=1)


def run(arguments: argparse.Namespace) -> None:
    """Train three rankers, print a table of measures and draw them against seconds."""
    check_number(arguments.queries, "--queries", 3, integer=True)
    X, y, qid = make_cubic(arguments.queries, random_state=arguments.seed)
    n_train = arguments.queries * 2 // 3
    X, X_test, y, y_test, qid, qid_test = query_train_test_split(
        X, y, qid=qid, train_size=n_train, shuffle=False
    )
    print(
        f"Data: {arguments.queries} queries of 50 documents, 50 features, labels 0 to 4 "
        f"(make_cubic, seed {arguments.seed}):\n"
        f"  {n_train} queries to train on, {arguments.queries - n_train} to test.\n"
        "Rankers as they come, without a parameter but the seed and the number of threads.",
        flush=True,
    )
    common = {"eval_metric": METRIC, "random_state": arguments.seed, "n_jobs": arguments.n_jobs}
    held_out: dict[str, Any] = {"eval_set": [(X_test, y_test)], "eval_qid": [qid_test]}
    fits: Fits = {}
    for name, params in {"": {"n_estimators": 1}, **RANKERS}.items():  # the first one compiles
        print(f"Training {name} ..." if name else "Compiling ...", file=sys.stderr, flush=True)
        start = time.process_time()
        ranker = GBRanker(**common | params)
        as_part(partial(ranker.fit, X, y, qid=qid, **held_out))
        fits[name] = ranker, time.process_time() - start
    del fits[""]
    print(
        f"\nMeans over the test queries; for AP and RR, labels from {RELEVANT} on are "
        f"relevant:\n\n{_table(fits, X_test, y_test, qid_test)}\n\n"
        "* differs from GBRanker by more than chance: paired randomisation test over the queries,\n"
        "  p < 0.05 after Holm's correction. All other differences may be chance.\n"
    )
    write_picture(_draw(fits), arguments.output)
    print(f"NDCG@10 against seconds: {arguments.output}")


def _table(fits: Fits, X: Any, y: Any, qid: Any) -> str:
    rows = [["as it comes", *(f"{title} " for title in COLUMNS), "rounds", "CPU time"]]
    measures = [get_measure(text).bind(y, Queries.from_qid(qid)) for text in COLUMNS.values()]
    scores = [ranker.predict(X) for ranker, _ in fits.values()]
    values = np.array([[measure.per_query(one) for measure in measures] for one in scores])
    values = values[:, :, np.isfinite(values).all(axis=(0, 1))]  # queries with relevant documents
    tests = holm(randomisation_test([(values[1:] - values[0]).reshape(-1, values.shape[-1])]))
    by_chance = np.append(np.ones(len(measures)), tests).reshape(len(fits), -1)
    for (name, (ranker, seconds)), one, p in zip(fits.items(), scores, by_chance, strict=True):
        cells = [
            f"{measure.mean(one):.4f}{'*' if chance < 0.05 else ' '}"
            for measure, chance in zip(measures, p, strict=True)
        ]
        rows.append([name, *cells, str(ranker.best_iteration_), f"{seconds:.1f} s"])
    return "\n".join(
        f"  {name:<11}" + "".join(f"{cell:>10}" for cell in cells) for name, *cells in rows
    )


def _draw(fits: Fits) -> Figure:
    """Draw the measure after each round against its share of the seconds."""
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    for (name, (ranker, seconds)), colour in zip(fits.items(), PALETTE, strict=False):
        curve = ranker.evals_result_["valid_0"][METRIC]
        axes.plot(np.arange(1, len(curve) + 1) / len(curve) * seconds, curve, color=colour)
        axes.plot(seconds, curve[-1], "o", color=colour, label=f"{name}: {curve[-1]:.3f}")
    axes.set_xscale("log")
    tidy(
        axes,
        title="Rankers as they come; dots mark where they stop",
        xlabel="CPU seconds of training",
        ylabel="NDCG@10, mean over test queries",
    )
    axes.legend(loc="lower right", frameon=False)
    return figure
