"""Which ranker's documents are clicked more, where lists take turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gbrank.clicks.off_policy import groups_of
from gbrank.common.argument_error import ArgumentError
from gbrank.common.arrays import Vector
from gbrank.data.queries import Queries


@dataclass(frozen=True, eq=False)
class Interleaved:
    """What `compare_scores` needs to know of sessions that showed a draft of two rankings.

    In a team draft, two rankers take turns, a coin says who begins each turn, and each puts its
    best document that is not there yet. `compare_scores` then takes clicks as `y`, sessions as
    `qid`, and as scores of a ranker 1 where it put the document, and else 0. A session is won by
    the ranker whose documents got more clicks; where they got as many, each won half of it.

    Parameters
    ----------
    query : array-like, shape (n_shown,)
        The query of each document. Intervals and tests are over queries, each of which counts by
        its sessions.

    References
    ----------
    F. Radlinski, M. Kurup, T. Joachims. How does clickthrough data reflect retrieval quality? CIKM
    2008 (team draft).

    Examples
    --------
    >>> import numpy as np
    >>> from gbrank import compare_scores
    >>> from gbrank.clicks import Interleaved
    >>> session, new = np.repeat(np.arange(4), 2), np.array([1, 0, 0, 1, 1, 0, 0, 1])
    >>> clicks = [1, 0, 0, 1, 0, 0, 0, 1]
    >>> scores = {"live": 1 - new, "new": new}
    >>> found = compare_scores(scores, clicks, session, clicks=Interleaved(session))
    >>> [row.mean for row in found.summary()]
    [0.125, 0.875]
    """

    query: ArrayLike | Sequence[Any]

    def values(
        self, clicks: Vector, sessions: Queries, scores: Mapping[str, Vector]
    ) -> tuple[list[str], dict[str, dict[str, Vector]]]:
        """Return queries, and what each ranker has won of their sessions."""
        queries = groups_of(self.query, "query", len(clicks), sessions)
        put = np.array([*scores.values()])
        if len(put) != 2 or not (np.isin(put, [0, 1]).all() and (put.sum(axis=0) == 1).all()):
            demand = "must be of two rankers, 1 where the document is this one's and 0 elsewhere"
            raise ArgumentError("scores", demand)
        lead = np.sign(np.bincount(sessions.index, np.where(put[0], clicks, -clicks)))
        weight = queries.n_queries / sessions.n_queries / sessions.sizes
        won = {}
        for name, sign in zip(scores, (1, -1), strict=True):
            share = (weight * (1 + sign * lead) / 2)[sessions.index]
            won[name] = {"sessions won": np.bincount(queries.index, share).astype(np.float64)}
        return list(map(str, queries.ids.tolist())), won
