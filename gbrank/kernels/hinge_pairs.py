"""Hinge and squared hinge on pairs: pair by pair in short lists, by sweeps in longer ones."""

from typing import NamedTuple

import numpy as np

from gbrank.common.arrays import Matrix, Positions, Vector
from gbrank.kernels.compiled import inline
from gbrank.kernels.contract import MeasureFunctions, Query
from gbrank.kernels.division import order_by, partition, parts_of
from gbrank.kernels.newton_steps import to_score_units

SCRATCH = 4

# Up to this many documents, pairs are summed one by one. Measured break-even points are 250 (five
# grades) to 1,300 (a continuous label).
LONGEST_DIRECT = 400
# A gap in units of σ beyond which it only matters that nothing overflows.
WIDEST = 1e100


class HingeParameters(NamedTuple):
    """The parameters of the kernel.

    Parameters
    ----------
    squared : bool
        Whether hinges are squared and halved.
    longest : float
        Up to how many documents pairs are summed one by one.
    """

    squared: bool
    longest: float = LONGEST_DIRECT


def hinge_pairs(
    query: Query,
    measure: MeasureFunctions,
    parameters: HingeParameters,
    gradient: Vector,
    curvature: Vector,
) -> float:
    """Sum max(0, 1 − (s_i − s_j)/σ), or half its square, over all pairs y_i > y_j.

    The curvature is the number of active pairs. At the kink a pair counts half: the mean of the
    slopes on both sides.
    """
    s, labels, sigma = query.scores, query.labels, query.sigma
    squared = parameters.squared
    if s.size > parameters.longest:
        loss = _sweep_pairs(s, sigma, labels, squared, query.scratch, gradient, curvature)
    else:
        loss = _sum_pairs(s, sigma, labels, squared, gradient, curvature)
    to_score_units(sigma, gradient, curvature)
    return loss


@inline
def _sum_pairs(
    s: Vector, sigma: float, labels: Vector, squared: bool, gradient: Vector, curvature: Vector
) -> float:
    """Add all pairs, in units of σ."""
    loss = 0.0
    for i in range(s.size - 1):
        force = 0.0
        active_pairs = 0.0
        label = labels[i]
        # Unsigned indices need no wrap-around check, so that the loop vectorises.
        for j in range(np.uintp(i + 1), np.uintp(s.size)):
            difference = label - labels[j]
            sign = 1.0 if difference > 0 else (-1.0 if difference < 0 else 0.0)
            gap = sigma - sign * (s[i] - s[j])
            short = min(max(gap / sigma, 0.0), WIDEST)
            active = abs(sign) * (1.0 if gap > 0 else (0.5 if gap == 0 else 0.0))
            slope = active * short if squared else active
            loss += active * short * (0.5 * short if squared else 1.0)
            if gradient.size > 0:
                gradient[j] += sign * slope
                curvature[j] += active
                force -= sign * slope
                active_pairs += active
        if gradient.size > 0:
            gradient[i] += force
            curvature[i] += active_pairs
    return loss


@inline
def _sweep_pairs(
    s: Vector, sigma: float, x: Vector, squared: bool, scratch: Matrix,
    gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Add all pairs, in units of σ, of the parts into which x divides the list."""
    members = scratch[0, : s.size].view(np.int64)
    spare = scratch[1, : s.size].view(np.int64)
    ordered = scratch[2, : s.size]
    order_by(x, ordered, members, scratch[3, : s.size], spare)
    loss = 0.0
    for begin, middle, end in parts_of(ordered, 1):
        cut = ordered[middle]
        part = members[begin:end]
        loss += _sweep(True, part, s, sigma, x, cut, squared, gradient, curvature)
        if gradient.size > 0:
            _sweep(False, part, s, sigma, x, cut, squared, gradient, curvature)
        partition(part, x, cut, spare)
    return loss


@inline
def _sweep(
    better: bool, members: Positions, s: Vector, sigma: float, x: Vector, cut: float,
    squared: bool, gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Add to the better half, best first, its pairs with the worse; or to the worse, worst first.

    The margin that the pairs of a document lack only grows from one document to the next, so that
    no digits cancel in its sums.
    """
    size = members.size
    count = 0.0  # active pairs of the current document
    lack = 0.0  # and the sum of max(0, 1 − (s_i − s_j)/σ) over them
    squares = 0.0  # half the sum of its square
    kinks = 0.0
    loss = 0.0
    reached = 0
    before = np.inf
    for t in range(size):
        p = members[t if better else size - 1 - t]
        if (x[p] >= cut) != better:
            continue
        if s[p] != before:
            step = min(abs(before - s[p]) / sigma, WIDEST)
            squares += step * (lack + 0.5 * step * count)
            lack += step * count
            before = s[p]
            kinks = 0.0
            ahead = reached
            while ahead < size:
                q = members[ahead if better else size - 1 - ahead]
                gap = sigma - (s[p] - s[q] if better else s[q] - s[p])
                if gap < 0:
                    break
                other = (x[q] >= cut) != better
                if gap == 0:
                    kinks += 0.5 if other else 0.0
                else:
                    reached = ahead + 1
                    short = min(max(gap / sigma, 0.0), WIDEST)
                    count += 1.0 if other else 0.0
                    lack += short if other else 0.0
                    squares += 0.5 * short * short if other else 0.0
                ahead += 1
        loss += squares if squared else lack
        if gradient.size > 0:
            slope = lack if squared else count + kinks
            gradient[p] += -slope if better else slope
            curvature[p] += count + kinks
    return loss
