"""Soft ranks: ApproxRank, measures of them, and SmoothAP, average precision of two kinds of them.

They are summed pair by pair in short lists, by sweeps in longer ones; with other sigmoids than the
logistic function, and in SmoothAP, pair by pair at any length.
"""

from dataclasses import dataclass
from math import erfc
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from gbrank.common.checks import Function, Vector
from gbrank.common.fields import Boolean, Choice, Real
from gbrank.data.queries import Queries
from gbrank.engine.compiling import count_references, inline
from gbrank.engine.contract import Derivatives, MeasureFunctions, Program, Query, SeparableDelta
from gbrank.measures.average_precision import AP
from gbrank.numerics.logistic import (
    LogisticPairs,
    PairSums,
    add_pairs,
    logistic_pairs,
    no_scale,
    scale_of_row,
)
from gbrank.numerics.sweeps import LOGISTIC, RANK_GRADIENTS, Pairs, SweepWork, add_sums, sweep_pairs
from gbrank.numerics.vectors import all_alike, bound_and_scale

from .objective import ANNEALED, Facts, KernelObjective, MeasureObjective
from .objective_registry import register_objective

# Up to this many documents, pairs are summed one by one. Measured break-even points are 1,500 (five
# grades) to 2,400 (a continuous label).
LONGEST_DIRECT = 1600
# Factors on z with which each sigmoid has the logistic function's slope at 0, 1/4.
ARCTAN_WIDTH = np.pi / 4
ERF_WIDTH = np.sqrt(np.pi) / 4


class ApproxParameters(NamedTuple):
    """The parameters of the kernels.

    Parameters
    ----------
    beta : float
        Steepness of what is logistic in ranks, per rank.
    arctan : bool
        Whether another sigmoid than the logistic function is the arc tangent, or the error
        function.
    """

    beta: float
    arctan: bool


class ApproxWork(NamedTuple):
    """The work arrays of all kernels; `delta` and `sweep` are for `swept_measure`."""

    ranks: Vector
    slopes: Vector
    up: Vector
    down: Vector
    delta: SeparableDelta
    sweep: SweepWork


def approximate_measure(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Return minus the measure at the soft ranks r̂_i = 1 + Σ_{j ≠ i} 1/(1 + exp((s_i − s_j)/σ)).

    With d = ∂M/∂r̂, which `by_rank` gives, the gradient of the loss is Σ_j (d_i − d_j) p (1 − p)/σ,
    p the probability that the pair is in the wrong order. Each pair is majorised by a logistic loss
    of the same slope, whose curvature is |d_i − d_j| p (1 − p)²/σ².
    """
    pairs = logistic_pairs(query.scores, query.sigma, query.work.up, query.work.down)
    return _sum_pairs(scale_of_row, _logistic, pairs, query, measure, out)


def sigmoid_measure(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Return minus the measure at the soft ranks r̂_i = 1 + Σ_{j ≠ i} q((s_i − s_j)/σ).

    q is the chance of the wrong order, 1 minus the sigmoid. With d = ∂M/∂r̂, the gradient of the
    loss is −Σ_j (d_i − d_j) q'/σ, and the curvature Σ_j |d_i − d_j| |q'|/σ² times the chance of the
    order that d wants, as with the logistic function.
    """
    pairs = SigmoidPairs(query.scores, query.sigma, query.parameters.arctan)
    return _sum_pairs(no_scale, _sigmoid, pairs, query, measure, out)


@inline
def _sum_pairs(
    row: Function, chances: Function, pairs: Any, query: Query, measure: MeasureFunctions,
    out: Derivatives,
) -> float:  # fmt: skip
    """Return minus the measure of ranks summed pair by pair."""
    parameters: ApproxParameters = query.parameters
    ranks = query.work.ranks
    slopes = query.work.slopes
    m = query.scores.size
    if all_alike(query.ranking.gains):
        return 0.0
    for i in range(m):
        ranks[i] = 1.0
    add_pairs(row, chances, _rank_of_pair, pairs, 0, m, ranks, ranks)
    loss = -measure.by_rank(query.ranking, ranks, parameters.beta, slopes)
    n = out.gradient.size
    add_pairs(row, chances, _gradient_of_ranks, pairs, slopes, n, out.gradient, out.curvature)
    bound_and_scale(query.sigma, out)
    return loss


@count_references
def swept_measure(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Return what `approximate_measure` returns, by sweeps."""
    parameters: ApproxParameters = query.parameters
    work: ApproxWork = query.work
    s = query.scores
    sigma = query.sigma
    first = query.ranking.first
    ranks = work.ranks
    slopes = work.slopes
    if all_alike(query.ranking.gains):
        return 0.0
    for i in range(s.size):
        ranks[i] = 1.0
        slopes[i] = 1.0
    add_sums(s, sigma, first, slopes, LOGISTIC, ranks)
    loss = -measure.by_rank(query.ranking, ranks, parameters.beta, slopes)
    if out.gradient.size > 0:
        for i in range(s.size):
            slopes[i] = -slopes[i]
        pairs = Pairs(
            s=s,
            sigma=sigma,
            first=first,
            x=slopes,
            unit=False,
            separable=False,
            delta=work.delta,
            terms=RANK_GRADIENTS,
            out=out,
        )
        sweep_pairs(pairs, work.sweep)
        bound_and_scale(sigma, out)
    return loss


# The chances that a pair is in the wrong order and in the right one, and their slope.
Chances: TypeAlias = tuple[float, float, float]


@inline
def _logistic(i: int, j: int, scale: float, pairs: LogisticPairs) -> Chances:
    """Return the chances of a pair, of which document i has the larger score."""
    u = pairs.up[j] * scale
    right = 1.0 / (1.0 + u)
    return u * right, right, u * right * right


class SigmoidPairs(NamedTuple):
    """The scores of a list, and which sigmoid stands in place of the logistic function."""

    s: Vector
    sigma: float
    arctan: bool


@inline
def _sigmoid(i: int, j: int, scale: float, pairs: SigmoidPairs) -> Chances:
    """Return the chances of a pair, of which document i has the larger score."""
    z = (pairs.s[i] - pairs.s[j]) / pairs.sigma
    if pairs.arctan:
        width = ARCTAN_WIDTH * z
        wrong = np.arctan2(1.0, width) / np.pi
        slope = 0.25 / (1.0 + width * width)
    else:
        width = ERF_WIDTH * z
        wrong = 0.5 * erfc(width)
        slope = 0.25 * np.exp(-width * width)
    return wrong, 1.0 - wrong, slope


@inline
def _rank_of_pair(i: int, j: int, chances: Chances, data: Any) -> PairSums:
    """Return what each document of a pair adds to the other one's soft rank."""
    wrong, right, _ = chances
    return 0.0, wrong, right, 0.0, 0.0


@inline
def _gradient_of_ranks(i: int, j: int, chances: Chances, slopes: Vector) -> PairSums:
    """Return the derivatives of a pair, weighted by the slopes of the measure by its ranks."""
    return _gradient_of_pair(slopes[i] - slopes[j], chances)


@inline
def _gradient_of_pair(weight: float, chances: Chances) -> PairSums:
    """Return the derivatives of a pair of a weight, signed for `add_pairs`.

    A negative weight moves the upper document further up. The curvature is that of a logistic
    majoriser.
    """
    wrong, right, slope = chances
    gradient = weight * slope
    curvature = abs(gradient) * (right if weight < 0 else wrong)
    return 0.0, gradient, -gradient, curvature, curvature


@register_objective
@dataclass(frozen=True)
class ApproxRank(MeasureObjective):
    """ApproxRank: minus a measure, its ranks replaced by soft ranks.

    Soft ranks are r̂_i = 1 + Σ_{j ≠ i} 1/(1 + exp((s_i − s_j)/σ)); what depends on a truncation,
    or on which of two documents comes first, is a logistic function of soft ranks with steepness
    β. σ is 1/α in the paper. A query whose documents all have the same gain has loss 0.

    Parameters
    ----------
    measure : Measure or str
        Any measure that can be written in ranks: NDCG, DCG, precision, recall, WTA, RBP, AP, RR,
        ERR, pair-wise correct, Kendall's τ. Its own `ties` and `no_relevant` have no effect.
    beta : float
        Steepness of truncations, per rank.
    sigmoid : {"logistic", "arctan", "erf"}
        Function of z = (s_i − s_j)/σ that soft ranks sum: 1/(1 + exp(z)), which is also the
        paper's hyperbolic tangent; or ½ − arctan(πz/4)/π or ½ erfc(√π z/4), of the same slope at
        0, which take O(m²) at any length.

    Notes
    -----
    - Formula: −M(r̂), r̂_i = 1 + Σ_{j ≠ i} 1/(1 + exp((s_i − s_j)/σ))
    - Source: Qin, Liu & Li 2010, eq. 20 to 22
    - Cost: O(m²); with RR and ERR + O(n²) for the n documents that a user is likely to reach
    - Fast: O(m log m) in place of O(m²) above 1,600 documents, but not with pair-wise correct and
      Kendall's τ; with AP + O(m r) for r relevant documents

    References
    ----------
    Qin, Liu & Li 2010, "A general approximation framework for direct optimization of information
    retrieval measures", equations 20 to 22 and footnote 3; Wu et al. 2009.

    Examples
    --------
    >>> from gbrank import ApproxRank, Queries
    >>> bound = ApproxRank("ndcg").bind([2, 0, 1], Queries.from_sizes([3]))
    >>> bound.loss([3.0, 2.0, 1.0], sigma=1e-3).round(4)  # minus NDCG
    array([-0.9639])
    """

    name = "approx"
    needs = "by_rank"
    wanted = "be a function of ranks for ApproxRank"
    declared = Facts(sigma=ANNEALED, start="ranknet", takes_measure=True)

    beta: float = Real(10.0, above=0)
    sigmoid: Literal["logistic", "arctan", "erf"] = Choice(
        "logistic", ["logistic", "arctan", "erf"]
    )

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return the measure at soft ranks."""
        if not self._measure.known_at_real_ranks:
            raise ValueError(
                "discount must be a name for ApproxRank, which evaluates it at non-integer ranks; "
                f"got {self.measure!r}."
            )
        logistic = self.sigmoid == "logistic"
        return self.measure_program(
            approximate_measure if logistic else sigmoid_measure,
            labels,
            queries,
            ["by_rank"],
            parameters=ApproxParameters(self.beta, arctan=self.sigmoid == "arctan"),
            work=ApproxWork,
            other_kernel=swept_measure,
            others=logistic & (queries.sizes > LONGEST_DIRECT),
        )


class SmoothAPWork(NamedTuple):
    """The work arrays of `smooth_average_precision`."""

    up: Vector
    down: Vector
    ranks: Vector
    precisions: Vector


def smooth_average_precision(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Return −1/R Σ_i x_i ĉ_i/r̂_i, r̂_i and ĉ_i the soft ranks among all and among relevant ones.

    x is the relevance, and ĉ_i counts the document itself as `query.parameters`. With
    P_i = ĉ_i/r̂_i and a_i = x_i/(R r̂_i), the gradient of the loss is
    Σ_j (a_i (x_j − P_i) − a_j (x_i − P_j)) p (1 − p)/σ, p the probability that i is above j.
    """
    s = query.scores
    x = query.ranking.gains
    sigma = query.sigma
    work: SmoothAPWork = query.work
    if all_alike(x):
        return 0.0
    for i in range(s.size):
        work.ranks[i] = 1.0
        work.precisions[i] = query.parameters
    pairs = logistic_pairs(s, sigma, work.up, work.down)
    add_pairs(
        scale_of_row, _logistic, _ranks_of_pair, pairs, x, s.size, work.ranks, work.precisions
    )
    loss = 0.0
    for i in range(s.size):
        work.precisions[i] /= work.ranks[i]
        loss -= query.ranking.scale * x[i] * work.precisions[i]
        work.ranks[i] = query.ranking.scale * x[i] / work.ranks[i]
    data = work.ranks, x, work.precisions
    n = out.gradient.size
    add_pairs(scale_of_row, _logistic, _gradient, pairs, data, n, out.gradient, out.curvature)
    bound_and_scale(sigma, out)
    return loss


@inline
def _ranks_of_pair(i: int, j: int, chances: Chances, x: Vector) -> PairSums:
    """Return what both documents of a pair add to each other's ranks, among all and relevant."""
    wrong, right, _ = chances
    return 0.0, wrong, right, x[j] * wrong, x[i] * right


@inline
def _gradient(i: int, j: int, chances: Chances, data: tuple[Vector, Vector, Vector]) -> PairSums:
    """Return the derivatives of a pair, which weighs a_i (x_j − P_i) − a_j (x_i − P_j)."""
    a, x, p = data
    return _gradient_of_pair(a[i] * (x[j] - p[i]) - a[j] * (x[i] - p[j]), chances)


@register_objective
@dataclass(frozen=True)
class SmoothAP(KernelObjective):
    """SmoothAP: minus the mean, over relevant documents, of precision at their soft ranks.

    With p_ij = 1/(1 + exp((s_i − s_j)/σ)), how far document j is above i, the loss is
    −1/R Σ_i (1 + Σ_j p_ij)/(1 + Σ_k p_ik) over the R relevant documents i, the other relevant
    documents j ≠ i, and all other documents k ≠ i. It is the second smooth
    AP of SmoothRank's paper, hence the alias "smooth:ap-ranks"; unlike the first, "smooth:ap", it
    needs no initial scores.

    As printed, equation 9 counts a relevant document as half above itself, with which the limit
    σ → 0 is not AP, but AP less the mean of 1/(2 r_i) over relevant documents i; by default it
    counts in full, as in equation 4. A query whose documents are all
    relevant, or all irrelevant, has loss 0.

    Parameters
    ----------
    threshold : float
        The smallest label that counts as relevant.
    as_printed : bool
        Whether a relevant document counts as half above itself, as equation 9 reads.

    Notes
    -----
    - Formula: −1/R Σ_i (1 + Σ_{j ≠ i} p_ij)/(1 + Σ_{k ≠ i} p_ik), i and j relevant, k any, p_ij =
      1/(1 + exp((s_i − s_j)/σ))
    - Source: Chapelle & Wu 2010, eq. 9; Brown et al. 2020

    References
    ----------
    Chapelle & Wu 2010, "Gradient descent optimization of smoothed information retrieval
    metrics", equations 4, 5 and 9; Brown, Xie, Kalogeiton & Zisserman 2020, "Smooth-AP: smoothing
    the path towards large-scale image retrieval".

    Examples
    --------
    >>> from gbrank import Queries, SmoothAP
    >>> bound = SmoothAP().bind([1, 0, 1], Queries.from_sizes([3]))
    >>> bound.loss([3.0, 2.0, 1.0], sigma=1e-3).round(4)  # minus AP
    array([-0.8333])
    """

    name = "smoothap"
    aliases = ("smooth:ap-ranks",)
    declared = Facts(sigma=ANNEALED, start="ranknet")

    threshold: float = Real(1.0, above=0)
    as_printed: bool = Boolean(False)

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return average precision of soft ranks."""
        terms = AP(threshold=self.threshold).terms(labels, queries)
        return Program(
            smooth_average_precision,
            terms.gains,
            terms,
            parameters=0.5 if self.as_printed else 1.0,
            work=SmoothAPWork,
        )
