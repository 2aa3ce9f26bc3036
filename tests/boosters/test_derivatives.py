"""What the boosters are given: finite derivatives, in the scale of squared loss."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

import reference
from cases import loop
from gbrank import Queries
from gbrank.boosters.staged_objective import StagedObjective
from gbrank.data.documents import Documents
from gbrank.data.sums import order_free_mean, round_to_exact_sums

Vector = NDArray[np.float64]


def derivatives(objective: Any, data: reference.Data, scores: Vector, sigma: float = 1.0) -> Any:
    """Return what a hook returns."""
    hook = StagedObjective(objective, sigma)
    bound = hook.bind(Documents.checked(None, data.y, Queries.from_qid(data.qid)))
    return hook.derivatives(bound, scores, None)[:2]


@pytest.mark.parametrize("objective", ["ranknet", "lambda:ndcg"])
@loop("sigma", [1e-300, 1e-30, 1.0, 1e12, 1e300])
@loop("spread", [0.0, 5e-324, 1.0, 1e30, 1e300])
def test_positive_finite_single_precision(objective: str, sigma: float, spread: float) -> None:
    """Whatever sigma and the scores: boosters keep single precision."""
    data = reference.Data(8)
    scores = spread * np.random.default_rng(0).uniform(-1, 1, len(data.y))
    gradient, curvature = (
        array.astype(np.float32) for array in derivatives(objective, data, scores, sigma)
    )
    assert np.isfinite(gradient).all()
    assert np.isfinite(curvature).all()
    assert (curvature > 0).all()


@pytest.mark.parametrize("objective", ["ranknet", "lambda:ndcg"])
@loop("spread", [0.0, 5e-324, 1.0, 1e30, 1e300])
def test_steps_that_boosters_cannot_take(objective: str, spread: float) -> None:
    """Gradients that single precision holds, but not the square of their sum, are refused."""
    data = reference.Data(8)
    scores = spread * np.random.default_rng(0).uniform(-1, 1, len(data.y))
    with pytest.raises(ValueError, match=r"gradients must sum to .*far below 1e\+30"):
        derivatives(objective, data, scores, 1e30)


@pytest.mark.parametrize("scale", [1e-30, 1e-4, 1.0, 1e30, 1e280])
def test_scale_is_that_of_squared_loss(scale: float) -> None:
    """D11: the mean curvature is 1, and Newton steps are kept, whatever the factor on the loss."""
    data = reference.Data(9)
    factor = np.random.default_rng(0).uniform(0.01, 100, len(data.y))

    def scaled(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
        bend = scale * (1 + labels)
        return 0.0, scores * bend, bend

    gradient, curvature = derivatives(scaled, data, factor)
    assert curvature.mean() == pytest.approx(1, rel=1e-9)
    assert_allclose(gradient / curvature, factor, rtol=1e-9)


@given(st.lists(st.floats(1e-37, 1e37), min_size=1, max_size=50), st.randoms())
def test_mean_does_not_depend_on_order(values: list[float], random: Any) -> None:
    """D8: not by one bit, though the sum of a thousand numbers does."""
    shuffled = random.sample(values, len(values))
    mean = order_free_mean(np.array(values), len(values))
    assert order_free_mean(np.array(shuffled), len(values)) == mean
    assert mean == pytest.approx(np.mean(values), rel=1e-6)


@pytest.mark.parametrize(("scale", "kept"), [(1e-292, False), (1e-288, True)])
def test_remains_of_underflow(scale: float, kept: bool) -> None:
    """Where all pairs are in order, nothing is left but rounding: no gradient, and no error."""

    def tiny(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
        return 0.0, scale * (1 + labels), np.ones_like(scores)

    data = reference.Data(11)
    hook = StagedObjective(tiny)
    bound = hook.bind(Documents.checked(None, data.y, Queries.from_qid(data.qid)))
    assert hook.derivatives(bound, data.scores, 1)[0].any() == kept


@given(
    st.lists(st.floats(-1e30, 1e30).filter(lambda x: abs(x) > 1e-30), min_size=1, max_size=60),
    st.randoms(),
)
def test_sums_are_exact(values: list[float], random: Any) -> None:
    """Any sum of some of the numbers, in any order, is that of exact arithmetic."""
    rounded = np.array(values)
    (unit,) = round_to_exact_sums(rounded)
    assert np.abs(rounded - values).max() <= unit / 2
    assert unit <= 2.0**-49 * len(values) * np.abs(values).max()
    some = random.sample(rounded.tolist(), random.randint(1, len(values)))
    expected = float(sum(map(Fraction, some)))
    assert sum(some) == expected
    single = np.float32(some)  # as boosters keep them
    assert sum(single.tolist()) == float(sum(map(Fraction, single.tolist())))


def test_rounding_leaves_no_gradient_without_curvature() -> None:
    """Where one document has nearly all curvature, the others still take bounded steps."""

    def steep(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
        curvature = np.full(len(scores), 1e-15)
        curvature[0] = 1.0
        return 0.0, 1e-13 * (1 + labels) + curvature, curvature

    data = reference.Data(12)
    gradient, curvature = derivatives(steep, data, data.scores)
    assert (gradient > 0).sum() > 1
    assert (gradient <= 1000 * curvature).all()
