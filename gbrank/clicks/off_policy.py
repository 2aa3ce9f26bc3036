"""How often other rankings of a log's documents would have been clicked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbrank.clicks.click_labels import attention_at, worths
from gbrank.clicks.position_report import places_of, with_influence
from gbrank.common.argument_error import ArgumentError
from gbrank.common.arrays import Vector
from gbrank.common.checks import check_number, check_vector
from gbrank.data.columns import check_positions
from gbrank.data.queries import Queries
from gbrank.data.sampling import query_keys


@dataclass(frozen=True, eq=False)
class LoggedClicks:
    r"""What `compare_scores` needs to know of a log to compare rankers by its clicks.

    It then takes clicks as `y` and sessions as `qid`. A ranker puts the documents of a session, by
    its scores, at the session's positions; with attention :math:`\theta_p` where document i stood
    and :math:`\theta_{p'}` where it would have stood, the clicks of a session would have been

    .. math:: \sum_i w_i c_i \quad\text{(ips)}, \qquad
              \sum_i \theta_{p'} q_i + w_i (c_i - \theta_p q_i) \quad\text{(dr)}, \qquad
              w_i = \min(\theta_{p'} / \theta_p, \text{clip})

    where :math:`q_i`, how good the document is, is learned from the other half of the sessions.
    This assumes that a click depends on the document and on the attention of its position, and on
    nothing else that stands there. Documents that were not shown have no part.

    Parameters
    ----------
    position : array-like of int, shape (n_shown,), or mapping of str to such
        Where each document was shown, from 1, as for `position_report`.
    document, query : array-like, shape (n_shown,)
        Which document it was, and of which query. Intervals and tests are over queries, each of
        which counts by its sessions.
    attention : mapping of position to float, optional
        What each position gets; by default it is estimated (`position_report`), and intervals are
        as wide as this makes them.
    clip : float
        The largest weight of a click.

    Examples
    --------
    >>> import numpy as np
    >>> from gbrank import compare_scores
    >>> from gbrank.clicks import LoggedClicks
    >>> rng = np.random.default_rng(0)
    >>> session = np.repeat(np.arange(2000), 2)
    >>> document = rng.permuted(np.tile([0, 1], (2000, 1)), axis=1).ravel()
    >>> position = np.tile([1, 2], 2000)
    >>> clicks = (rng.random(4000) < np.array([0.2, 0.6])[document] / position).astype(float)
    >>> query = session // 10
    >>> logged = LoggedClicks(position, document, query)
    >>> scores = {"live": -position, "better": document}
    >>> found = compare_scores(scores, clicks, session, clicks=logged)
    >>> [round(row.mean, 1) for row in found.summary() if row.measure == "clicks by dr"]
    [0.6, 0.7]
    """

    position: ArrayLike | Mapping[str, ArrayLike]
    document: ArrayLike | Sequence[object]
    query: ArrayLike | Sequence[Any]
    attention: Mapping[Any, float] | None = None
    clip: float = 10.0

    def values(
        self, clicks: Vector, sessions: Queries, scores: Mapping[str, Vector]
    ) -> tuple[list[str], dict[str, dict[str, Vector]]]:
        """Return queries, and of each ranker what the estimates say of them."""
        queries, found = self.by_row(clicks, sessions, scores)
        share, size = queries.n_queries / sessions.n_queries, queries.n_queries
        return list(map(str, queries.ids.tolist())), {
            name: {how: share * _sums(queries.index, own, size) for how, own in rows.items()}
            for name, rows in found.items()
        }

    def by_row(
        self, clicks: Vector, sessions: Queries, scores: Mapping[str, Vector]
    ) -> tuple[Queries, dict[str, dict[str, Vector]]]:
        """Return the queries of rows, and of each ranker what each row adds to the estimates."""
        check_number(self.clip, "clip", 1)
        position = check_positions(self.position, "position", len(clicks))
        queries = groups_of(self.query, "query", len(clicks), sessions)
        documents = groups_of(self.document, "document", len(clicks))
        pairs = np.column_stack([queries.index, documents.index])
        pairs, document = np.unique(pairs, axis=0, return_inverse=True)
        document, influence = document.ravel(), None
        attention = self.attention
        if attention is None:
            report, influence = with_influence(document, position, clicks)
            if not report.connected:
                demand = "must be given where documents do not connect all positions of the log"
                raise ArgumentError("attention", demand)
            attention = report.attention
        places = places_of(position)
        own, position = attention_at(places, attention), position.reshape(len(clicks), -1)[:, 0]
        half = np.argsort(np.argsort(query_keys(sessions.ids))) % 2
        worth = _worth_by_others(document, half[sessions.index], clicks, own)
        size, total = len(pairs), _sums(document, own, len(pairs))
        clicked = _sums(document, clicks, size)
        shown, place = np.lexsort((position, sessions.index)), places.index
        found = {}
        for name, values in scores.items():
            order = np.lexsort((position, -values, sessions.index))
            new, at = np.empty(len(own)), np.empty(len(own), dtype=np.int64)
            new[order], at[order] = own[shown], place[shown]
            ratio = _sums(document, new, size) / total
            weight = np.minimum(ratio, self.clip)[document]
            each = [weight * clicks, new * worth + weight * (clicks - own * worth)]
            if influence is not None:
                slope = np.where(ratio < self.clip, clicked, 0) / total
                width = influence.shape[1]
                grown = _sums(at, new * slope[document], width)
                grown -= _sums(place, own * (slope * ratio)[document], width)
                error = influence @ grown / np.bincount(document)
                each = [value + error[document] for value in each]
            found[name] = dict(zip(("clicks by ips", "clicks by dr"), each, strict=True))
        return queries, found


def _worth_by_others(
    document: NDArray[np.int64], half: NDArray[np.int64], clicks: Vector, attention: Vector
) -> Vector:
    """Return how good each row's document is by the other half of the sessions."""
    worth, size = np.empty(len(clicks)), int(document.max()) + 1
    for part in (0, 1):
        own, other = half == part, half != part
        rate = clicks[other].sum() / max(attention[other].sum(), 1e-300)
        clicked = _sums(document[other], clicks[other], size)
        expected = rate * _sums(document[other], attention[other], size)
        worth[own] = rate * worths(clicked, expected)[0][document[own]] if rate else 0
    return worth


def groups_of(
    ids: ArrayLike | Sequence[Any], name: str, n: int, sessions: Queries | None = None
) -> Queries:
    """Return which rows have the same id; those of a session, where these are given."""
    groups = Queries.from_qid(ids, name)
    check_vector(groups.index, name, n)
    if sessions is not None and (first_of(groups, sessions)[sessions.index] != groups.index).any():
        raise ArgumentError(name, "must be one for each session")
    return groups


def first_of(groups: Queries, sessions: Queries) -> NDArray[np.int64]:
    """Return the group of each session's first row."""
    return groups.index[sessions.order[sessions.offsets[:-1]]]


def _sums(groups: NDArray[np.int64], values: Vector, size: int) -> Vector:
    return np.bincount(groups, values, size).astype(np.float64)
