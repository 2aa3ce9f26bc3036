"""ListNet: cross entropy between the top-one probabilities of labels and of scores."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gbrank.common.checks import check_choice
from gbrank.data.queries import Queries
from gbrank.kernels.compiled import Vector
from gbrank.kernels.driver import Program
from gbrank.kernels.softmax import softmax_loss
from gbrank.objectives.grades import has_grades
from gbrank.objectives.objective import Facts, Objective

__all__ = ["ListNet"]


@dataclass(frozen=True)
class ListNet(Objective):
    """ListNet: −Σ t_i log p_i with targets t = softmax(y) and p = softmax(s/σ).

    The curvature is the Hessian's diagonal, p (1 − p)/σ², but at least |gradient|/σ. Queries
    whose labels are all equal take no part.

    Parameters
    ----------
    normalize : {None, "query"}
        ``"query"`` multiplies a query's gradient and curvature by log2(1 + S) / S, S = Σ|gradient|.

    References
    ----------
    Cao, Qin, Liu, Tsai & Li 2007, "Learning to rank: from pairwise approach to listwise
    approach", section 4.3 (k = 1).

    Examples
    --------
    >>> from gbrank import Queries
    >>> bound = ListNet().bind([1, 0], Queries.from_sizes([2]))
    >>> bound.gradients([0.0, 0.0])[0].round(4).tolist()
    [-0.2311, 0.2311]
    """

    name = "listnet"
    facts = Facts(
        formula="−Σ_i t_i log p_i, t = softmax(y), p = softmax(s/σ)",
        source="Cao et al. 2007, section 4.3",
        convex=True,
        cost="O(m)",
    )

    normalize: Literal["query"] | None = None

    def __post_init__(self) -> None:
        check_choice(self.normalize, "normalize", [None, "query"])

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return the cross entropy to softmax(y)."""
        largest = np.maximum.reduceat(labels[queries.order], queries.offsets[:-1])
        return Program(
            kernel=softmax_loss,
            documents=np.stack([labels, np.exp(labels - largest[queries.index])]),
            queries=has_grades(labels, queries),
            query_norm=self.normalize == "query",
        )
