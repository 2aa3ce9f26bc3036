"""The derivatives of a fit: an objective bound to the rows, and what each round leaves out."""

from collections.abc import Callable
from functools import partial
from typing import Any

from gbrank.boosters.gradient_hook import GradientHook
from gbrank.boosters.interface import GradientFunction
from gbrank.common.arrays import Mask
from gbrank.data.rows import Rows
from gbrank.data.sampling import document_keys, query_keys, sampled
from gbrank.fit.boosted_ranker import BoostedRanker


class Gradients:
    """A ranker's objective, bound once to the rows of a fit: the derivatives of each round."""

    def __init__(self, ranker: BoostedRanker, rows: Rows, seed: int) -> None:
        self.hook = GradientHook(
            ranker.objective,
            ranker.sigma,
            start=ranker.init is None and rows.init_score is None,
            rounds=ranker.n_estimators,
            curvature=ranker.curvature,
            n_jobs=ranker.n_jobs,
        )
        self._rows = rows
        self._left_out = _sampling(ranker, rows, seed)
        self.bound = self._bind()

    def _bind(self) -> list[Any]:
        rows = self._rows
        names = ("sample_weight", "query_weight", "labels")
        columns = {name: rows.columns.get(name) for name in names}
        return self.hook.bind(rows.y, rows.queries, **columns)

    def go_on_from(self, start: object) -> None:
        """Continue the schedule of a start that had the same one."""
        if isinstance(start, BoostedRanker):
            bound_for = [stage.rounds for stage in self.hook.stages]
            self.hook.go_on_from(start._fitted.progress)
            if [stage.rounds for stage in self.hook.stages] != bound_for:
                self.bound = self._bind()

    def __call__(self, round: int) -> GradientFunction:
        """Return the derivatives of a round, as a function of the scores."""
        left_out = self._left_out(round)
        return partial(self.hook.derivatives, self.bound, round=round, left_out=left_out)


def _sampling(ranker: BoostedRanker, rows: Rows, seed: int) -> Callable[[int], Mask | None]:
    """Return the function from a round to the mask of the documents that it leaves out."""
    share, queries = ranker.subsample, rows.queries
    if share == 1:
        return lambda round: None
    if ranker.subsample_by == "document":
        documents = document_keys(queries)
        return lambda round: ~sampled(documents, share, seed, round)
    keys = query_keys(queries.ids)
    return lambda round: ~sampled(keys, share, seed, round)[queries.index]
