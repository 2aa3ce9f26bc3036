"""Random numbers for kernels, and noisy rankings of documents by score plus Gumbel noise.

The i-th draw is a function of the query's noise and of i alone.

Uniform numbers are the outputs of SplitMix64 started at `noise`. A kernel that needs several
independent numbers per document takes them at different i. Of the documents that are left, the next
one of a noisy ranking is i with probability exp(s_i/σ) over their sum: the Plackett-Luce model.
"""

from typing import NamedTuple

import numpy as np

from gbrank.common.checks import Positions, Vector
from gbrank.data import sampling
from gbrank.engine.compiling import inline
from gbrank.engine.contract import Query
from gbrank.engine.numba_internals import bits_of, slice_of
from gbrank.engine.sorting import LONG, rank, rank_by_counting

# Of the bits of a double: those of its fraction, and those of the number 1.
FRACTION = np.int64((1 << 52) - 1)
ONE = np.int64(1023 << 52)
NO_SHIFT = np.uint64(0)
HALF = np.uint64((1 << 63) - 1)
LOG_2 = float(np.log(2.0))

split_mix = inline(sampling.split_mix)


@inline
def uniform(noise: int, i: int, shift: np.uint64 = NO_SHIFT) -> float:
    """Return the i-th uniform number in ]0, 1[ plus a shift, modulo 1; HALF shifts it by 1/2."""
    bits = split_mix(noise, i) + shift
    return (np.float64(bits >> np.uint64(12)) + 0.5) * 2.0**-52


@inline
def take_logarithms(x: Vector) -> None:
    """Replace uniform numbers by their logarithms, within 1e-7; unlike np.log, it vectorises.

    Of u = 2^e (1 + f), f in [0, 1[: log u = e log 2 + 2 artanh(f / (2 + f)), by its series.
    """
    bits = bits_of(x, np.int64)
    for i in range(np.uintp(0), np.uintp(x.size)):
        power = np.float64((bits[i] >> np.int64(52)) - np.int64(1023))
        bits[i] = (bits[i] & FRACTION) | ONE
        t = (x[i] - 1.0) / (x[i] + 1.0)
        square = t * t
        series = 1 / 7 + square * (1 / 9 + square * (1 / 11 + square / 13))
        x[i] = power * LOG_2 + 2 * t * (1 + square * (1 / 3 + square * (1 / 5 + square * series)))


class Draw(NamedTuple):
    """The work arrays of drawing a noisy ranking."""

    keys: Vector
    spare: Vector
    spare_places: Positions
    places: Positions  # of the document of each noisy rank


@inline
def draw_ranking(query: Query, draw: int, wide: bool, down: Vector, work: Draw) -> None:
    """Write the place of the document of each noisy rank.

    Draws come in pairs, from uniform numbers u and u + 1/2 modulo 1.
    """
    s = query.scores
    m = query.scores.size
    first = draw // 2 * m
    shift = HALF * np.uint64(draw % 2)
    keys = slice_of(work.keys, 0, m)
    for i in range(m):
        keys[i] = uniform(query.noise, first + i, shift)
    take_logarithms(keys)  # now the negatives of exponential numbers
    for i in range(m):
        if wide:
            keys[i] = (s[i] - s[0]) / query.sigma - np.log(-keys[i])  # plus Gumbel noise
        else:
            keys[i] *= down[i]  # minus exp(−(s + noise)/σ), of the same order
    if m < LONG:
        rank_by_counting(keys, work.places)
    else:
        cut = slice_of(work, 0, m)
        rank(cut.keys, cut.places, cut.spare, cut.spare_places)
