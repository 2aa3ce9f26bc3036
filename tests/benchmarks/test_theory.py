"""What papers prove, against formulas written out: errors of soft ranks, a condition on lambdas."""

from math import exp, log2
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmarks.papers.theory import (
    ap_error_bound,
    check_lambdas,
    ndcg_error_bound,
    rank_error_bound,
    smooth_ndcg_error_bound,
)

untied = st.lists(st.integers(-30, 30), min_size=2, max_size=8, unique=True)


def logistic(z: float) -> float:
    """Return 1/(1 + exp(−z)), short of overflow."""
    return 1 / (1 + exp(-min(max(z, -700), 700)))


def soft_and_exact(scores: list[int], sigma: float) -> tuple[list[float], list[int]]:
    """Return the ranks of equation 20, and the exact ones."""
    m = range(len(scores))
    soft = [1 + sum(logistic((scores[j] - scores[i]) / sigma) for j in m if j != i) for i in m]
    return soft, [1 + sum(other > score for other in scores) for score in scores]


def average_precision(ranks: Any, relevant: list[int], beta: float | None) -> float:
    """Equation 15, or 22 with its logistic truncation."""
    total = 0.0
    for i in relevant:
        others = [ranks[i] - ranks[j] for j in relevant if j != i]
        before = sum(gap > 0 if beta is None else logistic(beta * gap) for gap in others)
        total += (1 + before) / ranks[i]
    return total / len(relevant)


@given(untied, st.floats(0.05, 30))
def test_theorem_3(scores: list[int], sigma: float) -> None:
    """Every document's error is within its own bound."""
    soft, exact = soft_and_exact(scores, sigma)
    assert (np.abs(np.subtract(soft, exact)) <= rank_error_bound(scores, sigma) + 1e-12).all()


def test_theorem_3_near_equality() -> None:
    """Two documents have the bound as their error; ties have half a rank for each other."""
    soft, exact = soft_and_exact([3, 1], 0.7)
    assert np.abs(np.subtract(soft, exact)) == pytest.approx(rank_error_bound([3, 1], 0.7))
    assert rank_error_bound([2, 2, 2], 1.0).tolist() == [1, 1, 1]
    assert rank_error_bound([5], 1.0).tolist() == [0]
    assert rank_error_bound([1e300, -1e300], 1e-300).tolist() == [0, 0]


@given(untied, st.floats(0.05, 30), st.data())
def test_theorem_6(scores: list[int], sigma: float, data: Any) -> None:
    """NDCG of soft ranks is within the bound."""
    m = len(scores)
    gains = [2.0**y - 1 for y in data.draw(st.lists(st.integers(0, 4), min_size=m, max_size=m))]
    assume(any(gains))
    ranks = soft_and_exact(scores, sigma)
    dcg = [sum(g / log2(1 + r) for g, r in zip(gains, own, strict=True)) for own in ranks]
    ideal = sum(g / log2(1 + r) for r, g in enumerate(sorted(gains, reverse=True), 1))
    error = np.abs(np.subtract(*ranks)).max()
    assert abs(dcg[0] - dcg[1]) / ideal <= ndcg_error_bound(error) + 1e-12


@given(untied, st.floats(0.05, 30), st.sampled_from([None, 1, 2]), st.data())
def test_smooth_ndcg(scores: list[int], sigma: float, k: int | None, data: Any) -> None:
    """Equation 8, written out, is within the bound of section 5.1, at any cut."""
    m = len(scores)
    gains = np.array(data.draw(st.lists(st.sampled_from([0.0, 1, 3, 7]), min_size=m, max_size=m)))
    assume(gains.any())
    discounts = np.where(np.arange(m) < (k or m), 1 / np.log2(np.arange(m) + 2.0), 0.0)
    s, order = np.array(scores, dtype=float), np.argsort(scores)[::-1]
    h = np.exp(-((s[:, None] - s[order][None, :]) ** 2) / sigma)
    both = (gains @ (h / h.sum(axis=0)) @ discounts, gains[order] @ discounts)
    error = abs(both[0] - both[1]) / (np.sort(gains)[::-1] @ discounts)
    assert error <= smooth_ndcg_error_bound(scores, sigma) + 1e-12


@given(untied, st.floats(0.05, 2), st.sampled_from([1.0, 10.0, 100.0]), st.data())
def test_theorem_5(scores: list[int], sigma: float, beta: float, data: Any) -> None:
    """AP of soft ranks is within the bound, where ranks err by less than ½."""
    m = range(len(scores))
    relevant = sorted(data.draw(st.sets(st.sampled_from(m), min_size=1)))
    soft, exact = soft_and_exact(scores, sigma)
    error = np.abs(np.subtract(soft, exact)).max()
    assume(error < 0.5)
    apart = abs(average_precision(soft, relevant, beta) - average_precision(exact, relevant, None))
    assert apart <= ap_error_bound(error, len(relevant), beta) + 1e-12


@given(st.integers(0, 9999), st.integers(1, 6))
@settings(max_examples=50)
def test_linear_lambdas(seed: int, m: int) -> None:
    """λ = A s: asymmetry and eigenvalue are those of A."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(m, m))
    found = check_lambdas(lambda s: A @ s, rng.normal(size=m))
    assert found.asymmetry == pytest.approx(np.abs(A - A.T).max() / np.abs(A).max(), abs=1e-7)
    smallest = np.linalg.eigvalsh(A + A.T).min() / 2
    assert found.smallest_eigenvalue == pytest.approx(smallest, abs=1e-7)
