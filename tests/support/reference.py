"""Slow, obvious formulas and enumeration: the oracles that the compiled code is tested against.

One query at a time, in pure Python. A *value* is a function of the labels in rank order, best
first; it returns None when the query has no relevant document. Nothing here imports gbrank.
The cases and inputs that several tests share are here too.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import chain, combinations, groupby, permutations, product
from math import exp, log1p, log2
from statistics import correlation, fmean
from typing import Any

import numpy as np
from hypothesis import strategies as st

Labels = Sequence[float]
Value = Callable[[Labels], float | None]

GAINS: dict[str, Callable[[float], float]] = {
    "exp2": lambda label: 2.0**label - 1,
    "linear": lambda label: label,
}
DISCOUNTS: dict[str, Callable[[int], float]] = {
    "log2": lambda rank: 1 / log2(1 + rank),
    "letor": lambda rank: 1.0 if rank <= 2 else 1 / log2(rank),
    "reciprocal": lambda rank: 1 / rank,
    "flat": lambda rank: 1.0,
}


# --- Values: the labels in rank order, ranks counted from 1 -----------------------------------


def _gain(gain: Any) -> Callable[[float], float]:
    if isinstance(gain, tuple):
        return lambda label: gain[int(label)]
    return gain if callable(gain) else GAINS[gain]


def _discounted(gains: Labels, k: int | None, discount: Any) -> float:
    weigh = discount if callable(discount) else DISCOUNTS[discount]
    return sum(gain * weigh(rank) for rank, gain in enumerate(gains[:k], 1))


def dcg(
    labels: Labels, k: int | None = None, gain: Any = "exp2", discount: Any = "log2"
) -> float | None:
    """Sum of gain times discount over the first k ranks."""
    gains = [_gain(gain)(label) for label in labels]
    return _discounted(gains, k, discount) if any(gains) else None


def ndcg(
    labels: Labels, k: int | None = None, gain: Any = "exp2", discount: Any = "log2"
) -> float | None:
    """DCG divided by the DCG of the documents in order of gain."""
    gains = [_gain(gain)(label) for label in labels]
    ideal = _discounted(sorted(gains, reverse=True), k, discount)
    return _discounted(gains, k, discount) / ideal if ideal else None


def _relevant_ranks(labels: Labels, threshold: float) -> list[int]:
    return [rank for rank, label in enumerate(labels, 1) if label >= threshold]


def _within(ranks: list[int], k: int | None) -> list[int]:
    return [rank for rank in ranks if k is None or rank <= k]


def ap(labels: Labels, k: int | None = None, threshold: float = 1.0) -> float | None:
    """Sum of the precisions at the relevant ranks up to k, divided by min(R, k)."""
    if not (ranks := _relevant_ranks(labels, threshold)):
        return None
    precisions = [count / rank for count, rank in enumerate(_within(ranks, k), 1)]
    return sum(precisions) / min(len(ranks), k or len(labels))


def rr(labels: Labels, k: int | None = None, threshold: float = 1.0) -> float | None:
    """One over the rank of the first relevant document, 0 when that is beyond k."""
    if not (ranks := _relevant_ranks(labels, threshold)):
        return None
    return 1 / ranks[0] if _within(ranks, k) else 0.0


def err(labels: Labels, k: int | None = None, max_grade: float = 4.0) -> float | None:
    """Expected 1 / (rank where a user who reads downwards is satisfied)."""
    if not any(labels):
        return None
    total, still_reading = 0.0, 1.0
    for rank, label in enumerate(labels[:k], 1):
        satisfied = (2.0**label - 1) / 2.0**max_grade
        total += still_reading * satisfied / rank
        still_reading *= 1 - satisfied
    return total


def precision(labels: Labels, k: int | None = None, threshold: float = 1.0) -> float | None:
    """Share of the first k places that hold a relevant document."""
    ranks = _relevant_ranks(labels, threshold)
    return len(_within(ranks, k)) / (k or len(labels)) if ranks else None


def recall(labels: Labels, k: int | None = None, threshold: float = 1.0) -> float | None:
    """Share of the relevant documents that are in the first k places."""
    ranks = _relevant_ranks(labels, threshold)
    return len(_within(ranks, k)) / len(ranks) if ranks else None


def wta(labels: Labels, threshold: float = 1.0) -> float | None:
    """1 if the first document is relevant."""
    ranks = _relevant_ranks(labels, threshold)
    return float(ranks[0] == 1) if ranks else None


def rbp(
    labels: Labels, p: float = 0.8, k: int | None = None, threshold: float = 1.0
) -> float | None:
    """Share of the reading, of a user who goes on with probability p, spent on relevant ones."""
    ranks = _relevant_ranks(labels, threshold)
    return (1 - p) * sum(p ** (rank - 1) for rank in _within(ranks, k)) if ranks else None


def pairwise_correct(labels: Labels) -> float | None:
    """Share of the pairs of different label that stand in the right order."""
    verdicts = [above > below for above, below in combinations(labels, 2) if above != below]
    return fmean(verdicts) if verdicts else None


def kendall_tau(labels: Labels) -> float | None:
    """Right minus wrong pairs, over the pairs of different label."""
    signs = [
        1 if above > below else -1 for above, below in combinations(labels, 2) if above != below
    ]
    return fmean(signs) if signs else None


def exposure(
    labels: Labels, k: int | None = None, threshold: float = 1.0, discount: Any = "log2"
) -> float | None:
    """Share of the attention at the first k ranks that documents of the group have."""
    group = [float(label >= threshold) for label in labels]
    if not any(group):
        return None
    return _discounted(group, k, discount) / _discounted([1.0] * len(group), k, discount)


def hit_rate(labels: Labels, k: int | None = None, threshold: float = 1.0) -> float | None:
    """1 if one of the first k documents is relevant."""
    ranks = _relevant_ranks(labels, threshold)
    return float(bool(_within(ranks, k))) if ranks else None


def r_precision(labels: Labels, threshold: float = 1.0) -> float | None:
    """Share of relevant documents in the first R places, R their number."""
    ranks = _relevant_ranks(labels, threshold)
    return len(_within(ranks, len(ranks))) / len(ranks) if ranks else None


def spearman(labels: Labels) -> float | None:
    """Pearson's correlation between mean ranks of labels, from the lowest, and places."""
    if len(set(labels)) < 2:
        return None
    places = [-float(rank) for rank in range(len(labels))]
    ranks = [
        sum(other < label for other in labels) + (sum(other == label for other in labels) - 1) / 2
        for label in labels
    ]
    return correlation(ranks, places)


def judged(labels: Labels, k: int | None = None, threshold: float = 1.0) -> float | None:
    """Share of the first k documents, or of all if these are fewer, that were judged."""
    return precision(labels, min(k or len(labels), len(labels)), threshold)


VALUES: dict[str, Callable[..., float | None]] = {
    "NDCG": ndcg,
    "DCG": dcg,
    "AP": ap,
    "RR": rr,
    "ERR": err,
    "Precision": precision,
    "Recall": recall,
    "WTA": wta,
    "RBP": rbp,
    "PairwiseCorrect": pairwise_correct,
    "KendallTau": kendall_tau,
    "Spearman": spearman,
    "Exposure": exposure,
    "Judged": judged,
    "HitRate": hit_rate,
    "RPrecision": r_precision,
}


# Small functions of a label and of a rank, that also take arrays.


def _root(label: Any) -> Any:
    return label**0.5


def _halving(rank: Any) -> Any:
    return 0.5**rank


CUT = (
    "NDCG",
    "DCG",
    "AP",
    "RR",
    "ERR",
    "Precision",
    "Recall",
    "RBP",
    "Exposure",
    "HitRate",
    "Judged",
)
Case = tuple[str, dict[str, Any]]
CASES: list[Case] = [
    *((name, {"k": k}) for name in CUT for k in (None, 1, 2, 3, 10)),
    *((name, {}) for name in ("WTA", "PairwiseCorrect", "KendallTau", "Spearman", "RPrecision")),
    ("NDCG", {"k": 3, "gain": "linear", "discount": "letor"}),
    ("NDCG", {"k": 3, "gain": (0, 3, 1, 7, 7), "discount": "reciprocal"}),
    ("NDCG", {"k": 2, "gain": _root, "discount": "flat"}),
    ("DCG", {"gain": (0, 0, 2, 1, 5), "discount": _halving}),
    ("AP", {"k": 3, "threshold": 2.0}),
    ("RR", {"k": 2, "threshold": 3.0}),
    ("ERR", {"k": 3, "max_grade": 5.0}),
    ("Precision", {"k": 2, "threshold": 2.0}),
    ("Recall", {"k": 2, "threshold": 2.0}),
    ("WTA", {"threshold": 2.0}),
    ("RBP", {"k": 3, "p": 0.5, "threshold": 2.0}),
    ("Exposure", {"k": 3, "threshold": 2.0, "discount": "reciprocal"}),
    ("HitRate", {"k": 2, "threshold": 2.0}),
    ("RPrecision", {"threshold": 2.0}),
]


def by_measure(cases: list[Case]) -> dict[str, list[Case]]:
    """Return the cases of each measure."""
    return {name: [case for case in cases if case[0] == name] for name, _ in cases}


# Worked with pencil and paper: measure, parameters, labels in rank order, value.
BY_HAND: list[tuple[str, dict[str, Any], Labels, float | None]] = [
    ("DCG", {"gain": "linear"}, [2, 0, 1], 2 + 1 / 2),
    ("DCG", {"discount": "letor", "k": 4}, [0, 1, 0, 2, 4], 1 + 3 / 2),
    ("NDCG", {"k": 1}, [1, 2], 1 / 3),
    ("NDCG", {"discount": "reciprocal"}, [0, 0, 4], 1 / 3),
    ("NDCG", {}, [0, 0], None),
    ("AP", {}, [1, 0, 1, 0], (1 + 2 / 3) / 2),
    ("AP", {"k": 2}, [0, 1, 1, 1], (1 / 2) / 2),
    ("RR", {"k": 2}, [0, 0, 1], 0),
    ("RR", {"threshold": 2}, [1, 0, 2], 1 / 3),
    ("ERR", {"max_grade": 2}, [1, 2], 1 / 4 + 3 / 4 * 3 / 4 / 2),
    ("Precision", {"k": 5}, [1, 0, 1], 2 / 5),
    ("Precision", {}, [1, 0, 1], 2 / 3),
    ("Recall", {"k": 2}, [0, 1, 1, 1], 1 / 3),
    ("WTA", {"threshold": 2}, [1, 2], 0),
    ("RBP", {"p": 0.5}, [1, 0, 1], 0.5 * (1 + 0.25)),
    ("PairwiseCorrect", {}, [1, 2, 0, 0], 4 / 5),
    ("KendallTau", {}, [1, 2, 0, 0], 3 / 5),
    ("KendallTau", {}, [3, 3], None),
    ("Spearman", {}, [1, 2, 0, 0], 3.5 / 22.5**0.5),
    ("Spearman", {}, [3, 3], None),
    ("HitRate", {"k": 2}, [0, 0, 1], 0),
    ("RPrecision", {}, [0, 1, 1], 1 / 2),
    ("Exposure", {"discount": "reciprocal"}, [0, 1, 1], (1 / 2 + 1 / 3) / (1 + 1 / 2 + 1 / 3)),
]

Query = tuple[list[float], list[float]]


def queries(max_size: int, min_size: int = 1) -> st.SearchStrategy[Query]:
    """Labels 0 to 4, often none relevant, and scores with many ties."""
    label = st.one_of(st.just(0.0), st.sampled_from([0.0, 1.0, 2.0, 3.0, 4.0]))
    score = st.sampled_from([-1.0, 0.0, 0.0, 0.5, 2.0])
    rows = st.lists(st.tuples(label, score), min_size=min_size, max_size=max_size)
    return rows.map(lambda pairs: ([y for y, _ in pairs], [s for _, s in pairs]))


class Data:
    """Queries of 1 to 30 documents, some without a relevant one; scores differ unless tied."""

    def __init__(self, seed: int, tied: bool = False) -> None:
        rng = np.random.default_rng(seed)
        self.sizes = rng.integers(1, 31, 25)
        n = int(self.sizes.sum())
        self.qid = np.repeat(np.arange(25), self.sizes)
        self.y = rng.integers(0, 4, n) * (rng.random(n) < 0.4) * (self.qid % 5 != 0)
        self.scores = (rng.integers(0, 4, n) if tied else rng.permutation(n)) / 8


# --- Ties: every order of every block of equal scores -----------------------------------------


COMBINE: dict[str, Callable[[list[float]], float]] = {
    "average": fmean,
    "pessimistic": min,
    "optimistic": max,
}


def row_order(scores: Labels) -> tuple[int, ...]:
    """Rows by descending score, equal scores as the rows stand."""
    return tuple(sorted(range(len(scores)), key=lambda row: -scores[row]))


def orders(scores: Labels) -> Iterator[tuple[int, ...]]:
    """Yield every order of the rows that the scores allow."""
    blocks = [tuple(rows) for _, rows in groupby(row_order(scores), lambda row: scores[row])]
    for parts in product(*map(permutations, blocks)):
        yield tuple(chain.from_iterable(parts))


def tied(value: Value, labels: Labels, scores: Labels, ties: str) -> float | None:
    """Return the mean, worst or best value over all orders, or the value of the row order."""
    if ties == "order":
        return value([labels[row] for row in row_order(scores)])
    # Each distinct sequence of labels comes from equally many orders, so once each is enough.
    rankings = {tuple(labels[row] for row in order) for order in orders(scores)}
    values = [number for number in map(value, rankings) if number is not None]
    return COMBINE[ties](values) if values else None


# --- LambdaRank -------------------------------------------------------------------------------


def _swap_delta(value: Value, labels: list[float], a: int, b: int) -> float:
    swapped = list(labels)
    swapped[a], swapped[b] = labels[b], labels[a]
    before, after = value(tuple(labels)), value(tuple(swapped))
    return abs(before - after) if before is not None and after is not None else 0.0


def deltas_of_orders(
    value: Value, labels: Labels, allowed: list[tuple[int, ...]], truncation: int | None
) -> list[list[float]]:
    """Return the mean change of a swap over some orders, as an m x m table."""
    m, value = len(labels), cache(value)
    deltas = [[0.0] * m for _ in range(m)]
    for order in allowed:
        ranked = [labels[row] for row in order]
        for a, b in combinations(range(m), 2):
            if truncation is None or a < truncation:
                delta = _swap_delta(value, ranked, a, b) / len(allowed)
                deltas[order[a]][order[b]] += delta
                deltas[order[b]][order[a]] += delta
    return deltas


def expected_swap_deltas(
    value: Value, labels: Labels, scores: Labels, truncation: int | None = None
) -> list[list[float]]:
    """E |M(order) - M(order with i and j swapped)| over all orders, as an m x m table.

    A pair counts in an order when the better rank of the two is at most `truncation`.
    """
    return deltas_of_orders(value, labels, list(orders(scores)), truncation)


def row_order_swap_deltas(
    value: Value, labels: Labels, scores: Labels, truncation: int | None = None
) -> list[list[float]]:
    """Return the same for the one order in which equal scores stand as the rows do."""
    return deltas_of_orders(value, labels, [row_order(scores)], truncation)


def unit_deltas(labels: Labels) -> list[list[float]]:
    """Return RankNet's weights: 1 for every pair of different label."""
    return [[float(a != b) for b in labels] for a in labels]


def _logistic(x: float) -> float:
    return 1 / (1 + exp(-x)) if x > 0 else exp(x) / (1 + exp(x))


def lambda_gradients(
    deltas: Sequence[Labels], labels: Labels, scores: Labels, sigma: float
) -> tuple[list[float], list[float], float]:
    """Gradient, curvature and loss of the weighted logistic pair losses, weights held fixed."""
    m = len(labels)
    gradient, curvature, loss = [0.0] * m, [0.0] * m, 0.0
    for i, j in permutations(range(m), 2):
        if labels[i] > labels[j]:
            weight, gap = deltas[i][j], (scores[i] - scores[j]) / sigma
            wrong = _logistic(-gap)
            gradient[i] -= weight * wrong / sigma
            gradient[j] += weight * wrong / sigma
            for row in (i, j):
                curvature[row] += weight * wrong * (1 - wrong) / sigma**2
            loss += weight * (max(-gap, 0) + log1p(exp(-abs(gap))))  # log(1 + exp(-gap))
    return gradient, curvature, loss


def assert_same_bits(actual: Any, expected: Any) -> None:
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(actual, expected)
    np.testing.assert_array_equal(np.signbit(actual), np.signbit(expected))
