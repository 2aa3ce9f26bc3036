"""The boosting loop by itself: which round is the best, and when it ends."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gbrank.fit.loop import train


class Replay:
    """Steps and an evaluation that give known values, round by round."""

    name = "valid_0"

    def __init__(self, values: list[float]) -> None:
        self._values, self._done = values, 0

    def step(self, derivatives: Any) -> None:
        self._done += 1

    def train_scores(self) -> Any:
        raise AssertionError("nobody asked for them")

    def valid_scores(self) -> list[Any]:
        return [np.empty(0)]

    def values(self, scores: Any) -> dict[str, float]:
        return {"ndcg": self._values[self._done - 1]}


@pytest.mark.parametrize(
    ("values", "patience", "best", "done"),
    [
        ([0.1, 0.3, 0.3, 0.3, 0.3, 0.3], 3, 2, 5),  # a plateau: its first round, and no longer
        ([0.5, 0.5, 0.5, 0.6, 0.1, 0.1], 2, 1, 3),
        ([0.1, 0.2, 0.2, 0.3, 0.3, 0.2], 2, 4, 6),
        ([0.3, 0.2, 0.1, 0.4, 0.4, 0.3], None, 6, 6),  # without early stopping, the last one
    ],
)
def test_the_best_round(values: list[float], patience: int | None, best: int, done: int) -> None:
    steps: Any = Replay(values)
    history = train(
        steps, lambda round: None, 6, on_train=None, on_valid=[steps],
        patience=patience, progress=False, sigmas={},
    )  # fmt: skip
    assert (history.best_round, history.done) == (best, done)
    assert history.best_value == values[best - 1]


@pytest.mark.parametrize(("begin", "done"), [(0, 4), (2, 5), (3, 6)])
def test_patience_counts_from_the_objectives_first_round(begin: int, done: int) -> None:
    """The best round is in the start, which is not long enough to be ended by it."""
    steps: Any = Replay([0.9] + 11 * [0.1])
    hook: Any = SimpleNamespace(begin=begin, end_start=None)
    history = train(
        steps, lambda round: None, 12, on_train=None, on_valid=[steps],
        patience=3, progress=False, sigmas={}, hook=hook,
    )  # fmt: skip
    assert (history.best_round, history.done) == (1, done)
