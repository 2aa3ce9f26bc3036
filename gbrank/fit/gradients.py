"""The derivatives of a fit: an objective bound to the rows, and what each round leaves out."""

from collections.abc import Callable
from functools import partial

from gbrank.boosters.gradient_hook import GradientHook
from gbrank.boosters.interface import GradientFunction
from gbrank.common.arrays import Mask
from gbrank.data.rows import Rows
from gbrank.data.sampling import document_keys, query_keys, sampled
from gbrank.fit.boosted_ranker import BoostedRanker


def derivatives_by_round(
    hook: GradientHook, ranker: BoostedRanker, rows: Rows, seed: int
) -> Callable[[int], GradientFunction]:
    """Bind a hook to the rows of a fit; return what gives each round's derivatives of scores."""
    names = ("sample_weight", "query_weight", "labels")
    columns = {name: rows.columns.get(name) for name in names}
    bound = hook.bind(rows.y, rows.queries, **columns)
    left_out = _sampling(ranker, rows, seed)
    return lambda round: partial(hook.derivatives, bound, round=round, left_out=left_out(round))


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
