"""SmoothAP: average precision of soft ranks, pair by pair."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gbrank.common.arrays import Vector
from gbrank.common.fields import Boolean, Real
from gbrank.data.queries import Queries
from gbrank.engine.compiling import inline
from gbrank.engine.contract import Derivatives, MeasureFunctions, Program, Query
from gbrank.measures.average_precision import AP
from gbrank.numerics.logistic import add_rank_forces, exponentials, is_wide, row_exponentials
from gbrank.numerics.vectors import LONGEST_STEP, all_alike, bound_steps, to_score_units
from gbrank.objectives.objective import ANNEALED, Facts, KernelObjective
from gbrank.objectives.objective_registry import register_objective


class SmoothAPParameters(NamedTuple):
    """The parameters of the kernel.

    Parameters
    ----------
    own : float
        How much a document counts as above itself, in its rank among relevant ones.
    """

    own: float = 1.0


class PairWork(NamedTuple):
    """The work arrays of sums pair by pair."""

    up: Vector
    down: Vector
    ranks: Vector
    precisions: Vector


def smooth_average_precision(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Return −1/R Σ_i x_i ĉ_i/r̂_i, r̂_i and ĉ_i the soft ranks among all and among relevant ones.

    x is the relevance, and ĉ_i counts the document itself as `own`. With P_i = ĉ_i/r̂_i and
    a_i = x_i/(R r̂_i), the gradient of the loss is
    Σ_j (a_i (x_j − P_i) − a_j (x_i − P_j)) p (1 − p)/σ, p the probability that i is above j.
    """
    s, x, sigma = query.scores, query.ranking.gains, query.sigma
    work: PairWork = query.work
    if all_alike(x):
        return 0.0
    for i in range(s.size):
        work.ranks[i] = 1.0
        work.precisions[i] = query.parameters.own
    _add_ranks(s, sigma, x, work)
    loss = 0.0
    for i in range(s.size):
        work.precisions[i] /= work.ranks[i]
        loss -= query.ranking.scale * x[i] * work.precisions[i]
        work.ranks[i] = query.ranking.scale * x[i] / work.ranks[i]
    if out.gradient.size > 0:
        own = work.ranks, x, work.precisions
        add_rank_forces(_weight, own, s, sigma, work.up, work.down, out)
        bound_steps(LONGEST_STEP, out)
        to_score_units(sigma, out)
    return loss


@inline
def _add_ranks(s: Vector, sigma: float, x: Vector, work: PairWork) -> None:
    """Add to both ranks of each document, pair by pair; fill `up` and `down`."""
    up, down, ranks, relevant_ranks = work
    exponentials(s, sigma, up, down)
    wide = is_wide(s, sigma)
    for i in range(s.size - 1):
        scale = row_exponentials(i, wide, s, sigma, up, down)
        rank = 0.0
        relevant_rank = 0.0
        for j in range(np.uintp(i + 1), np.uintp(s.size)):
            u = up[j] * scale
            above = 1.0 / (1.0 + u)
            ranks[j] += above
            rank += u * above
            relevant_ranks[j] += x[i] * above
            relevant_rank += x[j] * u * above
        ranks[i] += rank
        relevant_ranks[i] += relevant_rank


@inline
def _weight(i: int, j: int, own: tuple[Vector, Vector, Vector]) -> float:
    """Return what a pair weighs, a_i (x_j − P_i) − a_j (x_i − P_j)."""
    a, x, p = own
    return a[i] * (x[j] - p[i]) - a[j] * (x[i] - p[j])


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
            parameters=SmoothAPParameters(0.5 if self.as_printed else 1.0),
            work=PairWork,
        )
