"""A demonstration from a shell."""

import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gbrank.commands.comparisons import draw
from gbrank.commands.paths import NewPicture
from gbrank.common.arrays import Vector
from gbrank.common.checks import check_number
from gbrank.common.extras import needed
from gbrank.common.table import Table
from gbrank.datasets import make_cubic
from gbrank.evaluation import cross_validate_rankers
from gbrank.evaluation.summary import Row
from gbrank.ranker import GBRanker

# Labels are 0 to 4, and one document in six has 2 or more.
NOISE = 1 / 3
BASELINE = "LGBMRanker"
MEASURES = ("ndcg@10", "ap(threshold=2)", "rr(threshold=2)")


def demo(*, output: NewPicture = "gbrank-demo.png", queries: int = 1000, seed: int = 0) -> None:
    """Train three rankers on artificial data, print how good they are, and draw it beside seconds.

    GBRanker, LGBMRanker and XGBRanker are trained as they come, without a parameter but the seed
    and one thread, and measured on other queries. The seconds are those of training. It takes about
    half a minute.

    Parameters
    ----------
    output : path
        File of the picture.
    queries : int
        Number of queries to make, at least 3.
    seed : int
        Seed of data and training.

    Examples
    --------
    gbrank demo
    gbrank demo --queries 3000 --output larger.png
    """
    check_number(queries, "--queries", 3, integer=True)
    X, y, qid = make_cubic(queries, random_state=seed)
    n_train = queries * 2 // 3
    fold = np.flatnonzero(qid < n_train), np.flatnonzero(qid >= n_train)
    y = with_noise(y, fold[0], seed)
    print(
        f"Data: {queries} queries of 50 documents, 50 features, labels 0 to 4 "
        f"(make_cubic, seed {seed}):\n"
        f"  {n_train} queries to train on, with a third of their labels exchanged at random,\n"
        f"  since real labels have noise; {queries - n_train} to test.\n"
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
        seeds=[seed],
        measures=MEASURES,
        baseline=BASELINE,
        n_jobs=1,
        progress=sys.stderr.isatty(),
    )
    print("\n\n".join(_text(rows) for rows in comparison.blocks()))
    print(
        "\nIntervals are of the difference, over queries; p is of the paired randomisation test, "
        "by Holm."
    )
    draw("differences", [comparison], output)
    print(f"\nDifferences from {BASELINE} and seconds: {output}")


def _text(rows: Sequence[Row]) -> str:
    """Return a measure's means, differences from the baseline, and seconds, a line a ranker."""
    head = [rows[0].measure, "mean", f"minus {BASELINE}", "95% interval", "p", "CPU s"]
    lines = []
    for row in rows:
        cells = ["", "", ""]
        if row.ranker != BASELINE:
            ends = f"{row.difference_low:+.4f} to {row.difference_high:+.4f}"
            cells = [f"{row.difference:+.4f}", ends, f"{row.p_randomisation:.4f}"]
        lines.append([row.ranker, f"{row.mean:.4f}", *cells, f"{row.cpu_seconds:.1f}"])
    return Table(head, lines).to_text()


def with_noise(y: Vector, rows: NDArray[np.int64], seed: int) -> Vector:
    """Return labels of which a third, among these rows, are exchanged at random."""
    rng = np.random.default_rng(seed)
    exchanged = rows[rng.random(len(rows)) < NOISE]
    noisy = y.copy()
    noisy[exchanged] = y[rng.permutation(exchanged)]
    return noisy
