"""The derivatives of a fit: an objective bound to documents, and those that a round leaves out."""

from collections.abc import Callable
from functools import partial

from gbrank.boosters.gradient_hook import GradientHook
from gbrank.boosters.interface import GradientFunction
from gbrank.common.arrays import Mask
from gbrank.data.documents import Documents
from gbrank.data.queries import Queries
from gbrank.data.sampling import document_keys, query_keys, sampled
from gbrank.fit.boosted_ranker import BoostedRanker


def derivatives_by_round(
    hook: GradientHook, ranker: BoostedRanker, train: Documents, seed: int
) -> Callable[[int], GradientFunction]:
    """Bind a hook to the documents of a fit; return the function of a round to its derivatives."""
    bound = hook.bind(
        train.y,
        train.queries,
        sample_weight=train.sample_weight,
        query_weight=train.query_weight,
        labels=train.labels,
    )
    left_out = _sampling(ranker, train.queries, seed)
    return lambda round: partial(hook.derivatives, bound, round=round, left_out=left_out(round))


def _sampling(ranker: BoostedRanker, queries: Queries, seed: int) -> Callable[[int], Mask | None]:
    """Return the function from a round to the mask of the documents that it leaves out."""
    share = ranker.subsample
    if share == 1:
        return lambda round: None
    if ranker.subsample_by == "document":
        documents = document_keys(queries)
        return lambda round: ~sampled(documents, share, seed, round)
    keys = query_keys(queries.ids)
    return lambda round: ~sampled(keys, share, seed, round)[queries.index]
