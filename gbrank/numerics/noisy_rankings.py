"""Noisy rankings for kernels: documents by score plus Gumbel noise, as drawn one by one by softmax.

Of the documents that are left, the next one is i with probability exp(s_i/σ) over their sum: the
Plackett-Luce model.
"""

from typing import NamedTuple

import numpy as np

from gbrank.common.arrays import Positions, Vector
from gbrank.engine.compiling import inline
from gbrank.engine.contract import Query
from gbrank.engine.numba_internals import head_of, slice_of
from gbrank.engine.sorting import LONG, rank, rank_by_counting
from gbrank.numerics.noise import HALF, shifted, take_logarithms


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
    s, m = query.scores, query.scores.size
    first, shift = draw // 2 * m, HALF * np.uint64(draw % 2)
    keys = slice_of(work.keys, 0, m)
    for i in range(m):
        keys[i] = shifted(query.noise, first + i, shift)
    take_logarithms(keys)  # now the negatives of exponential numbers
    for i in range(m):
        if wide:
            keys[i] = (s[i] - s[0]) / query.sigma - np.log(-keys[i])  # plus Gumbel noise
        else:
            keys[i] *= down[i]  # minus exp(−(s + noise)/σ), of the same order
    if m < LONG:
        rank_by_counting(keys, work.places)
    else:
        sort_draw(m, work)


@inline
def sort_draw(m: int, draw: Draw) -> None:
    """Write the places of the keys, the largest first."""
    cut = head_of(draw, m)
    rank(cut.keys, cut.places, cut.spare, cut.spare_places)
