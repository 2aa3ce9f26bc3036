"""Scores of a chain of models, each of which adds to those of the next: the one way to predict."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gbrank.common.arrays import Vector
from gbrank.data.schema import Schema


class Link(NamedTuple):
    """A model of a chain: the columns that it reads, None for tables as they are; its scores."""

    schema: Schema | None
    score: Callable[[Any], Vector]


def scores_of(links: Sequence[Link], X: Any) -> Vector:
    """Return the score of each row: the sum over a ranker, its `init`, the init of that, ..."""
    schema: Schema | None = None
    features, parts = X, []
    for link in links:
        if schema is not None:
            X = schema.in_order(X)  # as the fit of the model before had them
        if link.schema is None:
            features = X
        elif link.schema != schema:
            schema, features = link.schema, link.schema.transform(X)
        parts.append(link.score(features))
    *outer, scores = parts
    for part in reversed(outer):
        scores = part + scores
    return scores
