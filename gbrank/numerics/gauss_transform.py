"""Sums over a list of a function of the distance between two places, in linear time.

Places on a line are sorted into boxes of length 1. Seen from a box k boxes away, a smooth function
of the distance d = k + (b − a)/2, with a and b in [−1, 1], is a polynomial Σ T_k[q, n] b^q a^n,
for exp(−d²) to 1e-11 of its largest value. So a box contributes by its moments Σ w b^q, and a
target evaluates a polynomial at its place a: a fast Gauss transform (Greengard & Strain 1991).
"""

from typing import NamedTuple

import numpy as np

from gbrank.common.checks import Matrix, Positions, Vector
from gbrank.engine.compiling import inline, standalone
from gbrank.engine.numba_internals import stack_matrix, unpack

from .sweeps import TERMS, fill_powers

# Boxes farther apart are ignored: exp(−7²) is lost in rounding beside a 1.
REACH = 7
BOXES = 2 * REACH + 1
# How many sums are taken at once, at most.
STREAMS = 4
MOMENTS = BOXES * STREAMS
# Two boxes of up to this many pairs are summed faster pair by pair: measured.
FEW = 32


def _gaussian_table() -> Vector:
    """Return the coefficients of exp(−d²), without the highest powers, by k + REACH, q and n."""
    terms = TERMS - 1
    nodes = np.cos(np.pi * (np.arange(terms) + 0.5) / terms)  # Chebyshev's
    inverse = np.linalg.inv(np.vander(nodes, increasing=True))
    distances = _OFFSETS + 0.5 * (nodes[:, None] - nodes)
    table = np.zeros((BOXES, TERMS, TERMS))
    table[:, :terms, :terms] = inverse @ np.exp(-distances * distances) @ inverse.T
    return table


def _times_distance(table: Vector) -> Vector:
    """Return the coefficients of d times a function that has no highest powers."""
    product = _OFFSETS * table
    product[:, 1:] += 0.5 * table[:, :-1]
    product[:, :, 1:] -= 0.5 * table[:, :, :-1]
    return product


# exp(−d²), and d exp(−d²): as a product, so that near documents keep their relative accuracy.
_OFFSETS = np.arange(-REACH, REACH + 1)[:, None, None]
GAUSSIAN = _gaussian_table()
GAUSSIAN_SLOPE = _times_distance(GAUSSIAN)


@inline
def lay_out(s: Vector, width: float, places: Vector) -> None:
    """Write places of scores, best first: rising, in units of `width`, with wide gaps shortened.

    A document after a wide gap is in the middle of a box, where tied documents cancel exactly.
    """
    anchor = s[0]
    base = 0.5
    places[0] = base
    for i in range(1, s.size):
        if not (s[i - 1] - s[i]) / width <= BOXES:
            anchor = s[i]
            base = np.ceil(places[i - 1]) + BOXES + 0.5
        places[i] = base + (anchor - s[i]) / width


class Boxes(NamedTuple):
    """The boxes in reach: their numbers, and where their documents begin and end."""

    numbers: Vector
    begins: Positions
    ends: Positions


class Summand(NamedTuple):
    """The function f(d) of a sum over distances: exp(−d²), or d exp(−d²) if `slope`.

    In a tuple, since numba would compile the sum anew for each constant flag.
    """

    slope: bool


@standalone
def sum_by_boxes(summand: Summand, places: Vector, weights: Matrix, out: Matrix) -> None:
    """Write to out[c, i], for all i, Σ_j w[c, j] f(d), d = place j − place i; places rise.

    Two boxes of few pairs are summed pair by pair.
    """
    table = GAUSSIAN_SLOPE if summand.slope else GAUSSIAN
    streams = weights.shape[0]
    boxes = unpack(stack_matrix(3, BOXES), Boxes)
    for slot in range(BOXES):
        boxes.numbers[slot] = -np.inf
    moments = stack_matrix(MOMENTS, TERMS)
    local = stack_matrix(STREAMS, TERMS)
    powers = stack_matrix(1, TERMS)[0]
    for c in range(streams):
        for i in range(places.size):
            out[c, i] = 0.0
    coming = 0
    start = 0
    while start < places.size:
        box = np.floor(places[start])
        stop = start + 1
        while stop < places.size and places[stop] < box + 1:
            stop += 1
        while coming < places.size and places[coming] < box + REACH + 1:
            coming = _enter(coming, places, weights, boxes, moments, powers)
        _clear(local, streams)
        for slot in range(np.uintp(BOXES)):
            distance = boxes.numbers[slot] - box
            if not abs(distance) <= REACH:
                continue
            begin = boxes.begins[slot]
            end = boxes.ends[slot]
            if (end - begin) * (stop - start) > FEW:
                for c in range(np.uintp(streams)):
                    seen = table[np.int64(distance) + REACH]
                    _add_moments(moments[slot * np.uintp(STREAMS) + c], seen, local[c])
            else:
                _add_pairs(summand.slope, start, stop, begin, end, places, weights, out)
        for i in range(start, stop):
            fill_powers(2.0 * (places[i] - box) - 1.0, powers)
            _add_polynomials(i, streams, local, powers, out)
        start = stop


@inline
def _clear(matrix: Matrix, rows: int) -> None:
    for c in range(rows):
        for n in range(TERMS):
            matrix[c, n] = 0.0


@inline
def _enter(
    coming: int, places: Vector, weights: Matrix, boxes: Boxes, moments: Matrix, powers: Vector
) -> int:
    """Sum Σ w b^q over the box that begins at a document; return where the next one begins."""
    number = np.floor(places[coming])
    slot = np.int64(number % BOXES)
    boxes.numbers[slot] = number
    boxes.begins[slot] = coming
    first = np.uintp(slot * STREAMS)
    for c in range(weights.shape[0]):
        for n in range(TERMS):
            moments[first + np.uintp(c), n] = 0.0
    while coming < places.size and places[coming] < number + 1:
        fill_powers(2.0 * (places[coming] - number) - 1.0, powers)
        for c in range(np.uintp(weights.shape[0])):
            weight = weights[c, coming]
            for n in range(np.uintp(TERMS)):
                moments[first + c, n] += weight * powers[n]
        coming += 1
    boxes.ends[slot] = coming
    return coming


@inline
def _add_polynomials(i: int, streams: int, local: Matrix, powers: Vector, out: Matrix) -> None:
    """Add to document i the polynomials of its box, of which `powers` are the powers."""
    for c in range(np.uintp(streams)):
        total = 0.0
        for n in range(np.uintp(TERMS)):
            total += local[c, n] * powers[n]
        out[c, i] += total


@inline
def _add_moments(moments: Vector, seen: Matrix, local: Vector) -> None:
    """Add a box's moments to the coefficients of the polynomial at the targets."""
    for q in range(np.uintp(TERMS)):
        moment = moments[q]
        for n in range(np.uintp(TERMS)):
            local[n] += moment * seen[q, n]


@inline
def _add_pairs(
    slope: bool, start: int, stop: int, begin: int, end: int, places: Vector, weights: Matrix,
    out: Matrix,
) -> None:  # fmt: skip
    """Add to documents start, ..., stop − 1 what begin, ..., end − 1 contribute."""
    for i in range(start, stop):
        for j in range(begin, end):
            d = places[j] - places[i]
            value = np.exp(-d * d) * (d if slope else 1.0)
            for c in range(weights.shape[0]):
                out[c, i] += weights[c, j] * value
