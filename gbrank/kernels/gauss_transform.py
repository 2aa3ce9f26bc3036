"""Sums over a list of functions of the distance of two places, in linear time.

Places on a line are sorted into boxes of length 1. Seen from a box k boxes away, a smooth function
of the distance d = k + (b − a)/2, with a and b in [−1, 1], is a polynomial Σ T_k[q, n] b^q a^n,
for exp(−d²) to 1e-11 of its largest value. So a box enters by its moments Σ w b^q, and a target
reads off a polynomial of its own place a. This is a fast Gauss transform (Greengard & Strain 1991).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gbrank.kernels.compiled import Matrix, Vector, inline, plain
from gbrank.kernels.sweeps import TERMS, fill_powers

# Boxes farther apart do not meet: exp(−7²) is lost in rounding where there is a 1.
REACH = 7
BOXES = 2 * REACH + 1
# Two boxes of up to so many pairs are summed faster pair by pair: measured.
FEW = 32


def make_table(
    function: Callable[[NDArray[np.float64]], NDArray[np.float64]], terms: int = TERMS
) -> NDArray[np.float64]:
    """Return the coefficients of a function of d, source less target, by k + REACH, q and n."""
    nodes = np.cos(np.pi * (np.arange(terms) + 0.5) / terms)  # Chebyshev's
    inverse = np.linalg.inv(np.vander(nodes, increasing=True))
    offsets = np.arange(-REACH, REACH + 1)[:, None, None]
    table = np.zeros((BOXES, TERMS, TERMS))
    values = function(offsets + 0.5 * (nodes[:, None] - nodes))
    table[:, :terms, :terms] = inverse @ values @ inverse.T
    return table


def _times_distance(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the coefficients of d times a function that has no highest powers."""
    product = np.arange(-REACH, REACH + 1)[:, None, None] * table
    product[:, 1:] += 0.5 * table[:, :-1]
    product[:, :, 1:] -= 0.5 * table[:, :, :-1]
    return product


# exp(−d²), and d exp(−d²): as a product, so that near documents keep their relative accuracy.
GAUSSIAN = make_table(lambda d: np.exp(-d * d), TERMS - 1)
GAUSSIAN_SLOPE = _times_distance(GAUSSIAN)


@inline
def lay_out(s: Vector, width: float, places: Vector) -> None:
    """Write places of scores, best first: rising, in units of `width`, without wide gaps.

    What follows a wide gap is in the middle of a box, where tied documents cancel exactly.
    """
    anchor = s[0]
    base = 0.5
    places[0] = base
    for i in range(1, s.size):
        if not (s[i - 1] - s[i]) / width <= BOXES:
            anchor = s[i]
            base = np.ceil(places[i - 1]) + BOXES + 0.5
        places[i] = base + (anchor - s[i]) / width


@plain
def add_by_boxes(
    table: NDArray[np.float64], few: int, slope: bool, sources: Vector, weights: Matrix,
    targets: Vector, out: Matrix,
) -> None:  # fmt: skip
    """Add to out[c, i], for all i, Σ_j w[c, j] f(d), d = source j − target i; places rise.

    Boxes of up to `few` pairs are summed pair by pair, as exp(−d²), if `slope` times d.
    """
    streams = weights.shape[0]
    moments = np.zeros((BOXES, streams, TERMS))
    local = np.empty((streams, TERMS))
    powers = np.empty(TERMS)
    boxes = np.full(BOXES, -np.inf)
    begins = np.zeros(BOXES, np.int64)
    ends = np.zeros(BOXES, np.int64)
    coming = 0
    start = 0
    while start < targets.size:
        box = np.floor(targets[start])
        stop = start + 1
        while stop < targets.size and targets[stop] < box + 1:
            stop += 1
        while coming < sources.size and sources[coming] < box + REACH + 1:
            own = np.floor(sources[coming])
            slot = np.int64(own % BOXES)
            boxes[slot] = own
            begins[slot] = coming
            moments[slot] = 0.0
            while coming < sources.size and sources[coming] < own + 1:
                fill_powers(2.0 * (sources[coming] - own) - 1.0, powers)
                for c in range(np.uintp(streams)):
                    weight = weights[c, coming]
                    for n in range(np.uintp(TERMS)):
                        moments[slot, c, n] += weight * powers[n]
                coming += 1
            ends[slot] = coming
        local[:] = 0.0
        for place in range(np.uintp(BOXES)):
            if not abs(boxes[place] - box) <= REACH:
                continue
            if (ends[place] - begins[place]) * (stop - start) > few:
                seen = table[np.int64(boxes[place] - box) + REACH]
                for c in range(np.uintp(streams)):
                    for q in range(np.uintp(TERMS)):
                        moment = moments[place, c, q]
                        for n in range(np.uintp(TERMS)):
                            local[c, n] += moment * seen[q, n]
                continue
            for i in range(start, stop):
                for j in range(begins[place], ends[place]):
                    d = sources[j] - targets[i]
                    value = np.exp(-d * d) * (d if slope else 1.0)
                    for c in range(streams):
                        out[c, i] += weights[c, j] * value
        for i in range(start, stop):
            fill_powers(2.0 * (targets[i] - box) - 1.0, powers)
            for c in range(np.uintp(streams)):
                total = 0.0
                for n in range(np.uintp(TERMS)):
                    total += local[c, n] * powers[n]
                out[c, i] += total
        start = stop
