"""Pointwise: logistic regression with a query effect, and the companion of other objectives."""

from dataclasses import dataclass

import numpy as np

from gbrank.common.checks import check_number
from gbrank.data.queries import Queries
from gbrank.kernels.compiled import Vector
from gbrank.kernels.intercept import InterceptParameters, logistic_with_intercept
from gbrank.kernels.program import Program
from gbrank.objectives.kernel_objective import KernelObjective
from gbrank.objectives.objective import Facts
from gbrank.objectives.objective_registry import register_objective
from gbrank.parallel.collective import all_max, all_sum
from gbrank.parallel.sums import order_free_mean


@register_objective
@dataclass(frozen=True)
class Pointwise(KernelObjective):
    """Pointwise: the cross entropy of each document's label, with an intercept for each query.

    With targets t = y / max y and p_i = 1/(1 + exp(−s_i/σ − b)), the loss of a query is the
    minimum over b of Σ_i CE(p_i, t_i) + λ/2 (b − logit(t̄) + mean s/σ)², where t̄ is the mean
    target of all data. The intercept takes up what the query's documents have in common, so that
    scores need only tell them apart: they are logits of the target, up to a constant.

    Mixed with another objective, as in "lambda:ndcg+pointwise", it steadies training.

    Parameters
    ----------
    strength : float
        The penalty λ on the intercept.

    Examples
    --------
    >>> from gbrank import Pointwise, Queries
    >>> bound = Pointwise().bind([1, 0], Queries.from_sizes([2]))
    >>> bound.gradients([0.0, 0.0])[0].round(4)
    array([-0.5,  0.5])
    """

    name = "pointwise"
    declared = Facts(
        formula="min_b Σ_i CE(1/(1 + exp(−s_i/σ − b)), y_i/max y) + λ/2 (b − logit(t̄) + mean s/σ)²",
        source="gbrank; logistic regression with a random intercept",
        convex=True,
        labels="floats ≥ 0, not all equal",
        cost="O(m)",
    )

    strength: float = 10.0

    def __post_init__(self) -> None:
        check_number(self.strength, "strength", 0, open_low=True)

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return logistic regression with an intercept."""
        targets = labels / (all_max(float(labels.max())) or 1.0)
        # No target at all, or nothing but the largest, is taken for half a document less.
        half = 0.5 / all_sum(len(labels))
        mean = float(np.clip(order_free_mean(targets, len(targets)), half, 1 - half))
        return Program(
            kernel=logistic_with_intercept,
            labels=targets,
            parameters=InterceptParameters(self.strength, np.log(mean / (1 - mean))),
            scratch=1,
        )
