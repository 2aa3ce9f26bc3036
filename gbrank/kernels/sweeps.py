"""Sums over all pairs of a list in quasi-linear time, by sweeps over the sorted scores.

For scores s_i ≥ s_j and u = exp(−(s_i − s_j)/σ) ≤ 1, what a logistic pair needs is a function of u
that is smooth on [0, 1], so that a polynomial Σ_n c_n u^n replaces it, and u^n is a product of a
factor of i and a factor of j. A sweep along the list keeps Σ_j w_j u_j^n for each n, from which
the sum of every document follows. Factors are relative to an anchor that moves along, so that
nothing overflows; sums of what is far behind fade away.

Where the sign or the size of a pair's weight depends on which document has the larger x, the list
is divided by x.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Polynomial

from gbrank.common.arrays import Matrix, Positions, Vector
from gbrank.kernels.compiled import inline, plain
from gbrank.kernels.contract import SeparableDelta
from gbrank.kernels.division import order_by, partition, parts_of
from gbrank.kernels.exponentials import exponentials, is_wide, row_exponentials
from gbrank.kernels.reductions import sum_of

TERMS = 16
# The largest distance from an anchor to its documents, in σ, so that no power grows large.
FARTHEST = 1.0
# Parts of a list with fewer documents are summed pair by pair.
SMALL = 256
# Rows of scratch that `sweep_pairs` needs.
SWEEP_SCRATCH = 5


def _polynomial(function: Callable[[Vector], Vector], zeros: int = 1) -> Vector:
    """Return the coefficients of u^zeros times a polynomial that interpolates a function.

    Nodes are the extrema of a Chebyshev polynomial on [0, 1], both ends included.
    """
    degree = TERMS - 1 - zeros
    nodes = 0.5 - 0.5 * np.cos(np.pi * np.arange(degree + 1) / degree)
    fit = Polynomial.fit(nodes, function(nodes), degree, domain=[0, 1])
    return np.concatenate([np.zeros(zeros), fit.convert().coef])


# Functions of u, with p = 1/(1 + u): first the coefficients of powers of u, exact at u = 0 and to
# rounding at u = 1; then those of 1, 1 − p, p (1 − p), p (1 − p)² and −log p themselves.
_ONE, _WRONG, _SLOPE, _STEEP, _LOSS = np.hstack(
    [
        [
            np.eye(TERMS)[0],
            _polynomial(lambda u: 1 / (1 + u)),
            _polynomial(lambda u: (1 + u) ** -2),
            _polynomial(lambda u: (1 + u) ** -3, zeros=2),
            _polynomial(lambda u: np.log1p(u + 1e-300) / (u + 1e-300)),
        ],
        np.eye(5),
    ]
)
_RIGHT = _ONE - _WRONG

# What a document below, and one above, adds to a document's soft rank; and the slope of that.
LOGISTIC = np.stack([_WRONG, _RIGHT])
LOGISTIC_SLOPE = np.stack([_SLOPE, _SLOPE])
# Force and curvature of a pair of weight 1, each in the right order, then in the wrong one; for
# `PAIR_CHANCES` the slope of its chance to be in the right order, and the chance itself.
PAIR_FORCES = np.stack([_WRONG, _RIGHT, _SLOPE, _SLOPE])
PAIR_CHANCES = np.stack([_SLOPE, _SLOPE, _RIGHT, _WRONG])
PAIR_LOSSES = np.stack([_LOSS, _LOSS, 0 * _LOSS, 0 * _LOSS])
RANK_FORCES = np.stack([_SLOPE, _SLOPE, _SLOPE - _STEEP, _STEEP])


@inline
def add_sums(
    s: Vector, sigma: float, first: Positions, weights: Vector, terms: Matrix, out: Vector
) -> None:
    """Add Σ_{j ≠ i} w_j f(u) to each out[i]; f is ``terms[0]`` for j below i, else ``terms[1]``.

    Tied documents of equal weight get the same bits.
    """
    m = s.size
    sums = np.empty((1, TERMS))
    powers = np.empty(TERMS)
    for above in range(2):
        sums[:] = 0.0
        anchor = s[0 if above else m - 1]
        start = 0
        while start < m:
            head = start if above else m - 1 - start
            gap = abs(anchor - s[head]) / sigma
            if gap > FARTHEST:
                _fade(np.exp(-gap), sums, powers)
                anchor = s[head]
                gap = 0.0
            factor = np.exp(-gap)
            fill_powers(factor, powers)
            total = 0.0
            for n in range(np.uintp(TERMS)):
                total += terms[above, n] * sums[0, n] * powers[n]
            end = start
            tied = 0.0
            while end < m and first[end if above else m - 1 - end] == first[head]:
                tied += weights[end if above else m - 1 - end]
                end += 1
            for t in range(start, end):
                i = t if above else m - 1 - t
                out[i] += total
                if end > start + 1:
                    out[i] += 0.5 * (tied - weights[i]) * sum_of(terms[above, :TERMS])
            fill_powers(1.0 / factor, powers)
            for n in range(np.uintp(TERMS)):
                sums[0, n] += tied * powers[n]
            start = end


class PairWeights(NamedTuple):
    """What pairs weigh in a sweep: 1 or |x_i − x_j|, times the rest of their delta if `separable`.

    In a tuple, since numba would compile the sweep anew for each constant flag.
    """

    unit: bool
    separable: bool


@plain
def sweep_pairs(
    s: Vector, sigma: float, first: Positions, x: Vector, weights: PairWeights,
    delta: SeparableDelta, terms: Matrix, scratch: Matrix, gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Add the forces and curvatures of all pairs of different x, in units of σ.

    A pair pushes its document of larger x up (its gradient down), and the other one down. Force
    and curvature of weight 1 are polynomials in u: rows of `terms`, for pairs in the right order
    (0 and 2) and in the wrong order (1 and 3). `scratch` needs `SWEEP_SCRATCH` rows.

    Where there is no gradient, return the sum of the forces, plus the weighted gaps of pairs in
    wrong order.
    """
    m = s.size
    members = scratch[0, :m].view(np.int64)
    spare = scratch[1, :m].view(np.int64)
    ordered = scratch[2, :m]
    anchors, factors = scratch[3, :m], scratch[4, :m]
    order_by(x[:m], ordered, members, factors, spare)
    for p in range(m):
        anchors[p] = anchors[p - 1] if p > 0 else s[0]
        if (anchors[p] - s[p]) / sigma > FARTHEST:
            anchors[p] = s[p]
        factors[p] = np.exp((s[p] - anchors[p]) / sigma)
    total = 0.0
    for begin, middle, end in parts_of(ordered, SMALL):
        if end - begin <= SMALL:
            total += _sum_small(
                members[begin:end], s, sigma, first, x, weights, delta, terms, gradient, curvature
            )
            continue
        cut = ordered[middle]
        centre = 0.5 * ordered[middle - 1] + 0.5 * cut
        for above in range(2 if gradient.size > 0 else 1):
            total += _sweep(
                above > 0, members[begin:end], sigma, first, x, cut, centre, weights, delta, terms,
                anchors, factors, gradient, curvature,
            )  # fmt: skip
        partition(members[begin:end], x, cut, spare)
    return total


@inline
def _sum_small(
    members: Positions, s: Vector, sigma: float, first: Positions, x: Vector, weights: PairWeights,
    delta: SeparableDelta, terms: Matrix, gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Add the pairs of a few documents, pair by pair."""
    unit, separable = weights
    size = members.size
    losses = gradient.size == 0
    rows = np.empty((13, SMALL))  # at a constant distance, so that loops vectorise
    scores, values, heads, lower = rows[0, :size], rows[1], rows[2], rows[3]
    forces, curvatures, up, down = rows[4], rows[5], rows[6], rows[7]
    # Of the pairs of one document with those below it.
    powers, rights, weight, force, second = rows[8], rows[9], rows[10], rows[11], rows[12]
    for t in range(size):
        p = members[t]
        scores[t] = s[p]
        values[t] = x[p]
        heads[t] = first[p]
        lower[t] = delta.lower[p] if separable else 0.0
        forces[t] = 0.0
        curvatures[t] = 0.0
    wide = is_wide(scores, sigma)
    exponentials(scores, sigma, up, down)
    total = 0.0
    for i in range(size - 1):
        scale = row_exponentials(i, wide, scores, sigma, up, down)
        p = members[i]
        value = values[i]
        head = heads[i]
        upper = delta.upper[p] if separable else 1.0
        share = delta.share[p] if separable else 0.0
        inside = delta.inside[p] if separable else 1.0
        # Unsigned indices need no wrap-around check, so that the loops vectorise.
        for j in range(np.uintp(i + 1), np.uintp(size)):
            difference = value - values[j]
            rights[j] = 1.0 if difference > 0 else 0.0
            weight[j] = (1.0 if unit and difference != 0 else abs(difference)) * (
                inside if heads[j] == head else upper + share * lower[j]
            )
            powers[j] = up[j] * scale
        for j in range(np.uintp(i + 1), np.uintp(size)):
            in_order = rights[j] > 0
            u = powers[j]
            right = _at(terms, 0, u)
            wrong = _at(terms, 1, u)
            force[j] = right if in_order else wrong
            right = _at(terms, 2, u)
            wrong = _at(terms, 3, u)
            second[j] = right if in_order else wrong
        if losses:
            for j in range(np.uintp(i + 1), np.uintp(size)):
                gap = (scores[i] - scores[j]) / sigma
                loss = force[j] + terms[0, TERMS + 4] * np.log1p(powers[j])
                total += weight[j] * (loss if rights[j] > 0 else loss + gap)
            continue
        own_force = 0.0
        own_curvature = 0.0
        for j in range(np.uintp(i + 1), np.uintp(size)):
            pull = weight[j] * force[j]
            signed = pull if rights[j] > 0 else -pull
            own_force -= signed
            forces[j] += signed
            added = weight[j] * second[j]
            own_curvature += added
            curvatures[j] += added
        forces[i] += own_force
        curvatures[i] += own_curvature
    if not losses:
        for t in range(size):
            gradient[members[t]] += forces[t]
            curvature[members[t]] += curvatures[t]
    return total


@inline
def _at(terms: Matrix, row: int, u: float) -> float:
    """Evaluate a row of `terms` at u, without its multiple of −log p."""
    p = 1.0 / (1.0 + u)
    wrong = u * p
    slope = wrong * p
    plain = terms[row, TERMS:]
    return plain[0] + plain[1] * wrong + plain[2] * slope + plain[3] * slope * wrong


@inline
def _sweep(
    above: bool, members: Positions, sigma: float, first: Positions, x: Vector, cut: float,
    centre: float, weights: PairWeights, delta: SeparableDelta, terms: Matrix, anchors: Vector,
    factors: Vector, gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Add to each document its pairs with those above (or below) it that are in the other half.

    With d = |x − centre| a weight |x_i − x_j| is d_i + d_j, so `sums` has for each half a row for
    the factors of documents and a row for factors times d; if `separable`, two of both, as
    documents have two factors. Pairs in a tied block are summed in the sweep from below.
    """
    unit, separable = weights
    size = members.size
    streams = 4 if separable else 2
    losses = gradient.size == 0
    sums = np.zeros((2 * streams, TERMS))
    reaches = np.zeros(2 * streams)
    powers = np.empty(TERMS)
    tied_count = np.empty(2)
    tied_reach = np.empty(2)
    total = 0.0
    anchor = anchors[members[0 if above else size - 1]]
    start = 0
    while start < size:
        head = members[start if above else size - 1 - start]
        if anchors[head] != anchor:
            gap = abs(anchor - anchors[head]) / sigma
            _fade(np.exp(-gap), sums, powers)
            if losses:
                for c in range(2 * streams):
                    if sums[c, 0] != 0:
                        reaches[c] += gap * sums[c, 0]
            anchor = anchors[head]
        end = start + 1
        while end < size and first[members[end if above else size - 1 - end]] == first[head]:
            end += 1
        tied = end - start > 1 and not above
        if tied:
            tied_count[:] = 0.0
            tied_reach[:] = 0.0
            for t in range(start, end):
                p = members[size - 1 - t]
                own = 1 if x[p] >= cut else 0
                tied_count[own] += 1.0
                tied_reach[own] += 0.5 if unit else abs(x[p] - centre)
        inverse = 1.0 / factors[head]
        fill_powers(factors[head] if above else inverse, powers)
        for t in range(start, end):
            p = members[t if above else size - 1 - t]
            better = np.uintp(x[p] >= cut)
            d = 0.5 if unit else abs(x[p] - centre)
            wrong = better if above else np.uintp(1) - better
            o = (np.uintp(1) - better) * np.uintp(streams)
            forces = terms[wrong]
            curvatures = terms[np.uintp(2) + wrong]
            one = sums[o]
            two = sums[o + np.uintp(1)]
            force = 0.0
            second = 0.0
            a = b = 1.0
            if separable:
                a = 1.0 if above else delta.upper[p]
                b = delta.lower[p] if above else delta.share[p]
                three = sums[o + np.uintp(2)]
                four = sums[o + np.uintp(3)]
                for n in range(np.uintp(TERMS)):
                    term = a * (d * one[n] + two[n]) + b * (d * three[n] + four[n])
                    term *= powers[n]
                    force += forces[n] * term
                    second += curvatures[n] * term
            else:
                for n in range(np.uintp(TERMS)):
                    term = powers[n] * (d * one[n] + two[n])
                    force += forces[n] * term
                    second += curvatures[n] * term
            if tied:
                other = 0 if better else 1
                weight = d * tied_count[other] + tied_reach[other]
                if separable:
                    weight *= delta.inside[p]
                if losses:
                    weight *= 0.5  # both documents of the pair count it
                force += weight * sum_of(terms[0, :TERMS])
                second += weight * sum_of(terms[2, :TERMS])
            if losses:
                total += force
                if wrong:
                    gap = np.log(factors[p])
                    for c in range(0, streams, 2):
                        factor = a if c == 0 else b
                        total += factor * gap * (d * sums[o + c, 0] + sums[o + c + 1, 0])
                        total += factor * (d * reaches[o + c] + reaches[o + c + 1])
            else:
                gradient[p] += (1.0 - 2.0 * better) * force
                curvature[p] += second
        fill_powers(inverse if above else factors[head], powers)
        for t in range(start, end):
            p = members[t if above else size - 1 - t]
            d = 0.5 if unit else abs(x[p] - centre)
            o = np.uintp(x[p] >= cut) * np.uintp(streams)
            for c in range(0, streams, 2):
                factor = 1.0
                if separable and above:
                    factor = delta.upper[p] if c == 0 else delta.share[p]
                elif separable and c > 0:
                    factor = delta.lower[p]
                row = o + np.uintp(c)
                one = sums[row]
                two = sums[row + np.uintp(1)]
                for n in range(np.uintp(TERMS)):
                    one[n] += factor * powers[n]
                    two[n] += factor * d * powers[n]
                if losses:
                    gap = np.log(factors[p])
                    reaches[row] -= factor * gap
                    reaches[row + np.uintp(1)] -= factor * d * gap
        start = end
    return total


@inline
def fill_powers(u: float, powers: Vector) -> None:
    """Write u^n."""
    powers[0] = 1.0
    powers[1] = u
    for n in range(2, TERMS):
        powers[n] = powers[n >> 1] * powers[n - (n >> 1)]


@inline
def _fade(u: float, sums: Matrix, powers: Vector) -> None:
    """Multiply column n by u^n: the anchor moves."""
    fill_powers(u, powers)
    for c in range(sums.shape[0]):
        for n in range(np.uintp(TERMS)):
            sums[c, n] *= powers[n]
