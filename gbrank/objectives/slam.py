"""SLAM: convex upper bounds on 1 − NDCG and 1 − AP."""

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, cast

import numpy as np

from gbrank.common.checks import Mask, Positions, Vector
from gbrank.common.fields import Boolean, Choice, Real
from gbrank.data.queries import Queries
from gbrank.engine.compiling import count_references
from gbrank.engine.contract import Derivatives, MeasureFunctions, Program, Query, Terms
from gbrank.measures.per_query import blocks_of, grades
from gbrank.numerics.grade_sums import GradeSums, softmax_up_to, spread
from gbrank.numerics.vectors import bound_steps

from .objective import Facts, MeasureObjective
from .objective_registry import register_objective


@count_references
def slam_smooth(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Sum v σ log(1 + Σ_{lower j} exp((margin + s_j − s_i)/σ)), v being the gains."""
    margin: float = query.parameters
    s = query.scores
    grade = query.key
    v = query.ranking.gains
    sigma = query.sigma
    sums: GradeSums = query.work
    n = softmax_up_to(s, grade, sigma, sums)
    loss = 0.0
    for i in range(s.size):
        g = int(grade[i]) - 1
        if g < 0 or v[i] == 0.0:
            continue
        largest = (margin + (sums.top[g] - s[i])) / sigma
        x = largest + np.log(sums.total[g])
        u = np.exp(-abs(x))
        q = (1.0 if x > 0 else u) / (1.0 + u)  # how much of the margin is violated
        # σ log(1 + exp(x)), short of overflow where x is huge
        short = margin + (sums.top[g] - s[i]) + sigma * np.log(sums.total[g])
        loss += v[i] * (max(short, 0.0) + sigma * np.log1p(u))
        sums.mass[g] += v[i] * q
        sums.square[g] += v[i] * q * q
        if out.gradient.size > 0:
            out.gradient[i] = -v[i] * q
            out.curvature[i] = v[i] * q * (1.0 - q)
    spread(s, grade, sigma, n, sums, out)
    bound_steps(1.0, out)
    for i in range(out.curvature.size):
        out.curvature[i] /= sigma
    return loss


class MarginWork(NamedTuple):
    """For each grade but the lowest, 0, the first document of a lower one."""

    best: Positions


def slam_hinges(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Sum v max(0, margin + max_{lower j} s_j − s_i), v being the gains.

    At the kink a hinge counts half: the mean of the slopes on both sides.
    """
    margin: float = query.parameters
    s = query.scores
    grade = query.key
    v = query.ranking.gains
    best = query.work.best
    lowest = s.size - 1
    for j in range(s.size):
        g = int(grade[j])
        for higher in range(g + 1, lowest + 1):
            best[higher] = j
        lowest = min(lowest, g)
    loss = 0.0
    for i in range(s.size):
        if grade[i] == 0.0 or v[i] == 0.0:
            continue
        j = best[int(grade[i])]
        short = margin + (s[j] - s[i])
        active = v[i] * (1.0 if short > 0 else (0.5 if short == 0 else 0.0))
        loss += active * short
        if out.gradient.size > 0:
            out.gradient[i] -= active
            out.gradient[j] += active
            out.curvature[i] += active
            out.curvature[j] += active
    return loss


@register_objective
@dataclass(frozen=True)
class SLAM(MeasureObjective):
    """SLAM: Σ_i v_i max(0, max_{y_j < y_i} (margin + s_j − s_i)), at least 1 − measure.

    For NDCG, v_i is G(y_i) D(i)/Z in the ideal order, averaged over documents of equal gain; for
    AP, 1/R for each of the R relevant documents, whatever its k, or less if `tight`. With smoothed
    maxima, terms are v_i σ log(1 + Σ_{y_j < y_i} exp((margin + s_j − s_i)/σ)): larger, convex too.

    Parameters
    ----------
    measure : NDCG, AP or str
        The measure to be bounded. Its own `ties` and `no_relevant` have no effect.
    margin : float
        Desired score difference to documents of smaller label. From 1 on, the loss is a bound
        on 1 − measure.
    smooth : bool
        Whether to smooth the maximum with width σ, in score units. Without it, σ has no effect,
        and the subgradient uses, of several largest s_j, those of the largest label.
    tight : {False, True, "rows"}
        Weights v_i for AP. False: 1/R, also for AP at k. ``"rows"``: (m − R)/(R (m − R + i)) for
        the i-th relevant document in the order of rows, the smallest weights that are a bound
        (equation 8), although equal documents then differ. True: their mean for each, the smallest
        equal weights.

    Notes
    -----
    - Formula: Σ_i v_i max(0, max_{y_j < y_i} (Δ + s_j − s_i))
    - Source: Chaudhuri & Tewari 2014, section 3
    - Cost: O(m)

    References
    ----------
    Chaudhuri & Tewari 2014, "Perceptron-like algorithms and generalization bounds for learning to
    rank", arXiv:1405.0591, sections 3 and 4: equations 8 and 9, theorems 2 and 3.

    Examples
    --------
    >>> from gbrank import Queries
    >>> bound = SLAM("ap", smooth=False).bind([1, 0, 1], Queries.from_sizes([3]))
    >>> bound.loss([1.0, 0.5, 0.0])
    array([1.])
    >>> bound.gradients([1.0, 0.5, 0.0])[0].tolist()
    [-0.5, 1.0, -0.5]
    """

    name = "slam"
    needs = "bounded_by"
    wanted = "be NDCG or AP for SLAM"
    declared = Facts(convex=True, takes_measure=True)

    margin: float = Real(1.0, above=0)
    smooth: bool = Boolean(True)
    tight: bool | Literal["rows"] = Choice(False, [True, False, "rows"])

    def __post_init__(self) -> None:
        super().__post_init__()
        whole = getattr(self._measure, "k", None) is None
        if self.tight and not (self._measure.bounded_by == "shares" and whole):
            raise ValueError(
                f"tight must be False, except for AP without k; got {self.tight!r} with "
                f"{self.measure}."
            )

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return hinges, or their smooth form, weighted by v."""
        terms = self.terms(labels, queries)
        if self._measure.bounded_by == "shares":
            # All relevant documents have the same share, at whatever rank.
            terms = replace(terms, discounts=(terms.discounts > 0).astype(np.float64))
        # Z⁻¹ G D of each document in the ideal order, averaged over equal gains
        blocks = blocks_of(-terms.gains, queries)
        mean = np.bincount(np.sort(blocks), terms.discounts) / np.bincount(blocks)
        weights = terms.gains * mean[blocks] * cast(Vector, terms.scale)[queries.index]
        if self.tight:
            weights *= _tightening(terms.gains > 0, queries, self.tight == "rows")
        kernel, work = (slam_smooth, GradeSums) if self.smooth else (slam_hinges, MarginWork)
        return Program(
            kernel,
            grades(terms.gains, queries),
            Terms(weights),
            parameters=float(self.margin),
            work=work,
            tied=self.tight != "rows",
        )


def _tightening(relevant: Mask, queries: Queries, by_row: bool) -> Vector:
    """Return (m − R)/(m − R + i) for the i-th relevant document of each query, or their mean."""
    n_relevant = queries.count(relevant)
    others = (queries.sizes - n_relevant)[queries.index]
    order = queries.order[relevant[queries.order]]  # query by query, as rows come
    before = np.cumsum(n_relevant) - n_relevant
    factors = np.zeros(len(relevant))
    place = 1 + np.arange(len(order)) - before[queries.index[order]]
    factors[order] = others[order] / (others[order] + place)
    if by_row:
        return factors
    # In the order of i, so that sums do not depend on that of rows.
    total = np.bincount(queries.index[order], factors[order], queries.n_queries)
    mean: Vector = total / np.maximum(n_relevant, 1)
    return mean[queries.index]
