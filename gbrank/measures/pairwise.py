"""Measures that count pairs: pair-wise correct and Kendall's tau."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gbrank.data.queries import Queries
from gbrank.kernels.compiled import Matrix, Positions, Vector, inline
from gbrank.kernels.logistic import RANKS, SLOPES, SPARE, logistic_slope
from gbrank.kernels.swaps import INSIDE, LOWER, SHARE, UPPER
from gbrank.kernels.sweeps import PAIR_CHANCES, sweep_pairs
from gbrank.measures.measure import Measure, Terms, inverse

__all__ = ["KendallTau", "PairwiseCorrect"]

# Up to so many documents, ApproxRank's pairs are summed one by one: where the times meet, as
# measured, between 130 (five grades) and 350 (a tenth relevant).
LONGEST_DIRECT = 200
ALONE, OUTER, INNER_ONE, INNER_BETWEEN, COUNTS = 0, 1, 2, 3, 4  # rows of state


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
    one of them, and otherwise as many for the better as for the worse.
    """
    low = min(a, b)
    high = max(a, b)
    return (
        count_up_to(counts, high) + count_up_to(counts, high - 1)
        - count_up_to(counts, low) - count_up_to(counts, low - 1)
    )  # fmt: skip


def pairwise_value(
    i: int, top: int, first: Positions, last: Positions,
    x: Vector, query: Vector, table: Vector, state: Matrix, out: Vector,
) -> None:  # fmt: skip
    """Write the number of pairs in correct order, a tied pair counting one half."""
    grades = int(query[1])
    counts = state[COUNTS]
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
    out[0] = correct * query[0] + query[2]


def prepare_pairwise_swaps(
    i: int, top: int, first: Positions, last: Positions,
    x: Vector, query: Vector, table: Vector, state: Matrix, out: Vector,
) -> None:  # fmt: skip
    """Fill the chances, by block, that a pair touches the top and has a document between it.

    For two grades, fill the parts of the deltas of their documents.
    """
    if i > 0:
        flips_of_grades(i, top, last, x, query[0], state)
        return
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
            state[ALONE, p] = (reach - start) / n
            state[OUTER, p] = outer
            state[INNER_ONE, p] = one
            state[INNER_BETWEEN, p] = between
        start = end


@inline
def flips_of_grades(
    high: int, low: int, last: Positions, x: Vector, factor: float, state: Matrix
) -> None:
    """Fill the parts of the deltas of documents of two grades.

    Between them, a document of either grade flips one pair, one of a grade between them two. Of a
    tied block half stands above a document of it on average, of the rest a third between two.
    """
    above = 0.0
    start = 0
    while start < x.size:
        end = last[start]
        within = 0.0
        for p in range(start, end):
            if low <= x[p] <= high:
                within += 1.0 if x[p] in (low, high) else 2.0
        for p in range(start, end):
            state[LOWER, p] = factor * (above + 0.5 * within)
            state[UPPER, p] = -state[LOWER, p]
            state[SHARE, p] = 1.0
            state[INSIDE, p] = factor * (1.0 + (within - 2.0) / 3.0)
        above += within
        start = end


def pairwise_row(
    i: int, top: int, first: Positions, last: Positions,
    x: Vector, query: Vector, table: Vector, state: Matrix, out: Vector,
) -> None:  # fmt: skip
    """Write the expected delta of the pairs (i, j) for every j below i."""
    m = x.size
    grades = int(query[1])
    counts = state[COUNTS]
    counts[:grades] = 0.0
    grade = int(x[i])
    start = first[i]
    end = last[i]
    for p in range(start, end):
        if p != i:
            add_grade(counts, grades, int(x[p]), 1.0)
    for j in range(i + 1, end):
        between = 0.0 if x[j] == x[i] else flips(counts, grade, int(x[j])) - 1
        touched = state[INNER_ONE, i] + state[INNER_BETWEEN, i] * between
        out[j] = 0.0 if x[j] == x[i] else query[0] * touched
    alone = state[ALONE, i]
    for c in range(grades):
        counts[c] *= state[OUTER, i]
    start = end
    while start < m:
        end = last[start]
        for p in range(start, end):
            add_grade(counts, grades, int(x[p]), 0.5 * alone)
        for j in range(start, end):
            if x[j] == x[i]:
                out[j] = 0.0
            else:
                out[j] = query[0] * (0.5 * alone + flips(counts, grade, int(x[j])))
        for p in range(start, end):
            add_grade(counts, grades, int(x[p]), 0.5 * alone)
        start = end


def pairwise_by_rank(
    i: int, top: int, first: Positions, last: Positions,
    x: Vector, query: Vector, table: Vector, state: Matrix, out: Vector,
) -> None:  # fmt: skip
    """Write Σ over pairs of different label of σ(β(r̂_worse − r̂_better)) and its slopes."""
    m = x.size
    beta = state[SLOPES, 0]
    total = 0.0
    out[:m] = 0.0
    swept = m > state[SLOPES, 1] * LONGEST_DIRECT
    if swept:
        from_last = state[RANKS, :m]
        chances = state[SPARE + 5, :m]
        for a in range(m):
            from_last[a] = -from_last[a]
            chances[a] = 0.0
        sweep_pairs(
            from_last, 1 / beta, first, x, True, False, state, PAIR_CHANCES, state[SPARE:],
            out[:m], chances,
        )  # fmt: skip
        for a in range(m):
            total += 0.5 * chances[a]  # each pair counts for both documents
            out[a] *= query[0] * beta
    for a in range(0 if swept else m):
        for b in range(a):
            if x[a] != x[b]:
                better, worse = (a, b) if x[a] > x[b] else (b, a)
                right, slope = logistic_slope(beta * (state[RANKS, worse] - state[RANKS, better]))
                bend = query[0] * beta * slope
                total += right
                out[worse] += bend
                out[better] -= bend
    state[SLOPES, 0] = query[0] * total + query[2]


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
    formula = "correct pairs / all pairs, of different label"
    source = "Burges, Ragno & Le 2006, section 2"
    value = pairwise_value
    swaps = (prepare_pairwise_swaps, pairwise_row)
    counts_flips = True
    by_rank = pairwise_by_rank
    span: ClassVar[tuple[float, float]] = (1.0, 0.0)

    def terms(self, labels: Vector, queries: Queries) -> Terms:
        """Return each label's place among its query's labels, and the number of pairs."""
        by_label = np.lexsort((labels, queries.index))
        ordered = labels[by_label]
        begins = np.zeros(len(labels), dtype=bool)
        begins[queries.offsets[:-1]] = True
        new_grade = np.concatenate([[True], ordered[1:] != ordered[:-1]]) | begins
        running = np.cumsum(new_grade)
        grade = np.empty(len(labels))
        grade[by_label] = running - np.repeat(running[queries.offsets[:-1]], queries.sizes)
        run_starts = np.flatnonzero(new_grade)
        run_sizes = np.diff(np.append(run_starts, len(labels))).astype(np.float64)
        run_query = queries.index[by_label][run_starts]
        same = np.bincount(run_query, run_sizes**2, minlength=queries.n_queries)
        pairs = (queries.sizes.astype(np.float64) ** 2 - same) / 2
        factor, offset = self.span
        grades = np.bincount(run_query, minlength=queries.n_queries).astype(np.float64)
        columns = np.column_stack(
            [factor * inverse(pairs), grades, np.full(queries.n_queries, offset)]
        )
        return Terms(grade, columns, np.empty(0), pairs > 0)


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
    formula = "(correct − wrong pairs) / all pairs, of different label"
    source = "Kendall 1938"
    span = (2.0, -1.0)
