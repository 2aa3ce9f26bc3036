"""RankNet: the logistic loss of every pair of different label."""

from dataclasses import dataclass
from typing import Literal

from gbrank.common.checks import check_choice
from gbrank.data.queries import Queries
from gbrank.kernels.compiled import Vector
from gbrank.kernels.driver import Program
from gbrank.kernels.logistic_pairs import LONGEST, pair_program
from gbrank.objectives.objective import Facts, Objective

__all__ = ["RankNet"]


@dataclass(frozen=True)
class RankNet(Objective):
    """RankNet: Σ over pairs y_i > y_j of log(1 + exp(−(s_i − s_j)/σ)).

    Parameters
    ----------
    normalize : {None, "query"}
        ``"query"`` multiplies a query's gradient and curvature by log2(1 + S) / S, S = Σ|gradient|.

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
    facts = Facts(
        formula="Σ_{y_i > y_j} log(1 + exp(−(s_i − s_j)/σ))",
        source="Burges, Ragno & Le 2006, eq. 8",
        convex=True,
        fast=f"O(m log m) {LONGEST}",
    )

    normalize: Literal["query"] | None = None

    def __post_init__(self) -> None:
        check_choice(self.normalize, "normalize", [None, "query"])

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return logistic pairs of weight 1."""
        return pair_program(labels, queries, query_norm=self.normalize == "query")
