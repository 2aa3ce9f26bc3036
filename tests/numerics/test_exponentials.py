"""The exponential of loops over pairs against NumPy's."""

import numba
import numpy as np
from numpy.testing import assert_allclose

from gbrank.objectives.smoothrank import fast_exp


def test_fast_exp() -> None:
    """To 1e-13, from −64 to 0."""
    x = np.linspace(-64, 0, 100_001)
    actual = np.array(numba.njit(lambda x: [fast_exp(v) for v in x])(x))
    assert_allclose(actual, np.exp(x), rtol=2e-13)
