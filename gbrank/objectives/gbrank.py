"""GBRank: the squared hinge loss of every pair of different label."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gbrank.common.checks import check_choice
from gbrank.data.queries import Queries
from gbrank.kernels.compiled import Vector
from gbrank.kernels.driver import Program
from gbrank.kernels.hinge_pairs import LONGEST_DIRECT, SCRATCH, SQUARED, hinge_pairs
from gbrank.objectives.objective import Facts, Objective

__all__ = ["GBRank"]


@dataclass(frozen=True)
class GBRank(Objective):
    """GBRank: Σ over pairs y_i > y_j of ½ max(0, 1 − (s_i − s_j)/σ)².

    Parameters
    ----------
    normalize : {None, "query"}
        ``"query"`` multiplies a query's gradient and curvature by log2(1 + S) / S, S = Σ|gradient|.

    References
    ----------
    Zheng, Chen, Sun & Zha 2007, "A regression framework for learning ranking functions using
    relative relevance judgments", section 3.1; their margin τ is σ, and the loss is in units of it.

    Examples
    --------
    >>> from gbrank import Queries
    >>> GBRank().bind([1, 0], Queries.from_sizes([2])).loss([0.5, 0.0])
    array([0.125])
    """

    name = "gbrank"
    facts = Facts(
        formula="Σ_{y_i > y_j} ½ max(0, 1 − (s_i − s_j)/σ)²",
        source="Zheng et al. 2007, section 3.1",
        convex=True,
        fast=f"O(m log m) above {LONGEST_DIRECT:,} documents",
    )

    normalize: Literal["query"] | None = None

    def __post_init__(self) -> None:
        check_choice(self.normalize, "normalize", [None, "query"])

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return squared hinge pairs of margin 1."""
        return Program(
            kernel=hinge_pairs,
            documents=labels[None, :],
            queries=np.ones((queries.n_queries, 1)),
            params=np.array([SQUARED, LONGEST_DIRECT]),
            scratch=SCRATCH,
            query_norm=self.normalize == "query",
        )
