"""ApproxRank: measures of soft ranks, pair by pair in short lists, by sweeps in longer ones.

With other sigmoids than the logistic function, they are summed pair by pair at any length.
"""

from dataclasses import dataclass
from math import erfc
from typing import Any, Literal, NamedTuple

import numpy as np

from gbrank.common.arrays import Vector
from gbrank.common.fields import Choice, Real
from gbrank.data.queries import Queries
from gbrank.engine.compiling import inline
from gbrank.engine.contract import Derivatives, MeasureFunctions, Program, Query, SeparableDelta
from gbrank.numerics.logistic import (
    LogisticPairs,
    PairSums,
    add_pairs,
    gradient_of_pair,
    logistic_pairs,
    no_scale,
    rank_of_pair,
    scale_of_row,
)
from gbrank.numerics.sweeps import (
    LOGISTIC,
    RANK_GRADIENTS,
    PairWeights,
    SweepWork,
    add_sums,
    sweep_pairs,
)
from gbrank.numerics.vectors import LONGEST_STEP, all_alike, bound_steps, to_score_units
from gbrank.objectives.objective import ANNEALED, Facts, MeasureObjective
from gbrank.objectives.objective_registry import register_objective

# Up to this many documents, pairs are summed one by one. Measured break-even points are 1,500 (five
# grades) to 2,400 (a continuous label).
LONGEST_DIRECT = 1600
# Factors on z with which each sigmoid has the logistic function's slope at 0, 1/4.
ARCTAN_WIDTH, ERF_WIDTH = np.pi / 4, np.sqrt(np.pi) / 4


class ApproxParameters(NamedTuple):
    """The parameters of the kernels.

    Parameters
    ----------
    beta : float
        Steepness of what is logistic in ranks, per rank.
    direct : float
        Factor on the sizes up to which the measure sums pairs of ranks one by one.
    arctan : bool
        Whether another sigmoid than the logistic function is the arc tangent, or the error
        function.
    """

    beta: float
    direct: float = 1.0
    arctan: bool = False


class DirectApproxWork(NamedTuple):
    """The work arrays of sums pair by pair."""

    ranks: Vector
    slopes: Vector
    up: Vector
    down: Vector


class SweptApproxWork(NamedTuple):
    """The work arrays of `swept_measure`."""

    ranks: Vector
    slopes: Vector
    delta: SeparableDelta
    sweep: SweepWork


def approximate_measure(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Return minus the measure at the soft ranks r̂_i = 1 + Σ_{j ≠ i} 1/(1 + exp((s_i − s_j)/σ)).

    With d = ∂M/∂r̂, which `by_rank` gives, the gradient of the loss is Σ_j (d_i − d_j) p (1 − p)/σ,
    p the probability that the pair is in the wrong order. Each pair is majorised by a logistic loss
    of the same slope, whose curvature is |d_i − d_j| p (1 − p)²/σ².
    """
    parameters: ApproxParameters = query.parameters
    work: DirectApproxWork = query.work
    s, sigma = query.scores, query.sigma
    if all_alike(query.ranking.gains):
        return 0.0
    for i in range(s.size):
        work.ranks[i] = 1.0
    pairs = logistic_pairs(s, sigma, work.up, work.down)
    add_pairs(scale_of_row, rank_of_pair, pairs, 0, s.size, work.ranks, work.ranks)
    loss = -measure.by_rank(
        query.ranking, work.ranks, parameters.beta, parameters.direct, work.slopes
    )
    if out.gradient.size > 0:
        add_pairs(
            scale_of_row, _gradient_of_ranks, pairs, work.slopes, s.size, out.gradient,
            out.curvature,
        )  # fmt: skip
        bound_steps(LONGEST_STEP, out)
        to_score_units(sigma, out)
    return loss


def swept_measure(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Return what `approximate_measure` returns, by sweeps."""
    parameters: ApproxParameters = query.parameters
    work: SweptApproxWork = query.work
    s, sigma, first = query.scores, query.sigma, query.ranking.first
    ranks, slopes = work.ranks, work.slopes
    if all_alike(query.ranking.gains):
        return 0.0
    for i in range(s.size):
        ranks[i] = 1.0
        slopes[i] = 1.0
    add_sums(s, sigma, first, slopes, LOGISTIC, ranks)
    loss = -measure.by_rank(query.ranking, ranks, parameters.beta, parameters.direct, slopes)
    if out.gradient.size > 0:
        for i in range(s.size):
            slopes[i] = -slopes[i]
        sweep_pairs(
            s, sigma, first, slopes, PairWeights(unit=False, separable=False), work.delta,
            RANK_GRADIENTS, work.sweep, out,
        )  # fmt: skip
        bound_steps(LONGEST_STEP, out)
        to_score_units(sigma, out)
    return loss


def sigmoid_measure(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Return minus the measure at the soft ranks r̂_i = 1 + Σ_{j ≠ i} q((s_i − s_j)/σ).

    q is the chance of the wrong order, 1 minus the sigmoid. With d = ∂M/∂r̂, the gradient of the
    loss is −Σ_j (d_i − d_j) q'/σ, and the curvature Σ_j |d_i − d_j| |q'|/σ² times the chance of the
    order that d wants, as with the logistic function.
    """
    parameters: ApproxParameters = query.parameters
    s, sigma, ranks, slopes = query.scores, query.sigma, query.work.ranks, query.work.slopes
    if all_alike(query.ranking.gains):
        return 0.0
    for i in range(s.size):
        ranks[i] = 1.0
    pairs = SigmoidPairs(s, sigma, parameters.arctan)
    add_pairs(no_scale, _rank_by_sigmoid, pairs, 0, s.size, ranks, ranks)
    loss = -measure.by_rank(query.ranking, ranks, parameters.beta, 1.0, slopes)
    if out.gradient.size > 0:
        add_pairs(
            no_scale, _gradient_by_sigmoid, pairs, slopes, s.size, out.gradient, out.curvature
        )
        bound_steps(LONGEST_STEP, out)
        to_score_units(sigma, out)
    return loss


@inline
def _gradient_of_ranks(
    i: int, j: int, scale: float, pairs: LogisticPairs, slopes: Vector
) -> PairSums:
    """Return the derivatives of a pair, weighted by the slopes of the measure by its ranks."""
    return gradient_of_pair(slopes[i] - slopes[j], pairs.up[j] * scale)


class SigmoidPairs(NamedTuple):
    """The scores of a list, and which sigmoid stands in place of the logistic function."""

    s: Vector
    sigma: float
    arctan: bool


@inline
def _rank_by_sigmoid(i: int, j: int, scale: float, pairs: SigmoidPairs, data: Any) -> PairSums:
    """Return what each document of a pair adds to the other one's soft rank."""
    wrong, _ = _sigmoid((pairs.s[i] - pairs.s[j]) / pairs.sigma, pairs.arctan)
    return 0.0, wrong, 1.0 - wrong, 0.0, 0.0


@inline
def _gradient_by_sigmoid(
    i: int, j: int, scale: float, pairs: SigmoidPairs, slopes: Vector
) -> PairSums:
    """Return the derivatives of a pair, weighted by the slopes of the measure by its ranks."""
    wrong, slope = _sigmoid((pairs.s[i] - pairs.s[j]) / pairs.sigma, pairs.arctan)
    gradient = (slopes[i] - slopes[j]) * slope
    curvature = abs(gradient) * (1.0 - wrong if gradient < 0 else wrong)
    return 0.0, gradient, -gradient, curvature, curvature


@inline
def _sigmoid(z: float, arctan: bool) -> tuple[float, float]:
    """Return the chance that a document z ≥ 0 widths above another is below it, and its slope."""
    if arctan:
        width = ARCTAN_WIDTH * z
        return np.arctan2(1.0, width) / np.pi, 0.25 / (1.0 + width * width)
    width = ERF_WIDTH * z
    return 0.5 * erfc(width), 0.25 * np.exp(-width * width)


@register_objective
@dataclass(frozen=True)
class ApproxRank(MeasureObjective):
    """ApproxRank: minus a measure, its ranks replaced by soft ranks.

    Soft ranks are r̂_i = 1 + Σ_{j ≠ i} 1/(1 + exp((s_i − s_j)/σ)); what depends on a truncation,
    or on which of two documents comes first, is a logistic function of soft ranks with steepness
    β. σ is 1/α in the paper. A query whose documents are all worth the same has loss 0.

    Parameters
    ----------
    measure : Measure or str
        Any measure that can be written in ranks: NDCG, DCG, precision, recall, WTA, RBP, AP, RR,
        ERR, pair-wise correct, Kendall's τ. Its own `ties` and `no_relevant` play no part.
    beta : float
        Steepness of truncations, per rank.
    sigmoid : {"logistic", "arctan", "erf"}
        What the soft ranks sum, f(z) in place of 1/(1 + exp(z)), z = (s_i − s_j)/σ: ½ −
        arctan(πz/4)/π, or ½ erfc(√π z/4), whose slope at 0 is the same. These two take O(m²) at
        any length. The paper's hyperbolic tangent is the logistic function:
        ½ (1 − tanh(z/2)) = 1/(1 + exp(z)).

    Notes
    -----
    - Formula: −M(r̂), r̂_i = 1 + Σ_{j ≠ i} 1/(1 + exp((s_i − s_j)/σ))
    - Source: Qin, Liu & Li 2010, eq. 20 to 22
    - Cost: O(m²); with RR and ERR + O(n²) for the n documents that a user is likely to reach
    - Fast: O(m log m) in place of O(m²) above 1,600 documents; sums over pairs of ranks (AP,
      pair-wise correct, Kendall's τ) from a few hundred

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

    beta: float = Real(10.0, 0, open_low=True)
    sigmoid: Literal["logistic", "arctan", "erf"] = Choice(
        "logistic", ["logistic", "arctan", "erf"]
    )

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return the measure at soft ranks."""
        if not self._measure.known_at_real_ranks:
            raise ValueError(
                f"discount must be one known by name for ApproxRank, which needs it at real ranks; "
                f"got {self.measure!r}."
            )
        logistic = self.sigmoid == "logistic"
        return self.measure_program(
            approximate_measure if logistic else sigmoid_measure,
            labels,
            queries,
            ["by_rank"],
            parameters=ApproxParameters(self.beta, arctan=self.sigmoid == "arctan"),
            work=DirectApproxWork,
            other_kernel=swept_measure,
            other_work=SweptApproxWork,
            others=logistic & (queries.sizes > LONGEST_DIRECT),
        )
