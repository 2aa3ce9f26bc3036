"""The exponential of loops over pairs, and the normal distribution of SoftRank, against SciPy's."""

import numba
import numpy as np
from numpy.testing import assert_allclose
from scipy.stats import norm

from gbrank.numerics.normal_windows import chance_above
from gbrank.objectives.smoothrank import fast_exp


def test_fast_exp() -> None:
    """To 1e-13, from −64 to 0."""
    x = np.linspace(-64, 0, 100_001)
    actual = np.array(numba.njit(lambda x: [fast_exp(v) for v in x])(x))
    assert_allclose(actual, np.exp(x), rtol=2e-13)


def test_chance_above() -> None:
    """Φ and φ to 2e-11, as far out as tolerances reach."""
    z = np.linspace(-8, 8, 100_001)
    chance, density = np.array(numba.njit(lambda z: [chance_above(v) for v in z])(z)).T
    assert_allclose(chance, norm.cdf(z), rtol=0, atol=1e-12)
    assert_allclose(density, norm.pdf(z), rtol=0, atol=2e-11)
