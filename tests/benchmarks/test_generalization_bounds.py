"""Bounds on the loss of new queries, against expectations that are summed exactly."""

from itertools import product
from math import comb, log, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.papers.loss_bounds import (
    convex_excess_bound,
    generalization_bound,
    selection_excess_bound,
    smooth_ndcg_lipschitz,
)


@given(st.integers(2, 6), st.floats(0.05, 20), st.integers(0, 999))
@settings(max_examples=60)
def test_smooth_ndcg_lipschitz(m: int, sigma: float, seed: int) -> None:
    """The gradient of smooth NDCG, by complex steps, is no longer than the constant."""
    rng = np.random.default_rng(seed)
    scores, gains = rng.uniform(-1, 1, m), rng.uniform(0, 1, m)
    discounts = 1 / np.log2(np.arange(m) + 2)
    ideal = np.sort(gains)[::-1] @ discounts
    order = np.argsort(-scores)

    def value(s: Any) -> Any:
        h = np.exp(-((s[:, None] - s[order][None, :]) ** 2) / sigma)
        return gains @ (h / h.sum(axis=0)) @ discounts / ideal

    gradient = [value(scores + 1e-30j * unit).imag / 1e-30 for unit in np.eye(m)]
    assert np.linalg.norm(gradient) <= smooth_ndcg_lipschitz(sigma, 1.0, 1.0, m)


def test_theorem_1_by_hand() -> None:
    """Both terms; the second alone where the loss is constant."""
    assert generalization_bound(0, 1, 1, 5, 8, 2 / np.e) == pytest.approx(1)
    both = generalization_bound(2, 3, 5, 9, 36, 0.1)
    assert both == pytest.approx(3 * 2 * 3 * 5 / 2 + sqrt(8 * log(20) / 36))


@pytest.mark.parametrize("n", [16, 64, 400])
@pytest.mark.parametrize("delta", [0.5, 0.05])
def test_theorem_1_holds(n: int, delta: float) -> None:
    """One document, scores w x, loss (1 + w x)/2 clipped, x = ±1: the supremum over |w| ≤ 1.

    It is |mean of x|/2, whose distribution is binomial.
    """
    bound = generalization_bound(0.5, 1, 1, 1, n, delta)
    beyond = sum(comb(n, ups) for ups in range(n + 1) if abs(2 * ups / n - 1) / 2 > bound)
    assert beyond / 2**n <= delta


@pytest.mark.parametrize("n", [5, 40, 200])
@pytest.mark.parametrize(("edge", "miss"), [(0.02, 0.0), (0.1, 0.0), (0.3, 0.05)])
def test_theorems_2_and_7_hold(n: int, edge: float, miss: float) -> None:
    """Two rankers, right with chances ½ ± edge/2: the worse is chosen too often by few queries.

    What is maximised favours the worse by twice `miss`. Counts of both are binomial.
    """
    chances = [[comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
               for p in (0.5 + edge / 2, 0.5 - edge / 2)]  # fmt: skip
    good, bad = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    wrong = np.outer(*chances)[bad / n + miss > good / n - miss].sum()
    for delta in (0.5, 0.05):
        if selection_excess_bound(n, 2, delta, miss) < edge:
            assert wrong <= delta
    assert selection_excess_bound(200, 2, 0.5) < 0.3  # so that it is not all empty
    assert selection_excess_bound(10**12, 2, 0.05, miss) == pytest.approx(2 * miss, abs=1e-5)


@pytest.mark.parametrize("n", [1, 2, 4, 8])
@pytest.mark.parametrize("share", [0.5, 0.6, 0.9])
def test_theorem_8_holds(n: int, share: float) -> None:
    """One feature, loss G |w − z|, z = ±1 with a probability: the mean over all training sets."""
    lipschitz = 2.0
    weight = lipschitz * sqrt(2 / n)  # λ
    grid = np.linspace(-1, 1, 4001)

    def expected(w: Any) -> Any:
        return lipschitz * (share * np.abs(w - 1) + (1 - share) * np.abs(w + 1))

    mean = 0.0
    for sample in product([1, -1], repeat=n):
        loss = lipschitz * np.mean([np.abs(grid - z) for z in sample], axis=0) + weight * grid**2
        chance = np.prod([share if z == 1 else 1 - share for z in sample])
        mean += chance * expected(grid[np.argmin(loss)])
    excess = mean - expected(grid).min()
    assert excess <= convex_excess_bound(lipschitz, 1, 1, n)
