"""Random numbers for kernels: the i-th draw is a function of the query's noise and of i alone.

Uniform numbers are the outputs of SplitMix64 started at `noise` (Steele, Lea & Flood 2014,
"Fast splittable pseudorandom number generators"). A kernel that needs several independent
numbers per document takes them at different i.
"""

import numpy as np

from gbrank.kernels.compiled import inline

__all__ = ["split_mix", "uniform"]


@inline
def split_mix(noise: int, i: int) -> np.uint64:
    """Return the i-th 64-bit output of SplitMix64 started at `noise`, i from 0."""
    state = np.uint64(noise) + (np.uint64(i) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@inline
def uniform(noise: int, i: int) -> float:
    """Return the i-th uniform number in ]0, 1[."""
    return (np.float64(split_mix(noise, i) >> np.uint64(12)) + 0.5) * 2.0**-52
