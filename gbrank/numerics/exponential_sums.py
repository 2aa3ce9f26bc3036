"""SoftRank's expected measure for discounts that are sums of exponentials.

Where D(1 + n) = D_0 + Σ_l c_l z_l^n, 0 < z_l < 1, no distribution of ranks is needed: given that
the noisy score of document i is x, the others are above it independently with probabilities p_j,
so that E[z^N] = Π (1 − (1 − z) p_j). With T that product over all documents,
ψ_i = φ_i / (1 − (1 − z) p_i), and everything else as in `gbrank.objectives.softrank`,

    E[M] = D_0 Σ_i G_i + Σ_l c_l ∫ T Σ_i G_i ψ_i dx
    ∂E[M]/∂s_k = Σ_l (1 − z_l) c_l ∫ T ψ_k Σ_i (G_k − G_i) ψ_i dx.

T is as smooth as the largest of n noisy scores, so that steps need hardly shrink with the list, and
each document is in reach of a few dozen points.
"""

import numpy as np

from gbrank.common.arrays import Matrix, Vector
from gbrank.data.queries import Queries
from gbrank.engine.compiling import inline
from gbrank.engine.contract import Derivatives
from gbrank.engine.structures import slice_of
from gbrank.numerics.normal_windows import Integrals, add_curvature, chance_above, window
from gbrank.numerics.vectors import sum_of

# The largest rate −log z; the smallest is SLOWEST/m.
FASTEST, SLOWEST = 8.0, 1.0
# Fewer rates than this must meet the tolerance, or else `soft_rank_by_counts` counts ranks.
MOST_RATES = 32
# For a tolerance below this, ranks are counted.
FINEST = 1e-7
# For shorter lists, to count ranks is as fast: measured.
SHORTEST = 8
# T is left out where it is below exp(−FADED).
FADED = 40.0


def fit_discounts(discounts: Vector, queries: Queries, tolerance: float) -> tuple[Vector, Matrix]:
    """Return the rates t_l = −log z_l, falling, and for each query its w: see `fit_drops`.

    Parameters
    ----------
    discounts : ndarray, shape (n_documents,)
        Discounts of each position, query by query.
    queries : Queries
    tolerance : float
        By how much a discount may be missed, relative to the largest.

    Returns
    -------
    rates : ndarray, shape (n_rates,)
    drops : ndarray, shape (n_queries, n_rates)
        NaN for short lists, and where the discount is no such sum, as one that is cut at a rank.
    """
    sizes, starts = queries.sizes, queries.offsets[:-1]
    longest = int(np.argmax(sizes))
    rates = _fewest_rates(discounts[starts[longest] :][: sizes[longest]], tolerance)
    drops = np.full((queries.n_queries, len(rates)), np.nan)
    known: dict[bytes, Vector] = {}
    count = len(rates)
    for query in np.argsort(-sizes, kind="stable"):
        own = discounts[starts[query] :][: sizes[query]]
        # The last discount may be 0 without a cut, as a linear one is.
        if len(own) < SHORTEST or own[-2] == 0:
            continue
        key = own.tobytes()
        if key not in known:
            found = known[key] = np.zeros(len(rates))
            found[:count] = fit_drops(own, rates[:count], tolerance)
            while count > 1:  # a shorter list needs no more than a longer one
                fewer = fit_drops(own, rates[: count - 1], tolerance)
                if np.isnan(fewer).any():
                    break
                count -= 1
                found[:count], found[count:] = fewer, 0.0
        drops[query] = known[key]
    return rates, drops


def _fewest_rates(discounts: Vector, tolerance: float) -> Vector:
    """Return as few rates as discounts need, or none if they are no sum of exponentials."""
    if len(discounts) < SHORTEST or tolerance < FINEST:
        return np.empty(0)
    if 0 < discounts[1] < discounts[0]:  # they may fall geometrically
        rates = np.log(discounts[:1] / discounts[1:2])
        if not np.isnan(fit_drops(discounts, rates, tolerance)).any():
            return rates
    for count in range(2, MOST_RATES):
        rates = np.geomspace(FASTEST, SLOWEST / len(discounts), count)
        if not np.isnan(fit_drops(discounts, rates, tolerance)).any():
            return rates
    return np.empty(0)


def fit_drops(discounts: Vector, rates: Vector, tolerance: float) -> Vector:
    """Return w with D(1 + n) − D(2 + n) = Σ_l w_l exp(−t_l n), NaN if that is not possible."""
    last = len(discounts) - 1
    n = np.unique(np.append(np.arange(min(last, 64)), np.geomspace(1, last, 300) - 1).astype(int))
    powers = np.exp(-np.outer(n, rates))
    above = 1.0 + n  # an error of a drop counts as often as there are documents above
    wanted = above * (discounts[n] - discounts[n + 1])
    drops = np.linalg.lstsq(above[:, None] * powers, wanted, rcond=1e-13)[0]
    reached = discounts[0] - (1 - powers) / -np.expm1(-rates) @ drops
    error = max(
        np.abs(above * (powers @ drops) - wanted).max(), np.abs(reached - discounts[n]).max()
    )
    return drops if error <= tolerance * np.abs(discounts).max() else np.full(len(rates), np.nan)


@inline
def sum_exponentials(
    start: int, end: int, step: float, reach: float, first_discount: float, rates: Vector,
    drops: Vector, levels: int, work: Integrals, out: Derivatives,
) -> float:  # fmt: skip
    """Return the value of a cluster and add its derivatives, in units of σ."""
    depth, gains, slope = work.depth, work.gain, work.slope
    wanted = out.gradient.size > 0
    spreads = -np.expm1(-rates)
    certain = np.exp(-rates * start)  # Π over the documents that are above for certain
    low = start
    high = start
    first = 0  # of the rates that are not faded
    value = first_discount
    for r in range(rates.size):
        value -= drops[r] / spreads[r]
    value *= sum_of(slice_of(gains, start, end))
    for node in range(2 + int((depth[end - 1] + 2 * reach) / step)):
        x = node * step - reach
        passed = low
        low, high = window(x, reach, low, high, end, depth)
        for _ in range(passed, low):
            for r in range(rates.size):
                certain[r] *= 1.0 - spreads[r]
        if low == high:
            continue
        for k in range(np.uintp(low), np.uintp(high)):
            work.above[k], work.density[k] = chance_above(x - depth[k])
            slope[k] = 0.0
        dropped = 0.0
        for r in range(first, rates.size):
            product, total, gained = _shares(low, high, spreads[r], certain[r], work)
            weight = step * drops[r] * product
            value += weight / spreads[r] * gained
            dropped += weight * total
            if wanted:
                _add_slopes(low, high, weight, total, gained, work)
            if r == first and product < np.exp(-FADED):
                first += 1
        if wanted and high > low + 1:
            for k in range(np.uintp(low), np.uintp(high)):
                out.gradient[k] -= slope[k]
            if node % 2 == 0:  # curvature only sets the size of steps: half the points do
                add_curvature(low, high, 2 * dropped, levels, work, out.curvature)
    return value


@inline
def _shares(
    low: int, high: int, spread: float, certain: float, work: Integrals
) -> tuple[float, float, float]:
    """Write the ψ of a window for one rate; return T, Σ ψ and Σ G ψ."""
    product = certain
    total = 0.0
    gained = 0.0
    for k in range(np.uintp(low), np.uintp(high)):
        left = 1.0 - spread * work.above[k]
        work.left[k] = work.density[k] / left
        product *= left
        total += work.left[k]
        gained += work.left[k] * work.gain[k]
    return product, total, gained


@inline
def _add_slopes(
    low: int, high: int, weight: float, total: float, gained: float, work: Integrals
) -> None:
    """Add weight ψ_k Σ_i (G_k − G_i) ψ_i to the slopes of a window."""
    for k in range(np.uintp(low), np.uintp(high)):
        work.slope[k] += weight * work.left[k] * (work.gain[k] * total - gained)
