"""RankNet: the logistic loss of every pair of different label."""

from dataclasses import dataclass

from gbrank.data.queries import Queries
from gbrank.kernels.compiled import Vector
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
