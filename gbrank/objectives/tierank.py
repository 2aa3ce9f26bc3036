"""TieRank: the expected tied measure when scores are rounded at random to integers, exactly.

The measure is Σ_i g_i D(r_i) (1 + c Σ g_j over j above i), with gains g and discounts D: c is 0 for
NDCG and its like; 1, with g the relevance and D(r) = 1/r, for average precision.

A document whose score lies between the integers v and v + 1 belongs to segment v; independently
of the others it rounds down to v or up to v + 1. Those that round up stand above those that round
down, so one random *boundary* per segment, its first position plus the number of its documents
that round up, splits it. Two successive boundaries enclose a tied block: the documents of the upper
segment that round down and those of the lower one that round up. (Where integers between two
segments are skipped, an empty segment, with a certain boundary, is put between them.)

Boundaries are independent and Poisson-binomial. With P(t) the probability of boundary t,
W(t) = E[gain that rounds up; t], G the segment's gain, and A(a, b) the mean discount of positions
a + 1, ..., b, the value at c = 0 is the sum over blocks of

    Σ_{a, b} A(a, b) [(G P(a) − W(a)) P(b) + P(a) W(b)].

At c = 1 products of two gains come in, and with them Q(t) = E[Σ g_i g_j over pairs i ≠ j that
round up; t] and B(a, b), the mean of D(r) over pairs of positions of a block, r the lower one.

The derivative by a document's probability q of rounding up needs P, W and Q without the document,
which are found by dividing the polynomial p + q z out of theirs, from the end that is stable.
"""

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from gbrank.common.checks import Positions, Vector
from gbrank.common.fields import Choice, Integer
from gbrank.data.queries import Queries
from gbrank.engine.compiling import inline, standalone
from gbrank.engine.contract import Derivatives, MeasureFunctions, Program, Query
from gbrank.engine.numba_internals import slice_of
from gbrank.engine.sorting import rank_by_counting
from gbrank.numerics.noise import uniform
from gbrank.numerics.vectors import all_alike, multiply, size_as_curvature

from .objective import ANNEALED, Facts, MeasureObjective
from .objective_registry import register_objective

# The least curvature of a drawn document: far above none, far below any that counts.
DRAWN = 1e-300
# Outcomes less likely than this (some 9 standard deviations off) are left out.
NEGLIGIBLE = 1e-20


class TieParameters(NamedTuple):
    """How scores are rounded, and of which documents.

    Parameters
    ----------
    paired : bool
        Whether the measure has products of two gains.
    linear : bool
        Whether φ is linear.
    per_label : float
        How many documents of each label to draw; infinity for all.
    """

    paired: bool
    linear: bool
    per_label: float


class Rounded(NamedTuple):
    """The documents that take part."""

    place: Positions  # in the list
    gain: Vector
    level: Vector  # the integer that its score rounds down to
    up: Vector  # the probability that it rounds up
    slope: Vector  # the derivative of that by the score in units of σ
    total: Vector  # the derivative of the value by that
    inverse: Vector
    rest_P: Vector
    rest_W: Vector
    rest_Q: Vector


@inline
def set_up(query: Query, parameters: TieParameters, documents: Rounded) -> int:
    """Draw up to `per_label` documents of each label, all if it is infinite; return how many.

    Write what is known of each of them.
    """
    s = query.scores
    labels = query.key
    keys = documents.rest_P
    for i in range(s.size):
        keys[i] = uniform(query.noise, i)
    n = 0
    for i in range(s.size):
        before = 0
        if parameters.per_label < s.size:
            for j in range(s.size):
                before += labels[j] == labels[i] and keys[j] < keys[i]
        if before >= parameters.per_label:
            continue
        x = s[i] / query.sigma
        level = np.floor(x)
        t = 0.5 + (x - level) if np.isfinite(x) else 0.5
        if t >= 1.0:
            level += 1.0
            t -= 1.0
        documents.place[n] = i
        documents.gain[n] = query.ranking.gains[i]
        documents.total[n] = 0.0
        documents.level[n] = level
        documents.up[n] = t if parameters.linear else t * t * (3.0 - 2.0 * t)
        documents.slope[n] = 1.0 if parameters.linear else 6.0 * t * (1.0 - t)
        n += 1
    return n


@inline
def next_segment(begin: int, end: int, s: Vector, documents: Rounded) -> int:
    """Return where the segment ends that begins at `end` and follows begin, ..., end − 1.

    It is empty if `end` is, or if the first document there is not on the next integer below.
    """
    n = documents.level.size
    if end == n or (begin < end and documents.level[begin] - documents.level[end] != 1):
        return end
    level = documents.level[end]
    score = s[documents.place[end]]
    stop = end + 1
    while stop < n and documents.level[stop] == level:
        if not np.isfinite(level) and s[documents.place[stop]] != score:
            break
        stop += 1
    return stop


@inline
def write_derivatives(
    scale: float, sigma: float, parameters: TieParameters, documents: Rounded, out: Derivatives
) -> None:
    """Write derivatives by scores, negated, from those in `total`; none if all gains are equal."""
    n = documents.place.size
    if not all_alike(documents.gain):
        for i in range(n):
            documents.total[i] *= documents.slope[i]
        size_as_curvature(Derivatives(documents.total, documents.rest_P))
        for i in range(n):
            place = documents.place[i]
            out.gradient[place] = -documents.total[i]
            out.curvature[place] = documents.rest_P[i]
        multiply(scale / sigma, scale / sigma / sigma, out)
    if np.isfinite(parameters.per_label):  # only documents that are not drawn have no curvature
        for i in range(n):
            place = documents.place[i]
            out.curvature[place] = max(out.curvature[place], DRAWN)


class Boundary(NamedTuple):
    """P, W and Q of a boundary, for each t, and the derivatives of the value by them."""

    P: Vector
    W: Vector
    Q: Vector
    by_P: Vector
    by_W: Vector
    by_Q: Vector


class Segment(NamedTuple):
    """The documents begin, ..., end − 1 of a segment, and the values that its boundary takes.

    These are `low` to `high`, negligible ones left out; `gain` is G.
    """

    begin: int
    end: int
    low: int
    high: int
    gain: float


class TieWork(NamedTuple):
    """The work arrays of `tied_expectation`, each two lists long."""

    documents: Rounded
    upper: Boundary
    lower: Boundary
    discounts: Vector  # Σ D(r) of the first t positions
    moments: Vector  # Σ (r − 1) D(r) of these


def tied_expectation(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Return minus the expected tied measure, and write its derivatives."""
    parameters: TieParameters = query.parameters
    s = query.scores
    ranking = query.ranking
    work: TieWork = query.work
    paired = parameters.paired
    n = set_up(query, parameters, work.documents)
    documents = slice_of(work.documents, 0, n)
    scale = ranking.scale
    sum_up(ranking.discounts, work.discounts, work.moments)
    if n < s.size:
        order = slice_of(work.documents.place, n, n + s.size)
        best = best_value(ranking.gains, paired, work.discounts, order)
        drawn = best_value(documents.gain, paired, work.discounts, order)
        scale *= best / drawn if drawn > 0 else 0.0

    value = 0.0
    passed = 0.0
    upper = work.upper
    lower = work.lower
    segment = Segment(0, 0, 0, 0, 0.0)
    clear(0, upper)  # boundary 0 is certain: no document is above the first segment
    upper.P[0] = 1.0
    while True:
        stop = next_segment(segment.begin, segment.end, s, documents)
        following = count_up(segment.end, stop, paired, documents, lower)
        value += tie(segment, following, passed, paired, work, upper, lower)
        if out.gradient.size > 0:
            leave_out(segment, paired, documents, upper)
        if segment.end == n:
            break
        passed += segment.gain
        segment = following
        upper, lower = lower, upper

    if out.gradient.size > 0:
        write_derivatives(scale, query.sigma, parameters, documents, out)
    return -scale * value


@inline
def sum_up(values: Vector, discounts: Vector, moments: Vector) -> None:
    """Write the sums of the discounts, and their first moments, up to each position."""
    discounts[0] = moments[0] = 0.0
    for p in range(values.size):
        discounts[p + 1] = discounts[p] + values[p]
        moments[p + 1] = moments[p] + values[p] * p


@standalone
def best_value(gains: Vector, paired: bool, discounts: Vector, order: Positions) -> float:
    """Return the measure of the best order, before normalization, and write that order."""
    rank_by_counting(gains, order)
    total = 0.0
    above = 0.0
    for i in range(gains.size):
        gain = gains[order[i]]
        total += gain * (discounts[i + 1] - discounts[i]) * (1.0 + (above if paired else 0.0))
        above += gain
    return total


@inline
def count_up(begin: int, end: int, paired: bool, documents: Rounded, boundary: Boundary) -> Segment:
    """Return a segment, and write P, W and Q of its boundary."""
    P = boundary.P
    W = boundary.W
    Q = boundary.Q
    low = high = begin
    total = 0.0
    clear(begin, boundary)
    P[begin] = 1.0
    for i in range(begin, end):
        up = documents.up[i]
        gain = documents.gain[i]
        down = 1.0 - up
        total += gain
        high += 1
        clear(high, boundary)
        if paired:
            for t in range(np.uintp(high), np.uintp(low), -1):
                Q[t] = down * Q[t] + up * (Q[t - 1] + 2.0 * gain * W[t - 1])
            Q[low] *= down
        for t in range(np.uintp(high), np.uintp(low), -1):
            W[t] = down * W[t] + up * (W[t - 1] + gain * P[t - 1])
            P[t] = down * P[t] + up * P[t - 1]
        P[low] *= down
        W[low] *= down
        while P[high] < NEGLIGIBLE:
            high -= 1
        while P[low] < NEGLIGIBLE:
            low += 1
    # One more at either end, which a document that rounds with certainty would reach.
    if low > begin:
        low -= 1
        clear(low, boundary)
    if high < end:
        high += 1
        clear(high, boundary)
    return Segment(begin, end, low, high, total)


@inline
def clear(t: int, boundary: Boundary) -> None:
    """Make boundary t impossible, and its derivatives 0."""
    boundary.P[t] = boundary.W[t] = boundary.Q[t] = 0.0
    boundary.by_P[t] = boundary.by_W[t] = boundary.by_Q[t] = 0.0


@inline
def tie(
    segment: Segment, following: Segment, passed: float, paired: bool, work: TieWork,
    upper: Boundary, lower: Boundary,
) -> float:  # fmt: skip
    """Return the expected value of the block between two boundaries, and add its derivatives.

    `passed` is the gain of the segments above the upper one.
    """
    G = segment.gain
    value = 0.0
    for a in range(segment.low, segment.high + 1):
        # Of the upper segment: the gain that falls, and the factors on the sums of P(b) and W(b).
        here = upper.P[a]
        fallen = G * here - upper.W[a]
        factor = fallen
        share = here
        if paired:
            factor += passed * fallen + (G - 1.0) * upper.W[a] - upper.Q[a]
            share += passed * here + upper.W[a]
        start = np.uintp(max(following.low, a + 1))
        stop = np.uintp(following.high + 1)
        sum_P = 0.0
        sum_W = 0.0
        for b in range(start, stop):
            mean = (work.discounts[b] - work.discounts[a]) / (np.float64(b) - np.float64(a))
            sum_P += mean * lower.P[b]
            sum_W += mean * lower.W[b]
            lower.by_P[b] += mean * factor
            lower.by_W[b] += mean * share
        value += factor * sum_P + share * sum_W
        if not paired:
            upper.by_P[a] += G * sum_P + sum_W
            upper.by_W[a] -= sum_P
            continue
        start = max(start, np.uintp(a + 2))
        both = (G - 1.0) * (fallen - upper.W[a]) + upper.Q[a]
        pair_P, pair_W, pair_Q = add_tied_pairs(a, start, stop, both, fallen, here, work, lower)
        value += both * pair_P + 2.0 * fallen * pair_W + here * pair_Q
        upper.by_P[a] += (1.0 + passed) * (G * sum_P + sum_W)
        upper.by_P[a] += G * ((G - 1.0) * pair_P + 2.0 * pair_W) + pair_Q
        upper.by_W[a] += (G - 2.0 - passed) * sum_P + sum_W
        upper.by_W[a] -= 2.0 * ((G - 1.0) * pair_P + pair_W)
        upper.by_Q[a] += pair_P - sum_P
    return value


@inline
def add_tied_pairs(
    a: int, start: int, stop: int, both: float, fallen: float, here: float, work: TieWork,
    lower: Boundary,
) -> tuple[float, float, float]:  # fmt: skip
    """Return the sums of P(b), W(b) and Q(b) times B(a, b), and add derivatives by these."""
    pair_P = 0.0
    pair_W = 0.0
    pair_Q = 0.0
    for b in range(start, stop):
        n = np.float64(b) - np.float64(a)
        mean = work.moments[b] - work.moments[a]
        mean -= np.float64(a) * (work.discounts[b] - work.discounts[a])
        mean /= n * (n - 1.0)
        pair_P += mean * lower.P[b]
        pair_W += mean * lower.W[b]
        pair_Q += mean * lower.Q[b]
        lower.by_P[b] += mean * both
        lower.by_W[b] += mean * 2.0 * fallen
        lower.by_Q[b] += mean * here
    return pair_P, pair_W, pair_Q


@inline
def leave_out(segment: Segment, paired: bool, documents: Rounded, boundary: Boundary) -> None:
    """Write the derivatives of the value by each document's probability of rounding up.

    Documents that rather round down are divided out from the low end, the others from the high one.
    """
    P, W, Q, by_P, by_W, by_Q = boundary
    up, gain, inverse, total = documents.up, documents.gain, documents.inverse, documents.total
    rest_P, rest_W, rest_Q = documents.rest_P, documents.rest_W, documents.rest_Q
    middle = segment.begin  # up falls from begin to end
    while middle < segment.end and up[middle] > 0.5:
        middle += 1
    for i in range(segment.begin, segment.end):
        inverse[i] = 1.0 / max(up[i], 1.0 - up[i])
        rest_P[i] = rest_W[i] = rest_Q[i] = 0.0
    for t in range(segment.low, segment.high):
        step = by_P[t + 1] - by_P[t]
        gain_step = by_W[t + 1] - by_W[t]
        if paired:
            for i in range(np.uintp(middle), np.uintp(segment.end)):
                odds = up[i] * inverse[i]
                rest_Q[i] = Q[t] * inverse[i] - odds * (rest_Q[i] + 2.0 * gain[i] * rest_W[i])
                total[i] += rest_Q[i] * (by_Q[t + 1] - by_Q[t])
        for i in range(np.uintp(middle), np.uintp(segment.end)):
            odds = up[i] * inverse[i]
            w = W[t] * inverse[i] - odds * (rest_W[i] + gain[i] * rest_P[i])
            r = P[t] * inverse[i] - odds * rest_P[i]
            rest_W[i] = w
            rest_P[i] = r
            total[i] += r * (step + gain[i] * by_W[t + 1])
            total[i] += w * (gain_step + 2.0 * gain[i] * by_Q[t + 1])
    for t in range(segment.high - 1, segment.low - 1, -1):
        step = by_P[t + 1] - by_P[t]
        gain_step = by_W[t + 1] - by_W[t]
        for i in range(np.uintp(segment.begin), np.uintp(middle)):
            odds = inverse[i] - 1.0
            r = P[t + 1] * inverse[i] - odds * rest_P[i]
            rest_W[i] = W[t + 1] * inverse[i] - odds * rest_W[i] - gain[i] * r
            rest_P[i] = r
            total[i] += r * (step + gain[i] * by_W[t + 1])
            total[i] += rest_W[i] * (gain_step + 2.0 * gain[i] * by_Q[t + 1])
        if paired:
            for i in range(np.uintp(segment.begin), np.uintp(middle)):
                odds = inverse[i] - 1.0
                rest_Q[i] = Q[t + 1] * inverse[i] - odds * rest_Q[i] - 2.0 * gain[i] * rest_W[i]
                total[i] += rest_Q[i] * (by_Q[t + 1] - by_Q[t])


@register_objective
@dataclass(frozen=True)
class TieRank(MeasureObjective):
    """TieRank: minus the expected measure when scores are rounded to integers at random.

    With x = s/σ + ½, a document is rounded down to ⌊x⌋ with probability φ(x − ⌊x⌋), up to ⌊x⌋ + 1
    otherwise, and documents on the same integer are tied: they share the mean of their discounts.
    The half puts 0, where scores start, midway between two integers; on an integer the slope is
    zero. The expectation over all roundings is exact, and so is its gradient. A score's distance
    from the integers matters: only multiples of σ can be added to all scores with no change.

    The curvature is |gradient| plus its mean over the query, divided by σ: steps are below σ.

    Parameters
    ----------
    measure : Measure or str
        A measure of the form Σ G(y) D(r)/Z (NDCG, DCG, precision, recall, WTA, RBP), or AP. Its
        own `ties` and `no_relevant` have no effect.
    phi : {"spline", "linear"}
        φ(t) is 2t³ − 3t² + 1, or 1 − t, whose slope jumps at integers x (it is that to the right).
    sample : int, optional
        In every round, draw up to this many documents of each label and rank only these; the others
        have neither gradient nor curvature. The paper draws 6; the default is all. Documents of
        equal score and label are drawn by the order of their rows. NDCG and AP are those of the
        drawn documents.
    seed : int
        Seed of the draws.

    Notes
    -----
    - Formula: −E[M of ⌊x⌋ + b, tied], x = s/σ + ½, P(b = 0) = φ(x − ⌊x⌋), P(b = 1) = 1 − φ
    - Source: TieRank, section 2.3
    - Cost: O(m√m)

    References
    ----------
    "TieRank" (the paper's sections 2.2 and 2.3); tied measures as in McSherry & Najork 2008,
    "Computing information retrieval performance measures efficiently in the presence of tied
    scores".

    Examples
    --------
    >>> from gbrank import NDCG, Queries, TieRank
    >>> bound = TieRank(NDCG(gain="linear")).bind([3, 1], Queries.from_sizes([2]))
    >>> bound.loss([-0.2, 0.1]).round(5)  # the paper's example: 0.3 and 0.6 less the half
    array([-0.85444])
    """

    name = "tie"
    needs = "form"
    wanted = "be AP or have the form Σ G(y) D(r)/Z, such as NDCG, for TieRank"
    declared = Facts(shift_invariant=False, sigma=ANNEALED, start="ranknet", takes_measure=True)

    phi: Literal["spline", "linear"] = Choice("spline", ["spline", "linear"])
    sample: int | None = Integer(None, 1)
    seed: int = Integer(0)

    @property
    def facts(self) -> Facts:
        """The facts of the objective, which is stochastic if documents are drawn."""
        drawn = self.sample is not None
        return replace(self.declared, stochastic=drawn, draws_documents=drawn)

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return the expectation over all roundings."""
        return self.measure_program(
            tied_expectation,
            labels,
            queries,
            by_label=True,
            parameters=TieParameters(
                paired=self._measure.form == "paired",
                linear=self.phi == "linear",
                per_label=self.sample or np.inf,
            ),
            work=TieWork,
            lists=2,
            tied=self.sample is None,
            seed=self.seed,
        )
