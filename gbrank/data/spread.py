"""The spread of scores within queries: the unit of relative schedules and their Newton steps."""

import numpy as np

from gbrank.common.checks import Vector
from gbrank.common.collective import all_max, all_sum

from .queries import Queries
from .sums import order_free_mean

# Sigmas above one spread multiply the spread in every round: single precision must hold it.
WIDEST_SPREAD = 1e9
# How many queries make steps halfway from σ to one spread: chosen on validation queries.
HALFWAY = 5000


def spread_within_queries(scores: Vector, queries: Queries) -> float:
    """Compute the standard deviation of scores about their queries' means, over all workers."""
    # Sums are taken in integers, so that the order of rows plays no part.
    # Halved, so that no difference overflows.
    half = np.ldexp(scores, -1)
    below = half - queries.reduce(np.maximum, half)[queries.index]
    furthest, longest = all_max(np.array([-below.min(), queries.sizes.max()]))
    if furthest == 0:
        return 0.0
    # A power of two keeps the scaling exact, and the sum of each query below 2^62.
    scale = int(np.frexp(furthest)[1])
    bits = 61 - int(longest).bit_length()
    scaled = np.ldexp(below, -scale)
    fixed_point = np.ldexp(scaled, bits).astype(np.int64)[queries.order]
    means = np.ldexp(np.add.reduceat(fixed_point, queries.starts) / queries.sizes, -bits)
    squares = (scaled - means[queries.index]) ** 2
    return float(np.ldexp(np.sqrt(order_free_mean(squares, len(squares))), scale + 1))


def unit_width(scores: Vector, queries: Queries, sigma_unit: str) -> float:
    """Compute the sigma that is one spread, over all workers; 1 if all scores are tied."""
    return min(spread_within_queries(scores, queries), WIDEST_SPREAD) ** _power(sigma_unit) or 1.0


def step_factor(sigma: float, queries: Queries, sigma_unit: str) -> float:
    """Compute the factor from steps of σ spreads to σ + (1 − σ) n / (n + 5000), n queries."""
    width = min(sigma ** (1 / _power(sigma_unit)), 1.0)
    n = float(all_sum(queries.n_queries))  # many queries support steps of one spread, few do not
    return 1 + (1 / width - 1) * n / (n + HALFWAY)


def _power(sigma_unit: str) -> int:
    return 2 if sigma_unit == "squared score" else 1
