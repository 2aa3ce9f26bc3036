"""Losses of pairs: RankNet; RankSVM, and GBRank, which squares its hinges."""

from dataclasses import dataclass, replace
from typing import ClassVar

from gbrank.common.arrays import Vector
from gbrank.data.queries import Queries
from gbrank.kernels.hinge_pairs import LONGEST_DIRECT, SCRATCH, HingeParameters, hinge_pairs
from gbrank.kernels.logistic_pairs import LONGEST, direct_pairs, with_pairs
from gbrank.kernels.program import Program
from gbrank.objectives.kernel_objective import KernelObjective
from gbrank.objectives.objective import Facts
from gbrank.objectives.objective_registry import register_objective


@register_objective
@dataclass(frozen=True)
class RankNet(KernelObjective):
    """RankNet: Σ over pairs y_i > y_j of log(1 + exp(−(s_i − s_j)/σ)).

    References
    ----------
    Burges et al. 2005; Burges, Ragno & Le 2006, "Learning to rank with nonsmooth cost
    functions", equation 8.

    Examples
    --------
    >>> from gbrank import Queries, RankNet
    >>> RankNet().bind([1, 0], Queries.from_sizes([2])).loss([0.0, 0.0]).round(4)
    array([0.6931])
    """

    name = "ranknet"
    declared = Facts(
        formula="Σ_{y_i > y_j} log(1 + exp(−(s_i − s_j)/σ))",
        source="Burges, Ragno & Le 2006, eq. 8",
        convex=True,
        fast=f"O(m log m) {LONGEST}",
    )

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return logistic pairs of weight 1."""
        return with_pairs(Program(kernel=direct_pairs, labels=labels), queries.sizes)


@register_objective
@dataclass(frozen=True)
class RankSVM(KernelObjective):
    """RankSVM: Σ over pairs y_i > y_j of max(0, 1 − (s_i − s_j)/σ).

    The curvature is that of the squared hinge: the number of pairs that a document has within
    the margin or in the wrong order, over σ².

    References
    ----------
    Joachims 2002, "Optimizing search engines using clickthrough data", section 4.2.

    Examples
    --------
    >>> from gbrank import Queries, RankSVM
    >>> RankSVM().bind([1, 0], Queries.from_sizes([2])).loss([0.25, 0.0])
    array([0.75])
    """

    name = "ranksvm"
    declared = Facts(
        formula="Σ_{y_i > y_j} max(0, 1 − (s_i − s_j)/σ)",
        source="Joachims 2002, section 4.2",
        convex=True,
        fast=f"O(m log m) above {LONGEST_DIRECT:,} documents",
    )
    squared: ClassVar[bool] = False

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return hinge pairs of margin 1."""
        return Program(
            kernel=hinge_pairs,
            labels=labels,
            parameters=HingeParameters(self.squared),
            scratch=SCRATCH,
        )


@register_objective
@dataclass(frozen=True)
class SquaredHinge(RankSVM):
    """GBRank's squared hinge: Σ over pairs y_i > y_j of ½ max(0, 1 − (s_i − s_j)/σ)².

    References
    ----------
    Zheng, Chen, Sun & Zha 2007, "A regression framework for learning ranking functions using
    relative relevance judgments", section 3.1; their margin τ is σ, and the loss is in units of it.

    Examples
    --------
    >>> from gbrank import Queries, SquaredHinge
    >>> SquaredHinge().bind([1, 0], Queries.from_sizes([2])).loss([0.5, 0.0])
    array([0.125])
    """

    name = "gbrank"
    declared = replace(
        RankSVM.declared,
        formula="Σ_{y_i > y_j} ½ max(0, 1 − (s_i − s_j)/σ)²",
        source="Zheng et al. 2007, section 3.1",
    )
    squared = True
