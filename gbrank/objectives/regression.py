"""Regression on the gains, document by document."""

from dataclasses import dataclass

from gbrank.data.queries import Queries
from gbrank.kernels.compiled import Vector
from gbrank.kernels.contract import MeasureFunctions, NoParameters, Query
from gbrank.kernels.program import Program
from gbrank.measures.gains import Gain, check_gain, gain_values
from gbrank.objectives.kernel_objective import KernelObjective
from gbrank.objectives.objective import Facts
from gbrank.objectives.objective_registry import register_objective


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
    )

    gain: Gain = "exp2"

    def __post_init__(self) -> None:
        check_gain(self.gain)

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return squared differences from the gains."""
        return Program(kernel=squared_loss, labels=labels, x=gain_values(self.gain, labels))
