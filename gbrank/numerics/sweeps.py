"""Sums over all pairs of a list in quasi-linear time, by sweeps over the sorted scores.

For scores s_i ≥ s_j and u = exp(−(s_i − s_j)/σ) ≤ 1, what a logistic pair needs is a function of u
that is smooth on [0, 1], so that a polynomial Σ_n c_n u^n replaces it, and u^n is a product of a
factor of i and a factor of j. A sweep along the list keeps Σ_j w_j u_j^n for each n, from which
the sum of every document follows. Factors are relative to an anchor that moves along, so that
nothing overflows; sums of what is far behind fade away.

Where the sign or the size of a pair's weight depends on which document has the larger x, the list
is divided by x, again and again until all x of a part are equal. The documents of a pair of
different x are in different halves of exactly one part, so that a sweep over each part adds the
pairs between its halves: at most log2(m) levels of m documents each, fewer if x takes few values.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Polynomial

from gbrank.common.checks import Matrix, Positions, Vector
from gbrank.engine.compiling import inline, standalone
from gbrank.engine.contract import Derivatives, SeparableDelta
from gbrank.engine.numba_internals import bits_of, memory_rows, slice_of, stack_matrix, unpack
from gbrank.engine.sorting import rank

from .logistic import logistic_pairs, scale_of_row

TERMS = 16
# The largest distance from an anchor to its documents, in σ, so that no power grows large.
FARTHEST = 1.0
# Parts of a list with fewer documents are summed pair by pair.
SMALL = 256
# More parts never contain one another: a first half's first half has at most half of the documents.
DEEPEST = 128
# How many sums over each half of a part there may be, the worse half's first.
STREAMS = 4
SUMS = 2 * STREAMS


def _polynomial(function: Callable[[Vector], Vector], zeros: int = 1) -> Vector:
    """Return the coefficients of u^zeros times a polynomial that interpolates a function.

    Nodes are the extrema of a Chebyshev polynomial on [0, 1], both ends included.
    """
    degree = TERMS - 1 - zeros
    nodes = 0.5 - 0.5 * np.cos(np.pi * np.arange(degree + 1) / degree)
    fit = Polynomial.fit(nodes, function(nodes), degree, domain=[0, 1])
    return np.concatenate([np.zeros(zeros), fit.convert().coef])


# Functions of u, with p = 1/(1 + u): first the coefficients of powers of u, exact at u = 0 and to
# rounding at u = 1; then those of 1, 1 − p, p (1 − p) and p (1 − p)² themselves.
_ONE, _WRONG, _SLOPE, _STEEP = np.hstack(
    [
        [
            np.eye(TERMS)[0],
            _polynomial(lambda u: 1 / (1 + u)),
            _polynomial(lambda u: (1 + u) ** -2),
            _polynomial(lambda u: (1 + u) ** -3, zeros=2),
        ],
        np.eye(4),
    ]
)
_RIGHT = _ONE - _WRONG

# What a document below, and one above, adds to a document's soft rank.
LOGISTIC = np.stack([_WRONG, _RIGHT])
# Gradient and curvature of a pair of weight 1, each in the right order, then in the wrong one.
PAIR_GRADIENTS = np.stack([_WRONG, _RIGHT, _SLOPE, _SLOPE])
RANK_GRADIENTS = np.stack([_SLOPE, _SLOPE, _SLOPE - _STEEP, _STEEP])


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
        for n in range(TERMS):
            sums[0, n] = 0.0
        head, step = (0, 1) if above else (m - 1, -1)
        anchor = s[head]
        while 0 <= head < m:
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
            end = head
            tied = 0.0
            while 0 <= end < m and first[end] == first[head]:
                tied += weights[end]
                end += step
            for i in range(head, end, step):
                out[i] += total
                if end != head + step:
                    out[i] += 0.5 * (tied - weights[i]) * _at_one(terms, above)
            fill_powers(1.0 / factor, powers)
            for n in range(np.uintp(TERMS)):
                sums[0, n] += tied * powers[n]
            head = end


class SweepWork(NamedTuple):
    """The work arrays of `sweep_pairs`. Parts of the list are ranges of `members` and `ordered`."""

    members: Positions  # of each part, best score first
    spare: Positions
    ordered: Vector  # all x, ascending
    anchors: Vector
    factors: Vector


class Pairs(NamedTuple):
    """The pairs that a sweep adds up: what is known of documents, and what is added where.

    A pair weighs 1 if `unit`, else |x_i − x_j|, times the rest of its delta if `separable`.
    Gradient and curvature of weight 1 are polynomials in u: rows of `terms`, for pairs in the right
    order (0 and 2) and in the wrong order (1 and 3).
    """

    s: Vector
    sigma: float
    first: Positions
    x: Vector
    unit: bool
    separable: bool
    delta: SeparableDelta
    terms: Matrix
    out: Derivatives


@standalone
def sweep_pairs(pairs: Pairs, work: SweepWork) -> None:
    """Add the gradients and curvatures of all pairs of different x, in units of σ.

    A pair adds to the gradient of its document of smaller x, and takes as much from that of the
    other one.
    """
    s = pairs.s
    m = s.size
    work = slice_of(work, 0, m)
    ordered = work.ordered
    for p in range(m):
        ordered[p] = -pairs.x[p]
    rank(ordered, work.members, work.factors, work.spare)
    for p in range(m):
        ordered[p] = -ordered[p]
        work.members[p] = p
        anchor = work.anchors[p - 1] if p > 0 else s[0]
        work.anchors[p] = s[p] if (anchor - s[p]) / pairs.sigma > FARTHEST else anchor
        work.factors[p] = np.exp((s[p] - work.anchors[p]) / pairs.sigma)
    begin = 0
    ends = bits_of(stack_matrix(1, DEEPEST)[0], np.int64)  # of the part at `begin`, the last one
    ends[0] = m
    depth = 0
    while depth >= 0:
        end = ends[depth]
        members = slice_of(work.members, begin, end)
        alike = ordered[begin] == ordered[end - 1]
        if alike or end - begin <= SMALL:
            if not alike:
                _add_small(members, pairs)
            begin = end
            depth -= 1
            continue
        middle = begin + _middle_split(slice_of(ordered, begin, end))
        cut = ordered[middle]
        centre = 0.5 * ordered[middle - 1] + 0.5 * cut
        for above in range(2):
            for t in range(members.size // 2):  # from the worst up, then from the best down
                opposite = members.size - 1 - t
                members[t], members[opposite] = members[opposite], members[t]
            _sweep(above > 0, cut, centre, members, pairs, work)
        _partition(members, pairs.x, cut, work.spare)
        depth += 1
        ends[depth] = middle


@inline
def _middle_split(ordered: Vector) -> int:
    """Return where a new value begins, as near to the middle as possible."""
    half = ordered.size // 2
    before = half
    while before > 0 and ordered[before - 1] == ordered[half]:
        before -= 1
    after = half + 1
    while after < ordered.size and ordered[after] == ordered[half]:
        after += 1
    nearer = half - before <= after - half or after == ordered.size
    return before if nearer and before > 0 else after


@inline
def _partition(members: Positions, x: Vector, cut: float, spare: Positions) -> None:
    """Move documents of x ≥ cut behind the others, in stable order."""
    kept = 0
    moved = 0
    for t in range(members.size):
        p = members[t]
        spare[moved] = p
        members[kept] = p
        if x[p] >= cut:
            moved += 1
        else:
            kept += 1
    for t in range(moved):
        members[kept + t] = spare[t]


class SmallPart(NamedTuple):
    """Documents of a small part, best first, and the pairs of one of them with those below it.

    Arrays are at a constant distance, so that loops vectorise.
    """

    scores: Vector
    values: Vector
    heads: Vector
    lower: Vector
    gradients: Vector
    curvatures: Vector
    up: Vector
    down: Vector
    gradient: Vector
    curvature: Vector


SMALL_ROWS = memory_rows(SmallPart, {})


@inline
def _add_small(members: Positions, pairs: Pairs) -> None:
    """Add the pairs of a few documents, pair by pair."""
    size = members.size
    small = slice_of(unpack(stack_matrix(SMALL_ROWS, SMALL), SmallPart), 0, size)
    for t in range(size):
        p = members[t]
        small.scores[t] = pairs.s[p]
        small.values[t] = pairs.x[p]
        small.heads[t] = pairs.first[p]
        small.lower[t] = pairs.delta.lower[p] if pairs.separable else 0.0
        small.gradients[t] = 0.0
        small.curvatures[t] = 0.0
    shared = logistic_pairs(small.scores, pairs.sigma, small.up, small.down)
    for i in range(size - 1):
        scale = scale_of_row(i, i + 1, size, shared)
        _add_small_row(i, members[i], scale, pairs, small)
    for t in range(size):
        pairs.out.gradient[members[t]] += small.gradients[t]
        pairs.out.curvature[members[t]] += small.curvatures[t]


@inline
def _add_small_row(i: int, p: int, scale: float, pairs: Pairs, small: SmallPart) -> None:
    """Add the pairs of a document with those below it."""
    terms = pairs.terms
    unit = pairs.unit
    separable = pairs.separable
    value = small.values[i]
    head = small.heads[i]
    upper = pairs.delta.upper[p] if separable else 1.0
    share = pairs.delta.share[p] if separable else 0.0
    inside = pairs.delta.inside[p] if separable else 1.0
    # Unsigned indices need no wrap-around check, so that the loop vectorises.
    for j in range(np.uintp(i + 1), np.uintp(small.scores.size)):
        difference = value - small.values[j]
        weight = (1.0 if unit and difference != 0 else abs(difference)) * (
            inside if small.heads[j] == head else upper + share * small.lower[j]
        )
        u = small.up[j] * scale
        right = _at(terms, 0, u)
        wrong = _at(terms, 1, u)
        small.gradient[j] = weight * (right if difference > 0 else -wrong)
        right = _at(terms, 2, u)
        wrong = _at(terms, 3, u)
        small.curvature[j] = weight * (right if difference > 0 else wrong)
    gradient = 0.0
    curvature = 0.0
    for j in range(np.uintp(i + 1), np.uintp(small.scores.size)):
        gradient -= small.gradient[j]
        small.gradients[j] += small.gradient[j]
        curvature += small.curvature[j]
        small.curvatures[j] += small.curvature[j]
    small.gradients[i] += gradient
    small.curvatures[i] += curvature


@inline
def _at(terms: Matrix, row: int, u: float) -> float:
    """Evaluate a row of `terms` at u."""
    p = 1.0 / (1.0 + u)
    wrong = u * p
    slope = wrong * p
    plain = terms[row, TERMS:]
    return plain[0] + plain[1] * wrong + plain[2] * slope + plain[3] * slope * wrong


class Sweep(NamedTuple):
    """A sweep over a part of a list, which adds to each document pairs with the other half of it.

    These are pairs with documents above it, or below. Documents of x ≥ `cut` are one half; `centre`
    is between the halves. Sums over the documents passed have a row for each half and stream. With
    d = |x − centre| a weight |x_i − x_j| is d_i + d_j, so that each half has a row for the
    factors of documents and one for factors times d; if pairs are separable, two of both, as
    documents have two factors. The last two count the documents of a tied block, by halves.
    """

    above: bool
    cut: float
    centre: float
    pairs: Pairs
    sums: Matrix
    powers: Vector
    tied_count: Vector
    tied_reach: Vector


@inline
def _sweep(
    above: bool, cut: float, centre: float, members: Positions, pairs: Pairs, work: SweepWork
) -> None:
    """Add to each document its pairs on one side; those in a tied block are with those below it.

    `members` are in the order of the sweep: from the best down, or from the worst up.
    """
    first = pairs.first
    sums = stack_matrix(SUMS, TERMS)
    for row in range(SUMS):
        for n in range(TERMS):
            sums[row, n] = 0.0
    rows = stack_matrix(3, TERMS)
    sweep = Sweep(above, cut, centre, pairs, sums, rows[0], rows[1], rows[2])
    anchor = work.anchors[members[0]]
    start = 0
    while start < members.size:
        head = members[start]
        if work.anchors[head] != anchor:
            gap = abs(anchor - work.anchors[head]) / pairs.sigma
            _fade(np.exp(-gap), sums, sweep.powers)  # all relative to the next anchor
            anchor = work.anchors[head]
        end = start + 1
        while end < members.size and first[members[end]] == first[head]:
            end += 1
        tied = end - start > 1 and not above
        if tied:
            for half in range(2):
                sweep.tied_count[half] = 0.0
                sweep.tied_reach[half] = 0.0
            for t in range(start, end):
                half = _half(members[t], sweep)
                sweep.tied_count[half] += 1.0
                sweep.tied_reach[half] += _distance(members[t], sweep)
        factor = work.factors[head]
        inverse = 1.0 / factor
        fill_powers(factor if above else inverse, sweep.powers)
        for t in range(start, end):
            _add_gradients(members[t], tied, sweep)
        fill_powers(inverse if above else factor, sweep.powers)
        for t in range(start, end):
            _pass(members[t], sweep)
        start = end


@inline
def _half(p: int, sweep: Sweep) -> np.uintp:
    """Return 1 for a document of the half of larger x, else 0."""
    return np.uintp(sweep.pairs.x[p] >= sweep.cut)


@inline
def _distance(p: int, sweep: Sweep) -> float:
    """Return d, with which a pair of both halves weighs d_i + d_j."""
    return 0.5 if sweep.pairs.unit else abs(sweep.pairs.x[p] - sweep.centre)


@inline
def _add_gradients(p: int, tied: bool, sweep: Sweep) -> None:
    """Add to a document's derivatives its pairs with those passed, and with those tied to it."""
    pairs = sweep.pairs
    powers = sweep.powers
    half = _half(p, sweep)
    other_half = np.uintp(1) - half
    wrong = half if sweep.above else other_half  # the better document is the lower one
    d = _distance(p, sweep)
    of_gradient = pairs.terms[wrong]
    of_curvature = pairs.terms[np.uintp(2) + wrong]
    row = np.uintp(STREAMS) * other_half
    counts = sweep.sums[row]
    reaches = sweep.sums[row + np.uintp(1)]
    gradient = 0.0
    curvature = 0.0
    if pairs.separable:
        a, b = _factors(p, not sweep.above, pairs)
        other_counts = sweep.sums[row + np.uintp(2)]
        other_reaches = sweep.sums[row + np.uintp(3)]
        for n in range(np.uintp(TERMS)):
            term = a * (d * counts[n] + reaches[n]) + b * (d * other_counts[n] + other_reaches[n])
            term *= powers[n]
            gradient += of_gradient[n] * term
            curvature += of_curvature[n] * term
    else:
        for n in range(np.uintp(TERMS)):
            term = powers[n] * (d * counts[n] + reaches[n])
            gradient += of_gradient[n] * term
            curvature += of_curvature[n] * term
    if tied:
        weight = d * sweep.tied_count[other_half] + sweep.tied_reach[other_half]
        if pairs.separable:
            weight *= pairs.delta.inside[p]
        gradient += weight * _at_one(pairs.terms, 0)
        curvature += weight * _at_one(pairs.terms, 2)
    pairs.out.gradient[p] += -gradient if half else gradient
    pairs.out.curvature[p] += curvature


@inline
def _factors(p: int, as_upper: bool, pairs: Pairs) -> tuple[float, float]:
    """Return a document's two factors in its pairs, of which it is the upper or the lower one."""
    delta = pairs.delta
    if not pairs.separable:
        return 1.0, 1.0
    return (delta.upper[p], delta.share[p]) if as_upper else (1.0, delta.lower[p])


@inline
def _pass(p: int, sweep: Sweep) -> None:
    """Add a document to the sums over its half."""
    powers = sweep.powers
    d = _distance(p, sweep)
    a, b = _factors(p, sweep.above, sweep.pairs)
    first_row = np.uintp(STREAMS) * _half(p, sweep)
    for c in range(0, STREAMS if sweep.pairs.separable else 2, 2):
        factor = a if c == 0 else b
        row = first_row + np.uintp(c)
        counts = sweep.sums[row]
        reaches = sweep.sums[row + np.uintp(1)]
        for n in range(np.uintp(TERMS)):
            counts[n] += factor * powers[n]
            reaches[n] += factor * d * powers[n]


@inline
def _at_one(terms: Matrix, row: int) -> float:
    """Return the polynomial of a row at u = 1."""
    total = 0.0
    for n in range(TERMS):
        total += terms[row, n]
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
