"""Regression on the gains, document by document."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gbrank.common.checks import check_choice
from gbrank.data.queries import Queries
from gbrank.kernels.compiled import Matrix, Positions, Vector
from gbrank.kernels.driver import Program
from gbrank.measures.gains import Gain, check_gain, gain_values
from gbrank.objectives.objective import Facts, Objective

__all__ = ["GainRegression"]


def squared_loss(
    s: Vector, first: Positions, last: Positions, documents: Matrix, query: Vector,
    table: Vector, params: Vector, sigma: float, noise: int, prepare: Any, row: Any,
    work: Matrix, gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Sum half the squared differences between scores and the documents' second constants."""
    loss = 0.0
    for i in range(s.size):
        error = s[i] - documents[1, i]
        loss += 0.5 * error * error
        if gradient.size > 0:
            gradient[i] = error
            curvature[i] = 1.0
    return loss


@dataclass(frozen=True)
class GainRegression(Objective):
    """Regression on the gains: ½ Σ (s_i − G(y_i))², in which sigma plays no part.

    It ranks by the expected gain, and its scores are estimates of it.

    Parameters
    ----------
    gain : {"exp2", "linear"}, tuple or callable
        What a label is worth; see `gbrank.measures.gains.gain_values`.
    normalize : {None, "query"}
        ``"query"`` multiplies a query's gradient and curvature by log2(1 + S) / S, S = Σ|gradient|.

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
    facts = Facts(
        formula="½ Σ_i (s_i − G(y_i))²",
        source="Cossock & Zhang 2006",
        convex=True,
        shift_invariant=False,
        cost="O(m)",
        sigma_unit="none",
    )

    gain: Gain = "exp2"
    normalize: Literal["query"] | None = None

    def __post_init__(self) -> None:
        check_gain(self.gain)
        check_choice(self.normalize, "normalize", [None, "query"])

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return squared differences from the gains."""
        return Program(
            kernel=squared_loss,
            documents=np.stack([labels, gain_values(self.gain, labels)]),
            queries=np.ones((queries.n_queries, 1)),
            query_norm=self.normalize == "query",
        )
