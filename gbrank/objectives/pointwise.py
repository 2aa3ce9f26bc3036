"""Losses of single documents: logistic regression with a query effect, regression on the gains."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gbrank.common.arrays import Vector
from gbrank.common.fields import checked, real
from gbrank.data.queries import Queries
from gbrank.engine.compiling import inline
from gbrank.engine.contract import Derivatives, MeasureFunctions, Program, Query, Terms
from gbrank.engine.structures import slice_of
from gbrank.measures.gains import Gain, check_gain, gain_values
from gbrank.numerics.logistic import logistic
from gbrank.numerics.vectors import LONGEST_STEP, bound_steps, to_score_units
from gbrank.objectives.objective import Facts, KernelObjective
from gbrank.objectives.objective_registry import register_objective
from gbrank.parallel.collective import all_max, all_sum
from gbrank.parallel.sums import order_free_mean

STEPS = 50  # of Newton's method, which needs 4 to 8
WIDEST = 1e100  # scores in units of σ beyond which only the sign matters


class InterceptParameters(NamedTuple):
    """The parameters of the kernel.

    Parameters
    ----------
    strength : float
        The penalty λ.
    centre : float
        The intercept b₀ of a query whose scores have mean 0, to which the penalty pulls.
    """

    strength: float
    centre: float


class InterceptWork(NamedTuple):
    """The work array: scores in units of σ."""

    z: Vector


def logistic_with_intercept(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Return min over b of Σ_i CE(p_i, t_i) + λ/2 (b − b₀ + mean s/σ)², p_i = σ(s_i/σ + b).

    Labels are the targets t. The gradient is p − t at the best b, less its mean, which is the part
    due to the mean score in the penalty.
    """
    parameters: InterceptParameters = query.parameters
    s, targets, sigma = query.scores, query.key, query.sigma
    m = s.size
    strength = parameters.strength
    z = query.work.z
    mean = 0.0
    for i in range(m):
        z[i] = min(max(s[i] / sigma, -WIDEST), WIDEST)
        mean += z[i] / m
    centre = parameters.centre - mean
    b = fit_intercept(slice_of(z, 0, m), targets, strength, centre)
    loss = 0.5 * strength * (b - centre) ** 2
    excess = 0.0
    for i in range(m):
        # CE(p, t) = log(1 + e^x) − t x, x = z + b
        x = z[i] + b
        loss += max(x, 0.0) + np.log1p(np.exp(-abs(x))) - targets[i] * x
        excess += (logistic(x) - targets[i]) / m
    if m == 1:
        return min(loss, 1e300)  # the intercept alone explains a single document
    for i in range(out.gradient.size):
        p = logistic(z[i] + b)
        out.gradient[i] = p - targets[i] - excess
        out.curvature[i] = p * (1 - p)
    bound_steps(LONGEST_STEP, out)
    to_score_units(sigma, out)
    return min(loss, 1e300)


@inline
def fit_intercept(z: Vector, targets: Vector, strength: float, centre: float) -> float:
    """Return the b that minimises Σ CE + λ/2 (b − centre)², by Newton's method in a bracket."""
    low = centre - z.size / strength  # the slope of Σ CE is at most m
    high = centre + z.size / strength
    b = centre
    for _ in range(STEPS):
        slope = strength * (b - centre)
        second = strength
        for i in range(z.size):
            p = logistic(z[i] + b)
            slope += p - targets[i]
            second += p * (1 - p)
        if slope > 0:
            high = b
        else:
            low = b
        step = b - slope / second
        step = step if low < step < high else 0.5 * (low + high)
        if abs(step - b) <= 1e-13 * (1 + abs(b)):
            return step
        b = step
    return b


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

    strength: float = real(10.0, 0, open_low=True)

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return logistic regression with an intercept."""
        targets = labels / (all_max(float(labels.max())) or 1.0)
        # A mean of 0 or 1 is moved by half a document, so that its logit is finite.
        half = 0.5 / all_sum(len(labels))
        mean = float(np.clip(order_free_mean(targets, len(targets)), half, 1 - half))
        return Program(
            kernel=logistic_with_intercept,
            key=targets,
            parameters=InterceptParameters(self.strength, np.log(mean / (1 - mean))),
            work=InterceptWork,
        )


def squared_loss(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Sum half the squared differences between scores and gains."""
    loss = 0.0
    for i in range(query.scores.size):
        error = query.scores[i] - query.ranking.gains[i]
        loss += 0.5 * error * error
        if out.gradient.size > 0:
            out.gradient[i] = error
            out.curvature[i] = 1.0
    return loss


@register_objective
@dataclass(frozen=True)
class GainRegression(KernelObjective):
    """Regression on the gains: ½ Σ (s_i − G(y_i))², in which sigma plays no part.

    It ranks by the expected gain, and its scores are estimates of it.

    Parameters
    ----------
    gain : {"exp2", "linear"}, list, tuple or callable
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
        second_derivative=True,
        shift_invariant=False,
        cost="O(m)",
        sigma_unit="none",
        closed_form=True,
    )

    gain: Gain = checked("exp2", check_gain)

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return squared differences from the gains."""
        return Program(squared_loss, labels, Terms(gain_values(self.gain, labels)))
