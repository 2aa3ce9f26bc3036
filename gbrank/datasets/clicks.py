"""Simulated clicks: a position-based model with known propensities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbrank.common.argument_error import ArgumentError
from gbrank.common.arrays import Vector
from gbrank.common.checks import (
    check_finite,
    check_generator,
    check_labels,
    check_number,
    check_vector,
)
from gbrank.data.queries import Queries
from gbrank.measures.gains import gain_values


class Clicks(NamedTuple):
    """Clicks on rankings that were shown: one entry for each document of each session.

    Entries stand session by session, in the order in which documents were shown; all arrays have
    the shape (n_shown,).

    Parameters
    ----------
    rows : ndarray of int64
        Which document it is: its row in the labelled data.
    y : ndarray of float64
        1 if it was clicked, else 0.
    qid : ndarray of int64
        The session, from 0: one ranking that was shown once. Sessions of a query are adjacent.
    position : ndarray of int64
        The position at which it was shown, from 1.
    propensity : ndarray of float64
        The probability that this position was examined.

    Examples
    --------
    >>> from gbrank.datasets import make_clicks
    >>> clicks = make_clicks([0, 1, 2], [7, 7, 7], n_sessions=2, random_state=0)
    >>> clicks.qid, clicks.position
    (array([0, 0, 0, 1, 1, 1]), array([1, 2, 3, 1, 2, 3]))
    """

    rows: NDArray[np.int64]
    y: Vector
    qid: NDArray[np.int64]
    position: NDArray[np.int64]
    propensity: Vector


def make_clicks(
    y: ArrayLike,
    qid: ArrayLike,
    *,
    scores: ArrayLike | None = None,
    temperature: float = 1.0,
    n_sessions: int = 10,
    n_positions: int = 10,
    eta: float = 1.0,
    noise: float = 0.1,
    random_state: int | np.random.Generator | None = None,
) -> Clicks:
    r"""Show each query a number of times, and let users click by the position-based model.

    A session shows the best documents by `scores` plus Gumbel noise of scale `temperature` (so
    that rankings are drawn by Plackett and Luce's model). A user clicks at position r with

    .. math:: P(\text{click}) = r^{-\eta}
              \left(\epsilon + (1 - \epsilon) \frac{2^y - 1}{2^{y_{max}} - 1}\right)

    The first factor is whether the position is examined, whatever stands there, the second
    depends on the label y alone: :math:`\epsilon` is the `noise`, :math:`y_{max}` the largest
    label.

    Parameters
    ----------
    y : array-like, shape (n_documents,)
        Relevance labels, at least 0, not all 0.
    qid : array-like, shape (n_documents,)
        The query of each row, in any order.
    scores : array-like, shape (n_documents,), optional
        Scores of the ranker in service; all equal by default.
    temperature : float, default 1.0
        How much rankings vary, in units of the scores; 0 always shows the same one, with equal
        scores in the order of the rows.
    n_sessions, n_positions : int, default 10
        How often each query is shown, and how many documents at most in a session.
    eta : float, default 1.0
        How fast attention falls, at least 0: at 0 users examine everything.
    noise : float in [0, 1], default 0.1
        The probability of a click on an examined document of label 0.
    random_state : int or numpy.random.Generator, optional
        Seed; the same seed makes the same bits. By default every call differs.

    Returns
    -------
    Clicks

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described.

    References
    ----------
    M. Richardson, E. Dominowska, R. Ragno. Predicting clicks. WWW 2007 (the position-based model).
    T. Joachims, A. Swaminathan, T. Schnabel. Unbiased learning-to-rank with biased feedback. WSDM
    2017, section 7 (propensities). Q. Ai, K. Bi, C. Luo, J. Guo, W. B. Croft. Unbiased learning to
    rank with unbiased propensity estimation. SIGIR 2018, section 5 (clicks from grades).

    Examples
    --------
    >>> from gbrank import GBRanker, make_cubic
    >>> from gbrank.datasets import make_clicks
    >>> X, y, qid = make_cubic(50, n_documents=20, n_features=5, random_state=0)
    >>> clicks = make_clicks(y, qid, n_sessions=4, n_positions=5, random_state=0)
    >>> clicks.position[:7], clicks.propensity[:5].round(2)
    (array([1, 2, 3, 4, 5, 1, 2]), array([1.  , 0.5 , 0.33, 0.25, 0.2 ]))
    >>> ranker = GBRanker("ranknet", n_estimators=10)
    >>> _ = ranker.fit(X[clicks.rows], clicks.y, qid=clicks.qid, position=clicks.position)
    >>> ranker.score(X, y, qid=qid) > 0.5
    True
    """
    labels = check_labels(y, "y")
    gains = gain_values("exp2", labels)
    if not gains.any():
        raise ArgumentError("y", "must have a label above 0", "only zeros")
    relevance = gains / gains.max()
    queries = Queries.resolve(len(labels), qid)
    utility = np.zeros(len(labels))
    if scores is not None:
        utility = check_finite(check_vector(scores, "scores", len(labels)), "scores")
    check_number(temperature, "temperature", 0)
    check_number(n_sessions, "n_sessions", 1, integer=True)
    check_number(n_positions, "n_positions", 1, integer=True)
    check_number(eta, "eta", 0)
    check_number(noise, "noise", 0, 1)
    generator = check_generator(random_state)

    sizes = np.repeat(queries.sizes, n_sessions)
    session = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(session)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    first = np.repeat(np.repeat(queries.offsets[:-1], n_sessions), sizes)
    rows = queries.order[first + place]
    drawn = utility[rows] + temperature * generator.gumbel(size=len(rows))
    shown = np.lexsort((-drawn, session))[place < n_positions]

    rows, position = rows[shown], place[place < n_positions] + 1
    propensity = position.astype(np.float64) ** -eta
    clicked = generator.random(len(rows)) < propensity * (noise + (1 - noise) * relevance[rows])
    return Clicks(rows, clicked.astype(np.float64), session[shown], position, propensity)
