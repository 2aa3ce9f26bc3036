"""The expected calibration error, and its picture."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot
from numpy.testing import assert_allclose
from sklearn.calibration import calibration_curve

from gbrank import plots
from gbrank.evaluation import expected_calibration_error

SHARES = st.floats(0, 1) | st.integers(0, 8).map(lambda eighths: eighths / 8)


@given(st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=40), st.sampled_from([1, 2, 4, 8]))
def test_the_error_is_what_a_loop_gives(rows: list[tuple[float, float]], bins: int) -> None:
    """Bin by bin; the lower bin has the edge."""
    total = 0.0
    for b in range(bins):
        low, high = b / bins, (b + 1) / bins
        own = [(t, p) for t, p in rows if low < p <= high or (b == 0 and p == 0)]
        total += abs(sum(t for t, _ in own) - sum(p for _, p in own)) / len(rows)
    t, p = zip(*rows, strict=True)
    assert_allclose(expected_calibration_error(t, p, bins=bins), total, atol=1e-12)


def test_the_dots_are_those_of_scikit_learn() -> None:
    """Of binary targets; and bars have the shares of documents."""
    rng = np.random.default_rng(5)
    p = rng.uniform(0, 0.7, 200)
    t = rng.integers(0, 2, 200)
    ax = plots.calibration(t, p, bins=5)
    (dots,) = [line for line in ax.lines if line.get_marker() == "o"]
    assert_allclose(dots.get_xydata()[:, ::-1].T, calibration_curve(t, p, n_bins=5), rtol=1e-12)
    (bars,) = ax.collections
    heights = [top - bottom for (_, bottom), (_, top) in bars.get_segments()]
    assert_allclose(heights, np.histogram(p, 5, (0, 1))[0][:4] / 200, rtol=1e-12)
    assert ax.get_title().endswith(f"{expected_calibration_error(t, p, bins=5):.4f}")
    pyplot.close(ax.figure)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"t": [0.5]}, "t must have 2 entries, got 1"),
        ({"t": [0, 2]}, "t must be from 0 to 1, got 2.0 in row 1"),
        ({"p": [-0.1, 0]}, "p must be from 0 to 1, got -0.1 in row 0"),
        ({"p": [0.5, np.nan]}, "p must be finite, got nan in row 1"),
        ({"t": [], "p": []}, "p must have at least one entry, got none"),
        ({"bins": 0}, "bins must be an integer of at least 1, got 0"),
        ({"bins": 2.5}, "bins must be an integer"),
    ],
)
@pytest.mark.parametrize("function", [expected_calibration_error, plots.calibration])
def test_bad_input(function: Any, change: dict[str, Any], message: str) -> None:
    """The argument, what it was, and what it should be."""
    with pytest.raises((ValueError, TypeError), match=message):
        function(**({"t": [0.0, 1.0], "p": [0.2, 0.8]} | change))
