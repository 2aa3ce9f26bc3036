"""RankSVM: the hinge loss of every pair of different label."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gbrank.common.checks import check_choice
from gbrank.data.queries import Queries
from gbrank.kernels.compiled import Vector
from gbrank.kernels.driver import Program
from gbrank.kernels.hinge_pairs import HINGE, LONGEST_DIRECT, SCRATCH, hinge_pairs
from gbrank.objectives.objective import Facts, Objective

__all__ = ["RankSVM"]


@dataclass(frozen=True)
class RankSVM(Objective):
    """RankSVM: Σ over pairs y_i > y_j of max(0, 1 − (s_i − s_j)/σ).

    The curvature is that of the squared hinge: the number of pairs that a document has within
    the margin or in the wrong order, over σ².

    Parameters
    ----------
    normalize : {None, "query"}
        ``"query"`` multiplies a query's gradient and curvature by log2(1 + S) / S, S = Σ|gradient|.

    References
    ----------
    Joachims 2002, "Optimizing search engines using clickthrough data", section 4.2.

    Examples
    --------
    >>> from gbrank import Queries
    >>> RankSVM().bind([1, 0], Queries.from_sizes([2])).loss([0.25, 0.0])
    array([0.75])
    """

    name = "ranksvm"
    facts = Facts(
        formula="Σ_{y_i > y_j} max(0, 1 − (s_i − s_j)/σ)",
        source="Joachims 2002, section 4.2",
        convex=True,
        fast=f"O(m log m) above {LONGEST_DIRECT:,} documents",
    )

    normalize: Literal["query"] | None = None

    def __post_init__(self) -> None:
        check_choice(self.normalize, "normalize", [None, "query"])

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return hinge pairs of margin 1."""
        return Program(
            kernel=hinge_pairs,
            documents=labels[None, :],
            queries=np.ones((queries.n_queries, 1)),
            params=np.array([HINGE, LONGEST_DIRECT]),
            scratch=SCRATCH,
            query_norm=self.normalize == "query",
        )
