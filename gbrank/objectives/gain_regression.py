"""Regression on the gains."""

from dataclasses import dataclass

from gbrank.common.arrays import Vector
from gbrank.common.fields import Parameter
from gbrank.data.queries import Queries
from gbrank.engine.contract import Derivatives, MeasureFunctions, Program, Query, Terms
from gbrank.measures.gains import Gain, check_gain, gain_values
from gbrank.objectives.objective import Facts, KernelObjective
from gbrank.objectives.objective_registry import register_objective


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

    Notes
    -----
    - Formula: ½ Σ_i (s_i − G(y_i))²
    - Source: Cossock & Zhang 2006
    - Cost: O(m)

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
        convex=True,
        second_derivative=True,
        shift_invariant=False,
        sigma_unit="none",
        closed_form=True,
    )

    gain: Gain = Parameter("exp2", check_gain)

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return squared differences from the gains."""
        return Program(squared_loss, labels, Terms(gain_values(self.gain, labels)))
