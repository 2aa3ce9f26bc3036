"""LambdaRank (Burges, Ragno & Le 2006): against RankNet, on random cubic polynomials."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import numba
import numpy as np
from numpy.typing import NDArray

from benchmarks.artificial import cubic_queries
from benchmarks.papers.net_pictures import draw_nets, draw_speed
from benchmarks.papers.nets import Net
from benchmarks.papers.paper_rows import PaperRow, measured
from benchmarks.papers.selection import best_on_validation, fits_of, values_by_fold
from benchmarks.papers.settings import Settings
from gbrank import NDCG, Dataset, Queries, RankNet, ranker_from_name
from gbrank.evaluation import Outcome
from gbrank.evaluation.statistics import t_test

__all__ = ["boosted_trees", "nets", "seconds_of_a_step", "speed_up"]

Vector = NDArray[np.float64]

PAPER = "LambdaRank"
NAMES = {"RankNet": "ranknet", "LambdaRank": "lambda:ndcg"}
NETS = {"linear nets": 0, "two-layer nets": 10}  # hidden nodes
LEARNING_RATES = (1e-3, 1e-2, 1e-1)
N_QUERIES, N_EPOCHS = 1000, 300
CHOSEN_BY = NDCG(k=10)
MEASURES = tuple(NDCG(k=k) for k in range(1, 11))
LENGTHS = (10, 30, 100, 300, 1000)
SLOPES = (1.943, 1.185)  # of the paper's figure 1, right
N_TIMED, N_TIMES = 2000, 20  # documents

DEVIATIONS = (
    "400 queries to train on, 200 to validate, 400 to test for the paper's 10K, 5K, 10K; η of "
    "0.001, 0.01, 0.1 for 1e-7 to 0.01, as few queries are few steps; training begins anew after "
    "50 epochs without a new lowest cost; 1/log2 in place of 1/log (a constant factor)"
)
TREE_DEVIATIONS = "300 trees of 31 leaves for the paper's nets"
SPEED_DEVIATIONS = (
    "a linear net of 50 inputs; the derivative of one query, for the time of training; lists of 10 "
    "to 1,000 documents for the paper's 4,000 to 512,000; both compiled"
)
PICTURES = {
    "lambdarank-figure-2": "LambdaRank lies above RankNet at every truncation level, and most at "
    "the first ones (figure 2, left)."
}
SPEED_PICTURES = {
    "lambdarank-figure-1": "training time grows with the list for both; the factorised gradient is "
    "always faster, by a factor that grows with the list (figure 1, right)."
}


def nets(settings: Settings) -> Iterator[PaperRow]:
    """Yield by how much LambdaRank is above RankNet, by truncation and net, and draw figure 2."""
    data = cubic_queries(min(N_QUERIES, settings.queries))
    curves = {}
    for learner, hidden in NETS.items():
        fits = {}
        for name, objective in NAMES.items():
            own = {
                f"{name}, {learner}, η={rate:g}": Net(objective, hidden, rate, N_EPOCHS)
                for rate in LEARNING_RATES
            }
            fits[name] = best_on_validation(settings.compare(own, data, MEASURES), str(CHOSEN_BY))
            curves[f"{name}, {learner}"] = _values(fits[name])
        yield from _differences(data, learner, fits)
    settings.save(draw_nets(curves), "lambdarank-figure-2")


def boosted_trees(settings: Settings) -> Iterator[PaperRow]:
    """Yield the same of boosted trees, which the paper does not have."""
    data = settings.cubic()
    trees = {
        name: ranker_from_name(objective, n_estimators=300, learning_rate=0.1, num_leaves=31)
        for name, objective in NAMES.items()
    }
    comparison = settings.compare(trees, data, MEASURES)
    fits = {name: fits_of(comparison, name) for name in trees}
    yield from _differences(data, "boosted trees", fits)


def speed_up(settings: Settings) -> Iterator[PaperRow]:
    """Yield how seconds grow with the list, pair by pair and factorised, and draw it."""
    seconds = np.array([seconds_of_a_step(length) for length in LENGTHS]).T
    settings.save(draw_speed(LENGTHS, *seconds.tolist()), "lambdarank-figure-1")
    for name, own, value in zip(("pair by pair", "factorised"), seconds, SLOPES, strict=True):
        slope = np.polyfit(np.log(LENGTHS), np.log(own), 1)[0]
        figure = f"slope of log time by log documents, {name}, linear net (figure 1)"
        yield PaperRow(PAPER, "random", figure, float(slope), value)
    for length, by_pair, by_document in zip(LENGTHS, *seconds, strict=True):
        figure = f"speed-up of a linear net with {length} documents a query (figure 1)"
        said = "> 1, more for longer lists"
        yield PaperRow(PAPER, "random", figure, float(by_pair / by_document), said)


def seconds_of_a_step(n_documents: int, n_features: int = 50) -> tuple[float, float]:
    """Return the seconds of RankNet's step on a query, pair by pair and factorised.

    Both are Σ_{y_i > y_j} λ_ij (x_i − x_j): as a sum over pairs, and as one over documents of
    their λ. They are means over queries of 2,000 documents in all, or of one longer query.
    """
    random = np.random.default_rng(0)
    n_queries = max(1, N_TIMED // n_documents)
    X = random.normal(size=(n_queries, n_documents, n_features))
    scores = random.normal(size=(n_queries, n_documents))
    labels = random.integers(0, 5, scores.shape).astype(float)
    queries = Queries.from_sizes([n_documents] * n_queries)
    bound = RankNet().bind(labels.ravel(), queries, n_jobs=1)

    def by_pair() -> list[Vector]:
        return [_sum_over_pairs(*query) for query in zip(scores, labels, X, strict=True)]

    def by_document() -> list[Vector]:
        slopes = bound.gradients(scores.ravel(), 1.0)[0].reshape(scores.shape)
        return [own @ rows for own, rows in zip(slopes, X, strict=True)]

    np.testing.assert_allclose(by_pair(), by_document(), rtol=1e-6, atol=1e-8)
    return _least_seconds(by_pair) / n_queries, _least_seconds(by_document) / n_queries


@numba.njit
def _sum_over_pairs(scores: Vector, labels: Vector, X: Vector) -> Vector:
    """Return the derivative of RankNet's loss by the weights, with a step at each pair."""
    slope = np.zeros(X.shape[1])
    for i in range(scores.size):
        for j in range(scores.size):
            if labels[i] > labels[j]:
                slope -= (X[i] - X[j]) / (1 + np.exp(scores[i] - scores[j]))
    return slope


def _least_seconds(step: Callable[[], object]) -> float:
    taken = []
    for _ in range(N_TIMES):
        start = time.perf_counter()
        step()
        taken.append(time.perf_counter() - start)
    return min(taken)


def _values(fits: Sequence[Outcome]) -> Vector:
    """Return NDCG@1, ..., NDCG@10 of the test queries, shape (10, n_queries)."""
    return np.stack([np.concatenate(values_by_fold(fits, str(measure))) for measure in MEASURES])


def _differences(
    data: Dataset, learner: str, fits: Mapping[str, list[Outcome]]
) -> Iterator[PaperRow]:
    sizes = "/".join(str(len(np.unique(data.queries.index[rows]))) for rows in data.splits[0])
    said = "> 0" if learner in NETS else "not tried"
    base, ours = (_values(fits[name]) for name in NAMES)
    for measure, one, other in zip(map(str, MEASURES), ours, base, strict=True):
        (p,) = t_test([(one - other)[None]])
        yield measured(
            PAPER,
            f"cubic, {sizes} queries",
            f"{measure.upper()} of LambdaRank less that of RankNet, {learner} (section 6.3.1)",
            [one - other],
            said,
            f"{np.nanmean(one):.4f} and {np.nanmean(other):.4f}; paired t test p = {p:.2g}",
        )
