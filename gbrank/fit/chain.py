"""Scores of a chain of models, each of which adds to those of the next: the one way to predict."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gbrank.common.values import Vector
from gbrank.data.feature_matrix import Features
from gbrank.data.schema import Schema


class Link(NamedTuple):
    """A model of a chain: the columns that it reads, None for tables as they are; its scores."""

    schema: Schema | None
    score: Callable[[Any], Vector]


def scores_of(
    links: Sequence[Link], X: Any, read: Callable[[Schema, Any], Features] = Schema.transform
) -> Vector:
    """Return the score of each row: the sum over a ranker, its `init`, the init of that, ...

    `read` makes numbers of X.
    """
    schema: Schema | None = None
    features, parts = X, []
    for link in links:
        if schema is not None:
            X = schema.in_order(X)  # as the fit of the model before had them
        if link.schema is None:
            features = X
        elif link.schema != schema:
            schema, features = link.schema, read(link.schema, X)
        parts.append(link.score(features))
    return sum(reversed(parts[:-1]), start=parts[-1])
