"""Random numbers for kernels: the i-th draw is a function of the query's noise and of i alone.

Uniform numbers are the outputs of SplitMix64 started at `noise`. A kernel that needs several
independent numbers per document takes them at different i.
"""

import numpy as np

from gbrank.data import sampling
from gbrank.engine.compiling import inline

split_mix = inline(sampling.split_mix)


@inline
def uniform(noise: int, i: int) -> float:
    """Return the i-th uniform number in ]0, 1[."""
    return stratified(noise, i, np.uint64(0))


@inline
def stratum(draw: int, draws: int) -> np.uint64:
    """Return the shift, for `stratified`, of one of `draws` strata."""
    return np.uint64(draw) * (np.uint64(0xFFFFFFFFFFFFFFFF) // np.uint64(draws))


@inline
def stratified(noise: int, i: int, shift: np.uint64) -> float:
    """Return the i-th uniform number in ]0, 1[, shifted: all strata are evenly apart, modulo 1."""
    bits = split_mix(noise, i) + shift
    return (np.float64(bits >> np.uint64(12)) + 0.5) * 2.0**-52
