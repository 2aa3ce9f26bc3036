"""Losses of single documents: logistic regression with a query effect, regression on the gains."""

from dataclasses import dataclass

import numpy as np

from gbrank.common.arrays import Vector
from gbrank.common.checks import check_number
from gbrank.data.queries import Queries
from gbrank.kernels.contract import MeasureFunctions, NoParameters, Query
from gbrank.kernels.intercept import InterceptParameters, logistic_with_intercept
from gbrank.kernels.program import Program
from gbrank.measures.gains import Gain, check_gain, gain_values
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
        # A mean of 0 or 1 is moved by half a document, so that its logit is finite.
        half = 0.5 / all_sum(len(labels))
        mean = float(np.clip(order_free_mean(targets, len(targets)), half, 1 - half))
        return Program(
            kernel=logistic_with_intercept,
            labels=targets,
            parameters=InterceptParameters(self.strength, np.log(mean / (1 - mean))),
            scratch=1,
        )


def squared_loss(
    query: Query,
    measure: MeasureFunctions,
    parameters: NoParameters,
    gradient: Vector,
    curvature: Vector,
) -> float:
    """Sum half the squared differences between scores and x."""
    loss = 0.0
    for i in range(query.scores.size):
        error = query.scores[i] - query.ranking.x[i]
        loss += 0.5 * error * error
        if gradient.size > 0:
            gradient[i] = error
            curvature[i] = 1.0
    return loss


@register_objective
@dataclass(frozen=True)
class GainRegression(KernelObjective):
    """Regression on the gains: ½ Σ (s_i − G(y_i))², in which sigma plays no part.

    It ranks by the expected gain, and its scores are estimates of it.

    Parameters
    ----------
    gain : {"exp2", "linear"}, tuple or callable
        What a label is worth; see `gbrank.measures.gains.gain_values`.

    References
    ----------
    Cossock & Zhang 2006, "Subset ranking using regression".

    Examples
    --------
    >>> from gbrank import Queries
    >>> bound = GainRegression().bind([2, 0], Queries.from_sizes([2]))
    >>> bound.gradients([1.0, 0.0])[0].tolist()
    [-2.0, 0.0]
    """

    name = "regression"
    declared = Facts(
        formula="½ Σ_i (s_i − G(y_i))²",
        source="Cossock & Zhang 2006",
        convex=True,
        shift_invariant=False,
        cost="O(m)",
        sigma_unit="none",
        closed_form=True,
    )

    gain: Gain = "exp2"

    def __post_init__(self) -> None:
        check_gain(self.gain)

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return squared differences from the gains."""
        return Program(kernel=squared_loss, labels=labels, x=gain_values(self.gain, labels))
