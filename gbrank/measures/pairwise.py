"""Rank correlations: pair-wise correct and Kendall's tau, which count pairs, and Spearman's."""

from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from gbrank.common.checks import Vector
from gbrank.data.queries import Queries
from gbrank.engine.compiling import inline
from gbrank.engine.contract import Ranking, Swaps, Terms
from gbrank.engine.numba_internals import unpack
from gbrank.numerics.logistic import logistic_slope

from .discounted import discounted_by_rank, discounted_swaps, discounted_value
from .gains import discount_values, formula_of
from .measure import Measure
from .measure_registry import register_measure
from .per_query import blocks_of, inverse


class PairwiseConstants(NamedTuple):
    """The number of grades of a query, and what is added to the value."""

    grades: float | Vector
    offset: float | Vector


class PairwiseWork(NamedTuple):
    """The work arrays of the functions."""

    counts: Vector


@inline
def add_grade(counts: Vector, grades: int, grade: int, amount: float) -> None:
    """Count a document of this grade in a binary indexed tree."""
    node = grade + 1
    while node <= grades:
        counts[node - 1] += amount
        node += node & -node


@inline
def count_up_to(counts: Vector, grade: int) -> float:
    """Return the count of grades 0, ..., grade."""
    total = 0.0
    node = grade + 1
    while node > 0:
        total += counts[node - 1]
        node -= node & -node
    return total


@inline
def flips(counts: Vector, a: int, b: int) -> float:
    """Return how many pairs flip when documents of grades a ≠ b swap around the counted ones.

    A document between them flips two pairs if its grade lies between theirs, one if it equals
    one of them, and otherwise one to the better and one to the worse.
    """
    low = min(a, b)
    high = max(a, b)
    return (
        count_up_to(counts, high)
        + count_up_to(counts, high - 1)
        - count_up_to(counts, low)
        - count_up_to(counts, low - 1)
    )


def pairwise_value(ranking: Ranking) -> float:
    """Return the number of pairs in correct order, a tied pair counting one half."""
    gains = ranking.gains
    last = ranking.last
    constants = unpack(ranking.constants, PairwiseConstants)
    grades = int(constants.grades)
    counts = unpack(ranking.memory, PairwiseWork).counts
    counts[:grades] = 0.0
    correct = 0.0
    start = 0
    while start < gains.size:
        end = last[start]
        same = 0
        for p in range(start, end):  # equal grades stand side by side
            same = same + 1 if p > start and gains[p] == gains[p - 1] else 0
            not_better = count_up_to(counts, int(gains[p]))
            correct += start - not_better + 0.5 * (p - start - same)
        for p in range(start, end):
            add_grade(counts, grades, int(gains[p]), 1.0)
        start = end
    return correct * ranking.scale + constants.offset


def pairwise_row(ranking: Ranking, i: int, stop: int, top: int, out: Vector) -> None:
    """Write the expected delta of the pairs (i, j) for every j below i.

    Of i's tied block of n documents, l are below the top. One document touches it with the chance
    1 − l/n, one of two documents with 1 − C(l, 2)/C(n, 2); one of three, of which a certain one is
    between the others, with a third of 1 − C(l, 3)/C(n, 3).
    """
    gains = ranking.gains
    last = ranking.last
    scale = ranking.scale
    counts = unpack(ranking.memory, PairwiseWork).counts
    grades = int(unpack(ranking.constants, PairwiseConstants).grades)
    counts[:grades] = 0.0
    grade = int(gains[i])
    start = ranking.first[i]
    end = last[i]
    n = end - start
    below = end - min(end, max(top, start))
    alone = (n - below) / n
    pair = 1.0 - below * (below - 1.0) / max(n * (n - 1.0), 1.0)
    lost = below * (below - 1.0) * (below - 2.0) / max(n * (n - 1.0) * (n - 2.0), 1.0)
    for p in range(start, end):
        if p != i:
            add_grade(counts, grades, int(gains[p]), 1.0)
    for j in range(i + 1, end):
        out[j] = 0.0
        if gains[j] != gains[i]:
            between = flips(counts, grade, int(gains[j])) - 1.0
            out[j] = scale * (pair + (1.0 - lost) / 3.0 * between)
    for c in range(grades):
        counts[c] *= 0.5 * pair
    start = end
    while start < stop:
        end = last[start]
        for p in range(start, end):
            add_grade(counts, grades, int(gains[p]), 0.5 * alone)
        for j in range(start, end):
            out[j] = 0.0
            if gains[j] != gains[i]:
                out[j] = scale * (0.5 * alone + flips(counts, grade, int(gains[j])))
        for p in range(start, end):
            add_grade(counts, grades, int(gains[p]), 0.5 * alone)
        start = end


def pairwise_by_rank(ranking: Ranking, ranks: Vector, beta: float, slopes: Vector) -> float:
    """Return Σ over pairs of different label of σ(β(r̂_worse − r̂_better)) and write its slopes."""
    gains = ranking.gains
    scale = ranking.scale
    m = ranking.gains.size
    total = 0.0
    slopes[:m] = 0.0
    for a in range(m):
        for b in range(a):
            if gains[a] != gains[b]:
                better, worse = (a, b) if gains[a] > gains[b] else (b, a)
                right, slope = logistic_slope(beta * (ranks[worse] - ranks[better]))
                change = scale * beta * slope
                total += right
                slopes[worse] += change
                slopes[better] -= change
    return scale * total + unpack(ranking.constants, PairwiseConstants).offset


@register_measure
class PairwiseCorrect(Measure):
    """Share of the pairs of different label that are in the correct order.

    The area under the ROC curve, where labels are binary. Works for any number of grades; a swap
    delta costs O(log grades).

    Notes
    -----
    - Formula: correct pairs / all pairs, of different label
    - Source: Burges, Ragno & Le 2006, section 2

    References
    ----------
    Burges, Ragno & Le 2006, section 2.

    Examples
    --------
    >>> PairwiseCorrect()([2, 0, 1], [3.0, 2.0, 1.0]).__round__(4)
    0.6667
    """

    name = "pairwise"
    aliases = ("auc",)
    value = pairwise_value
    swaps = Swaps(row=pairwise_row)
    by_rank = pairwise_by_rank
    work = PairwiseWork
    span = (1.0, 0.0)

    def terms(self, labels: Vector, queries: Queries) -> Terms:
        """Return each label's place among its query's labels, and the number of pairs."""
        blocks = blocks_of(labels, queries)
        first = queries.reduce(np.minimum, blocks)
        same = np.add.reduceat(np.bincount(blocks) ** 2, first)
        pairs = (queries.sizes**2 - same) / 2
        grade = (blocks - first[queries.index]).astype(np.float64)
        factor, offset = self.span
        constants = PairwiseConstants(1 + queries.reduce(np.maximum, grade), offset)
        return Terms(grade, pairs > 0, factor * inverse(pairs), constants=constants)


@register_measure
class KendallTau(PairwiseCorrect):
    """Kendall's τ between ranking and labels: (correct − wrong pairs) / pairs of different label.

    Notes
    -----
    - Formula: (correct − wrong pairs) / all pairs, of different label
    - Source: Kendall 1938

    References
    ----------
    Kendall 1938, "A new measure of rank correlation"; pairs of equal label do not count.

    Examples
    --------
    >>> KendallTau()([2, 0, 1], [3.0, 2.0, 1.0]).__round__(4)
    0.3333
    """

    name = "kendall"
    aliases = ("tau",)
    span = (2.0, -1.0)


@register_measure
class Spearman(Measure):
    """Spearman's ρ: Pearson's correlation between ranks and the ranks of the labels.

    Documents of equal label share the mean of their ranks, as in `scipy.stats.spearmanr`; of
    documents of equal score, the value is the mean over all their orders, so that it is 0, and not
    undefined, where all scores are equal.

    Notes
    -----
    - Formula: 1 − 6 Σ_r (r − q_r)² / (m^3 − m) where labels differ, q_r the rank of y_r
    - Source: Spearman 1904

    References
    ----------
    Spearman 1904, "The proof and measurement of association between two things".

    Examples
    --------
    >>> Spearman()([3, 0, 2, 1], [4.0, 3.0, 2.0, 1.0]).__round__(4)
    0.4
    """

    name = "spearman"
    aliases = ("rho",)
    value = discounted_value
    swaps = Swaps(separable=discounted_swaps)
    by_rank = discounted_by_rank

    def terms(self, labels: Vector, queries: Queries) -> Terms:
        """Prepare centered ranks of labels, whose discounts fall linearly, and their scale."""
        sizes = queries.sizes.astype(np.float64)
        middles = queries.starts + (sizes + 1) / 2
        gains = rankdata(blocks_of(labels, queries)) - middles[queries.index]
        variation = queries.reduce(np.add, gains**2) * sizes * (sizes**2 - 1) / 12
        return Terms(
            gains,
            variation > 0,
            scale=sizes * inverse(np.sqrt(variation)),
            constants=formula_of("linear", queries.sizes),
            discounts=discount_values("linear", queries.sizes),
        )
