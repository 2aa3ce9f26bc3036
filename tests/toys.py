"""A measure and a relaxation as a user would write them, registered when this file is imported.

They use all the scratch that they declare, to its last entry. Their tests are in
test_extension.py; as a plugin the file is given to `gbrank` and to pytest.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gbrank.extend import (
    Facts,
    Measure,
    MeasureFunctions,
    MeasureObjective,
    Program,
    Queries,
    Query,
    Ranking,
    SeparableDelta,
    Swaps,
    Terms,
    inline,
    register_measure,
    register_objective,
    to_score_units,
)

CHANCE, WORTH, TIED = range(3)  # rows of the measure's scratch; of the last, the last entry


@inline
def fill_chances(ranking: Ranking) -> None:
    """Fill in how many documents may be first, and the chance of each that it is."""
    own = ranking.scratch
    own[TIED, -1] = ranking.last[0]
    for p in range(ranking.x.size):
        own[CHANCE, p] = 1 / own[TIED, -1] if p < ranking.last[0] else 0.0


def first_value(ranking: Ranking) -> float:
    """Return the mean label of the documents that may be first."""
    fill_chances(ranking)
    own = ranking.scratch
    mean = 0.0
    for p in range(ranking.x.size):
        own[WORTH, p] = own[CHANCE, p] * ranking.x[p]
        mean += own[WORTH, p]
    return ranking.scale * mean


def first_swaps(ranking: Ranking, top: int, delta: SeparableDelta) -> None:
    """Fill in the chances that one of two documents is first."""
    fill_chances(ranking)
    own = ranking.scratch
    for p in range(ranking.x.size):
        own[WORTH, p] = ranking.scale * own[CHANCE, p]
        delta.upper[p] = own[WORTH, p]
        delta.share[p] = 0.0
        delta.lower[p] = 0.0
        delta.inside[p] = 2 * own[WORTH, p]


def prepare_row(ranking: Ranking, top: int) -> None:
    """Fill in the same, and in the last entry how many documents it is about."""
    fill_chances(ranking)
    own = ranking.scratch
    for p in range(ranking.x.size):
        own[WORTH, p] = ranking.scale * own[CHANCE, p]


def first_row(ranking: Ranking, i: int, stop: int, top: int, out: Any) -> None:
    """Write, for every j below i, the change when the two swap ranks, averaged over ties."""
    x, own = ranking.x, ranking.scratch
    for j in range(i + 1, stop):
        both = own[WORTH, i] + own[WORTH, j]
        out[j] = both * abs(x[i] - x[j]) if i < own[TIED, -1] else 0.0


def first_by_rank(ranking: Ranking, ranks: Any, beta: float, direct: float, slopes: Any) -> float:
    """Return Σ x/(1 + exp(β(r − 3/2))), and write its slopes."""
    own = ranking.scratch
    own[TIED, -1] = 1.5
    total = 0.0
    for p in range(ranking.x.size):
        own[CHANCE, p] = 1 / (1 + np.exp(beta * (ranks[p] - own[TIED, -1])))
        own[WORTH, p] = ranking.scale * ranking.x[p] * own[CHANCE, p]
        total += own[WORTH, p]
        slopes[p] = -beta * own[WORTH, p] * (1 - own[CHANCE, p])
    return total


def first_by_position(ranking: Ranking, means: Any, slopes: Any) -> float:
    """Return the mean x at the first position, and write its slopes."""
    own = ranking.scratch
    own[TIED, -1] = ranking.scale
    total = 0.0
    for p in range(ranking.x.size):
        own[CHANCE, p] = 1.0 if p == 0 else 0.0
        own[WORTH, p] = own[TIED, -1] * own[CHANCE, p]
        slopes[p] = own[WORTH, p]
        total += own[WORTH, p] * means[p]
    return total


@register_measure
@dataclass(frozen=True, repr=False)
class ToyFirst(Measure):
    """The label of the first document, over the largest label of the query."""

    name = "toyfirst"
    formula = "y_1 / max y"
    source = "the tests of gbrank"
    value = first_value
    swaps = Swaps(separable=first_swaps, row=first_row, prepare=prepare_row)
    by_rank = first_by_rank
    by_position = first_by_position
    scratch = 3

    def terms(self, labels: Any, queries: Queries) -> Terms:
        """Return labels and 1 over the largest."""
        largest = np.maximum.reduceat(labels[queries.order], queries.offsets[:-1])
        scale = np.divide(1, largest, out=np.zeros(len(largest)), where=largest > 0)
        return Terms(labels, largest > 0, scale=scale)


def soft_first(
    query: Query, measure: MeasureFunctions, parameters: Any, gradient: Any, curvature: Any
) -> float:
    """Return −c Σ p_i x_i, p = softmax(s/σ), with curvature c p_i Σ |x_i − x_j| p_j/σ²."""
    s, x, scale, own = query.scores, query.ranking.x, query.ranking.scale, query.scratch
    m = s.size
    p = own[0, :m]
    p[:] = np.exp((s - s[0]) / query.sigma)
    own[1, -1] = p.sum()
    p /= own[1, -1]
    mean = (p * x).sum()
    for i in range(gradient.size):
        gradient[i] = scale * p[i] * (mean - x[i])
        own[1, :m] = np.abs(x - x[i])
        curvature[i] = scale * p[i] * (p * own[1, :m]).sum()
    to_score_units(query.sigma, gradient, curvature)
    return -scale * mean


@register_objective
@dataclass(frozen=True)
class ToyTop(MeasureObjective):
    """Minus what the first document is worth to a measure, drawn by softmax."""

    name = "toytop"
    wanted = "be a measure"
    declared = Facts(
        formula="−c Σ_i x_i softmax(s/σ)_i", source="the tests of gbrank", takes_measure=True
    )

    measure: Measure | str = field(default_factory=ToyFirst)

    @classmethod
    def takes(cls, measure: Measure) -> bool:
        """Take every measure."""
        return True

    def program(self, labels: Any, queries: Queries) -> Program:
        """Return the kernel with what the documents are worth."""
        return self.terms(labels, queries).program(soft_first, scratch=2)
