"""A measure and a relaxation as a user would write them, registered when this file is imported.

They use all the work arrays that they declare, to their last entries. Their tests are in
test_extension.py; as a plugin the file is given to `gbrank` and to pytest.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from gbrank import Queries
from gbrank.extend import (
    Derivatives,
    Facts,
    Measure,
    MeasureFunctions,
    MeasureObjective,
    Program,
    Query,
    Ranking,
    SeparableDelta,
    Swaps,
    Terms,
    Vector,
    inline,
    register_measure,
    register_objective,
    to_score_units,
    unpack,
)


class FirstWork(NamedTuple):
    """What the measure's functions work with; of `tied`, the last entry."""

    chance: Vector
    worth: Vector
    tied: Vector


@inline
def chances(ranking: Ranking) -> FirstWork:
    """Fill in how many documents may be first, and the chance of each that it is."""
    own = unpack(ranking.memory, FirstWork)
    own.tied[-1] = ranking.last[0]
    for p in range(ranking.gains.size):
        own.chance[p] = 1 / own.tied[-1] if p < ranking.last[0] else 0.0
    return own


def first_value(ranking: Ranking) -> float:
    """Return the mean label of the documents that may be first."""
    own = chances(ranking)
    mean = 0.0
    for p in range(ranking.gains.size):
        own.worth[p] = own.chance[p] * ranking.gains[p]
        mean += own.worth[p]
    return ranking.scale * mean


def first_swaps(ranking: Ranking, top: int, delta: SeparableDelta) -> None:
    """Fill in the chances that one of two documents is first."""
    own = chances(ranking)
    for p in range(ranking.gains.size):
        own.worth[p] = ranking.scale * own.chance[p]
        delta.upper[p] = own.worth[p]
        delta.share[p] = 0.0
        delta.lower[p] = 0.0
        delta.inside[p] = 2 * own.worth[p]


def prepare_row(ranking: Ranking, top: int) -> None:
    """Fill in the same, and in the last entry how many documents it is about."""
    own = chances(ranking)
    for p in range(ranking.gains.size):
        own.worth[p] = ranking.scale * own.chance[p]


def first_row(ranking: Ranking, i: int, stop: int, top: int, out: Vector) -> None:
    """Write, for every j below i, the change when the two swap ranks, averaged over ties."""
    gains, own = ranking.gains, unpack(ranking.memory, FirstWork)
    for j in range(i + 1, stop):
        both = own.worth[i] + own.worth[j]
        out[j] = both * abs(gains[i] - gains[j]) if i < own.tied[-1] else 0.0


def first_by_rank(ranking: Ranking, ranks: Vector, beta: float, slopes: Vector) -> float:
    """Return Σ G/(1 + exp(β(r − 3/2))), and write its slopes."""
    own = unpack(ranking.memory, FirstWork)
    own.tied[-1] = 1.5
    total = 0.0
    for p in range(ranking.gains.size):
        own.chance[p] = 1 / (1 + np.exp(beta * (ranks[p] - own.tied[-1])))
        own.worth[p] = ranking.scale * ranking.gains[p] * own.chance[p]
        total += own.worth[p]
        slopes[p] = -beta * own.worth[p] * (1 - own.chance[p])
    return total


def first_by_position(ranking: Ranking, means: Vector, slopes: Vector) -> float:
    """Return the mean gain at the first position, and write its slopes."""
    own = unpack(ranking.memory, FirstWork)
    own.tied[-1] = ranking.scale
    total = 0.0
    for p in range(ranking.gains.size):
        own.chance[p] = 1.0 if p == 0 else 0.0
        own.worth[p] = own.tied[-1] * own.chance[p]
        slopes[p] = own.worth[p]
        total += own.worth[p] * means[p]
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
    work = FirstWork

    def terms(self, labels: Any, queries: Queries) -> Terms:
        """Return labels and 1 over the largest."""
        largest = np.maximum.reduceat(labels[queries.order], queries.offsets[:-1])
        scale = np.divide(1, largest, out=np.zeros(len(largest)), where=largest > 0)
        return Terms(labels, largest > 0, scale=scale)


class SoftFirstWork(NamedTuple):
    """What the kernel works with; the last entry of `total` is the sum of the first."""

    p: Vector
    total: Vector


def soft_first(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Return −c Σ p_i G_i, p = softmax(s/σ), with curvature c p_i Σ |G_i − G_j| p_j/σ²."""
    s, gains, scale = query.scores, query.ranking.gains, query.ranking.scale
    m, p, total = s.size, query.work.p, query.work.total
    total[-1] = 0.0
    for i in range(m):
        p[i] = np.exp((s[i] - s[0]) / query.sigma)
        total[-1] += p[i]
    mean = 0.0
    for i in range(m):
        p[i] /= total[-1]
        mean += p[i] * gains[i]
    for i in range(out.gradient.size):
        out.gradient[i] = scale * p[i] * (mean - gains[i])
        for j in range(m):
            out.curvature[i] += scale * p[i] * p[j] * abs(gains[j] - gains[i])
    to_score_units(query.sigma, out)
    return -scale * mean


@register_objective
@dataclass(frozen=True)
class ToyTop(MeasureObjective):
    """Minus what the first document is worth to a measure, drawn by softmax."""

    name = "toytop"
    wanted = "be a measure"
    declared = Facts(
        formula="−c Σ_i G_i softmax(s/σ)_i", source="the tests of gbrank", takes_measure=True
    )

    measure: Measure | str = field(default_factory=ToyFirst)

    @classmethod
    def takes(cls, measure: Measure) -> bool:
        """Take every measure."""
        return True

    def program(self, labels: Any, queries: Queries) -> Program:
        """Return the kernel with what the documents are worth."""
        return self.measure_program(soft_first, labels, queries, work=SoftFirstWork)
