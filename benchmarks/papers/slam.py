"""SLAM (Chaudhuri & Tewari 2014): the perceptron against its bound, and the batch form."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers.paper_rows import PaperRow, measured
from benchmarks.papers.pictures import draw_cumulative
from benchmarks.papers.selection import best_on_validation, values_by_fold
from benchmarks.papers.settings import Settings
from gbrank import NDCG, LinearRanker, SLAMPerceptron, perceptron_loss_bound

__all__ = ["adversary", "batch", "perceptron", "separable_queries"]

Vector = NDArray[np.float64]

PAPER = "SLAM"
N_QUERIES, N_DOCUMENTS, N_FEATURES, PASSES = 1000, 20, 100, 5
GAP = 0.05  # with less, the bound is above the number of rounds, and says nothing
MEASURES = {"ndcg": "NDCG", "ap": "AP"}
LEARNING_RATES = (1e-4, 1e-3, 1e-2)
N_EPOCHS = 100
CHOSEN_BY = NDCG(k=10)

DEVIATIONS = (
    f"the paper has no experiments: queries are made, with a gap of {GAP} between grades; the "
    "bound is derived anew, without the paper's factor for the number of documents"
)
BATCH_DEVIATIONS = (
    f"the paper has no experiments: {N_EPOCHS} epochs of stochastic subgradient, their number and "
    "the rate of 1e-4, 1e-3, 1e-2 chosen on the validation queries"
)
PICTURES = {
    "slam-perceptron": "there is none; corollary 6 says that the cumulative loss stops growing "
    "where some weights rank all queries correctly by a margin, and stays below its bound."
}


def separable_queries() -> tuple[Vector, Vector, NDArray[np.int64], float]:
    """Return queries that some weights rank perfectly by GAP, and the largest norm of a row."""
    random = np.random.default_rng(0)
    u = random.normal(size=N_FEATURES)
    u /= np.linalg.norm(u)
    X = random.normal(size=(N_QUERIES * N_DOCUMENTS, N_FEATURES)) / np.sqrt(N_FEATURES)
    # Moved along u, so that grades lie GAP apart.
    y = np.digitize(X @ u, [0.0, 0.1])
    X += np.outer(GAP * y, u)
    qid = np.repeat(np.arange(N_QUERIES, dtype=np.int64), N_DOCUMENTS)
    return X, y.astype(float), qid, float(np.linalg.norm(X, axis=1).max())


def adversary(gap: float, learning_rate: float, n_rounds: int) -> Vector:
    """Return the cumulative 1 − AP of a perceptron that is shown the worst queries for it.

    Each has one relevant document below 49 others, `gap` apart along (1, 0, 0), at right angles to
    the weights so far; norms are at most 1. It ends early where no such query is left.
    """
    side = np.sqrt(4 - gap**2)
    ranker = SLAMPerceptron("ap", learning_rate=learning_rate)
    ranker.partial_fit(np.zeros((2, 3)), [0, 0])
    for _ in range(n_rounds):
        w = ranker.coef_
        across = np.linalg.norm(w[1:])
        cosine = (gap * w[0] + 1e-9) / (side * across) if across else 0.0
        if cosine > 1:
            break
        toward = -w[1:] / across if across else np.array([1.0, 0.0])
        aside = np.array([-toward[1], toward[0]])
        away = np.r_[gap, side * (cosine * toward + np.sqrt(1 - cosine**2) * aside)]
        ranker.partial_fit(np.vstack([away / 2, np.tile(-away / 2, (49, 1))]), [1] + [0] * 49)
    return ranker.cumulative_loss_[1:]


def perceptron(settings: Settings) -> Iterator[PaperRow]:
    """Yield the perceptron's cumulative loss beside its bound, and draw it."""
    X, y, qid, radius = separable_queries()
    bound = perceptron_loss_bound(radius, GAP)
    curves = {}
    for measure, title in MEASURES.items():
        labels = y if measure == "ndcg" else np.minimum(y, 1.0)
        ranker = SLAMPerceptron(measure, max_iter=PASSES).fit(X, labels, qid=qid)
        curves[title] = ranker.cumulative_loss_
        passes = curves[title].reshape(PASSES, -1)[:, -1]
        figure = f"cumulative 1 − {title} of {PASSES} passes (corollary 6)"
        note = "after each pass: " + ", ".join(f"{value:.2f}" for value in passes)
        yield PaperRow(PAPER, "separable", figure, float(passes[-1]), f"< {bound:.0f}", note=note)
    settings.save(draw_cumulative(curves, bound), "slam-perceptron")


def batch(settings: Settings) -> Iterator[PaperRow]:
    """Yield NDCG@10 of SLAM minimised over all training queries."""
    for name in ("ohsumed", "mq2008"):
        data = settings.dataset(name)
        rankers = {
            f"SLAM, η={rate:g}": LinearRanker(
                "slam:ndcg", solver="sgd", n_steps=N_EPOCHS, learning_rate=rate, reg_lambda=0.0,
                init="zero", eval_metric=CHOSEN_BY,
            )
            for rate in LEARNING_RATES
        }  # fmt: skip
        fits = best_on_validation(settings.compare(rankers, data, [CHOSEN_BY]), str(CHOSEN_BY))
        folds = values_by_fold(fits, str(CHOSEN_BY))
        yield measured(PAPER, data.name, "NDCG@10 of SLAM's batch form", folds, "no experiments")
