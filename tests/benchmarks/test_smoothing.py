"""Pictures of what sigma does: the losses of a query, and soft ranks."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot
from numpy.testing import assert_allclose, assert_array_equal

from benchmarks.papers.smoothing import draw_objective, draw_soft_ranks
from gbrank import NDCG, Queries, get_objective


@pytest.fixture(autouse=True)
def _close() -> Iterator[None]:
    """Close the figures of a test."""
    yield
    pyplot.close("all")


def curves(ax: Any) -> dict[str, Any]:
    """Return the points of the lines that have a name, shape (n_points, 2)."""
    named = {str(line.get_label()): line.get_xydata() for line in ax.lines}
    return {name: points for name, points in named.items() if not name.startswith("_")}


LABELS, SCORES = [2.0, 0.0, 1.0, 0.0], [0.3, 0.1, -0.4, 0.9]


@pytest.mark.parametrize("name", ["approx:ndcg", "smooth:ndcg", "ranknet"])
def test_an_objective_by_one_score(name: str) -> None:
    """Each point is the loss of the query with that score."""
    ax = draw_objective(name, LABELS, SCORES, document=2, reach=1.5, sigmas=[1, 0.2])
    bound = get_objective(name).bind(LABELS, Queries.from_sizes([4]))
    assert list(curves(ax)) == ["σ = 1", "σ = 0.2"]
    for sigma, points in zip([1.0, 0.2], curves(ax).values(), strict=True):
        assert_allclose(points[[0, -1], 0], [-0.4 - 1.5, -0.4 + 1.5])
        for score, loss in points[::50]:
            moved = [*SCORES[:2], score, SCORES[3]]
            assert_allclose(loss, bound.loss(moved, sigma)[0], rtol=1e-12)
    assert ax.get_xlabel() == "score of document 2"
    assert ax.get_title() == str(get_objective(name))


def test_an_objective_along_a_random_direction() -> None:
    """The seed's own, of root mean square 1; it starts at the scores, and goes past their range."""
    ax = draw_objective("approx:ndcg", LABELS, SCORES, sigmas=[0.5], random_state=3)
    points = curves(ax)["σ = 0.5"]
    assert_allclose(points[[0, -1], 0], [-1.625, 1.625])
    bound = get_objective("approx:ndcg").bind(LABELS, Queries.from_sizes([4]))
    direction = np.random.default_rng(3).normal(size=4)
    direction /= np.sqrt((direction**2).mean())
    for step, loss in points[::50]:
        assert_allclose(loss, bound.loss(SCORES + step * direction, 0.5)[0], rtol=1e-9)
    other = draw_objective("approx:ndcg", LABELS, SCORES, sigmas=[0.5], random_state=4)
    assert not np.allclose(curves(other)["σ = 0.5"], points)


def test_a_stochastic_objective_has_one_curve() -> None:
    """The noise is the same at every step: where the ranking stays, the loss is linear."""
    ax = draw_objective("noisy", LABELS, SCORES, document=1, sigmas=[0.1], reach=100)
    assert_allclose(np.diff(curves(ax)["σ = 0.1"][-50:, 1], 2), 0, atol=1e-9)


def test_small_sigmas_follow_the_measure() -> None:
    """As figure 1 of the SmoothRank paper shows."""
    sigmas = [1.0, 0.1, 0.001]
    ax = draw_objective(
        "approx:ndcg", LABELS, SCORES, document=0, sigmas=sigmas, measure="ndcg", reach=2
    )
    *smooth, exact = [points[:, 1] for points in curves(ax).values()]
    distances = [np.abs(curve - exact).mean() for curve in smooth]
    assert distances[0] > 2 * distances[1] > 4 * distances[2]
    assert list(curves(ax))[-1] == "−ndcg"
    first = curves(ax)["−ndcg"][0]
    assert_allclose(first[1], -NDCG()(LABELS, [first[0], *SCORES[1:]]), rtol=1e-12)


def test_soft_ranks() -> None:
    """By the formula; best first; equal scores share a rank."""
    scores = np.array([0.3, 1.5, 0.3, -2.0])
    ax = draw_soft_ranks(scores, sigmas=[1.0, 0.01])
    ordered = [1.5, 0.3, 0.3, -2.0]
    for sigma, points in zip([1.0, 0.01], curves(ax).values(), strict=True):
        assert_array_equal(points[:, 0], [1, 2.5, 2.5, 4])
        soft = [
            1 + sum(1 / (1 + np.exp((s - t) / sigma)) for j, t in enumerate(ordered) if j != i)
            for i, s in enumerate(ordered)
        ]
        assert_allclose(points[:, 1], soft, rtol=1e-12)
    assert_allclose(curves(ax)["σ = 0.01"][:, 1], [1, 2.5, 2.5, 4])
    for bad in (0.0, -1.0):
        with pytest.raises(ValueError, match="sigmas must be a number above 0"):
            draw_soft_ranks(scores, sigmas=[bad])
