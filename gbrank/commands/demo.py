"""Train three rankers on artificial data, print how good they are, and draw it against seconds.

GBRanker, LGBMRanker and XGBRanker are trained as they come, without a parameter but the seed and
one thread, and measured on other queries. The seconds are those of training. It takes about half a
minute.

For example:

  gbrank demo
  gbrank demo --queries 3000 --output larger.png
"""

import argparse
import sys

import numpy as np
from numpy.typing import NDArray

from gbrank.commands.outputs import check_picture
from gbrank.commands.shared import add, write_picture
from gbrank.common.arrays import Vector
from gbrank.common.checks import check_number
from gbrank.common.extras import needed
from gbrank.datasets import make_cubic
from gbrank.evaluation import cross_validate_rankers
from gbrank.plots import quality_by_seconds
from gbrank.ranker import GBRanker

USAGE = "gbrank demo [options]"

# Labels are 0 to 4, and one document in six has 2 or more.
NOISE = 1 / 3
MEASURES = ("ndcg@10", "ap(threshold=2)", "rr(threshold=2)")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank demo`."""
    text, name = "where the picture goes", "gbrank-demo.png"
    add(parser, "--output PATH", text, written=check_picture, default=name)
    add(parser, "--queries N", "how many queries to make, at least 3", default=1000)
    add(parser, "--seed N", "seed of data and training", default=0)


def run(arguments: argparse.Namespace) -> None:
    """Compare three rankers, print the comparison and draw measures against seconds."""
    check_number(arguments.queries, "--queries", 3, integer=True)
    X, y, qid = make_cubic(arguments.queries, random_state=arguments.seed)
    n_train = arguments.queries * 2 // 3
    fold = np.flatnonzero(qid < n_train), np.flatnonzero(qid >= n_train)
    y = with_noise(y, fold[0], arguments.seed)
    print(
        f"Data: {arguments.queries} queries of 50 documents, 50 features, labels 0 to 4 "
        f"(make_cubic, seed {arguments.seed}):\n"
        f"  {n_train} queries to train on, with a third of their labels exchanged at random,\n"
        f"  since real labels have noise; {arguments.queries - n_train} to test.\n"
        "Rankers as they come, without a parameter but the seed and one thread.\n",
        flush=True,
    )
    comparison = cross_validate_rankers(
        {
            "GBRanker": GBRanker(),
            "LGBMRanker": needed("lightgbm").LGBMRanker(verbose=-1),
            "XGBRanker": needed("xgboost").XGBRanker(),
        },
        X,
        y,
        qid,
        folds=[fold],
        name="cubic",
        seeds=[arguments.seed],
        measures=MEASURES,
        n_jobs=1,
        progress=sys.stderr.isatty(),
    )
    print(comparison.table())
    write_picture(quality_by_seconds(comparison), arguments.output)
    print(f"\nMeasures against seconds: {arguments.output}")


def with_noise(y: Vector, rows: NDArray[np.int64], seed: int) -> Vector:
    """Return labels of which a third, among these rows, are exchanged at random."""
    rng = np.random.default_rng(seed)
    exchanged = rows[rng.random(len(rows)) < NOISE]
    noisy = y.copy()
    noisy[exchanged] = y[rng.permutation(exchanged)]
    return noisy
