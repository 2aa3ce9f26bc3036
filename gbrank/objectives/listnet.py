"""ListNet: cross entropy between the top-one probabilities of labels and of scores."""

from dataclasses import dataclass

import numpy as np

from gbrank.data.queries import Queries
from gbrank.kernels.compiled import Vector
from gbrank.kernels.program import Program
from gbrank.kernels.softmax import softmax_loss
from gbrank.measures.grades import labels_differ
from gbrank.objectives.kernel_objective import KernelObjective
from gbrank.objectives.objective import Facts
from gbrank.objectives.objective_registry import register_objective


@register_objective
@dataclass(frozen=True)
class ListNet(KernelObjective):
    """ListNet: −Σ t_i log p_i with targets t = softmax(y) and p = softmax(s/σ).

    The curvature is the Hessian's diagonal, p (1 − p)/σ², but at least |gradient|/σ. Queries
    whose labels are all equal take no part.

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
    declared = Facts(
        formula="−Σ_i t_i log p_i, t = softmax(y), p = softmax(s/σ)",
        source="Cao et al. 2007, section 4.3",
        convex=True,
        cost="O(m)",
    )

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return the cross entropy to softmax(y)."""
        largest = np.maximum.reduceat(labels[queries.order], queries.offsets[:-1])
        return Program(
            kernel=softmax_loss,
            labels=labels,
            x=np.exp(labels - largest[queries.index]),
            scale=labels_differ(labels, queries),
            scratch=1,
        )
