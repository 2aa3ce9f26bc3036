"""SoftRank's documents as seen from a point of integration x: above it, below it, or in reach.

A document whose score is far above or below x stays there with certainty; the others are the
window of x. All lengths are in units of σ.
"""

from typing import NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermeval
from numpy.typing import NDArray
from scipy.special import ndtr

from gbrank.common.arrays import Positions, Vector
from gbrank.engine.compiling import inline
from gbrank.engine.sorting import rank
from gbrank.engine.structures import slice_of

# Φ is a Taylor polynomial around the nearest of places 1/PLACES apart; Φ and φ are exact to 1e-11.
PLACES, FARTHEST, TERMS = 16, 9, 7


def _normal_table() -> NDArray[np.float64]:
    """Return the coefficients of Φ, lowest power first, for each place from −FARTHEST."""
    z = np.arange(-FARTHEST * PLACES, FARTHEST * PLACES + 1) / PLACES
    slope = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    columns = [ndtr(z)]
    factor = 1.0
    for n in range(1, TERMS):
        factor /= n
        columns.append(factor * slope * hermeval(-z, np.eye(n)[n - 1]))
    return np.ascontiguousarray(np.transpose(columns))


NORMAL = _normal_table()


class Integrals(NamedTuple):
    """What integration over a cluster works with.

    From `chance` on, arrays have one entry per number of documents above x, from the largest to 0:
    its probability, and Σ_i φ_i P(N_−i) without and with G_i.
    """

    depth: Vector
    gain: Vector
    density: Vector
    above: Vector
    left: Vector
    slope: Vector
    level: Positions  # how many distinct smaller gains a document has
    order: Positions
    spare_order: Positions
    below: Vector  # sums over levels: of densities,
    gain_below: Vector  # and of densities times gains
    chance: Vector
    dense: Vector
    gained: Vector


@inline
def chance_above(z: float) -> tuple[float, float]:
    """Return Φ(z), the chance that a document z above x stays there, and φ(z); |z| < FARTHEST."""
    place = np.uintp(z * PLACES + (FARTHEST * PLACES + 0.5))
    d = z - (place / PLACES - FARTHEST)
    terms = NORMAL[place]
    chance = terms[TERMS - 1]
    slope = 0.0
    for n in range(TERMS - 2, -1, -1):
        slope = slope * d + chance
        chance = chance * d + terms[n]
    return chance, slope


@inline
def window(x: float, reach: float, low: int, high: int, end: int, depth: Vector) -> tuple[int, int]:
    """Return the documents within reach of x, given those of a point before it."""
    while high < end and depth[high] < x + reach:
        high += 1
    while low < high and depth[low] <= x - reach:
        low += 1
    return low, high


@inline
def densest(start: int, end: int, reach: float, depth: Vector) -> int:
    """Return how many documents the fullest window of a cluster holds."""
    most = 0
    low = start
    for high in range(start, end):
        while depth[high] - depth[low] > 2 * reach:
            low += 1
        most = max(most, high + 1 - low)
    return most


@inline
def gain_levels(start: int, end: int, work: Integrals) -> int:
    """Write how many distinct smaller gains each document has; return how many gains there are."""
    keys, order = slice_of(work.below, start, end), slice_of(work.order, start, end)
    for n in range(end - start):
        keys[n] = work.gain[start + n]
    rank(keys, order, slice_of(work.gain_below, start, end), slice_of(work.spare_order, start, end))
    level = 0
    for n in range(end - start - 1, -1, -1):
        level += n + 1 < end - start and keys[n] > keys[n + 1]
        work.level[start + order[n]] = level
    return level + 1


@inline
def add_curvature(
    low: int, high: int, weight: float, levels: int, work: Integrals, curvature: Vector
) -> None:
    """Add weight Σ_i |G_k − G_i| φ_i φ_k / Σ_i φ_i to the documents k of a window."""
    level, density, gains = work.level, work.density, work.gain
    below, gain_below = work.below, work.gain_below
    for n in range(levels):
        below[n] = gain_below[n] = 0.0
    # Unsigned indices need no wrap-around check.
    for k in range(np.uintp(low), np.uintp(high)):
        own = np.uintp(level[k])
        below[own] += density[k]
        gain_below[own] += density[k] * gains[k]
    for n in range(1, levels):
        below[n] += below[n - 1]
        gain_below[n] += gain_below[n - 1]
    total, total_gain = below[levels - 1], gain_below[levels - 1]
    factor = weight / total
    for k in range(np.uintp(low), np.uintp(high)):
        own = np.uintp(level[k])
        spread = gains[k] * (2 * below[own] - total) - (2 * gain_below[own] - total_gain)
        curvature[k] += factor * density[k] * max(spread, 0.0)
