"""Callbacks: functions of the user's that are called after each round of a fit."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from gbrank.common.checks import quoted
from gbrank.fit.known_elsewhere import refuse_theirs


@dataclass(frozen=True)
class Round:
    """What a callback is told after a round: ``GBRanker().fit(..., callbacks=[function])``.

    Parameters
    ----------
    number : int
        The round, from 0.
    rounds : int
        How many there will be, if nothing ends them before.
    sigma : float or None
        The sigma of this round; None with a booster's own objective.
    values : dict of str to dict of str to float
        ``values["valid_0"]["ndcg@10"]`` is the measure after this round; "train" is among the sets
        where `verbose` is set.
    best : int
        How many rounds the model would have if the fit ended now.

    Examples
    --------
    >>> from gbrank import GBRanker, make_cubic
    >>> X, y, qid = make_cubic(20, n_documents=10, n_features=5, random_state=0)
    >>> def after_two(round):
    ...     return round.number == 1
    >>> GBRanker("ranknet").fit(X, y, qid=qid, callbacks=[after_two]).best_iteration_
    2
    """

    number: int
    rounds: int
    sigma: float | None
    values: Mapping[str, Mapping[str, float]]
    best: int


Callback: TypeAlias = Callable[[Round], Any]


def check_callbacks(callbacks: Sequence[Callback] | None) -> list[Callback]:
    """Return the callbacks, or say what is wrong with them."""
    listed = [] if callbacks is None else callbacks
    for callback in listed if isinstance(listed, Sequence) else ():
        refuse_theirs(callback)
    if not isinstance(listed, Sequence) or not all(map(callable, listed)):
        raise TypeError(f"callbacks must be a list of functions, got {quoted(callbacks)}.")
    return list(listed)


def call_all(callbacks: Sequence[Callback], round: Round) -> bool:
    """Call each callback; return whether one of them ends the fit."""
    answers = [callback(round) for callback in callbacks]
    for answer in answers:
        if not isinstance(answer, bool | np.bool_ | None):
            raise TypeError(
                f"callbacks must return True, which ends the fit, or False or None, got {answer!r}."
            )
    return any(answers)
