"""Numbers at the edges of what float64 holds: every objective, on every measure.

Each example runs an objective on all of its measures, so that each of them sees them all.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from battery import FACTS, NAMES, battery, kind
from cases import Test, at_length
from gbrank import Queries, get_objective

Vector = NDArray[np.float64]

# Their kernel takes long to compile; test_plain_python.py runs it as plain Python.
SIGMOIDS = "approx, other sigmoids"
KINDS = [*sorted(FACTS), pytest.param(SIGMOIDS, marks=pytest.mark.slow)]
OBJECTIVES: dict[str, list[tuple[str, Any]]] = {name: [] for name in [*FACTS, SIGMOIDS]}
for text in NAMES:
    OBJECTIVES[SIGMOIDS if "sigmoid=" in text else kind(text)].append((text, get_objective(text)))

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
    """Labels of a query: few grades, 10,000 grades, fractions, huge numbers, or all the same."""
    powers = st.integers(-1000, 1000).map(lambda exponent: 2.0**exponent)
    grades = draw(
        st.sampled_from([st.integers(0, 4), st.integers(0, 9999), st.floats(0, 1024), powers])
    )
    if draw(st.booleans()):
        return np.full(size, float(draw(grades)))
    return np.array(draw(st.lists(grades, min_size=size, max_size=size)), dtype=np.float64)


@st.composite
def lists(draw: st.DrawFn) -> tuple[Vector, Vector]:
    """Labels and scores of one query."""
    size = draw(st.integers(1, 7))
    return draw(labels_of(size)), draw(scores_of(size))


def every_objective(**drawn: st.SearchStrategy[Any]) -> Callable[[Test], Any]:
    """Run a test of drawn numbers on each objective: some examples, and many if exhaustive."""
    counts = [pytest.param(10), pytest.param(at_length(100), marks=pytest.mark.exhaustive)]

    def decorate(test: Test) -> Any:
        def run(name: str, examples: int) -> None:
            settings(max_examples=examples)(given(**drawn)(test))(name=name)

        every = pytest.mark.parametrize("name", KINDS)
        return every(pytest.mark.parametrize("examples", counts)(run))

    return decorate


def bind(objective: Any, labels: Vector) -> Any:
    """Bind an objective, or return None where it refuses large labels, for what they are worth."""
    try:
        return objective.bind(labels, Queries.from_sizes([len(labels)]), n_jobs=1)
    except ValueError as error:
        text = str(error)
        found = re.match(
            r"(gain must give gains from 0 to 1e.300|labels .*max_grade).*in row (\d)", text
        )
        assert found, text
        assert str(labels[int(found[2])]) in text
        return None


@every_objective(query=lists(), sigma=sigmas)
def test_gradients_are_finite(name: str, query: tuple[Vector, Vector], sigma: float) -> None:
    """Curvatures are positive, and gradients of a query sum to zero but for rounding."""
    labels, scores = query
    for text, objective in OBJECTIVES[name]:
        note(text)
        if (bound := bind(objective, labels)) is None:
            continue
        gradient, curvature = bound.gradients(scores, sigma)
        assert np.isfinite(gradient).all(), text
        assert np.isfinite(curvature).all(), text
        assert (curvature > 0).all(), text
        if objective.facts.shift_invariant:
            unit = (
                float(np.exp2(labels.max())) if ":dcg" in text else 1.0
            )  # the others are normalised
            rounding = 1e-12 * np.abs(gradient).max() + 1e-15 * unit / sigma
            assert abs(gradient.sum()) <= rounding * len(gradient) + 1e-320, text


@battery(NAMES)
def test_ten_thousand_grades(name: str) -> None:
    """In 500 queries of 20 documents."""
    grades = np.random.default_rng(0).permutation(10_000)
    # At most the largest grade of ERR; of hit rates, few documents are relevant.
    labels = grades / (2500 if "err" in name else 9500 if "hit_rate" in name else 100)
    queries = Queries.from_sizes([20] * 500)
    objective = get_objective(name)
    scores = np.random.default_rng(1).normal(size=10_000)
    gradient, curvature = objective.bind(labels, queries).gradients(scores)
    assert np.isfinite(gradient).all()
    assert (curvature > 0).all()
    assert np.isfinite(curvature).all()
    assert gradient.any()
    if objective.facts.shift_invariant:
        sums = np.add.reduceat(gradient, queries.offsets[:-1])
        assert np.abs(sums).max() <= 1e-9 * np.abs(gradient).max()
