"""LambdaRank's section 6.1: how long RankNet's steps take, pair by pair and factorised."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from benchmarks.artificial import cubic_queries
from benchmarks.papers.net_pictures import draw_speed, draw_times
from benchmarks.papers.nets import (
    JUDGED_BY,
    NO_GAINS,
    Compiled,
    Layers,
    derivative,
    forward,
    lambdas,
    random_layers,
)
from benchmarks.papers.paper_rows import PaperRow
from benchmarks.papers.settings import Settings

__all__ = ["DEVIATIONS", "PICTURES", "footnote_3", "seconds_of_a_step", "speed_up"]

Vector = NDArray[np.float64]
Step = Callable[[Layers, Vector, Vector], Layers]

PAPER = "LambdaRank"
NETS = {"linear net": 0, "two-layer net": 10}  # hidden nodes
LENGTHS = (4, 8, 16, 32, 64, 128, 256, 512)  # of 1,000 queries, 4,000 to 512,000 documents
LONG = 3  # from this length on, what a query costs by itself matters little
SLOPES = (1.943, 1.185)  # of the paper's figure 1, right
SPEED_UPS = dict(zip(NETS, ("5.1 for web search", "8.0 for web search"), strict=True))
N_FEATURES, N_TIMED, N_TIMES = 50, 2000, 5  # inputs; documents; how often
N_QUERIES, N_EPOCHS, RATE = 500, 10, 0.001  # of figure 1, left
FOOTNOTE_LENGTH = 300

DEVIATIONS = (
    f"{N_FEATURES} inputs; the derivative of one query, for the time of training; lists of "
    f"{LENGTHS[0]} to {LENGTHS[-1]} documents, the paper's 4,000 to 512,000 if it had 1,000 "
    "queries; artificial queries for web search; both are compiled"
)
PICTURES = {
    "lambdarank-figure-1": "training time grows with the list for both; the factorised gradient is "
    "always faster, by a factor that grows with the list (figure 1, right).",
    "lambdarank-figure-1-left": "both reach the same validation NDCG, the factorised one in a "
    "fraction of the time (figure 1, left); each point is an epoch.",
}


def speed_up(settings: Settings) -> Iterator[PaperRow]:
    """Yield how seconds grow with the list and fall by factorising, and draw figure 1."""
    for net, hidden in NETS.items():
        seconds = np.array([seconds_of_a_step(length, hidden) for length in LENGTHS]).T
        if hidden == 0:
            settings.save(draw_speed(LENGTHS, *seconds.tolist()), "lambdarank-figure-1")
            for name, own, value in zip(
                ("pair by pair", "factorised"), seconds, SLOPES, strict=True
            ):
                for first, where, said in ((0, "", value), (LONG, f" from {LENGTHS[LONG]} on", "")):
                    times = np.log(LENGTHS[first:]), np.log(own[first:])
                    slope = np.polyfit(*times, 1)[0]
                    figure = f"slope of log time by log documents{where}, {name}, {net} (figure 1)"
                    yield PaperRow(PAPER, "random", figure, float(slope), said or "not given")
        for length, by_pair, by_document in zip(LENGTHS, *seconds, strict=True):
            figure = f"speed-up of a {net} with {length} documents a query (figure 1)"
            said = "> 1, more for longer lists"
            yield PaperRow(PAPER, "random", figure, float(by_pair / by_document), said)
    curves: dict[str, list[tuple[float, float]]] = {}
    for net, hidden in NETS.items():
        own = {
            name: _epochs(step, hidden, min(N_QUERIES, settings.queries))
            for name, step in {"pair by pair": _by_pair, "factorised": _by_document}.items()
        }
        curves |= {f"{name}, {net}": curve for name, curve in own.items()}
        (slow, first), (fast, last) = (curve[-1] for curve in own.values())
        figure = f"speed-up of {N_EPOCHS} epochs of a {net}, 50 documents a query (figure 1, left)"
        note = f"validation NDCG@10 of {first:.4f} and {last:.4f}"
        yield PaperRow(PAPER, "cubic", figure, float(slow / fast), SPEED_UPS[net], note=note)
    settings.save(draw_times(curves), "lambdarank-figure-1-left")
    for name, factor in footnote_3().items():
        figure = f"speed-up by {name}, {FOOTNOTE_LENGTH} documents a query (footnote 3)"
        yield PaperRow(PAPER, "random", figure, factor, "not explored")


def seconds_of_a_step(n_documents: int, hidden: int) -> tuple[float, float]:
    """Return the seconds of RankNet's step on a query, pair by pair and factorised.

    Both are the derivative of Σ_{y_i > y_j} log(1 + exp(s_j − s_i)) by the weights: with two
    forward passes and two backward ones for each pair, and with one for each document. They are
    means over queries of 2,000 documents in all, or of one longer query.
    """
    random = np.random.default_rng(0)
    n_queries = max(1, N_TIMED // n_documents)
    layers = random_layers(N_FEATURES, hidden, random)
    queries = [_random_query(random, n_documents) for _ in range(n_queries)]

    def slopes(step: Step) -> list[Layers]:
        return [step(layers, *query) for query in queries]

    for one, other in zip(slopes(_by_pair)[0], slopes(_by_document)[0], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)
    by_pair, by_document = (
        _least_seconds(partial(slopes, step)) / n_queries for step in (_by_pair, _by_document)
    )
    return by_pair, by_document


def footnote_3() -> dict[str, float]:
    """Return by what factor kept activations, and exponentials computed once, are faster."""
    random = np.random.default_rng(0)
    X, labels = _random_query(random, FOOTNOTE_LENGTH)
    layers = random_layers(N_FEATURES, NETS["two-layer net"], random)
    scores = forward(layers, X)[1]
    np.testing.assert_allclose(
        lambdas(scores, labels, NO_GAINS), _precomputed(scores, labels), rtol=1e-9
    )
    kept = _least_seconds(lambda: _by_document(layers, X, labels))
    again = _least_seconds(lambda: np.tanh(X @ layers[0] + layers[1]))
    once = _least_seconds(lambda: _precomputed(scores, labels))
    return {
        "keeping the activations of a two-layer net": (kept + again) / kept,
        "computing exp(s) once": _least_seconds(lambda: lambdas(scores, labels, NO_GAINS)) / once,
    }


def _random_query(random: np.random.Generator, n_documents: int) -> tuple[Vector, Vector]:
    X = random.normal(size=(n_documents, N_FEATURES))
    return X, random.integers(0, 5, n_documents).astype(float)


def _epochs(step: Step, hidden: int, n_queries: int) -> list[tuple[float, float]]:
    """Return the seconds up to each epoch's end, and the best validation NDCG@10 so far."""
    (X, y, qid), (valid_X, valid_y, valid_qid), _ = cubic_queries(n_queries).fold(1)
    labels = np.asarray(y, dtype=float)
    queries = [(X[qid == query], labels[qid == query]) for query in np.unique(qid)]
    layers = random_layers(X.shape[1], hidden, np.random.default_rng(0))
    step(layers, *queries[0])  # compiles
    seconds, best, curve = 0.0, 0.0, []
    for _ in range(N_EPOCHS):
        start = time.process_time()
        for query in queries:
            slopes = step(layers, *query)
            layers = tuple(
                layer - RATE * slope for layer, slope in zip(layers, slopes, strict=True)
            )
        seconds += time.process_time() - start
        best = max(best, JUDGED_BY(valid_y, forward(layers, valid_X)[1], qid=valid_qid))
        curve.append((seconds, best))
    return curve


def _by_document(layers: Layers, X: Vector, labels: Vector) -> Layers:
    return derivative(layers, X, Compiled(labels, NO_GAINS))


def _by_pair(layers: Layers, X: Vector, labels: Vector) -> Layers:
    step: Any = _pairs_of_two_layers if layers[1:] else _pairs
    return step(*layers, X, labels)


@numba.njit
def _pairs(weights: Vector, X: Vector, labels: Vector) -> tuple[Vector]:
    """Return the derivative of RankNet's loss by the weights, pair by pair."""
    slope = np.zeros(weights.size)
    for i in range(labels.size):
        for j in range(labels.size):
            if labels[i] > labels[j]:
                slope -= (X[i] - X[j]) / (1 + np.exp(X[i] @ weights - X[j] @ weights))
    return (slope,)


@numba.njit
def _pairs_of_two_layers(
    first: Vector, biases: Vector, last: Vector, X: Vector, labels: Vector
) -> tuple[Vector, Vector, Vector]:
    """Return the same of two layers."""
    by_first, by_biases, by_last = (
        np.zeros_like(first),
        np.zeros_like(biases),
        np.zeros_like(last),
    )
    for i in range(labels.size):
        for j in range(labels.size):
            if labels[i] > labels[j]:
                better, worse = np.tanh(X[i] @ first + biases), np.tanh(X[j] @ first + biases)
                force = -1 / (1 + np.exp(better @ last - worse @ last))
                up, down = force * last * (1 - better**2), -force * last * (1 - worse**2)
                by_first += np.outer(X[i], up) + np.outer(X[j], down)
                by_biases += up + down
                by_last += force * (better - worse)
    return by_first, by_biases, by_last


@numba.njit
def _precomputed(scores: Vector, labels: Vector) -> Vector:
    """Return the same, with exp(s) of each document computed once."""
    slope, powers = np.zeros(scores.size), np.exp(scores)
    for i in range(scores.size):
        for j in range(scores.size):
            if labels[i] > labels[j]:
                force = powers[j] / (powers[i] + powers[j])
                slope[i] -= force
                slope[j] += force
    return slope


def _least_seconds(step: Callable[[], object]) -> float:
    step()  # compiles
    taken = []
    for _ in range(N_TIMES):
        start = time.process_time()
        step()
        taken.append(time.process_time() - start)
    return min(taken)
