"""SoftRank of long lists, for discounts that are sums of exponentials.

Where D(1 + n) = D_0 + Σ_l c_l z_l^n, 0 < z_l < 1, no distribution of ranks is needed: given that
the noisy score of document i is x, the others are above it independently with probabilities p_j,
so that E[z^N] = Π (1 − (1 − z) p_j), whose logarithm is a sum over documents of a function of
s_j − x alone. With T that product over all documents, ψ_i = φ_i / (1 − (1 − z) p_i), and everything
else as in `gbrank.kernels.rank_distributions`,

    E[M] = D_0 Σ_i G_i + Σ_l c_l ∫ T Σ_i G_i ψ_i dx
    ∂E[M]/∂s_k = Σ_l (1 − z_l) c_l ∫ T ψ_k Σ_i (G_k − G_i) ψ_i dx.

All sums and integrals here are sums over places of functions of distances, summed by boxes.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from gbrank.data.queries import Queries
from gbrank.kernels.addition import sum_of
from gbrank.kernels.compiled import Matrix, Vector, inline
from gbrank.kernels.gauss_transform import BOXES, GAUSSIAN, add_by_boxes, make_table
from gbrank.kernels.gauss_transform import REACH as BOX_REACH
from gbrank.kernels.sweeps import TERMS

__all__ = ["fit_discounts", "fit_drops", "make_tables", "sum_exponentials"]

# The largest rate −log z, and the ratio of one to the next; the smallest is SLOWEST/m.
FASTEST, RATIO, SLOWEST = 8.0, 0.6, 0.2
# By how much a discount may be missed, relative to the largest.
TOLERANCE = 1e-6
# Where T is below exp(−FADED) it is left out.
FADED = 40.0
# Gains are told apart to a part of the largest, for the curvature.
GRAIN = 1 / 64


def fit_discounts(table: Vector, queries: Queries, longest: int) -> tuple[Vector, Matrix]:
    """Return the rates t_l = −log z_l, and for each query its w: see `fit_drops`.

    Parameters
    ----------
    table : ndarray, shape (n_documents,)
        Discounts of each position, query by query.
    queries : Queries
    longest : int
        There are rates only if some query is longer, and w for such queries only.

    Returns
    -------
    rates : ndarray, shape (n_rates,)
    drops : ndarray, shape (n_queries, n_rates)
        NaN where there are none, and where the discount is cut at a rank.
    """
    m = queries.sizes.max()
    if m <= longest:
        return np.empty(0), np.empty((queries.n_queries, 0))
    rates = FASTEST * RATIO ** np.arange(1 + np.ceil(np.log(SLOWEST / m / FASTEST) / np.log(RATIO)))
    first, second = table[queries.offsets[np.argmax(queries.sizes)] :][:2]
    if 0 < second < first:
        rates = np.append(rates, np.log(first / second))  # it may fall geometrically
    drops = np.full((queries.n_queries, len(rates)), np.nan)
    known: dict[bytes, Vector] = {}
    for query in np.flatnonzero(queries.sizes > longest):
        discounts = table[queries.offsets[query] : queries.offsets[query + 1]]
        if discounts[-2] == 0:  # the last may be 0 without a cut: a linear one is
            continue
        key = discounts.tobytes()
        if key not in known:
            known[key] = fit_drops(discounts, rates)
        drops[query] = known[key]
    return rates, drops


def fit_drops(discounts: Vector, rates: Vector) -> Vector:
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
    return drops if error <= TOLERANCE * np.abs(discounts).max() else np.full(len(rates), np.nan)


def make_tables(rates: Vector) -> NDArray[np.float64]:
    """Return, for each rate, the tables of log(1 − (1 − z) p) and ψ at x, and of ψ from x."""

    def tables(rate: float) -> NDArray[np.float64]:
        def left(d: NDArray[np.float64]) -> NDArray[np.float64]:
            return ndtr(np.sqrt(2) * d) + np.exp(-rate) * ndtr(-np.sqrt(2) * d)

        shares = make_table(lambda d: np.exp(-d * d) / np.sqrt(2 * np.pi) / left(d))
        logs = make_table(lambda d: np.log(left(d)))
        return np.stack([logs, shares, shares[::-1].transpose(0, 2, 1)])

    found = [tables(rate) for rate in rates]
    return np.array(found).reshape((len(rates), 3, BOXES, TERMS, TERMS))


@inline
def sum_exponentials(
    start: int, end: int, step: float, reach: float, first_discount: float, rates: Vector,
    drops: Vector, tables: NDArray[np.float64], depth: Vector, gains: Vector, scratch: Matrix,
    gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Return the value of a cluster and add its derivatives, in units of σ.

    Points of integration are `step` apart, from `reach` above the first document to `reach` below
    the last one. There must be five rows of scratch.
    """
    n = end - start
    places = scratch[0, :n]
    weights = scratch[1:3]
    pulls = scratch[3:5]
    for i in range(n):
        places[i] = (depth[start + i] + reach) * np.sqrt(0.5)
    weights[0, :n] = 1.0
    weights[1, :n] = gains[start:end]
    pulls[:, :n] = 0.0
    points = np.sqrt(0.5) * step * np.arange(2 + int((depth[end - 1] + 2 * reach) / step))
    product = np.empty(points.size)
    dropped = np.zeros(points.size)
    fields = np.empty((2, points.size))
    value = first_discount * sum_of(gains[start:end])
    for r in range(rates.size):
        rate = rates[r]
        spread = -np.expm1(-rate)
        # Half of T is due to those above x already: each of them has p > 1/2.
        faded = start + FADED / -np.log1p(-0.5 * spread)
        size = points.size
        if faded < end:
            size = np.searchsorted(points, places[int(faded) - start]) if faded > start else 0
        near = np.searchsorted(places, points[size - 1] + BOX_REACH + 1) if size > 0 else 0
        fields[0, :size] = 0.0
        add_by_boxes(tables[r, 0], 0, False, places[:near], weights[:1], points[:size], fields[:1])
        above = 0
        for a in range(size):
            while above < n and np.floor(places[above]) < np.floor(points[a]) - BOX_REACH:
                above += 1
            product[a] = np.exp(fields[0, a] - rate * (start + above))
        fields[:, :size] = 0.0
        add_by_boxes(tables[r, 1], 0, False, places[:near], weights, points[:size], fields)
        value -= drops[r] / spread * sum_of(gains[start:end])
        for a in range(size):
            weight = step * drops[r] * product[a]
            value += weight / spread * fields[1, a]
            dropped[a] += weight * fields[0, a]
            fields[0, a] *= weight
            fields[1, a] *= weight
        if gradient.size > 0:
            add_by_boxes(tables[r, 2], 0, False, points[:size], fields, places[:near], pulls)
    if gradient.size > 0:
        for i in range(n):
            gradient[start + i] -= gains[start + i] * pulls[0, i] - pulls[1, i]
        add_curvature_by_gain(start, places, points, dropped, fields, gains, scratch, curvature)
    return value


@inline
def add_curvature_by_gain(
    start: int, places: Vector, points: Vector, dropped: Vector, fields: Matrix, gains: Vector,
    scratch: Matrix, curvature: Vector,
) -> None:  # fmt: skip
    """Add Σ_i |G_k − G_i| φ_i φ_k times the mean drop of the discount, at all points."""
    n = places.size
    weights = scratch[1:3]
    pulls = scratch[3:5]
    own = np.empty(n)
    everyone = np.zeros((2, points.size))
    add_by_boxes(GAUSSIAN, 0, False, places, weights, points, everyone)
    passed = np.zeros((2, points.size))
    by_gain = np.argsort(gains[start : start + n], kind="mergesort")
    begin = 0
    while begin < n:
        end = begin + 1
        while end < n and gains[start + by_gain[end]] <= gains[start + by_gain[begin]] + GRAIN:
            end += 1
        members = np.sort(by_gain[begin:end])
        size = end - begin
        for t in range(size):
            own[t] = places[members[t]]
            weights[0, t] = 1.0
            weights[1, t] = gains[start + members[t]]
        pulls[:, :size] = 0.0
        add_by_boxes(GAUSSIAN, 0, False, own[:size], weights, points, passed)
        for a in range(points.size):
            mean = dropped[a] / everyone[0, a] if everyone[0, a] > 0 else 0.0
            fields[0, a] = mean * (2 * passed[0, a] - everyone[0, a])
            fields[1, a] = mean * (2 * passed[1, a] - everyone[1, a])
        add_by_boxes(GAUSSIAN, 0, False, points, fields, own[:size], pulls)
        for t in range(size):
            k = start + members[t]
            bound = gains[k] * pulls[0, t] - pulls[1, t]
            curvature[k] += max(bound, 0.0) / np.sqrt(2 * np.pi)
        begin = end
