"""SmoothAP: average precision of soft ranks, pair by pair."""

from dataclasses import dataclass
from typing import NamedTuple

from gbrank.common.arrays import Vector
from gbrank.common.fields import Boolean, Real
from gbrank.data.queries import Queries
from gbrank.engine.compiling import inline
from gbrank.engine.contract import Derivatives, MeasureFunctions, Program, Query
from gbrank.measures.average_precision import AP
from gbrank.numerics.logistic import (
    LogisticPairs,
    PairSums,
    add_pairs,
    gradient_of_pair,
    logistic_pairs,
    scale_of_row,
)
from gbrank.numerics.vectors import LONGEST_STEP, all_alike, bound_steps, to_score_units
from gbrank.objectives.objective import ANNEALED, Facts, KernelObjective
from gbrank.objectives.objective_registry import register_objective


class PairWork(NamedTuple):
    """The work arrays of sums pair by pair."""

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
    s, x, sigma = query.scores, query.ranking.gains, query.sigma
    work: PairWork = query.work
    if all_alike(x):
        return 0.0
    for i in range(s.size):
        work.ranks[i] = 1.0
        work.precisions[i] = query.parameters
    pairs = logistic_pairs(s, sigma, work.up, work.down)
    add_pairs(scale_of_row, _ranks_of_pair, pairs, x, s.size, work.ranks, work.precisions)
    loss = 0.0
    for i in range(s.size):
        work.precisions[i] /= work.ranks[i]
        loss -= query.ranking.scale * x[i] * work.precisions[i]
        work.ranks[i] = query.ranking.scale * x[i] / work.ranks[i]
    if out.gradient.size > 0:
        data = work.ranks, x, work.precisions
        add_pairs(scale_of_row, _gradient, pairs, data, s.size, out.gradient, out.curvature)
        bound_steps(LONGEST_STEP, out)
        to_score_units(sigma, out)
    return loss


@inline
def _ranks_of_pair(i: int, j: int, scale: float, pairs: LogisticPairs, x: Vector) -> PairSums:
    """Return what both documents of a pair add to each other's ranks, among all and relevant."""
    u = pairs.up[j] * scale
    above = 1.0 / (1.0 + u)
    return 0.0, u * above, above, x[j] * u * above, x[i] * above


@inline
def _gradient(
    i: int, j: int, scale: float, pairs: LogisticPairs, data: tuple[Vector, Vector, Vector]
) -> PairSums:
    """Return the derivatives of a pair, which weighs a_i (x_j − P_i) − a_j (x_i − P_j)."""
    a, x, p = data
    weight = a[i] * (x[j] - p[i]) - a[j] * (x[i] - p[j])
    return gradient_of_pair(weight, pairs.up[j] * scale)


@register_objective
@dataclass(frozen=True)
class SmoothAP(KernelObjective):
    """SmoothAP: minus the mean, over relevant documents, of precision at their soft ranks.

    With p_ij = 1/(1 + exp((s_i − s_j)/σ)), how far document j is above i, the loss is
    −1/R Σ_i (1 + Σ_j p_ij)/(1 + Σ_k p_ik) over the R relevant documents i, the other relevant
    documents j ≠ i, and all other documents k ≠ i. It is the second of the two smooth forms of AP
    that come with SmoothRank, hence its other name, "smooth:ap-ranks"; the first, "smooth:ap",
    goes through soft indicators. Unlike that, it needs no initial scores.

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

    threshold: float = Real(1.0, 0, open_low=True)
    as_printed: bool = Boolean(False)

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return average precision of soft ranks."""
        terms = AP(threshold=self.threshold).terms(labels, queries)
        return Program(
            smooth_average_precision,
            terms.gains,
            terms,
            parameters=0.5 if self.as_printed else 1.0,
            work=PairWork,
        )
