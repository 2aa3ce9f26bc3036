"""Simulated clicks, of users who behave as a model says; the truth is known."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbrank import make_cubic

Vector = NDArray[np.float64]
Rows = NDArray[np.int64]


class Clicks(NamedTuple):
    """One entry for each document of each session, session by session, in the order shown."""

    rows: Rows  # of the labelled data
    y: Vector  # 1 where it was clicked
    qid: Rows  # the session
    position: Rows  # from 1, as the log has it
    propensity: Vector  # of examination, in the worlds that have one


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
    world: str = "pbm",
    random_state: int = 0,
) -> Clicks:
    """Show each query `n_sessions` times by Plackett and Luce's model of `scores` / `temperature`.

    "pbm": position r is examined with probability r ** -eta, and an examined document clicked as it
    is attractive: noise + (1 - noise) (2^y - 1) / (2^ymax - 1). "cascade": users go down the list,
    and leave after a click (0.7), or without one (0.15). "trust": irrelevant documents are clicked
    more often the higher they stand. "wrong": in 30% of sessions the log has other positions.
    """
    labels, given = np.asarray(y, dtype=float), np.asarray(qid)
    rng = np.random.default_rng(random_state)
    utility = np.zeros(len(labels)) if scores is None else np.asarray(scores, dtype=float)
    first = {query: np.flatnonzero(given == query) for query in dict.fromkeys(given.tolist())}
    lists = [own for own in first.values() for _ in range(n_sessions)]
    drawn = [utility[own] + temperature * rng.gumbel(size=len(own)) for own in lists]
    shown = [
        own[np.argsort(-worth, kind="stable")[:n_positions]]
        for own, worth in zip(lists, drawn, strict=True)
    ]
    rows = np.concatenate(shown)
    sizes = [len(own) for own in shown]
    session = np.repeat(np.arange(len(shown)), sizes)
    position = np.concatenate([np.arange(1, size + 1) for size in sizes])
    relevance = (2 ** labels[rows] - 1) / (2 ** labels.max() - 1)
    attractive = noise + (1 - noise) * relevance
    if world == "trust":
        attractive = np.minimum(attractive + 0.35 * position**-0.7 * (1 - relevance), 1)
    propensity = position.astype(float) ** -eta
    clicked = rng.random(len(rows)) < propensity * attractive
    if world == "cascade":
        clicked[:] = False
        reading = np.ones(len(shown), dtype=bool)
        for place in range(1, n_positions + 1):
            here = np.flatnonzero((position == place) & reading[session])
            clicked[here] = rng.random(len(here)) < attractive[here]
            leaves = rng.random(len(here)) < np.where(clicked[here], 0.7, 0.15)
            reading[session[here[leaves]]] = False
    if world == "wrong":
        other = (rng.random(len(shown)) < 0.3)[session]
        position = np.where(other, rng.permutation(position), position)
    return Clicks(rows, clicked.astype(float), session, position, propensity)


def log_of(
    seed: int, *, queries: int = 80, sessions: int = 20, temperature: float = 1.0, eta: float = 1.0
) -> Any:
    """Return simulated clicks on rankings mostly by one feature, which varies by `temperature`."""
    X, y, qid = make_cubic(
        queries, n_documents=12, n_features=5, distribution=(0.5, 0.2, 0.15, 0.1, 0.05),
        random_state=seed,
    )  # fmt: skip
    return X, make_clicks(
        y, qid, scores=3 * X[:, 0], n_sessions=sessions, temperature=temperature, noise=0.05,
        eta=eta, random_state=seed,
    )  # fmt: skip
