"""SoftRank's documents as seen from a point of integration x: above it, below it, or in reach.

A document whose score is far above or below x stays there with certainty; the others are the
window of x. All lengths are in units of σ.
"""

import numpy as np
from numpy.polynomial.hermite_e import hermeval
from numpy.typing import NDArray
from scipy.special import ndtr

from gbrank.common.arrays import Matrix, Positions, Vector
from gbrank.kernels.compiled import inline

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
def gain_levels(start: int, end: int, gains: Vector, level: Positions) -> int:
    """Write how many distinct smaller gains each document has; return how many gains there are."""
    by_gain = start + np.argsort(gains[start:end])
    level[by_gain[0]] = 0
    for n in range(1, end - start):
        k, before = by_gain[n], by_gain[n - 1]
        level[k] = level[before] + (gains[k] > gains[before])
    return level[by_gain[-1]] + 1


@inline
def add_curvature(
    low: int, high: int, weight: float, level: Positions, sums: Matrix, density: Vector,
    gains: Vector, curvature: Vector,
) -> None:  # fmt: skip
    """Add weight Σ_i |G_k − G_i| φ_i φ_k / Σ_i φ_i to the documents k of a window.

    `sums` has two rows, an entry for each level of gains.
    """
    sums[:] = 0.0
    # Unsigned indices need no wrap-around check.
    for k in range(np.uintp(low), np.uintp(high)):
        own = np.uintp(level[k])
        sums[0, own] += density[k]
        sums[1, own] += density[k] * gains[k]
    for n in range(1, sums.shape[1]):
        sums[0, n] += sums[0, n - 1]
        sums[1, n] += sums[1, n - 1]
    total, total_gain = sums[0, -1], sums[1, -1]
    factor = weight / total
    for k in range(np.uintp(low), np.uintp(high)):
        own = np.uintp(level[k])
        spread = gains[k] * (2 * sums[0, own] - total) - (2 * sums[1, own] - total_gain)
        curvature[k] += factor * density[k] * max(spread, 0.0)
