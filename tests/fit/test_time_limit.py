"""A fit that ends in time, by a clock that the tests turn."""

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from gbrank import GBRanker, make_cubic
from gbrank.fit import boost, rounds

X, Y, QID = make_cubic(30, n_documents=10, n_features=4, random_state=0)
SMALL: dict[str, Any] = {
    "min_child_samples": 3, "n_jobs": 1, "random_state": 0,
}  # fmt: skip


class Clock:
    """Shows one second more at each round, and what a test adds."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(boost, "perf_counter", clock)
    step = rounds.Round  # the class that a callback is told

    def told(*values: Any, **named: Any) -> Any:
        clock.now += 1
        return step(*values, **named)

    monkeypatch.setattr("gbrank.fit.loop.Round", told)
    return clock


def test_as_many_rounds_as_fit(clock: Clock) -> None:
    """Five are timed, a tenth of the rest is kept; the model is that of so many rounds."""
    ranker = GBRanker("ranknet", **SMALL).fit(X, Y, qid=QID, time_limit=105)
    rounds = int(0.9 * (105 - 5))
    assert ranker.best_iteration_ == rounds
    assert ranker.n_estimators == GBRanker().n_estimators
    same = GBRanker("ranknet", n_estimators=rounds, **SMALL).fit(X, Y, qid=QID)
    assert ranker.learning_rate_ == same.learning_rate_
    assert_array_equal(ranker.predict(X), same.predict(X))


def test_rounds_that_take_longer(clock: Clock) -> None:
    """The fit ends before the time does, with the rounds that it has."""

    def slow(round: Any) -> None:
        clock.now += 3

    ranker = GBRanker("ranknet", **SMALL).fit(X, Y, qid=QID, time_limit=105, callbacks=[slow])
    assert ranker.best_iteration_ == 25  # four seconds each
    assert clock.now <= 105


def test_rounds_that_are_timed_do_not_stop_early(clock: Clock) -> None:
    """However little patience the fit itself has, which ends at a measure that falls."""
    told: list[Any] = []
    falling = itertools.count()
    ranker = GBRanker("ranknet", validation_fraction=0.3, early_stopping_rounds=1, **SMALL)
    ranker.set_params(eval_metric=lambda scores, labels: -float(next(falling)))
    ranker.fit(X, Y, qid=QID, time_limit=105, callbacks=[told.append])
    assert {round.rounds for round in told} == {int(0.9 * (105 - 5))}
    assert (len(told), ranker.best_iteration_) == (2, 1)


def test_what_comes_before_the_rounds_comes_again(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The booster reads the data for the rounds that are timed, and for those that count."""
    read = boost.BoostingPlan.trainer

    def slow(plan: Any) -> Any:
        clock.now += 20
        return read(plan)

    monkeypatch.setattr(boost.BoostingPlan, "trainer", slow)
    ranker = GBRanker("ranknet", **SMALL).fit(X, Y, qid=QID, time_limit=105)
    assert ranker.best_iteration_ == int(0.9 * (105 - 20 - 5 - 20))


def test_no_time(clock: Clock) -> None:
    """One round."""
    assert GBRanker("ranknet", **SMALL).fit(X, Y, qid=QID, time_limit=2).best_iteration_ == 1


def test_early_stopping_and_smoothed_objectives() -> None:
    """By the machine's own clock: what is fitted is a model of its own rounds."""
    ranker = GBRanker("approx:ndcg", validation_fraction=0.3, early_stopping_rounds=5, **SMALL)
    ranker.fit(X, Y, qid=QID, time_limit=1.0)
    assert len(ranker.evals_result_["valid_0"]["ndcg@10"]) >= ranker.best_iteration_ >= 1
    assert np.isfinite(ranker.predict(X)).all()


def test_what_is_refused(tmp_path: Any) -> None:
    for seconds in (0, -1, "10", np.nan):
        with pytest.raises((ValueError, TypeError), match="time_limit must be"):
            GBRanker(**SMALL).fit(X, Y, qid=QID, time_limit=seconds)
    with pytest.raises(ValueError, match="checkpoint must be None with time_limit"):
        GBRanker(**SMALL).fit(X, Y, qid=QID, time_limit=5, checkpoint=tmp_path)


def test_as_long_as_it_takes() -> None:
    """Millions of rounds that fit into the time are not all gone through before the first."""
    ranker = GBRanker("ranknet", random_state=0, n_jobs=1)
    ranker.fit(X, Y, qid=QID, time_limit=1e12, callbacks=[lambda _: True])
    assert ranker.best_iteration_ == 1


@pytest.mark.parametrize("where", ["objective", "later", "measure"])
def test_what_takes_long_once_is_taken_off_once(where: str, clock: Clock) -> None:
    """Such as compiling: 50 seconds in the first call, or in the fourth round."""
    calls: list[int] = []

    def once(first: int) -> None:
        calls.append(0)
        clock.now += 50 * (len(calls) == first)

    def squares(scores: Any, labels: Any, sigma: float) -> Any:
        if where != "measure":
            once(1 if where == "objective" else 3 * 30 + 5)
        return ((scores - labels) ** 2).sum() / 2, scores - labels, np.ones(len(scores))

    def top(scores: Any, labels: Any) -> float:
        once(1)
        return float(labels[np.argmax(scores)])

    metric = top if where == "measure" else "ndcg"
    ranker = GBRanker(squares, eval_metric=metric, validation_fraction=0.2, **SMALL)
    ranker.fit(X, Y, qid=QID, time_limit=105)
    assert ranker.best_iteration_ == int(0.9 * (105 - 50 - 5))
    assert clock.now <= 105
