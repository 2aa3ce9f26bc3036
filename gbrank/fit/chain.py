"""Scores of a chain of models, each of which adds to those of the next: the one way to predict.

X is read once, by the first model; each of the others gets the columns of the one before it, in its
own order and with its own codes of categories.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gbrank.common.checks import ArgumentError, Vector
from gbrank.data.feature_matrix import Features, n_rows
from gbrank.data.schema import Schema


class Link(NamedTuple):
    """A model of a chain: the columns that it reads, None for tables as they are; its scores."""

    schema: Schema | None
    score: Callable[[Any], Vector]


def scores_of(links: Sequence[Link], X: Any) -> Vector:
    """Return the score of each row: the sum over a ranker, its `init`, the init of that, ..."""
    if not n_rows(X):
        return np.empty(0)
    schema = links[0].schema
    if schema is None:
        return links[0].score(X)
    return scores_by(links, schema, schema.transform(X), X)


def scores_by(links: Sequence[Link], schema: Schema, features: Features, X: Any) -> Vector:
    """Return the sum of the scores of features that a schema has read from the table X."""
    parts = []
    for link in links:
        if link.schema is None:
            parts.append(link.score(schema.in_order(X)))
            continue
        features = link.schema.convert(features, schema)
        schema = link.schema
        parts.append(link.score(features))
    return sum(reversed(parts[:-1]), start=parts[-1])


def check_readable(schema: Schema | None, booster: str) -> None:
    """Check that a booster alone can read the columns of the ranker that adds to it, if any."""
    if schema is None:
        raise ArgumentError(
            "path",
            "must hold a ranker of gbrank for a predictor; call the booster's own predict",
            booster,
        )
    if schema.categories:
        raise ArgumentError(
            "init", "must have no categories of its own for a predictor; use load_ranker", booster
        )
