"""Sigma chosen in every round by the papers' own bounds, beside the schedules that gbrank has.

python -m benchmarks.studies.bounds --data mq2008 wikiqa ohsumed
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.papers.theory import ndcg_error_bound, rank_error_bound, smooth_ndcg_error_bound
from benchmarks.studies.as_they_come import gbrank_scores
from benchmarks.studies.validated import Scores, validated
from benchmarks.studies.wrapped import Wrapped
from gbrank import Queries, get_objective
from gbrank.common.arrays import Vector
from gbrank.data.spread import spread_within_queries, step_factor
from gbrank.engine.driver import Runner
from gbrank.schedules import constant

TEXT = """\
# Sigma chosen by the papers' bounds is no better than a fixed fall

The theorems say both what a wide σ costs, the error of the approximation, and what a narrow one
costs, the complexity, which grows with 1/σ and falls with √n. "bounds c" takes the σ with the
smallest sum in every round, of 21 widths from 1/32 to 32 spreads of the scores: the mean over
queries of the error's bound, each at most 1 (corollary 4 and theorem 6 of ApproxRank; section 5.1
of SmoothRank), plus c/(σ √n) with σ in spreads, n training queries. The theorems' own constant is
thousands of times too large to choose anything but the widest σ; so c is tried over a range. Steps
are of one spread at most: scores run away otherwise. Validation queries of five folds; `GBRanker`
with 150 rounds, of which the first 75 are RankNet's, as it comes.
"""

WIDTHS = 2.0 ** np.arange(-5, 5.5, 0.5)  # in spreads of the scores
WEIGHTS = (0.1, 1.0, 10.0)


@dataclass(frozen=True)
class Bounded(Wrapped):
    """Chooses sigma in every round."""

    name = "bounded"

    complexity: float = 1.0

    def gradients(
        self, inner: Runner, scores: Vector, sigma: float, round: int, weights: Vector
    ) -> tuple[Vector, Vector]:
        """Return the derivatives at the sigma of the smallest bound, with steps of a spread."""
        unit = self.facts.sigma_unit
        power = 2 if unit == "squared score" else 1
        spread = spread_within_queries(scores, inner.queries) or 1.0
        bounds = [self._bound(scores, inner.queries, width, spread, power) for width in WIDTHS]
        width = WIDTHS[np.argmin(bounds)]
        gradient, curvature = inner.gradients(scores, (width * spread) ** power, round, weights)
        longer = step_factor(width**power, inner.queries, unit)
        return gradient * longer / max(width, 1.0), curvature

    def _bound(
        self, scores: Vector, queries: Queries, width: float, spread: float, power: int
    ) -> float:
        """Return the error's bound and that of the complexity."""
        sigma = (width * spread) ** power
        errors = [
            _error_bound(scores[queries.rows(q)], sigma, power) for q in range(queries.n_queries)
        ]
        narrow = self.complexity / (width * np.sqrt(queries.n_queries))
        return float(np.mean(np.minimum(errors, 1.0)) + narrow)


def _error_bound(scores: Vector, sigma: float, power: int) -> float:
    """Return the bound on the error of a query's NDCG."""
    if power == 2:
        return smooth_ndcg_error_bound(scores, sigma)
    return ndcg_error_bound(float(rank_error_bound(scores, sigma).max()))


def by_bounds(name: str) -> dict[str, Scores]:
    """Return a ranker with its own schedule, and those that choose sigma."""
    own, unit = get_objective(name), constant(1, unit="spread")
    chosen = {f"{name}, bounds {weight:g}": Bounded(own, weight) for weight in WEIGHTS}
    return {
        name: partial(gbrank_scores, objective=own),
        **{
            label: partial(gbrank_scores, objective=objective, sigma=unit)
            for label, objective in chosen.items()
        },
    }


if __name__ == "__main__":
    validated("bounds", TEXT, [(None, by_bounds(name)) for name in ("approx:ndcg", "smooth:ndcg")])
