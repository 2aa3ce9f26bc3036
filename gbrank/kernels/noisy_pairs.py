"""Logistic pairs, weighted by what swapping them changes in noisy rankings."""

from typing import NamedTuple

import numpy as np

from gbrank.common.arrays import Matrix, Vector
from gbrank.kernels.compiled import inline
from gbrank.kernels.contract import MeasureFunctions, Query, Ranking, delta_in
from gbrank.kernels.exponentials import exponentials, is_wide
from gbrank.kernels.logistic_pairs import add_row, row_loss
from gbrank.kernels.newton_steps import LONGEST_STEP, bound_steps, to_score_units
from gbrank.kernels.noise import stratified, stratum
from gbrank.kernels.sorting import LONG, rank, rank_by_counting

NOISY_SCRATCH = 20  # rows, besides one for each draw and one more
# Long lists are processed in blocks that stay in the processor's cache.
BLOCK = 1024


class NoisyParameters(NamedTuple):
    """The parameters of the kernel.

    Parameters
    ----------
    draws : int
        Number of noisy rankings.
    top : float
        Pairs need one document among the first `top` of the noisy ranking.
    by_row : bool
        Whether the measure gives swap deltas by `row` only, and no separable ones.
    by_rank : bool
        Whether a swap delta is |x_a − x_b| |d_a − d_b|, d a function of the rank alone.
    """

    draws: int
    top: float
    by_row: bool
    by_rank: bool


def noisy_pairs(
    query: Query,
    measure: MeasureFunctions,
    parameters: NoisyParameters,
    gradient: Vector,
    curvature: Vector,
) -> float:
    """Sum the logistic loss at the scores, or its derivatives; its weights are means over draws."""
    s, m = query.scores, query.scores.size
    short = m <= parameters.top and m <= BLOCK
    if parameters.by_rank and short and not is_wide(s, query.sigma):
        loss = _over_ranks(query, measure, parameters.draws, gradient, curvature)
    else:
        loss = _over_rankings(query, measure, parameters, gradient, curvature)
    if gradient.size > 0:
        bound_steps(LONGEST_STEP, gradient, curvature)
        to_score_units(query.sigma, gradient, curvature)
    return loss


@inline
def _over_ranks(
    query: Query, measure: MeasureFunctions, draws: int, gradient: Vector, curvature: Vector
) -> float:
    """Go through the pairs once, each weighted by its mean delta over the draws."""
    s, x, scratch = query.scores, query.ranking.x, query.scratch
    m = s.size
    delta = delta_in(scratch)
    weights, up, down, keys = scratch[4], scratch[5], scratch[6], scratch[7]
    measure.separable(_untied(query.ranking, x, scratch[8:]), m, delta)
    exponentials(s, query.sigma, up, down)
    for draw in range(draws):
        shift = stratum(draw, draws)
        for i in range(m):
            keys[i] = np.log(stratified(query.noise, i, shift)) * down[i]
        worth = scratch[NOISY_SCRATCH + draw]
        for i in range(m):
            before = 0
            for j in range(np.uintp(0), np.uintp(m)):
                before += 1 if keys[j] > keys[i] else 0
            worth[i] = delta.upper[before] / draws
    scratch[NOISY_SCRATCH + draws, :m] = 0.0  # the partner of the last draw, if draws are odd
    loss = 0.0
    for i in range(m - 1):
        for draw in range(0, draws, 2):  # two at a time, which costs little more than one
            one, other = scratch[NOISY_SCRATCH + draw], scratch[NOISY_SCRATCH + draw + 1]
            for j in range(np.uintp(i + 1), np.uintp(m)):
                so_far = weights[j] if draw > 0 else 0.0
                moved = abs(one[i] - one[j]) + abs(other[i] - other[j])
                weights[j] = so_far + abs(x[i] - x[j]) * moved
        if gradient.size > 0:
            add_row(i, i + 1, m, query.labels, weights, up, down[i], gradient, curvature)
        else:
            loss += row_loss(i, i + 1, m, s, query.labels, weights, up, down[i], query.sigma)
    return loss


@inline
def _untied(ranking: Ranking, x: Vector, scratch: Matrix) -> Ranking:
    """Return a ranking of documents worth x, none of them tied; use two rows of scratch."""
    first = scratch[0].view(np.int64)[: x.size]
    last = scratch[1].view(np.int64)[: x.size]
    for i in range(x.size):
        first[i] = i
        last[i] = i + 1
    return Ranking(
        x, first, last, ranking.table, ranking.scale, ranking.cut, ranking.constants,
        ranking.scratch,
    )  # fmt: skip


@inline
def _over_rankings(
    query: Query,
    measure: MeasureFunctions,
    parameters: NoisyParameters,
    gradient: Vector,
    curvature: Vector,
) -> float:
    """Go through the pairs of each noisy ranking, in its order."""
    s, scratch = query.scores, query.scratch
    m, draws = s.size, parameters.draws
    top = int(min(parameters.top, float(m)))
    block = m if parameters.by_row else BLOCK
    delta = delta_in(scratch)
    # In the order of the noisy ranking:
    weights, up, down, scores = scratch[4], scratch[5], scratch[6], scratch[7]
    labels, x = scratch[8, :m], scratch[9, :m]
    forces, curvatures = scratch[10, : gradient.size], scratch[11, : gradient.size]
    places = scratch[12].view(np.int64)
    ranking = _untied(query.ranking, x, scratch[13:])
    all_up, all_down, keys = scratch[15], scratch[16], scratch[17]
    wide = is_wide(s, query.sigma)
    all_up[:m] = 1.0
    all_down[:m] = 1.0
    exponentials(s, query.sigma, all_up, all_down)
    loss = 0.0
    for draw in range(draws):
        shift = stratum(draw, draws)
        for i in range(m):
            exponential = np.log(stratified(query.noise, i, shift))  # the negative of one
            if wide:
                keys[i] = (s[i] - s[0]) / query.sigma - np.log(-exponential)  # plus Gumbel noise
            else:
                keys[i] = exponential * all_down[i]  # minus exp(−(s + noise)/σ), of the same order
        if m < LONG:
            rank_by_counting(keys[:m], places)
        else:
            rank(keys[:m], places[:m], scratch[18, :m], scratch[19].view(np.int64)[:m])
        for i in range(m):
            place = places[i]
            scores[i] = s[place]
            labels[i] = query.labels[place]
            x[i] = query.ranking.x[place]
            up[i] = all_up[place]
            down[i] = all_down[place]
        if parameters.by_row:
            measure.prepare(ranking, top)
        else:
            measure.separable(ranking, top, delta)
        forces[:] = 0.0
        curvatures[:] = 0.0
        for head in range(0, m, block):
            end = min(head + block, m)
            for i in range(min(top, end - 1)):
                begin = max(i + 1, head)
                if parameters.by_row:
                    measure.row(ranking, i, m, top, weights)
                else:
                    upper, share = delta.upper[i], delta.share[i]
                    for j in range(np.uintp(begin), np.uintp(end)):
                        weights[j] = abs(x[i] - x[j]) * (upper + share * delta.lower[j])
                if wide:
                    for j in range(begin, end):
                        up[j] = np.exp((scores[j] - scores[i]) / query.sigma)
                if gradient.size > 0:
                    add_row(i, begin, end, labels, weights, up, down[i], forces, curvatures)
                else:
                    loss += row_loss(
                        i, begin, end, scores, labels, weights, up, down[i], query.sigma
                    )
        for i in range(gradient.size):
            gradient[places[i]] += forces[i] / draws
            curvature[places[i]] += curvatures[i] / draws
    return loss / draws
