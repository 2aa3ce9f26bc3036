"""Sums by boxes, and SmoothAP by sweeps, against the direct sums over pairs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lists import LABELS, SCORES, gradients, lengthy, make_labels, make_scores, runner

Vector = NDArray[np.float64]
NAMES = [
    "smooth:ndcg", "smooth:ndcg@5", "smooth:dcg(gain=linear)", "smooth:ap", "smooth:ap@4",
    "smooth:rr", "smooth:err", "smooth:rbp", "smooth:precision@3", "smooth:wta",
]  # fmt: skip
NOTHING = 1e-17  # of a measure of which the best order is worth about 1
lists = st.tuples(
    st.sampled_from(LABELS), st.sampled_from([*SCORES, "apart", "chained"]),
    st.sampled_from([2, 3, 20, 129, 300, 601]), st.floats(-6, 6), st.integers(0, 9),
)  # fmt: skip


def scores_of(kind: str, labels: Vector, sigma: float, rng: np.random.Generator) -> Vector:
    """Return scores; those that adversaries choose depend on sigma."""
    if kind == "apart":  # grades a few widths from each other, in lumps
        return np.sqrt(sigma) * (3.3 * np.round(labels) + 1e-7 * rng.normal(size=len(labels)))
    if kind == "chained":  # half of them in one lump, the others in a chain of neighbours
        places = np.cumsum(4 * rng.random(len(labels))) * rng.integers(0, 2, len(labels))
        return np.sqrt(sigma) * places
    return make_scores(kind, labels, rng)


def assert_agreement(name: str, labels: Vector, scores: Vector, sigma: float) -> None:
    """Gradient, curvature and loss are those of the direct sums."""
    boxed, direct = (runner(name, labels, way) for way in (False, True))
    loss = direct.values(scores, sigma)
    assert boxed.values(scores, sigma) == pytest.approx(loss, rel=1e-9, abs=NOTHING)
    width = np.sqrt(sigma)
    for actual, expected, unit in zip(
        boxed.gradients(scores, sigma, 0, np.empty(0)),
        direct.gradients(scores, sigma, 0, np.empty(0)),
        (width, min(max(width * width, 1e-290), 1e290)),
        strict=True,
    ):
        assert np.isfinite(actual).all()
        rounding = (1e-14 * abs(loss[0]) + NOTHING) / unit  # what is left where pairs cancel
        assert np.abs(actual - expected).max() <= 1e-6 * np.abs(expected).max() + rounding


@pytest.mark.parametrize("name", lengthy(NAMES))
@given(lists)
@settings(max_examples=15, deadline=None)
def test_agreement(name: str, case: Any) -> None:
    """For any labels, scores and width."""
    label_kind, score_kind, m, exponent, seed = case
    rng = np.random.default_rng(seed)
    labels, sigma = make_labels(label_kind, m, rng), 10.0**exponent
    assert_agreement(name, labels, scores_of(score_kind, labels, sigma, rng), sigma)


@pytest.mark.parametrize("name", lengthy(["smooth:ndcg", "smooth:err"]))
@pytest.mark.parametrize("sigma", [1e-300, 1.0, 1e300])
def test_extreme_scores(name: str, sigma: float) -> None:
    """Gaps and widths at the ends of what floats hold."""
    rng = np.random.default_rng(0)
    values = np.array([-1e300, -1.0, 0.0, 5e-324, 1e-300, 1.0, 5.0, 1e300])
    labels = rng.integers(0, 3, 400).astype(float)
    assert_agreement(name, labels, rng.choice(values, 400), sigma)
    assert_agreement(name, labels, rng.normal(size=400) * 1e300, sigma)


def test_tied_scores_do_not_move() -> None:
    """Where all scores tie the gradient is zero, to the last bit."""
    gradient, curvature = gradients(
        "smooth:ndcg", np.arange(400) % 3, np.full(400, 0.1), 1.0, False
    )
    assert (gradient == 0).all()
    assert (curvature > 0).all()
