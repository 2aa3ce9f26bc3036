"""LambdaRank (Burges, Ragno & Le 2006): against RankNet, on random cubic polynomials."""

import time
from collections.abc import Callable, Iterator, Mapping

import numba
import numpy as np
from numpy.typing import NDArray

from benchmarks.artificial import cubic_queries
from benchmarks.papers.lambda_functions import LAMBDA_FUNCTIONS, as_objective
from benchmarks.papers.net_pictures import draw_nets, draw_speed
from benchmarks.papers.nets import Net
from benchmarks.papers.paper_rows import PaperRow, measured
from benchmarks.papers.selection import best_on_validation, fits_of
from benchmarks.papers.settings import Settings
from benchmarks.papers.theory import check_lambdas
from benchmarks.papers.trainings import (
    Trainings,
    difference_row,
    estimate,
    trainings_of,
    values_of,
)
from gbrank import NDCG, Queries, RankNet
from gbrank.evaluation import Dataset, ranker_from_name
from gbrank.objectives.objective import Objective

__all__ = ["boosted_trees", "lambda_functions", "nets", "seconds_of_a_step", "speed_up"]

Vector = NDArray[np.float64]

PAPER = "LambdaRank"
GAINS = "gain=(0, 3, 7, 15, 31)"  # the paper's
NAMES = {"RankNet": "ranknet", "LambdaRank": f"lambda:ndcg({GAINS})"}
NETS = {"linear nets": 0, "two-layer nets": 10}  # hidden nodes
LEARNING_RATES = {"RankNet": (1e-3, 1e-2), "LambdaRank": (1e-2, 1e-1)}
N_QUERIES, N_EPOCHS, TRAININGS = 1000, 150, 5
N_TREE_QUERIES = 5000
FUNCTION_RATES, N_FUNCTION_EPOCHS, N_POINTS = (1e-2, 1e-1), 20, 20
MEASURES = tuple(NDCG(k=k, gain=(0, 3, 7, 15, 31)) for k in range(1, 11))
CHOSEN_BY = MEASURES[-1]
LENGTHS = (10, 30, 100, 300, 1000)
SLOPES = (1.943, 1.185)  # of the paper's figure 1, right
N_TIMED, N_TIMES = 2000, 20  # documents

DEVIATIONS = (
    "400 queries to train on, 200 to validate, 400 to test for the paper's 10K, 5K, 10K; "
    f"{N_EPOCHS} epochs for 300; η of 0.001 and 0.01 for RankNet, of 0.01 and 0.1 for LambdaRank, "
    "whose gradients are smaller, for 1e-7 to 0.01, chosen with the first training; means over "
    f"{TRAININGS} trainings; training begins anew after 50 epochs without a new lowest cost"
)
FUNCTION_DEVIATIONS = (
    "the paper tried ten λ functions on data that were never public, and gives one: these are "
    f"ours, of the kinds that it names; {N_FUNCTION_EPOCHS} epochs with η of 0.01 and 0.1; the "
    f"Jacobian at {N_POINTS} lists of random scores"
)
TREE_DEVIATIONS = (
    "2,000 queries to train on, 1,000 to validate, 2,000 to test for the paper's 10K, 5K, 10K; 300 "
    f"trees of 31 leaves for its nets; means over {TRAININGS} trainings"
)
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


def lambda_functions(settings: Settings) -> Iterator[PaperRow]:
    """Yield whether λ functions of section 6.2's kinds have a cost, and NDCG@10 of linear nets."""
    data = cubic_queries(min(N_QUERIES, settings.queries))
    (X, y, qid), valid, test = data.fold(1)
    for name in LAMBDA_FUNCTIONS:
        objective = as_objective(name)
        for where, gap in {"between swaps": None, "where two documents swap": 1e-7}.items():
            asymmetry = max(_asymmetry(objective, seed, gap) for seed in range(N_POINTS))
            figure = f"asymmetry of the Jacobian of {name}, {where} (equation 5, section 6.2)"
            yield PaperRow(PAPER, "random", figure, asymmetry, "0 if there is a cost")
        fitted = [
            Net(objective, 0, rate, N_FUNCTION_EPOCHS).fit(
                X, y, qid=qid, eval_set=[valid[:2]], eval_qid=[valid[2]]
            )
            for rate in FUNCTION_RATES
        ]
        best = max(fitted, key=lambda net: CHOSEN_BY(valid[1], net.predict(valid[0]), qid=valid[2]))
        values = CHOSEN_BY.per_query(test[1], best.predict(test[0]), qid=test[2])
        figure = f"NDCG@10 of a linear net by {name} (section 6.2)"
        yield measured(PAPER, data.name, figure, [values], "not given")


def _asymmetry(objective: Objective, seed: int, gap: float | None) -> float:
    """Return the asymmetry of the Jacobian at random scores, the first two so far apart."""
    random = np.random.default_rng(seed)
    bound = objective.bind([4, 0, 1, 2, 0, 3, 1, 0], Queries.from_sizes([8]))
    scores = random.normal(size=8)
    if gap is not None:
        scores[1] = scores[0] + gap
    return float(check_lambdas(lambda own: bound.gradients(own)[0], scores).asymmetry)


def nets(settings: Settings) -> Iterator[PaperRow]:
    """Yield by how much LambdaRank is above RankNet, by truncation and net, and draw figure 2."""
    data = cubic_queries(min(N_QUERIES, settings.queries))
    curves = {}
    for learner, hidden in NETS.items():
        fits = {}
        for name, objective in NAMES.items():
            own = {
                f"{name}, {learner}, η={rate:g}": Net(objective, hidden, rate, N_EPOCHS)
                for rate in LEARNING_RATES[name]
            }
            (best,) = best_on_validation(settings.compare(own, data, MEASURES), str(CHOSEN_BY))
            chosen = {best.trial.ranker: own[best.trial.ranker]}
            comparison = settings.compare(chosen, data, MEASURES, seeds=TRAININGS)
            fits[name] = trainings_of(comparison.outcomes)
            own = [values_of(fits[name], str(measure)) for measure in MEASURES]
            curves[f"{name}, {learner}"] = list(map(estimate, own))
        yield from _differences(data, learner, fits)
    settings.save(draw_nets(curves), "lambdarank-figure-2")


def boosted_trees(settings: Settings) -> Iterator[PaperRow]:
    """Yield the same of boosted trees, which the paper does not have."""
    data = cubic_queries(min(N_TREE_QUERIES, settings.queries))
    trees = {
        name: ranker_from_name(objective, n_estimators=300, learning_rate=0.1, num_leaves=31)
        for name, objective in NAMES.items()
    }
    comparison = settings.compare(trees, data, MEASURES, seeds=TRAININGS)
    fits = {name: trainings_of(fits_of(comparison, name)) for name in trees}
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


def _differences(data: Dataset, learner: str, fits: Mapping[str, Trainings]) -> Iterator[PaperRow]:
    sizes = "/".join(str(len(np.unique(data.queries.index[rows]))) for rows in data.splits[0])
    said = "> 0" if learner in NETS else "not tried"
    for measure in MEASURES:
        yield difference_row(
            PAPER,
            f"cubic, {sizes} queries",
            f"NDCG@{measure.k} of LambdaRank less that of RankNet, {learner} (section 6.3.1)",
            fits["LambdaRank"],
            fits["RankNet"],
            str(measure),
            said,
        )
