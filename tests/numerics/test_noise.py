"""The random numbers of kernels: known outputs and distributions."""

from math import sqrt
from typing import Any

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from gbrank.numerics.noise import split_mix, take_logarithms, uniform


def draws(noise: int, n: int) -> NDArray[np.float64]:
    """Return the first n numbers of a stream, drawn by compiled code as in a kernel."""

    @numba.njit
    def loop(noise: Any, out: Any) -> None:
        for i in range(out.size):
            out[i] = uniform(noise, i)

    out = np.empty(n)
    loop(np.uint64(noise), out)
    return out


def test_split_mix() -> None:
    """The outputs of the published generator for the seed 1234567."""
    outputs = [int(split_mix(np.uint64(1234567), i)) for i in range(5)]
    assert outputs == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


@pytest.mark.parametrize("noise", [0, 2**64 - 1])
def test_distribution(noise: int) -> None:
    """Kolmogorov and Smirnov's distance; neighbours in a stream do not correlate."""
    n = 100_000
    values = draws(noise, n)
    assert np.abs(np.sort(values) - np.arange(n) / n).max() < 2 / sqrt(n)
    assert_allclose(np.corrcoef(values[1:], values[:-1])[0, 1], 0, atol=4 / sqrt(n))
    assert 0 < values.min() < values.max() < 1


def test_logarithms() -> None:
    """Of all kinds of uniform numbers, also the smallest and the largest; always below 0."""
    edges = [0.5 * 2.0**-52, 2.0**-30, 0.25, np.nextafter(0.5, 0), 0.5, 1 - 2.0**-53]
    values = np.concatenate([draws(3, 100_000), edges])
    expected = np.log(values)

    @numba.njit
    def take(x: Any) -> None:
        take_logarithms(x)

    take(values)
    assert_allclose(values, expected, rtol=0, atol=1e-7)
    assert (values < 0).all()
