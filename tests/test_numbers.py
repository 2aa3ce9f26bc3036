"""Numbers at the edges of what float64 holds: every objective, on every measure.

Each example runs an objective on all of its measures, so that each of them sees them all.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from battery import FACTS, NAMES, kind
from gbrank import Queries, get_objective

Vector = NDArray[np.float64]

KINDS = sorted(FACTS)
OBJECTIVES = {name: [(text, get_objective(text)) for text in NAMES if kind(text) == name]
              for name in KINDS}  # fmt: skip
every_objective = pytest.mark.parametrize("name", KINDS)
examples = settings(max_examples=500, deadline=None, print_blob=True)

SIZES = [0.0, 5e-324, 1e-310, 1e-300, 1e-9, 1.0, 37.5, 1e9, 1e150, 1e300]
finite = st.floats(-1e300, 1e300, allow_nan=False) | st.floats(-9, 9, allow_subnormal=True)
sigmas = st.sampled_from([1e-300, 1e-150, 1e-8, 1.0, 1e150, 1e300]) | st.floats(1e-300, 1e300)


@st.composite
def scores_of(draw: st.DrawFn, size: int) -> Vector:
    """Scores of a query: any, on a grid of any width, or all the same."""
    how = draw(st.sampled_from(["any", "grid", "tied"]))
    if how == "tied":
        return np.full(size, draw(finite))
    if how == "any":
        return np.array(draw(st.lists(finite, min_size=size, max_size=size)))
    places = draw(st.lists(st.integers(-2, 2), min_size=size, max_size=size))
    return draw(st.sampled_from(SIZES)) * np.array(places) / 2


@st.composite
def labels_of(draw: st.DrawFn, size: int) -> Vector:
    """Labels of a query: grades, few or 10,000 of them, fractions, or all the same."""
    grades = draw(st.sampled_from([st.integers(0, 4), st.integers(0, 9999), st.floats(0, 9.999)]))
    if draw(st.booleans()):
        return np.full(size, float(draw(grades)))
    return np.array(draw(st.lists(grades, min_size=size, max_size=size)), dtype=np.float64)


@st.composite
def lists(draw: st.DrawFn) -> tuple[Vector, Vector]:
    """Labels and scores of one query."""
    size = draw(st.integers(1, 7))
    return draw(labels_of(size)), draw(scores_of(size))


def bind(name: str, objective: Any, labels: Vector) -> Any:
    """Bind an objective, or return None where a gain is refused for its overflow, and rightly."""
    try:
        return objective.bind(labels, Queries.from_sizes([len(labels)]), n_jobs=1)
    except ValueError as error:
        assert labels.max() > 4
        assert "gain" in str(error) or "max_grade" in str(error), (name, error)  # noqa: PT017
        return None


@every_objective
@examples
@given(query=lists(), sigma=sigmas)
def test_gradients_are_finite(name: str, query: tuple[Vector, Vector], sigma: float) -> None:
    """Curvatures are positive, and gradients of a query sum to zero but for rounding."""
    labels, scores = query
    for text, objective in OBJECTIVES[name]:
        bound = bind(text, objective, labels)
        if bound is None:
            continue
        note(text)
        gradient, curvature = bound.gradients(scores, sigma)
        assert np.isfinite(gradient).all(), text
        assert np.isfinite(curvature).all(), text
        assert (curvature > 0).all(), text
        if objective.facts.shift_invariant:
            rounding = 1e-12 * np.abs(gradient).max() + 1e-15 / sigma
            assert abs(gradient.sum()) <= rounding * len(gradient) + 1e-320, text
