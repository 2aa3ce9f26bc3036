"""The boosting loop by itself: which round is the best, and when it ends."""

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from gbrank import GBRanker, LinearRanker, make_cubic
from gbrank.boosters.interface import Plan, RoundRecord
from gbrank.fit.loop import Judges, run_rounds
from gbrank.fit.rounds import History, Stopping


class Replay:
    """Steps and a measure on rows that give known values, round by round."""

    measure = "ndcg"

    def __init__(self, values: list[float]) -> None:
        self._values, self._done = values, 0

    def step(self, round: int, plan: Plan) -> RoundRecord:
        self._done += 1
        return RoundRecord(sigma=1.0)

    def scores(self, place: int) -> Any:
        assert place, "nobody asked for the training rows"
        return np.empty(0)

    def mean(self, scores: Any) -> float:
        return self._values[self._done - 1]


@pytest.mark.parametrize(
    ("values", "stopping", "best", "done"),
    [
        # A plateau: its first round, and no longer.
        ([0.1, 0.3, 0.3, 0.3, 0.3, 0.3], Stopping(3), 2, 5),
        ([0.5, 0.5, 0.5, 0.6, 0.1, 0.1], Stopping(2), 1, 3),
        ([0.1, 0.2, 0.2, 0.3, 0.3, 0.2], Stopping(2), 4, 6),
        ([0.3, 0.2, 0.1, 0.4, 0.4, 0.3], Stopping(), 6, 6),  # without early stopping, the last one
        # Means of two: 9, 5, 1, 1.5, 2.5, 3.5
        ([9.0, 1.0, 1.0, 2.0, 3.0, 4.0], Stopping(2, window=2), 1, 3),
        # Means of two: 1, 3, 4, 3, 3, 4, 4.5; of single rounds, the second is the best.
        ([1.0, 5.0, 3.0, 3.0, 3.0, 5.0, 4.0], Stopping(4, window=2), 7, 7),
        ([1.0, 5.0, 3.0, 3.0, 3.0, 5.0, 4.0], Stopping(3, window=2), 3, 6),
        # Means of three: 1, 3, 2, 2, 1, 2, 7/3
        ([1.0, 5.0, 0.0, 1.0, 2.0, 3.0, 2.0], Stopping(5, window=3), 2, 7),
        # Equal means are no better, although 0.2 + 0.3 + 0.1 < 0.3 + 0.1 + 0.2 in floating point.
        ([0.0, 0.2, 0.3, 0.1, 0.2, 0.3, 0.1], Stopping(9, window=3), 4, 7),
        ([0.0, 0.2, 0.3, 0.1, 0.2, 0.3, 0.1], Stopping(2, window=3), 4, 6),
    ],
)
def test_the_best_round(values: list[float], stopping: Stopping, best: int, done: int) -> None:
    steps: Any = Replay(values)
    judges, history = Judges({"valid_0": [steps]}, stopping=stopping), History(Plan(0, len(values)))
    run_rounds(steps.step, steps.scores, judges, history)
    assert (history.best_round, history.done) == (best, done)
    assert history.published("valid_0")["best_score"] == values[best - 1]


@pytest.mark.parametrize(("begin", "done"), [(0, 4), (2, 5), (3, 6)])
def test_patience_counts_from_the_objectives_first_round(begin: int, done: int) -> None:
    """The best round is in the start, which is not long enough to be ended by it."""
    steps: Any = Replay([0.9] + 11 * [0.1])
    judges, history = Judges({"valid_0": [steps]}, stopping=Stopping(3)), History(Plan(begin, 12))
    run_rounds(steps.step, steps.scores, judges, history)
    assert (history.best_round, history.done) == (1, done)


@pytest.mark.parametrize("kind", ["array", "sparse", "linear"])
def test_many_equal_rows_are_told(kind: str) -> None:
    """With their share of all rows, in one warning; a few, or those of other queries, are not."""
    X, y, qid = make_cubic(20, n_documents=10, n_features=4, random_state=0)
    ranker: Any = LinearRanker(n_steps=2) if kind == "linear" else GBRanker(n_estimators=2)
    make = sp.csr_matrix if kind == "sparse" else np.array
    for n_again, expected in ((0, []), (10, []), (100, ["33% of the rows are duplicates"])):
        rows = np.r_[: len(y), :n_again]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ranker.fit(make(X[rows]), y[rows], qid=qid[rows])
        said = [str(one.message) for one in caught if "are duplicates" in str(one.message)]
        assert [text[: len("33% of the rows are duplicates")] for text in said] == expected
        if n_again == 100:
            with warnings.catch_warnings():
                warnings.filterwarnings("error", message=".*are duplicates")
                ranker.fit(make(X[rows]), y[rows], qid=np.r_[qid, 100 + qid[:100]])
