"""Which ranking to show for each query, where its own clicks say little."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from gbrank.clicks.off_policy import LoggedClicks, first_of
from gbrank.common.argument_error import ArgumentError, ArgumentTypeError
from gbrank.common.arrays import Vector
from gbrank.common.checks import check_finite, check_labels, check_vector, quoted
from gbrank.common.extras import needed
from gbrank.data.queries import Queries

if TYPE_CHECKING:
    import pandas as pd


def choose_by_query(
    scores: Mapping[str, ArrayLike],
    y: ArrayLike,
    qid: ArrayLike | Sequence[Any],
    *,
    clicks: LoggedClicks,
) -> pd.DataFrame:
    r"""Choose, for each query of a log, between the live ranking and another.

    What the other one would have brought, in clicks of a session (``"clicks by dr"`` of
    `compare_scores`), is :math:`d_q` on the mean of the query's :math:`n_q` sessions. Sessions vary
    about it with variance :math:`\sigma^2`, and queries about their mean :math:`\mu` with
    :math:`\tau^2` (by moments). The other ranking is chosen where

    .. math:: \mu + \frac{\tau^2}{\tau^2 + \sigma^2 / n_q} (d_q - \mu) > 0

    so that few sessions follow the mean of all queries, and many decide by themselves.

    Parameters
    ----------
    scores : mapping of str to array-like, shape (n_shown,)
        The live ranking's scores and the other's, in this order, by name.
    y, qid : array-like, shape (n_shown,)
        Clicks and sessions, as for `compare_scores`.
    clicks : LoggedClicks
        How the documents were shown.

    Returns
    -------
    pandas.DataFrame
        A row for each query: ``query``, ``sessions``, ``difference`` (:math:`d_q`), ``error`` (its
        standard error), ``shrunk``, what is compared with 0, and ``ranker``, which is chosen.

    Raises
    ------
    ValueError
        If an argument is not as described, or no query has two sessions.

    References
    ----------
    R. DerSimonian, N. Laird. Meta-analysis in clinical trials. Controlled Clinical Trials 7, 1986
    (the moments). S. Gupta, H. Oosterhuis, M. de Rijke. Practical and robust safety guarantees for
    advanced counterfactual learning to rank. CIKM 2024 (the question).

    Examples
    --------
    >>> import numpy as np
    >>> from gbrank.clicks import LoggedClicks, choose_by_query
    >>> rng = np.random.default_rng(0)
    >>> session = np.repeat(np.arange(400), 2)
    >>> document = rng.permuted(np.tile([0, 1], (400, 1)), axis=1).ravel()
    >>> position, query = np.tile([1, 2], 400), session // 200
    >>> worth = np.where(document == query, 0.8, 0.1)
    >>> clicks = (rng.random(800) < worth / position).astype(float)
    >>> scores = {"live": -position, "new": document}
    >>> logged = LoggedClicks(position, document, query)
    >>> choose_by_query(scores, clicks, session, clicks=logged)["ranker"].tolist()
    ['live', 'new']
    """
    if not isinstance(scores, Mapping) or len(scores) != 2:
        demand = "must be a dict of two rankings, the live one first"
        raise ArgumentError("scores", demand, quoted(scores))
    if not isinstance(clicks, LoggedClicks):
        raise ArgumentTypeError("clicks", "must be a LoggedClicks", quoted(clicks))
    sessions = Queries.resolve(np.size(y), qid, None)
    values = check_labels(y, "y", sessions.n_documents)
    checked = {}
    for name, own in scores.items():
        argument = f"scores[{name!r}]"
        checked[name] = check_finite(check_vector(own, argument, len(values)), argument)
    queries, rows = clicks.by_row(values, sessions, checked)
    live, other = (found["clicks by dr"] for found in rows.values())
    gain = np.bincount(sessions.index, other - live)
    query = first_of(queries, sessions)
    size = np.bincount(query)
    if size.max() < 2:
        raise ArgumentError("query", "must have one with two sessions")
    mean = np.bincount(query, gain) / size
    error = np.sqrt(((gain - mean[query]) ** 2).sum() / (len(gain) - len(size)) / size)
    shrunk = _shrunk(mean, error**2)
    ranker = np.array([*checked], dtype=object)[(shrunk > 0).astype(int)]
    table = {"query": queries.ids, "sessions": size, "difference": mean, "error": error}
    return needed("pandas", "tables").DataFrame(table | {"shrunk": shrunk, "ranker": ranker})


def _shrunk(values: Vector, variance: Vector) -> Vector:
    """Return values nearer to their mean, as far as they vary by chance."""
    if not variance.any():
        return values
    weight = 1 / variance
    total = weight.sum()
    excess = (weight * (values - weight @ values / total) ** 2).sum() - (len(values) - 1)
    spread = max(excess / max(total - (weight**2).sum() / total, 1e-300), 0.0)
    weight = 1 / (variance + spread)
    mean = weight @ values / weight.sum()
    return mean + spread * weight * (values - mean)
