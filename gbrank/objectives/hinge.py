"""RankSVM, and the squared hinge of GBRank, pair by pair."""

from dataclasses import dataclass

from gbrank.common.checks import Vector
from gbrank.data.queries import Queries
from gbrank.engine.compiling import inline
from gbrank.engine.contract import Derivatives, MeasureFunctions, Program, Query
from gbrank.numerics.logistic import PairSums, add_pairs, no_scale
from gbrank.numerics.vectors import to_score_units

from .objective import Facts, KernelObjective
from .objective_registry import register_objective

# A gap in units of σ beyond which it only matters that nothing overflows.
WIDEST = 1e100


def hinge_pairs(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Sum max(0, 1 − (s_i − s_j)/σ), or half its square, over all pairs y_i > y_j.

    The curvature is the number of active pairs. At the kink a pair counts half: the mean of the
    slopes on both sides.
    """
    to: Derivatives = out if out.gradient.size > 0 else query.work
    data = (query.key, query.sigma, query.parameters)
    m = query.scores.size
    loss = add_pairs(no_scale, gap_of_pair, hinge, query.scores, data, m, to.gradient, to.curvature)
    to_score_units(query.sigma, out)
    return loss


@inline
def gap_of_pair(i: int, j: int, scale: float, s: Vector) -> float:
    """Return the difference of a pair's scores."""
    return s[i] - s[j]


@inline
def hinge(i: int, j: int, above: float, data: tuple[Vector, float, bool]) -> PairSums:
    """Return loss and derivatives of a pair, in units of σ, whose scores are `above` apart."""
    labels, sigma, squared = data
    difference = labels[i] - labels[j]
    sign = 1.0 if difference > 0 else (-1.0 if difference < 0 else 0.0)
    gap = sigma - sign * above
    short = min(max(gap / sigma, 0.0), WIDEST)
    active = abs(sign) * (1.0 if gap > 0 else (0.5 if gap == 0 else 0.0))
    slope = sign * (active * short if squared else active)
    loss = active * short * (0.5 * short if squared else 1.0)
    return loss, -slope, slope, active, active


@register_objective
@dataclass(frozen=True)
class RankSVM(KernelObjective):
    """RankSVM: Σ over pairs y_i > y_j of max(0, 1 − (s_i − s_j)/σ).

    The curvature is that of the squared hinge: the number of pairs that a document has within
    the margin or in the wrong order, over σ².

    Notes
    -----
    - Formula: Σ_{y_i > y_j} max(0, 1 − (s_i − s_j)/σ)
    - Source: Joachims 2002, section 4.2

    References
    ----------
    Joachims 2002, "Optimizing search engines using clickthrough data", section 4.2.

    Examples
    --------
    >>> from gbrank import Queries
    >>> from gbrank.objectives.hinge import RankSVM
    >>> RankSVM().bind([1, 0], Queries.from_sizes([2])).loss([0.25, 0.0])
    array([0.75])
    """

    name = "ranksvm"
    declared = Facts(convex=True)
    squared = False

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return hinge pairs of margin 1."""
        return Program(hinge_pairs, labels, parameters=self.squared, work=Derivatives)


@register_objective
class SquaredHinge(RankSVM):
    """The squared hinge of GBRank: Σ over pairs y_i > y_j of ½ max(0, 1 − (s_i − s_j)/σ)².

    Notes
    -----
    - Formula: Σ_{y_i > y_j} ½ max(0, 1 − (s_i − s_j)/σ)²
    - Source: Zheng et al. 2007, section 3.1

    References
    ----------
    Zheng, Chen, Sun & Zha 2007, "A regression framework for learning ranking functions using
    relative relevance judgments", section 3.1; their margin τ is σ, and the loss is in units of it.

    Examples
    --------
    >>> from gbrank import Queries
    >>> from gbrank.objectives.hinge import SquaredHinge
    >>> SquaredHinge().bind([1, 0], Queries.from_sizes([2])).loss([0.5, 0.0])
    array([0.125])
    """

    name = "squared_hinge"
    declared = Facts(convex=True, second_derivative=True)
    squared = True
