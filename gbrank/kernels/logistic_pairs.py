"""Weighted logistic pairs, the gradients of RankNet and LambdaRank.

For a pair in which i is more relevant than j the loss is w log(1 + exp(−(s_i − s_j)/σ)), where w
comes from a measure. With the pair's upper document a and lower document b,
u = exp(−(s_a − s_b)/σ) ≤ 1 gives all that is needed without overflow. Short lists are summed pair
by pair, longer ones by sweeps if the weights allow it.
"""

from dataclasses import replace
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from gbrank.common.arrays import Positions, Vector
from gbrank.kernels.compiled import inline
from gbrank.kernels.contract import (
    MeasureFunctions,
    Query,
    SeparableDelta,
    Swaps,
    delta_in,
    functions_of,
)
from gbrank.kernels.exponentials import exponentials, is_wide, row_exponentials
from gbrank.kernels.newton_steps import LONGEST_STEP, bound_steps, to_score_units
from gbrank.kernels.program import Program
from gbrank.kernels.sweeps import PAIR_FORCES, PAIR_LOSSES, SWEEP_SCRATCH, PairWeights, sweep_pairs

# Up to this many documents, pairs are summed one by one. Measured break-even points with five
# grades are 500 (AP) to 1,150 (RankNet). Sweeps divide lists by label, more often the more labels
# there are: with a continuous label, break-even is at 1,700.
LONGEST_DIRECT, LONGEST_DIVIDED = 750, 1700
FEW_LABELS = 32
LONGEST = (
    f"above {LONGEST_DIRECT:,} documents ({LONGEST_DIVIDED:,} if there are more than {FEW_LABELS} "
    "distinct labels)"
)

# Deltas that are separable between any two grades are swept if there are up to FEW_GRADES; one by
# one they cost more than other deltas: break-even is at 130 documents.
FEW_GRADES = 8
LONGEST_BY_GRADES = 130

SCRATCH = SWEEP_SCRATCH + 4 + 6  # of sweeps, of a delta, and of the documents of two grades


class Weights(IntEnum):
    """Where the weights of pairs come from."""

    UNIT = 0
    SEPARABLE = 1
    ROW = 2
    GRADES = 3


class PairParameters(NamedTuple):
    """The parameters of both kernels.

    Parameters
    ----------
    weights : Weights
    top : float
        Pairs need one document among the first `top`; infinity for all pairs.
    built_in : bool
        Do as the boosters' own objectives: divide weights by 0.01 + |s_i − s_j| unless all scores
        are equal, and multiply the query by log2(1 + S) / S, S the sum of |λ| over both documents
        of all pairs. If not, Newton steps are bounded.
    boost : float
        Factor on the curvature of a built-in.
    longest : float
        Lists of more documents are swept; infinity if none may be.
    """

    weights: int = Weights.UNIT
    top: float = np.inf
    built_in: bool = False
    boost: float = 1.0
    longest: float = LONGEST_DIRECT


def with_pairs(
    program: Program,
    sizes: Positions,
    swaps: Swaps | None = None,
    *,
    top: int | None = None,
    built_in: bool = False,
    boost: float = 1.0,
) -> Program:
    """Return a program with the kernel of weighted logistic pairs, and its parameters.

    `program` holds the labels, the larger of which is the better in a pair, and the measure's
    constants; without `swaps` all pairs have weight 1.
    """
    reach = np.inf if top is None else float(top)
    x = program.labels if program.x is None else program.x
    by_label = np.argsort(program.labels)
    steps, rises = np.diff(x[by_label]), np.diff(program.labels[by_label]) > 0
    n_labels = 1 + np.count_nonzero(rises)
    alike = np.array_equal(steps > 0, rises)  # x orders documents as labels do
    weights, longest = Weights.UNIT, LONGEST_DIRECT if n_labels <= FEW_LABELS else LONGEST_DIVIDED
    # A gain may fall: then a document of larger label has the smaller x.
    sweepable = not built_in and 2 * reach > longest and not (steps < 0).any()
    if swaps is not None:
        weights = Weights.SEPARABLE if swaps.row is None else Weights.ROW
        sweepable &= swaps.separable is not None
        if swaps.grades is not None and not built_in and top is None and n_labels <= FEW_GRADES:
            weights, sweepable, longest = Weights.GRADES, True, LONGEST_BY_GRADES
    return replace(
        program,
        # Sweeps are four fifths of the time to compile: they are left out if no list is long.
        kernel=swept_pairs if sweepable and sizes.max() > longest else direct_pairs,
        labels=x if alike else program.labels,
        x=None if alike else x,
        parameters=PairParameters(
            weights=weights,
            top=reach,
            built_in=built_in,
            boost=boost,
            longest=longest if sweepable else np.inf,
        ),
        measure=functions_of(swaps),
        scratch=SCRATCH,
    )


def direct_pairs(
    query: Query,
    measure: MeasureFunctions,
    parameters: PairParameters,
    gradient: Vector,
    curvature: Vector,
) -> float:
    """Sum the logistic loss, or its derivatives, over all pairs of different label."""
    s, labels, ranking, sigma = query.scores, query.labels, query.ranking, query.sigma
    m = s.size
    weights, up, down = query.scratch[0], query.scratch[1], query.scratch[2]
    delta = delta_in(query.scratch[SWEEP_SCRATCH:])
    source = parameters.weights
    top = np.int64(min(parameters.top, float(m)))
    built_in = parameters.built_in
    weights[:m] = 1.0
    if source != Weights.UNIT:
        measure.separable(ranking, top, delta)
    if source >= Weights.ROW:
        measure.prepare(ranking, top)
    wide = is_wide(s, sigma)
    exponentials(s, sigma, up, down)
    loss = 0.0
    total = 0.0
    for i in range(m - 1):
        if ranking.first[i] >= top:
            break
        if source == Weights.SEPARABLE:
            separable_row(i, ranking.last, ranking.x, delta, weights)
        elif source >= Weights.ROW:
            measure.row(ranking, i, m, top, weights)
        if built_in and s[0] != s[m - 1]:
            if source == Weights.UNIT:
                weights[:m] = 1.0
            for j in range(i + 1, m):
                weights[j] /= 0.01 + (s[i] - s[j])
        scale = row_exponentials(i, wide, s, sigma, up, down)
        if gradient.size > 0:
            total += add_row(i, i + 1, m, labels, weights, up, scale, gradient, curvature)
            continue
        loss += row_loss(i, i + 1, m, s, labels, weights, up, scale, sigma)
    if gradient.size > 0:
        if built_in:
            curvature *= parameters.boost
            _normalize_by_sum(total, sigma, gradient, curvature)
        else:
            bound_steps(LONGEST_STEP, gradient, curvature)
        to_score_units(sigma, gradient, curvature)
    return loss


_sum_directly = inline(direct_pairs)


@inline
def separable_row(i: int, last: Positions, x: Vector, delta: SeparableDelta, out: Vector) -> None:
    """Write the expected delta of the pairs (i, j) for every j below i."""
    # Unsigned indices need no wrap-around check, so that the loops vectorise.
    xi = x[i]
    inside = delta.inside[i]
    upper = delta.upper[i]
    share = delta.share[i]
    lower = delta.lower
    for j in range(np.uintp(i + 1), np.uintp(last[i])):
        out[j] = abs(xi - x[j]) * inside
    for j in range(np.uintp(last[i]), np.uintp(x.size)):
        out[j] = abs(xi - x[j]) * (upper + share * lower[j])


def swept_pairs(
    query: Query,
    measure: MeasureFunctions,
    parameters: PairParameters,
    gradient: Vector,
    curvature: Vector,
) -> float:
    """Do as `direct_pairs` where the list is short; sweep over a long one."""
    m = query.scores.size
    if m <= parameters.longest:
        return _sum_directly(query, measure, parameters, gradient, curvature)
    if parameters.weights == Weights.GRADES:
        loss = _sweep_grades(query, measure, gradient, curvature)
    else:
        loss = _sweep_list(query, measure, parameters, gradient, curvature)
    bound_steps(LONGEST_STEP, gradient, curvature)
    to_score_units(query.sigma, gradient, curvature)
    return loss


@inline
def _sweep_list(
    query: Query,
    measure: MeasureFunctions,
    parameters: PairParameters,
    gradient: Vector,
    curvature: Vector,
) -> float:
    """Add all pairs by one sweep, those inside tied blocks by row if need be; return their loss."""
    m = query.scores.size
    delta = delta_in(query.scratch[SWEEP_SCRATCH:])
    top = np.int64(min(parameters.top, float(m)))
    unit = parameters.weights == Weights.UNIT
    by_row = parameters.weights == Weights.ROW
    if not unit:
        measure.separable(query.ranking, top, delta)
        # Down the list, where swaps change nothing, both terms are then zero, not only their sum.
        tail = delta.lower[m - 1]
        for p in range(m):
            delta.upper[p] += delta.share[p] * tail
            delta.lower[p] -= tail
    if by_row:
        delta.inside[:m] = 0.0
    loss = sweep_pairs(
        query.scores, query.sigma, query.ranking.first, query.ranking.x,
        PairWeights(unit=unit, separable=not unit), delta,
        PAIR_FORCES if gradient.size > 0 else PAIR_LOSSES, query.scratch, gradient, curvature,
    )  # fmt: skip
    if by_row:
        loss += _add_blocks(query, measure, top, query.scratch[0], gradient, curvature)
    return loss


@inline
def _sweep_grades(
    query: Query, measure: MeasureFunctions, gradient: Vector, curvature: Vector
) -> float:
    """Add the pairs of any two grades by a sweep over the documents of these; return their loss."""
    s, x, first = query.scores, query.ranking.x, query.ranking.first
    delta = delta_in(query.scratch[SWEEP_SCRATCH:])
    rest = query.scratch[SWEEP_SCRATCH + 4 :]
    scores, grades, forces, curvatures = rest[0], rest[1], rest[2], rest[3]
    heads, places = rest[4].view(np.int64), rest[5].view(np.int64)
    loss = 0.0
    for high in range(1, int(x.max()) + 1):
        for low in range(high):
            measure.grades(query.ranking, low, high, delta)
            size = 0
            for p in range(x.size):
                if x[p] in (low, high):
                    tied = size > 0 and first[places[size - 1]] == first[p]
                    heads[size] = heads[size - 1] if tied else size
                    places[size] = p
                    scores[size] = s[p]
                    grades[size] = x[p]
                    delta.upper[size] = delta.upper[p]
                    delta.share[size] = delta.share[p]
                    delta.lower[size] = delta.lower[p]
                    delta.inside[size] = delta.inside[p]
                    size += 1
            n = size if gradient.size > 0 else 0
            forces[:n] = 0.0
            curvatures[:n] = 0.0
            loss += sweep_pairs(
                scores[:size], query.sigma, heads[:size], grades[:size],
                PairWeights(unit=True, separable=True), delta,
                PAIR_FORCES if n > 0 else PAIR_LOSSES, query.scratch, forces[:n], curvatures[:n],
            )  # fmt: skip
            for t in range(n):
                gradient[places[t]] += forces[t]
                curvature[places[t]] += curvatures[t]
    return loss


@inline
def add_row(
    i: int, begin: int, end: int, labels: Vector, weights: Vector, up: Vector, scale: float,
    gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Add the pairs of document i with begin, ..., end − 1, in units of σ; return their Σ|λ|."""
    own_force = 0.0
    own_curvature = 0.0
    total = 0.0
    label = labels[i]
    # Unsigned indices need no wrap-around check, so that the loop vectorises.
    for j in range(np.uintp(begin), np.uintp(end)):
        u = up[j] * scale
        inverse = 1.0 / (1.0 + u)
        difference = label - labels[j]
        below = weights[j] * inverse
        above = below * u
        signed = above if difference > 0 else (-below if difference < 0 else 0.0)
        added = above * inverse if difference != 0 else 0.0
        own_force -= signed
        own_curvature += added
        total += abs(signed)
        gradient[j] += signed
        curvature[j] += added
    gradient[i] += own_force
    curvature[i] += own_curvature
    return total


@inline
def row_loss(
    i: int, begin: int, end: int, s: Vector, labels: Vector, weights: Vector, up: Vector,
    scale: float, sigma: float,
) -> float:  # fmt: skip
    """Return the loss of the pairs of document i with begin, ..., end − 1."""
    total = 0.0
    for j in range(begin, end):
        if labels[i] != labels[j]:
            total += weights[j] * np.log1p(up[j] * scale)
        if labels[i] < labels[j]:
            total += weights[j] * ((s[i] - s[j]) / sigma)
    return total


@inline
def _add_blocks(
    query: Query, measure: MeasureFunctions, top: int, weights: Vector,
    gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Add the pairs inside tied blocks, those of equal x together; return their loss."""
    x, first, last = query.ranking.x, query.ranking.first, query.ranking.last
    measure.prepare(query.ranking, top)
    total = 0.0
    begin = 0
    while begin < x.size and first[begin] < top:
        end = begin + 1
        while end < last[begin] and x[end] == x[begin]:
            end += 1
        if end < last[begin]:
            measure.row(query.ranking, begin, last[begin], top, weights)
        force = 0.0
        for j in range(end, last[begin]):
            half = 0.5 * weights[j]
            force += half
            if gradient.size > 0:
                gradient[j] += half * (end - begin)
                curvature[j] += 0.5 * half * (end - begin)
        if gradient.size > 0:
            gradient[begin:end] -= force
            curvature[begin:end] += 0.5 * force
        total += 2 * force * (end - begin) * np.log(2.0)
        begin = end
    return total


@inline
def _normalize_by_sum(total: float, sigma: float, gradient: Vector, curvature: Vector) -> None:
    """Multiply the query by log2(1 + S) / S, S = 2 total/σ the sum of |λ| over both documents."""
    total *= 2 / sigma
    if total > 0:
        factor = np.log2(1 + total) / total
        for i in range(gradient.size):
            gradient[i] *= factor
            # an expected delta of zero may round to less
            curvature[i] = max(curvature[i], 0.0) * factor
