"""The derivatives of a fit: an objective bound to documents, and those that a round leaves out."""

from collections.abc import Callable
from functools import partial

from gbrank.boosters.gradient_hook import GradientHook
from gbrank.boosters.interface import GradientFunction
from gbrank.data.documents import Documents
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
    if ranker.subsample == 1:
        return lambda round: partial(hook.derivatives, bound, round=round)
    queries, by_document = train.queries, ranker.subsample_by == "document"
    keys = document_keys(queries) if by_document else query_keys(queries.ids)

    def sampled_derivatives(round: int) -> GradientFunction:
        left_out = ~sampled(keys, ranker.subsample, seed, round)
        mask = left_out if by_document else left_out[queries.index]
        return partial(hook.derivatives, bound, round=round, left_out=mask)

    return sampled_derivatives
