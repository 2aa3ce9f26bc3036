"""Logistic pairs, weighted by what swapping them changes in noisy rankings."""

from typing import NamedTuple

import numpy as np

from gbrank.common.arrays import Matrix, Positions, Vector
from gbrank.kernels.compiled import inline
from gbrank.kernels.contract import MeasureFunctions, Query, Ranking, delta_in
from gbrank.kernels.exponentials import exponentials, is_wide
from gbrank.kernels.logistic_pairs import add_row, row_loss
from gbrank.kernels.newton_steps import LONGEST_STEP, bound_steps, to_score_units
from gbrank.kernels.noise import stratified, stratum
from gbrank.kernels.sorting import LONG, rank, rank_by_counting

NOISY_SCRATCH = 20  # rows, besides one for each draw and one more
# By default, lists of more than `WHOLE` documents take pairs of the first `TOP`, others all pairs:
# so lists of 100,000 documents take at most twice the time per document of lists of 300.
WHOLE, TOP = 700, 192
# Long lists are processed in blocks that stay in the processor's cache.
BLOCK = 1024


class NoisyParameters(NamedTuple):
    """The parameters of the kernel.

    Parameters
    ----------
    draws : int
        Number of noisy rankings.
    top : int
        Pairs need one document among the first `top` of the noisy ranking,
    whole : int
        in lists of more than `whole` documents.
    by_row : bool
        Whether the measure gives swap deltas by `row` only, and no separable ones.
    by_rank : bool
        Whether a swap delta is |x_a − x_b| |d_a − d_b|, d a function of the rank alone.
    """

    draws: int
    top: int
    whole: int
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
    m = query.scores.size
    top = m if m <= parameters.whole else min(parameters.top, m)
    if parameters.by_rank and m == top <= BLOCK and not is_wide(query.scores, query.sigma):
        loss = _over_ranks(query, measure, parameters.draws, gradient, curvature)
    else:
        loss = _over_rankings(query, measure, parameters, top, gradient, curvature)
    if gradient.size > 0:
        bound_steps(LONGEST_STEP, gradient, curvature)
        to_score_units(query.sigma, gradient, curvature)
    return loss


@inline
def _over_ranks(
    query: Query, measure: MeasureFunctions, draws: int, gradient: Vector, curvature: Vector
) -> float:
    """Go through the pairs once, each weighted by its mean delta over the draws.

    Documents of a long list are taken label by label, so that pairs of one label are left out.
    """
    s, x, labels, scratch = query.scores, query.ranking.x, query.labels, query.scratch
    forces, curvatures = gradient, curvature
    m = s.size
    delta = delta_in(scratch)
    weights, up, down = scratch[4], scratch[5], scratch[6]
    places, position = scratch[7].view(np.int64), scratch[13].view(np.int64)
    measure.separable(_untied(query.ranking, x, scratch[8:]), m, delta)
    exponentials(s, query.sigma, up, down)
    by_label = m >= LONG
    if by_label:
        _group_by_label(labels, position, scratch[14:])
    else:
        for i in range(m):
            position[i] = i
    for draw in range(draws):
        _draw_ranking(query, draw, draws, False, down, places, scratch[10:])
        worth = scratch[NOISY_SCRATCH + draw]
        for r in range(m):
            worth[position[places[r]]] = delta.upper[r] / draws
    scratch[NOISY_SCRATCH + draws, :m] = 0.0  # the partner of the last draw, if draws are odd
    if by_label:
        up, down = _moved(up, position, scratch[10, :m]), _moved(down, position, scratch[11, :m])
        s, x = _moved(s, position, scratch[12, :m]), _moved(x, position, scratch[14, :m])
        labels = _moved(labels, position, scratch[15, :m])
        forces, curvatures = scratch[16, : gradient.size], scratch[17, : gradient.size]
        forces[:] = 0.0
        curvatures[:] = 0.0
    loss = 0.0
    begin = 0
    for i in range(m - 1):
        begin = max(begin, i + 1)
        while by_label and begin < m and labels[begin] == labels[i]:
            begin += 1
        for draw in range(0, draws, 2):  # two at a time, which costs little more than one
            one, other = scratch[NOISY_SCRATCH + draw], scratch[NOISY_SCRATCH + draw + 1]
            for j in range(np.uintp(begin), np.uintp(m)):
                so_far = weights[j] if draw > 0 else 0.0
                moved = abs(one[i] - one[j]) + abs(other[i] - other[j])
                weights[j] = so_far + abs(x[i] - x[j]) * moved
        if gradient.size > 0:
            add_row(i, begin, m, labels, weights, up, down[i], forces, curvatures)
        else:
            loss += row_loss(i, begin, m, s, labels, weights, up, down[i], query.sigma)
    if by_label:
        for i in range(gradient.size):
            gradient[i] = forces[position[i]]
            curvature[i] = curvatures[position[i]]
    return loss


@inline
def _group_by_label(labels: Vector, position: Positions, scratch: Matrix) -> None:
    """Write where each document stands if the highest labels come first; use four rows."""
    m = labels.size
    keys, order = scratch[0, :m], scratch[1].view(np.int64)[:m]
    keys[:] = labels
    rank(keys, order, scratch[2, :m], scratch[3].view(np.int64)[:m])
    for i in range(m):
        position[order[i]] = i


@inline
def _moved(values: Vector, position: Positions, to: Vector) -> Vector:
    """Write each value to its position, and return them."""
    for i in range(to.size):
        to[position[i]] = values[i]
    return to


@inline
def _draw_ranking(
    query: Query, draw: int, draws: int, wide: bool, down: Vector, places: Positions,
    scratch: Matrix,
) -> None:  # fmt: skip
    """Write the place of the document of each noisy rank; use three rows of scratch."""
    s, m = query.scores, query.scores.size
    keys = scratch[0, :m]
    shift = stratum(draw, draws)
    for i in range(m):
        exponential = np.log(stratified(query.noise, i, shift))  # the negative of one
        if wide:
            keys[i] = (s[i] - s[0]) / query.sigma - np.log(-exponential)  # plus Gumbel noise
        else:
            keys[i] = exponential * down[i]  # minus exp(−(s + noise)/σ), of the same order
    if m < LONG:
        rank_by_counting(keys, places)
    else:
        rank(keys, places[:m], scratch[1, :m], scratch[2].view(np.int64)[:m])


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
    top: int,
    gradient: Vector,
    curvature: Vector,
) -> float:
    """Go through the pairs of each noisy ranking, in its order."""
    s, scratch = query.scores, query.scratch
    m, draws = s.size, parameters.draws
    block = m if parameters.by_row else BLOCK
    delta = delta_in(scratch)
    # In the order of the noisy ranking:
    weights, up, down, scores = scratch[4], scratch[5], scratch[6], scratch[7]
    labels, x = scratch[8, :m], scratch[9, :m]
    forces, curvatures = scratch[10, : gradient.size], scratch[11, : gradient.size]
    places = scratch[12].view(np.int64)
    ranking = _untied(query.ranking, x, scratch[13:])
    all_up, all_down = scratch[15], scratch[16]
    wide = is_wide(s, query.sigma)
    all_up[:m] = 1.0
    all_down[:m] = 1.0
    exponentials(s, query.sigma, all_up, all_down)
    loss = 0.0
    for draw in range(draws):
        _draw_ranking(query, draw, draws, wide, all_down, places, scratch[17:])
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
