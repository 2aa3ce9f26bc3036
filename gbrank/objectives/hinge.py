"""RankSVM, and the squared hinge of GBRank: pair by pair in short lists, else by sweeps."""

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from gbrank.common.arrays import Positions, Vector
from gbrank.data.queries import Queries
from gbrank.engine.compiling import inline
from gbrank.engine.contract import Derivatives, MeasureFunctions, Program, Query
from gbrank.engine.structures import slice_of
from gbrank.numerics.division import order_by, partition, parts_of
from gbrank.numerics.vectors import to_score_units
from gbrank.objectives.objective import Facts, KernelObjective
from gbrank.objectives.objective_registry import register_objective

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


class HingeWork(NamedTuple):
    """The work arrays: the lists of `gbrank.numerics.division`."""

    members: Positions
    spare: Positions
    ordered: Vector
    keys: Vector


def hinge_pairs(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Sum max(0, 1 − (s_i − s_j)/σ), or half its square, over all pairs y_i > y_j.

    The curvature is the number of active pairs. At the kink a pair counts half: the mean of the
    slopes on both sides.
    """
    parameters: HingeParameters = query.parameters
    s, labels, sigma = query.scores, query.key, query.sigma
    squared = parameters.squared
    if s.size > parameters.longest:
        loss = _sweep_pairs(s, sigma, labels, squared, query.work, out)
    else:
        loss = _sum_pairs(s, sigma, labels, squared, out)
    to_score_units(sigma, out)
    return loss


@inline
def _sum_pairs(s: Vector, sigma: float, labels: Vector, squared: bool, out: Derivatives) -> float:
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
            if out.gradient.size > 0:
                out.gradient[j] += sign * slope
                out.curvature[j] += active
                force -= sign * slope
                active_pairs += active
        if out.gradient.size > 0:
            out.gradient[i] += force
            out.curvature[i] += active_pairs
    return loss


@inline
def _sweep_pairs(
    s: Vector, sigma: float, labels: Vector, squared: bool, work: HingeWork,
    out: Derivatives,
) -> float:  # fmt: skip
    """Add all pairs, in units of σ, of the parts into which labels divide the list."""
    m = s.size
    members, spare = slice_of(work.members, 0, m), slice_of(work.spare, 0, m)
    ordered = slice_of(work.ordered, 0, m)
    order_by(labels, ordered, members, slice_of(work.keys, 0, m), spare)
    loss = 0.0
    for begin, middle, end in parts_of(ordered, 1):
        cut = ordered[middle]
        half = slice_of(members, begin, end)
        loss += _sweep(True, half, s, sigma, labels, cut, squared, out)
        if out.gradient.size > 0:
            _sweep(False, half, s, sigma, labels, cut, squared, out)
        partition(half, labels, cut, spare)
    return loss


@inline
def _sweep(
    better: bool, members: Positions, s: Vector, sigma: float, labels: Vector, cut: float,
    squared: bool, out: Derivatives,
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
        if (labels[p] >= cut) != better:
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
                other = (labels[q] >= cut) != better
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
        if out.gradient.size > 0:
            slope = lack if squared else count + kinks
            out.gradient[p] += -slope if better else slope
            out.curvature[p] += count + kinks
    return loss


@register_objective
@dataclass(frozen=True)
class RankSVM(KernelObjective):
    """RankSVM: Σ over pairs y_i > y_j of max(0, 1 − (s_i − s_j)/σ).

    The curvature is that of the squared hinge: the number of pairs that a document has within
    the margin or in the wrong order, over σ².

    References
    ----------
    Joachims 2002, "Optimizing search engines using clickthrough data", section 4.2.

    Examples
    --------
    >>> from gbrank import Queries, RankSVM
    >>> RankSVM().bind([1, 0], Queries.from_sizes([2])).loss([0.25, 0.0])
    array([0.75])
    """

    name = "ranksvm"
    counts_pairs = True
    declared = Facts(
        formula="Σ_{y_i > y_j} max(0, 1 − (s_i − s_j)/σ)",
        source="Joachims 2002, section 4.2",
        convex=True,
        fast=f"O(m log m) above {LONGEST_DIRECT:,} documents",
    )
    squared: ClassVar[bool] = False

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return hinge pairs of margin 1."""
        return Program(
            kernel=hinge_pairs, key=labels, parameters=HingeParameters(self.squared), work=HingeWork
        )


@register_objective
@dataclass(frozen=True)
class SquaredHinge(RankSVM):
    """The squared hinge of GBRank: Σ over pairs y_i > y_j of ½ max(0, 1 − (s_i − s_j)/σ)².

    References
    ----------
    Zheng, Chen, Sun & Zha 2007, "A regression framework for learning ranking functions using
    relative relevance judgments", section 3.1; their margin τ is σ, and the loss is in units of it.

    Examples
    --------
    >>> from gbrank import Queries, SquaredHinge
    >>> SquaredHinge().bind([1, 0], Queries.from_sizes([2])).loss([0.5, 0.0])
    array([0.125])
    """

    name = "squared_hinge"
    declared = replace(
        RankSVM.declared,
        formula="Σ_{y_i > y_j} ½ max(0, 1 − (s_i − s_j)/σ)²",
        source="Zheng et al. 2007, section 3.1",
        second_derivative=True,
    )
    squared = True
