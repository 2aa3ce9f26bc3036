"""A measure and a relaxation as a user would write them, registered when this file is imported.

Its tests are in test_extension.py; as a plugin it is given to `gbrank` and to pytest.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from gbrank import Measure, Objective, Queries, get_measure, register_measure, register_objective
from gbrank.kernels.driver import Program
from gbrank.kernels.newton_steps import to_score_units
from gbrank.measures.measure import Terms
from gbrank.objectives.objective import Facts


def first_value(
    i: int, top: int, first: Any, last: Any, x: Any, query: Any, table: Any, state: Any, out: Any
) -> None:
    """Write the mean label of the documents that may be first."""
    out[0] = query[0] * x[: last[0]].mean()


def no_preparation(
    i: int, top: int, first: Any, last: Any, x: Any, query: Any, table: Any, state: Any, out: Any
) -> None:
    """Do nothing: the row function needs no scratch."""


def first_swaps(
    i: int, top: int, first: Any, last: Any, x: Any, query: Any, table: Any, state: Any, out: Any
) -> None:
    """Write, for every j below i, the change when the two swap ranks, averaged over ties."""
    n = last[0]
    for j in range(i + 1, x.size):
        chance = ((i < n) + (j < n)) / n  # that one of the two is first
        out[j] = query[0] * abs(x[i] - x[j]) * chance


@register_measure
@dataclass(frozen=True, repr=False)
class ToyFirst(Measure):
    """The label of the first document, over the largest label of the query."""

    name = "toyfirst"
    formula = "y_1 / max y"
    source = "the tests of gbrank"
    value = first_value
    swaps = (no_preparation, first_swaps)

    def terms(self, labels: Any, queries: Queries) -> Terms:
        """Return labels and 1 over the largest."""
        largest = np.maximum.reduceat(labels[queries.order], queries.offsets[:-1])
        scale = np.divide(1, largest, out=np.zeros(len(largest)), where=largest > 0)
        return Terms(labels, scale[:, None], np.empty(0), largest > 0)


def soft_first(
    s: Any, first: Any, last: Any, documents: Any, query: Any, table: Any, params: Any,
    sigma: float, noise: int, prepare: Any, row: Any, work: Any, gradient: Any, curvature: Any,
) -> float:  # fmt: skip
    """Return −c Σ p_i x_i, p = softmax(s/σ), with curvature c p_i Σ |x_i − x_j| p_j/σ²."""
    m = s.size
    x = documents[0, :m]
    p = work[0, :m]
    p[:] = np.exp((s - s[0]) / sigma)
    p /= p.sum()
    mean = (p * x).sum()
    for i in range(gradient.size):
        gradient[i] = query[0] * p[i] * (mean - x[i])
        curvature[i] = query[0] * p[i] * (p * np.abs(x - x[i])).sum()
    to_score_units(sigma, gradient, curvature)
    return -query[0] * mean


@register_objective
@dataclass(frozen=True)
class ToyTop(Objective):
    """Minus what the first document is worth to a measure, drawn by softmax."""

    name = "toytop"
    facts = Facts(
        formula="−c Σ_i x_i softmax(s/σ)_i", source="the tests of gbrank", takes_measure=True
    )

    measure: Measure | str = field(default_factory=ToyFirst)
    normalize: Literal["query"] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "measure", get_measure(self.measure))

    def program(self, labels: Any, queries: Queries) -> Program:
        """Return the kernel with what the documents are worth."""
        terms = self.measure.terms(labels, queries)
        return Program(
            kernel=soft_first,
            documents=terms.x[None, :],
            queries=terms.query,
            query_norm=self.normalize == "query",
        )
