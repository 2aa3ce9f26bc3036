"""Curvature: the diagonal of the Hessian in place of what gbrank divides gradients by.

python -m benchmarks.studies.hessian --data mq2008 wikiqa
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.studies.as_they_come import gbrank_scores
from benchmarks.studies.validated import Scores, validated
from benchmarks.studies.wrapped import Wrapped
from gbrank import Queries, get_objective
from gbrank.common.arrays import Vector
from gbrank.engine.driver import Runner

TEXT = """\
# The exact diagonal of the Hessian is a worse curvature than gbrank's

Smoothed measures are not convex: for about half of the documents the second derivative by the
score is negative. gbrank divides by a positive number of the objective's own. Here it is the second
derivative itself: "exact" is 0 where that is negative, "absolute" is its absolute value. Both are
differences of gradients, document by document; documents of equal score, where SmoothNDCG has no
second derivative, keep the objective's own curvature. Seconds are those of the differences, not of
a formula: the diagonal must be better by rounds to be better by seconds. Validation queries of five
folds; `GBRanker` with 150 rounds, of which the first 75 are RankNet's, as it comes.
"""

STEP = 1e-4  # of a difference, in units of the width


@dataclass(frozen=True)
class Hessian(Wrapped):
    """Divides by the diagonal of the Hessian."""

    name = "hessian"

    absolute: bool = False

    def gradients(
        self, inner: Runner, scores: Vector, sigma: float, round: int, weights: Vector
    ) -> tuple[Vector, Vector]:
        """Return the gradient as it is, and the diagonal."""
        squared = self.facts.sigma_unit == "squared score"
        step = STEP * (np.sqrt(sigma) if squared else sigma)
        gradient, own = inner.gradients(scores, sigma, round, weights)
        diagonal = np.empty_like(own)
        for rows in _one_of_each_query(inner.queries):
            moved = scores.copy()
            moved[rows] += step
            then, _ = inner.gradients(moved, sigma, round, weights)
            diagonal[rows] = (then[rows] - gradient[rows]) / step
        positive = np.abs(diagonal) if self.absolute else np.maximum(diagonal, 0.0)
        return gradient, np.where(_near_another(scores, inner.queries, 2 * step), own, positive)


def _one_of_each_query(queries: Queries) -> list[np.ndarray]:
    """Return rows that can move at once: at most one of each query."""
    starts, sizes = queries.offsets[:-1], queries.sizes
    return [queries.order[starts[sizes > k] + k] for k in range(sizes.max())]


def _near_another(scores: Vector, queries: Queries, gap: float) -> np.ndarray:
    """Say which documents are closer than that to another one of their query."""
    order = np.lexsort((scores, queries.index))
    near = (np.diff(scores[order]) < gap) & (np.diff(queries.index[order]) == 0)
    found = np.zeros(len(scores), dtype=bool)
    found[order[1:]] |= near
    found[order[:-1]] |= near
    return found


def changed(name: str) -> dict[str, Scores]:
    """Return rankers of an objective with its own curvature and with the diagonal."""
    own = get_objective(name)
    return {
        name: partial(gbrank_scores, objective=own),
        f"{name}, exact": partial(gbrank_scores, objective=Hessian(own, absolute=False)),
        f"{name}, absolute": partial(gbrank_scores, objective=Hessian(own, absolute=True)),
    }


if __name__ == "__main__":
    names = ("approx:ndcg", "smooth:ndcg", "tie:ndcg")
    validated("hessian", TEXT, [(None, changed(name)) for name in names])
