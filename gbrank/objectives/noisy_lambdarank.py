"""NoisyLambdaRank, the default: logistic pairs weighted by what swaps change in noisy rankings."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gbrank.common.checks import Matrix, Positions, Vector
from gbrank.common.fields import Integer
from gbrank.data.queries import Queries
from gbrank.engine.compiling import inline
from gbrank.engine.contract import (
    Derivatives,
    MeasureFunctions,
    Program,
    Query,
    Ranking,
    SeparableDelta,
)
from gbrank.engine.numba_internals import slice_of
from gbrank.engine.query_loop import clear_derivatives
from gbrank.engine.sorting import LONG
from gbrank.numerics.logistic import LogisticPairs, add_row, logistic_pairs
from gbrank.numerics.noise import Draw, draw_ranking
from gbrank.numerics.vectors import bound_and_scale

from .lambdarank import move_back, write_separable
from .objective import Facts, MeasureObjective
from .objective_registry import register_objective

# By default, lists of more than `WHOLE` documents take pairs of the first `TOP`, others all pairs:
# so lists of 100,000 documents take at most twice the time per document of lists of 300.
WHOLE = 700
TOP = 64
# exp(NARROW) is finite: within so many σ, pairs may be taken in any order.
NARROW = 700.0
# From this many documents on, to leave out pairs of one label saves more than to group them costs:
# two groups in short lists, more in long ones.
SHORT = 12
FEW_GROUPS = 2
GROUPS = 8
# Long lists are processed in blocks that stay in the processor's cache.
BLOCK = 1024


class NoisyParameters(NamedTuple):
    """The parameters of the kernels.

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
    """

    draws: int
    top: int
    whole: int
    by_row: bool


class PairDocuments(NamedTuple):
    """The documents of sums over pairs, in any order."""

    scores: Vector
    labels: Vector
    gains: Vector
    up: Vector
    down: Vector


class NoisyWork(NamedTuple):
    """The work arrays of both kernels; `worth` has a row for each draw, and one more."""

    delta: SeparableDelta
    first: Positions
    last: Positions
    weights: Vector
    up: Vector
    down: Vector
    draw: Draw
    position: Positions
    moved: PairDocuments  # by label, or in the order of the noisy ranking
    out: Derivatives  # in the order of `moved`
    worth: Matrix


def noisy_whole_lists(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Go through all pairs once, each weighted by its mean delta over the draws.

    The delta must be |G_a − G_b| |D_a − D_b|, D a function of the rank alone. Documents are taken
    label by label, so that pairs of one label are left out.
    """
    parameters: NoisyParameters = query.parameters
    work: NoisyWork = query.work
    s = query.scores
    gains = query.ranking.gains
    sigma = query.sigma
    m = s.size
    draws = parameters.draws
    pairs = logistic_pairs(s, sigma, work.up, work.down)
    grouped = m >= SHORT and (s[0] - s[m - 1]) / sigma <= NARROW
    measure.separable(without_ties(query.ranking, gains, work.first, work.last), m, work.delta)
    place_documents(grouped, query.key, work.position)
    for draw in range(draws):
        draw_ranking(query, draw, pairs.wide, work.down, work.draw)
        for r in range(m):
            place = work.position[work.draw.places[r]]
            work.worth[draw, place] = work.delta.upper[r] / draws
    for i in range(m):
        work.worth[draws, i] = 0.0  # the partner of the last draw, if draws are odd
    documents = PairDocuments(s, query.key, gains, work.up, work.down)
    added = out
    if grouped:
        for i in range(m):
            work.draw.places[work.position[i]] = i
        documents = move_documents(documents, work.draw.places, work.moved)
        added = clear_derivatives(work.out, out.gradient.size)
    loss = sum_pairs(grouped, pairs.wide, sigma, draws, documents, work, added)
    if grouped:
        move_back(added, work.draw.places, 1, out)
    bound_and_scale(sigma, out)
    return loss


@inline
def sum_pairs(
    grouped: bool, wide: bool, sigma: float, draws: int, documents: PairDocuments,
    work: NoisyWork, out: Derivatives,
) -> float:  # fmt: skip
    """Add all pairs, in units of σ, or return their loss."""
    labels = documents.labels
    gains = documents.gains
    weights = work.weights
    m = documents.scores.size
    pairs = LogisticPairs(documents.scores, sigma, wide, documents.up, documents.down)
    loss = 0.0
    begin = 0
    for i in range(m - 1):
        begin = max(begin, i + 1)
        while grouped and begin < m and labels[begin] == labels[i]:
            begin += 1
        for draw in range(0, draws, 2):  # two at a time, which costs little more than one
            worth = work.worth[draw]
            opposite = work.worth[draw + 1]
            for j in range(np.uintp(begin), np.uintp(m)):
                so_far = weights[j] if draw > 0 else 0.0
                change = abs(worth[i] - worth[j]) + abs(opposite[i] - opposite[j])
                weights[j] = so_far + abs(gains[i] - gains[j]) * change
        loss += add_row(i, begin, m, labels, weights, pairs, out)
    return loss


@inline
def place_documents(grouped: bool, labels: Vector, position: Positions) -> None:
    """Write where each document stands: where it is, or `grouped` by label, the highest first.

    Only so many labels, the lowest ones, are apart; all others are together, before them.
    """
    m = labels.size
    if not grouped:
        for i in range(m):
            position[i] = i
        return
    groups = GROUPS if m >= LONG else FEW_GROUPS
    end = m
    label = np.inf
    for i in range(m):
        label = min(label, labels[i])
    for group in range(groups):
        next_label = np.inf
        for i in range(m - 1, -1, -1):
            if labels[i] == label or (labels[i] > label and group == groups - 1):
                end -= 1
                position[i] = end
            elif labels[i] > label:
                next_label = min(next_label, labels[i])
        if end == 0:
            return
        label = next_label


@inline
def move_documents(documents: PairDocuments, places: Positions, to: PairDocuments) -> PairDocuments:
    """Write the documents at some places one after another, and return them."""
    m = documents.scores.size
    for i in range(m):
        place = places[i]
        to.scores[i] = documents.scores[place]
        to.labels[i] = documents.labels[place]
        to.gains[i] = documents.gains[place]
        to.up[i] = documents.up[place]
        to.down[i] = documents.down[place]
    return slice_of(to, 0, m)


@inline
def without_ties(ranking: Ranking, gains: Vector, first: Positions, last: Positions) -> Ranking:
    """Return a ranking of documents of these gains, none of them tied."""
    m = gains.size
    for i in range(m):
        first[i] = i
        last[i] = i + 1
    return Ranking(
        gains, slice_of(first, 0, m), slice_of(last, 0, m), ranking.discounts, ranking.scale,
        ranking.cut, ranking.constants, ranking.memory,
    )  # fmt: skip


def noisy_rankings(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Sum the pairs of each noisy ranking, in its order, and take the mean over the draws."""
    work: NoisyWork = query.work
    parameters: NoisyParameters = query.parameters
    draws = parameters.draws
    sigma = query.sigma
    s = query.scores
    m = query.scores.size
    top = m if m <= parameters.whole else min(parameters.top, m)
    in_order = PairDocuments(s, query.key, query.ranking.gains, work.up, work.down)
    wide = logistic_pairs(s, sigma, work.up, work.down).wide
    loss = 0.0
    for draw in range(draws):
        draw_ranking(query, draw, wide, work.down, work.draw)
        documents = move_documents(in_order, work.draw.places, work.moved)
        pairs = LogisticPairs(documents.scores, sigma, wide, documents.up, documents.down)
        added = clear_derivatives(work.out, out.gradient.size)
        ranking = without_ties(query.ranking, documents.gains, work.first, work.last)
        if parameters.by_row:
            measure.prepare(ranking, top)
        else:
            measure.separable(ranking, top, work.delta)
        block = m if parameters.by_row else BLOCK
        for head in range(0, m, block):
            end = min(head + block, m)
            for i in range(min(top, end - 1)):
                begin = max(i + 1, head)
                if parameters.by_row:
                    measure.row(ranking, i, m, top, work.weights)
                else:
                    write_separable(i, begin, end, ranking, work.delta, work.weights)
                loss += add_row(i, begin, end, documents.labels, work.weights, pairs, added)
        move_back(added, work.draw.places, draws, out)
    bound_and_scale(sigma, out)
    return loss / draws


@register_objective
@dataclass(frozen=True)
class NoisyLambdaRank(MeasureObjective):
    """NoisyLambdaRank: LambdaRank with the mean of |ΔM| over noisy rankings.

    In every round each query is ranked `draws` times by s_i + σ z_i, z standard Gumbel noise. For
    every pair y_i > y_j, with p = 1/(1 + exp((s_i − s_j)/σ)) at the scores without noise: gradient
    ∓E|ΔM| p/σ and curvature E|ΔM| p (1 − p)/σ², E the mean over these rankings.

    The noise depends on (seed, round, query) and on the rank of the document without noise. Draws
    come in pairs, with Gumbel noise from uniform numbers u and u + 1/2 modulo 1. Documents of equal
    score and label get the mean of their derivatives.

    Parameters
    ----------
    measure : Measure or str
        Any measure with a swap delta. Its own `ties` and `no_relevant` have no effect.
    draws : int
        Number of noisy rankings in each round.
    truncation : int, optional
        Only pairs with a document among the first `truncation` of a noisy ranking take part;
        by default 64 in lists of more than 700 documents, and all pairs in the others.
    seed : int
        Seed of the noise.

    Notes
    -----
    - Formula: λ_ij = −E|ΔM_ij| / (σ (1 + exp((s_i − s_j)/σ))), y_i > y_j, ΔM in rankings by s + σz,
      z Gumbel
    - Source: Burges, Ragno & Le 2006, eq. 9; noise as in Gulin, Kuralenok & Pavlov 2011
    - Cost: O(m (log m + truncation)) for each draw

    References
    ----------
    Gumbel noise as in YetiRank (Gulin, Kuralenok & Pavlov 2011, "Winning the transfer learning
    track of Yahoo!'s learning to rank challenge with YetiRank"), which has it in p as well.

    Examples
    --------
    >>> from gbrank import NoisyLambdaRank, Queries
    >>> bound = NoisyLambdaRank("ndcg").bind([1, 0], Queries.from_sizes([2]))
    >>> gradient, curvature = bound.gradients([0.0, 0.0])
    >>> gradient.round(4).tolist()  # half of 1 − 1/log2(3), whichever is first
    [-0.1845, 0.1845]
    """

    name = "noisy"
    needs = "swaps"
    wanted = "have a swap delta for NoisyLambdaRank"
    declared = Facts(differentiable=False, stochastic=True, takes_measure=True)

    draws: int = Integer(2, 1)
    truncation: int | None = Integer(None, 1)
    seed: int = Integer(0)

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return logistic pairs weighted by the measure's swap deltas in noisy rankings."""
        whole = WHOLE if self.truncation is None else min(self.truncation, BLOCK)
        by_row = self._measure.functions("separable").separable is None
        return self.measure_program(
            noisy_whole_lists,
            labels,
            queries,
            ["prepare", "row"] if by_row else ["separable"],
            by_label=True,
            parameters=NoisyParameters(self.draws, self.truncation or TOP, whole, by_row),
            work=NoisyWork,
            other_kernel=noisy_rankings,
            others=(queries.sizes > whole) | by_row | (self._measure.form != "discounted"),
            rows={"worth": self.draws + 1},
            seed=self.seed,
        )
