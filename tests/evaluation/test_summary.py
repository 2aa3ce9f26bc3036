"""The rows of a summary, from outcomes written by hand."""

import itertools
from typing import Any

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator

from gbrank import compare_rankers, cross_validate_rankers, make_cubic
from gbrank.evaluation import Dataset
from gbrank.evaluation.summary import summarise
from gbrank.evaluation.trial import Outcome, Scores, Trial
from noisy import NOISY

X = np.arange(24.0)[:, None] % 5
Y = np.arange(24.0) % 4
QID = np.repeat(np.arange(6), 4)
ROWS = np.arange(24)
FOLDS = [(ROWS[:8], ROWS[8:16], ROWS[16:])]
TOY = make_cubic(12, n_documents=8, n_features=4, random_state=0)
QUIET: dict[str, Any] = {"n_jobs": 1, "progress": False, "seeds": 1}


def outcome(ranker: str, values: list[float], seed: int = 0) -> Outcome:
    """Return the outcome of a fit whose queries are worth this."""
    queries = [f"q{query}" for query in range(len(values))]
    scores = Scores(queries, {"m": np.array(values)})
    return Outcome(Trial("data", ranker, seed, 1), scores, scores, None, 1.0)


def test_a_query_that_a_seed_leaves_out_is_left_out() -> None:
    """For all rankers and seeds, so that all means are over the same queries."""
    nan = float("nan")
    fits = [
        outcome("a", [1.0, 0.5, 0.25], seed=0),
        outcome("a", [0.5, nan, 0.75], seed=1),
        outcome("b", [0.0, 1.0, 0.5], seed=0),
        outcome("b", [0.0, 1.0, 1.0], seed=1),
    ]
    a, b = summarise(fits, ["m"], "a", "test")
    assert (a.n_queries, a.n_skipped) == (b.n_queries, b.n_skipped) == (2, 1)
    assert_allclose([a.mean, b.mean, b.difference], [0.625, 0.375, -0.25])


def test_both_p_values_are_corrected_for_their_number() -> None:
    """Each ranker's own one by enumeration; the k-th smallest of three is worth 4 - k times it."""
    values = {
        "base": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7],
        "better": [0.2, 0.35, 0.5, 0.5, 0.65, 0.8, 0.9],
        "worse": [0.05, 0.25, 0.1, 0.1, 0.3, 0.45, 0.75],
        "equal": [0.2, 0.1, 0.3, 0.45, 0.45, 0.6, 0.7],
    }
    rows = summarise([outcome(*item) for item in values.items()], ["m"], "base", "test")
    own = {}
    for name in list(values)[1:]:
        difference = np.subtract(values[name], values["base"])
        flips = np.array(list(itertools.product([-1, 1], repeat=7))) @ difference
        own[name] = np.mean(np.abs(flips) >= abs(difference.sum()) - 1e-9)
    largest = 0.0
    for place, name in enumerate(sorted(own, key=lambda name: own[name])):
        largest = min(1.0, max(largest, (3 - place) * own[name]))
        (row,) = (row for row in rows if row.ranker == name)
        assert_allclose(row.p_randomisation, largest, rtol=1e-9)
        assert row.p_correction == "Holm"
    assert len(set(own.values())) == 3


class Told(BaseEstimator):
    """A ranker that says how long its fit took."""

    def fit(self, X: Any, y: Any, **_: Any) -> "Told":
        """Learn nothing."""
        self.cpu_seconds_ = 1234.5
        return self

    def predict(self, X: Any) -> Any:
        """Return the only feature."""
        return X[:, 0]


def test_what_a_ranker_says_of_itself() -> None:
    """Its seconds."""
    data = Dataset("data", X, Y, QID, FOLDS)
    (row,) = compare_rankers({"told": Told()}, [data], **QUIET).summary()
    assert row.cpu_seconds == 1234.5


def test_records_have_a_row_for_each_query() -> None:
    """Of each fit and part."""
    measures = ["ndcg@10(no_relevant=0,gain='linear')", "ap"]
    comparison = cross_validate_rankers(
        NOISY, *TOY, folds=3, seeds=2, measures=measures, n_jobs=1, progress=False
    )
    frame = pd.DataFrame(comparison.records)
    assert list(frame.columns) == [
        "data", "ranker", "seed", "fold", "part", "query", *measures, "rounds",
        "cpu_seconds",
    ]  # fmt: skip
    for outcome in comparison.outcomes:
        own = frame[(frame[["ranker", "seed", "fold"]] == [
            outcome.trial.ranker, outcome.trial.seed, outcome.trial.fold
        ]).all(axis=1)]  # fmt: skip
        for part in ("valid", "test"):
            scores, found = getattr(outcome, part), own[own["part"] == part]
            assert found["query"].tolist() == scores.queries
            assert found["ap"].tolist() == scores.values["ap"].tolist()
