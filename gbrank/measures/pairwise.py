"""Measures that count pairs: pair-wise correct and Kendall's tau."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gbrank.common.arrays import Vector
from gbrank.data.queries import Queries
from gbrank.kernels.compiled import inline
from gbrank.kernels.contract import Ranking, SeparableDelta, Swaps, delta_in
from gbrank.kernels.logistic import logistic_slope
from gbrank.kernels.sweeps import PAIR_CHANCES, SWEEP_SCRATCH, PairWeights, sweep_pairs
from gbrank.measures.measure import Measure, Terms
from gbrank.measures.measure_registry import register_measure
from gbrank.measures.per_query import grades, inverse, reduced

# Up to this many documents, ApproxRank's pairs are summed one by one. Measured break-even points
# are 130 (five grades) to 350 (a tenth relevant).
LONGEST_DIRECT = 200
ALONE, OUTER, INNER_ONE, INNER_BETWEEN, COUNTS = range(5)  # rows of scratch
GRADES, OFFSET = 0, 1  # indices of `constants`: the number of grades, what is added to the value


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
        count_up_to(counts, high) + count_up_to(counts, high - 1)
        - count_up_to(counts, low) - count_up_to(counts, low - 1)
    )  # fmt: skip


def pairwise_value(ranking: Ranking) -> float:
    """Return the number of pairs in correct order, a tied pair counting one half."""
    x, last = ranking.x, ranking.last
    grades = int(ranking.constants[GRADES])
    counts = ranking.scratch[COUNTS]
    counts[:grades] = 0.0
    correct = 0.0
    start = 0
    while start < x.size:
        end = last[start]
        for p in range(start, end):
            grade = int(x[p])
            correct += start - count_up_to(counts, grade)
        same = 0
        for p in range(start, end):  # equal grades stand side by side
            same = same + 1 if p > start and x[p] == x[p - 1] else 0
            correct += 0.5 * (p - start - same)
        for p in range(start, end):
            add_grade(counts, grades, int(x[p]), 1.0)
        start = end
    return correct * ranking.scale + ranking.constants[OFFSET]


def prepare_pairwise_row(ranking: Ranking, top: int) -> None:
    """Fill the chances, by block, that a pair touches the top and has a document between it."""
    x, last, own = ranking.x, ranking.last, ranking.scratch
    start = 0
    while start < x.size:
        end = last[start]
        n = end - start
        reach = min(end, max(top, start))
        one = 0.0  # chance that a pair inside the block touches the top
        between = 0.0  # ... and has a given third document of the block between it
        outer = 0.0  # chance that a document touches the top with a given other one after it
        for p in range(start, reach):
            below = end - 1 - p
            if n > 1:
                one += 2.0 * below / (n * (n - 1.0))
                outer += below / (n * (n - 1.0))
            if n > 2:
                between += below * (below - 1.0) / (n * (n - 1.0) * (n - 2.0))
        for p in range(start, end):
            own[ALONE, p] = (reach - start) / n
            own[OUTER, p] = outer
            own[INNER_ONE, p] = one
            own[INNER_BETWEEN, p] = between
        start = end


def swaps_of_grades(ranking: Ranking, low: int, high: int, delta: SeparableDelta) -> None:
    """Fill the parts of the deltas of documents of two grades.

    A document between the two flips one pair if it has either grade, two if a grade between. On
    average, half of a tied block is above a document of it, a third of the rest between two.
    """
    x, last, scale = ranking.x, ranking.last, ranking.scale
    above = 0.0
    start = 0
    while start < x.size:
        end = last[start]
        within = 0.0
        for p in range(start, end):
            if low <= x[p] <= high:
                within += 1.0 if x[p] in (low, high) else 2.0
        for p in range(start, end):
            delta.lower[p] = scale * (above + 0.5 * within)
            delta.upper[p] = -delta.lower[p]
            delta.share[p] = 1.0
            delta.inside[p] = scale * (1.0 + (within - 2.0) / 3.0)
        above += within
        start = end


def pairwise_row(ranking: Ranking, i: int, stop: int, top: int, out: Vector) -> None:
    """Write the expected delta of the pairs (i, j) for every j below i."""
    x, last, own, scale = ranking.x, ranking.last, ranking.scratch, ranking.scale
    grades = int(ranking.constants[GRADES])
    counts = own[COUNTS]
    counts[:grades] = 0.0
    grade = int(x[i])
    start = ranking.first[i]
    end = last[i]
    for p in range(start, end):
        if p != i:
            add_grade(counts, grades, int(x[p]), 1.0)
    for j in range(i + 1, end):
        between = 0.0 if x[j] == x[i] else flips(counts, grade, int(x[j])) - 1
        touched = own[INNER_ONE, i] + own[INNER_BETWEEN, i] * between
        out[j] = 0.0 if x[j] == x[i] else scale * touched
    alone = own[ALONE, i]
    for c in range(grades):
        counts[c] *= own[OUTER, i]
    start = end
    while start < stop:
        end = last[start]
        for p in range(start, end):
            add_grade(counts, grades, int(x[p]), 0.5 * alone)
        for j in range(start, end):
            if x[j] == x[i]:
                out[j] = 0.0
            else:
                out[j] = scale * (0.5 * alone + flips(counts, grade, int(x[j])))
        for p in range(start, end):
            add_grade(counts, grades, int(x[p]), 0.5 * alone)
        start = end


def pairwise_by_rank(
    ranking: Ranking, ranks: Vector, beta: float, direct: float, slopes: Vector
) -> float:
    """Return Σ over pairs of different label of σ(β(r̂_worse − r̂_better)) and write its slopes."""
    x, first, scale = ranking.x, ranking.first, ranking.scale
    m = x.size
    total = 0.0
    slopes[:m] = 0.0
    swept = m > direct * LONGEST_DIRECT
    if swept:
        from_last = ranking.scratch[0, :m]
        chances = ranking.scratch[1, :m]
        rest = ranking.scratch[2:]
        for a in range(m):
            from_last[a] = -ranks[a]
            chances[a] = 0.0
        sweep_pairs(
            from_last, 1 / beta, first, x, PairWeights(unit=True, separable=False), delta_in(rest),
            PAIR_CHANCES, rest, slopes[:m], chances,
        )  # fmt: skip
        for a in range(m):
            total += 0.5 * chances[a]  # each pair counts for both documents
            slopes[a] *= scale * beta
    for a in range(0 if swept else m):
        for b in range(a):
            if x[a] != x[b]:
                better, worse = (a, b) if x[a] > x[b] else (b, a)
                right, slope = logistic_slope(beta * (ranks[worse] - ranks[better]))
                change = scale * beta * slope
                total += right
                slopes[worse] += change
                slopes[better] -= change
    return scale * total + ranking.constants[OFFSET]


@register_measure
@dataclass(frozen=True, repr=False)
class PairwiseCorrect(Measure):
    """Share of the pairs of different label that are in the correct order.

    The area under the ROC curve, where labels are binary. Works for any number of grades; a swap
    delta costs O(log grades).

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
    formula = "correct pairs / all pairs, of different label"
    source = "Burges, Ragno & Le 2006, section 2"
    value = pairwise_value
    swaps = Swaps(row=pairwise_row, prepare=prepare_pairwise_row, grades=swaps_of_grades)
    by_rank = pairwise_by_rank
    scratch = 2 + SWEEP_SCRATCH
    span: ClassVar[tuple[float, float]] = (1.0, 0.0)

    def terms(self, labels: Vector, queries: Queries) -> Terms:
        """Return each label's place among its query's labels, and the number of pairs."""
        grade = grades(labels, queries)
        n_grades = 1 + reduced(np.maximum, grade, queries)
        first = (np.cumsum(n_grades) - n_grades).astype(np.int64)  # of each query's grades
        alike = np.bincount(first[queries.index] + grade.astype(np.int64)).astype(np.float64)
        same = np.add.reduceat(alike**2, first)
        pairs = (queries.sizes.astype(np.float64) ** 2 - same) / 2
        factor, offset = self.span
        return Terms(
            grade,
            pairs > 0,
            scale=factor * inverse(pairs),
            constants=np.column_stack([n_grades, np.full(queries.n_queries, offset)]),
        )


@register_measure
@dataclass(frozen=True, repr=False)
class KendallTau(PairwiseCorrect):
    """Kendall's τ between ranking and labels: (correct − wrong pairs) / pairs of different label.

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
    formula = "(correct − wrong pairs) / all pairs, of different label"
    source = "Kendall 1938"
    span = (2.0, -1.0)
