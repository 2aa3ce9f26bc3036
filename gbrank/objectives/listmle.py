"""ListMLE: the likelihood of the ideal order under the Plackett-Luce model."""

from dataclasses import dataclass

from gbrank.data.queries import Queries
from gbrank.kernels.compiled import Vector
from gbrank.kernels.grade_sums import SCRATCH, list_likelihood
from gbrank.kernels.program import Program
from gbrank.measures.grades import grades
from gbrank.objectives.kernel_objective import KernelObjective
from gbrank.objectives.objective import Facts
from gbrank.objectives.objective_registry import register_objective


@register_objective
@dataclass(frozen=True)
class ListMLE(KernelObjective):
    """ListMLE: Σ_i log Σ_{y_j ≤ y_i} exp((s_j − s_i)/σ) over documents above the lowest label.

    It is −log of the Plackett-Luce probability that documents are drawn in the order of their
    labels. Where labels are equal, the order inside the grade plays no part: every document of
    it is drawn from all that are not better (Breslow's treatment of ties). The lowest grade, of
    which every order is as good, takes no part as drawn. The curvature is the Hessian's diagonal,
    but at least |gradient|/σ.

    References
    ----------
    Xia, Liu, Wang, Zhang & Li 2008, "Listwise approach to learning to rank: theory and
    algorithm", section 4.3. Ties: Breslow 1974, "Covariance analysis of censored survival data".

    Examples
    --------
    >>> from gbrank import Queries
    >>> ListMLE().bind([2, 1, 0], Queries.from_sizes([3])).loss([0.0, 0.0, 0.0]).round(4)
    array([1.7918])
    """

    name = "listmle"
    declared = Facts(
        formula="Σ_i log Σ_{y_j ≤ y_i} exp((s_j − s_i)/σ), y_i above the lowest",
        source="Xia et al. 2008, section 4.3",
        convex=True,
        cost="O(m)",
    )

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return the likelihood of drawing grade by grade."""
        return Program(kernel=list_likelihood, labels=grades(labels, queries), scratch=SCRATCH)
