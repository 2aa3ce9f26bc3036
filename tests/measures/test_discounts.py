"""Discounts of the query's length, with parameters, and users' own.

What every objective does with them is in test_objectives.py.
"""

from collections.abc import Callable
from math import exp, log2
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import reference
from gbrank import DCG, NDCG, ApproxRank, Queries, TieRank, get_measure, get_objective
from gbrank.measures.gains import discount_values, geometric_discount

Written = Callable[[int, int], float]


def root(ranks: Any) -> Any:
    """Return a discount of a user's own."""
    return ranks**-0.5


def halving(rank: int, m: int) -> float:
    """Return the geometric discount of p = 1/2."""
    return 0.5**rank


def linear(rank: int, m: int) -> float:
    """Return 1 at rank 0, 0 at the last."""
    return (m - rank) / m


# Each with its formula in rank and number of documents.
CASES: dict[str, tuple[Any, Written]] = {
    "linear": ("linear", linear),
    "geometric": (geometric_discount(0.5), halving),
    "log2": ("log2", lambda r, m: 1 / log2(1 + r)),
    "letor": ("letor", lambda r, m: 1 / log2(r) if r > 2 else 1.0),
    "own": (root, lambda r, m: r**-0.5),
}
every_case = pytest.mark.parametrize(("discount", "written"), CASES.values(), ids=CASES)


def value_of(name: str, written: Written, k: int | None = None) -> reference.Value:
    """Return a slow measure of labels in rank order."""
    formula = getattr(reference, name)
    return lambda labels: formula(labels, k, discount=lambda rank: written(rank, len(labels)))


# --- The exact measure ------------------------------------------------------------------------


@every_case
@pytest.mark.parametrize("k", [None, 4])
def test_queries_of_different_lengths(discount: Any, written: Written, k: int | None) -> None:
    """One call for all: each has the discounts of its own length, its rows anywhere."""
    data = reference.Data(1)
    rows = np.random.default_rng(0).permutation(len(data.y))
    measure, value = NDCG(k=k, discount=discount), value_of("ndcg", written, k)
    actual = measure.per_query(data.y[rows], data.scores[rows], qid=data.qid[rows])
    for query, found in zip(Queries.from_qid(data.qid[rows]).ids, actual, strict=True):
        own = np.flatnonzero(data.qid == query)
        ranked = data.y[own[np.argsort(-data.scores[own])]]
        expected = value([float(label) for label in ranked])
        assert_allclose(found, np.nan if expected is None else expected, rtol=1e-12)


def test_values_of_long_lists() -> None:
    """The table of 1,000 and 3 documents, from its formula."""
    ranks = np.concatenate([np.arange(1, 1001), np.arange(1, 4)])
    m = np.repeat([1000, 3], [1000, 3])
    for discount, expected in (("log2", 1 / np.log2(1 + ranks)), ("linear", 1 - ranks / m)):
        actual = discount_values(discount, np.array([1000, 3]), k=900)
        assert_allclose(actual, expected * (ranks <= 900), rtol=1e-13)


# --- Objectives -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in CASES if name != "own"])
def test_real_ranks(name: str) -> None:
    """ApproxRank takes the formula between whole ranks too, for each query's own length."""
    discount, written = CASES[name]
    sizes, sigma, rng = [7, 4], 0.8, np.random.default_rng(0)
    labels, scores = rng.integers(0, 4, 11), rng.normal(size=11)
    losses = ApproxRank(DCG(discount=discount)).bind(labels, Queries.from_sizes(sizes))
    for rows, loss in zip(np.split(np.arange(11), [7]), losses.loss(scores, sigma), strict=True):
        total = 0.0
        for i in rows:
            others = [1 / (1 + exp((scores[i] - scores[j]) / sigma)) for j in rows if j != i]
            total += (2.0 ** labels[i] - 1) * written(1 + sum(others), len(rows))  # type: ignore[arg-type]
        assert loss == pytest.approx(-total, rel=1e-12)


# --- Strings and values -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("geometric_discount(0.8)", geometric_discount(0.8)),
        (" geometric_discount( p = 5e-1 )", geometric_discount(0.5)),
        ("linear", "linear"),
        (" 'linear'", "linear"),
    ],
)
def test_strings(text: str, expected: Any) -> None:
    """Bare words are names; parentheses nest inside mixtures of objectives."""
    assert get_measure(f"ndcg@3(discount={text}, gain=(0, 1e+1))") == NDCG(
        k=3, gain=(0, 10.0), discount=expected
    )
    whole = f"approx(beta=1e+1):ndcg(gain=(0,1e+1),discount={text})+0.25*tie:dcg(discount={text})"
    mixture: Any = get_objective(whole)
    assert mixture.objectives == (
        ApproxRank(NDCG(gain=(0, 10.0), discount=expected), beta=10.0),
        TieRank(DCG(discount=expected)),
    )
    assert mixture.weights == (1, 0.25)
