"""How far scores lie apart within queries: the unit of relative schedules."""

import numpy as np
from numpy.typing import NDArray

from gbrank.data.queries import Queries
from gbrank.parallel.collective import largest
from gbrank.parallel.sums import mean_of_any_order

__all__ = ["spread_within_queries", "unit_width"]

Vector = NDArray[np.float64]

# See `unit_width`.
WIDEST_SPREAD = 1e9


def spread_within_queries(scores: Vector, queries: Queries) -> float:
    """Return the standard deviation of scores about the means of their queries.

    Sums are taken in integers, so that the order of rows plays no part.

    Parameters
    ----------
    scores : ndarray, shape (n_documents,)
        Finite scores.
    queries : Queries

    Returns
    -------
    float
        √(Σ (s − s̄_q)²/n) over all n documents (of all workers); 0 where all scores of every
        query are equal.

    Examples
    --------
    >>> spread_within_queries(np.array([1.0, -1.0, 7.0]), Queries.from_sizes([2, 1]))
    0.816496580927726
    """
    starts = queries.offsets[:-1]
    # Halved, so that no difference overflows.
    half = np.ldexp(scores, -1)
    below = half - np.maximum.reduceat(half[queries.order], starts)[queries.index]
    furthest, longest = largest(np.array([-below.min(), queries.sizes.max()]))
    if furthest == 0:
        return 0.0
    # A power of two keeps the scaling exact, and the sum of each query below 2^62.
    scale = int(np.frexp(furthest)[1])
    bits = 61 - int(longest).bit_length()
    scaled = np.ldexp(below, -scale)
    whole = np.ldexp(scaled, bits).astype(np.int64)[queries.order]
    means = np.ldexp(np.add.reduceat(whole, starts) / queries.sizes, -bits)
    squares = (scaled - means[queries.index]) ** 2
    return float(np.ldexp(np.sqrt(mean_of_any_order(squares, len(squares))), scale + 1))


def unit_width(scores: Vector, queries: Queries, sigma_unit: str) -> float:
    """Return the sigma that 1 stands for in a schedule of unit "spread".

    Parameters
    ----------
    scores : ndarray, shape (n_documents,)
        Finite scores.
    queries : Queries
    sigma_unit : str
        What the objective measures sigma in; see `gbrank.objectives.Facts`.

    Returns
    -------
    float
        The spread, or its square; where all scores tie, that of a spread of 1. A spread beyond
        `WIDEST_SPREAD` counts as that: widths of several spreads multiply the spread in every
        round, and would outgrow the single precision of the boosters.

    Examples
    --------
    >>> unit_width(np.array([3.0, -3.0]), Queries.from_sizes([2]), "squared score")
    9.0
    """
    power = 2 if sigma_unit == "squared score" else 1
    return min(spread_within_queries(scores, queries), WIDEST_SPREAD) ** power or 1.0
