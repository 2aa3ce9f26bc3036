"""Comparisons of rankers: their numbers, what rankers are given, and bad input."""

import itertools
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.base import BaseEstimator, clone

from gbrank import (
    NDCG,
    GBRanker,
    LambdaRank,
    LinearRanker,
    Queries,
    SLAMPerceptron,
    compare_rankers,
    cross_validate_rankers,
    get_measure,
)
from gbrank.evaluation import Dataset, LetorFolds, QueryTimeSeriesSplit
from gbrank.extend import custom_objective
from noisy import Noisy
from small_comparison import QID, QUIET, TINY, X, Y


def test_summary_is_what_a_loop_gives() -> None:
    """Means, deviations and differences, by hand, from rankers fitted by hand."""
    y = Y.copy()
    y[QID == 5] = 0  # skipped
    names = ("lambdarank", "ranknet")
    rankers = {name: GBRanker(name, **TINY, subsample=0.5) for name in names}
    comparison = cross_validate_rankers(
        rankers, X, y, QID, folds=3, seeds=[3, 8], metric=["ndcg@3", "rr"], **QUIET
    )
    values: dict[str, Any] = {name: {3: {}, 8: {}} for name in names}
    for name, seed, fold in itertools.product(names, (3, 8), LetorFolds(3).split(X, Y, QID)):
        train, valid, test = fold
        ranker = clone(rankers[name]).set_params(random_state=seed, n_jobs=1)
        ranker.fit(X[train], y[train], qid=QID[train])
        for part, rows in {"valid": valid, "test": test}.items():
            measure = NDCG(k=3).per_query(y[rows], ranker.predict(X[rows]), qid=QID[rows])
            own = values[name][seed].setdefault(part, {})
            own.update(zip(Queries.from_qid(QID[rows]).ids, measure, strict=True))
    for part in ("valid", "test"):
        table = np.array([
            [[values[name][seed][part][q] for q in range(12) if q != 5] for seed in (3, 8)]
            for name in names
        ])  # fmt: skip
        rows = [row for row in comparison.summary(part) if row.metric == "ndcg@3"]
        assert [(row.data, row.ranker) for row in rows] == [("data", name) for name in names]
        for row, own in zip(rows, table, strict=True):
            assert (row.n_queries, row.n_skipped, row.rounds) == (11, 1, 5)
            assert_allclose(row.mean, own.mean(), rtol=1e-12)
            assert_allclose(row.seed_deviation, own.mean(axis=1).std(ddof=1), rtol=1e-9)
            assert row.low < row.mean < row.high
            assert row.cpu_seconds > 0
        difference = (table[1] - table[0]).mean(axis=0)
        assert_allclose(rows[1].difference, difference.mean(), rtol=1e-9)
        assert rows[1].difference_low < rows[1].difference < rows[1].difference_high
        assert_allclose(rows[1].p_t, stats.ttest_1samp(difference, 0).pvalue, rtol=1e-9)
        assert np.isnan([rows[0].p_t, rows[0].p_randomization]).all()


def test_a_query_tested_twice_counts_once() -> None:
    """With the mean of its scores over folds."""
    R = np.arange(96).reshape(12, 8)  # the rows of each query
    folds = [(R[:4].ravel(), R[4:8].ravel(), R[8:end].ravel()) for end in (12, 10)]
    comparison = cross_validate_rankers({"a": Noisy(1.0)}, X, Y, QID, folds=folds, seeds=1, **QUIET)
    scores = comparison.parts["test"]
    assert (scores.queries, scores.folds.tolist()) == ([8, 9, 10, 11, 8, 9], [1, 1, 1, 1, 2, 2])
    (row,) = comparison.summary()
    assert row.n_queries == 4
    values = scores.values["ndcg@10"][0, 0]
    expected = [(values[:2] + values[4:]) / 2, values[2:4]]
    assert_allclose(row.mean, np.concatenate(expected).mean(), rtol=1e-12)
    assert np.isnan(row.rounds)
    assert np.isnan(row.seed_deviation)


@pytest.mark.slow
def test_number_of_processes_changes_nothing() -> None:
    """Not a bit of what a query is worth."""
    rankers = {"lambda": GBRanker(**TINY, subsample=0.5), "theirs": "lightgbm", "own": LambdaRank()}
    rankers["own"] = GBRanker(rankers["own"], **TINY)
    one, other = (
        cross_validate_rankers(rankers, X, Y, QID, folds=3, seeds=2, n_jobs=jobs, progress=False)
        for jobs in (1, 2)
    )
    for part in ("valid", "test"):
        values = (found.parts[part].values["ndcg@10"] for found in (one, other))
        assert_array_equal(*values)
    assert_array_equal(one.rounds, other.rounds)


class Recorder(BaseEstimator):
    """Keeps what it was trained on."""

    calls: ClassVar[list[dict[str, Any]]] = []

    def fit(self, X: Any, y: Any, **columns: Any) -> Any:
        self.calls.append({"X": X, "y": y, **columns})
        return self

    def predict(self, X: Any) -> Any:
        return X[:, 0]


def test_rankers_get_every_column() -> None:
    """Of the rows that they are trained on, and of those that they are validated on."""
    labels = {"m": np.arange(96.0) % 7}
    columns: dict[str, Any] = {
        "sample_weight": np.arange(96.0) + 1,
        "query_weight": np.arange(12.0) + 1,
        "init_score": X[:, 1],
        "position": np.arange(96) % 8 + 1,
        "labels": labels,
        "categorical_feature": [2],
    }
    Recorder.calls.clear()
    found = cross_validate_rankers(
        {"a": Recorder()}, X, Y, QID, folds=3, seeds=1, metric=["ndcg[m]", "ap"], **columns,
        **QUIET,
    )  # fmt: skip
    folds = Dataset("data", X, Y, QID, 3).splits
    assert len(Recorder.calls) == len(folds) == 3
    for call, (train, valid, _) in zip(Recorder.calls, folds, strict=True):
        for name in ("sample_weight", "init_score", "position"):
            assert_array_equal(call[name], columns[name][train])
        assert_array_equal(call["query_weight"], 1 + np.array([*dict.fromkeys(QID[train])]))
        assert_array_equal(call["labels"]["m"], labels["m"][train])
        assert_array_equal(call["eval_labels"][0]["m"], labels["m"][valid])
        assert_array_equal(call["eval_init_score"][0], X[valid, 1])
        assert_array_equal(call["eval_qid"][0], QID[valid])
        assert call["categorical_feature"] == [2]
    expected = get_measure("ndcg")(labels["m"], X[:, 0] + X[:, 1], qid=QID)  # with init_score
    assert_allclose(found.summary()[0].mean, expected, rtol=1e-12)


def test_columns_of_a_frame_by_their_names() -> None:
    """They are what arrays would be, and no features."""
    frame = pd.DataFrame(X).rename(columns=str).assign(y=Y, query=QID, weight=1.0 + QID % 2)
    by_name = Dataset("x", frame, "y", "query", 3, query_weight="weight")
    by_value = Dataset("x", X, Y, QID, 3, query_weight=frame.groupby("query")["weight"].first())
    assert by_name.X.shape == X.shape
    assert_array_equal(by_name.y, by_value.y)
    assert_array_equal(by_name.qid, by_value.qid)
    assert_array_equal(by_name.documents.query_weight, by_value.documents.query_weight)


def test_folds_without_validation_queries() -> None:
    """Of a split by time: rankers are trained without, and there is nothing to choose by."""
    Recorder.calls.clear()
    found = cross_validate_rankers(
        {"a": Recorder()}, X, Y, QID, folds=QueryTimeSeriesSplit(3), seeds=1, **QUIET
    )
    assert found.summary("valid") == found.to_json()["valid"] == []
    assert found.summary()[0].n_queries == 9
    assert not any("eval_set" in call for call in Recorder.calls)
    assert set(found.parts["test"].queries) == set(range(3, 12))


def test_rankers_of_all_kinds_can_be_sent_to_other_processes() -> None:
    """Names of their objectives and measures become objects, which other processes know."""
    rankers = {
        "trees": GBRanker("ranknet", n_estimators=2),
        "linear": LinearRanker(max_iter=2),
        "perceptron": SLAMPerceptron(measure="map"),
    }
    options: dict[str, Any] = {"folds": 3, "seeds": 1, "progress": False}
    here = cross_validate_rankers(rankers, X, Y, QID, n_jobs=1, **options)
    with parallel_config("sequential"):
        sent = cross_validate_rankers(rankers, X, Y, QID, n_jobs=2, **options)
    assert [row.mean for row in sent.summary()] == [row.mean for row in here.summary()]


@pytest.mark.slow
def test_names_of_libraries_are_their_rankers_default_parameters(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Trained with the documents of a query together, on one thread, from the seed; quietly."""
    order = np.arange(96).reshape(12, 8).T.ravel()  # the first documents, then the second ones
    x, y, qid = X[order], Y[order], QID[order]
    options: dict[str, Any] = {"folds": 3, "seeds": [5], **QUIET}
    names = ("lightgbm", "xgboost")
    found = cross_validate_rankers({name: name for name in names}, x, y, qid, **options)
    said = capfd.readouterr()
    assert not said.out + said.err
    made = {
        "lightgbm": lambda: lgb.LGBMRanker(random_state=5, n_jobs=1, verbosity=-1),
        "xgboost": lambda: xgb.XGBRanker(random_state=5, n_jobs=1),
    }
    splits = Dataset("data", x, y, qid, 3).splits
    for row in found.summary():
        total = 0.0
        for train, _, test in splits:
            rows = train[np.argsort(qid[train], kind="stable")]
            sizes = np.bincount(qid[rows])
            given: dict[str, Any] = {"qid": qid[rows]}
            if row.ranker == "lightgbm":
                given = {"group": sizes[sizes > 0]}
            ranker = made[row.ranker]().fit(x[rows], y[rows], **given)
            values = NDCG(k=10).per_query(y[test], ranker.predict(x[test]), qid=qid[test])
            total += values.sum()
        assert_allclose(row.mean, total / 12, rtol=1e-12, err_msg=row.ranker)
        assert np.isnan(row.rounds)  # LightGBM says 0 for all of them


@pytest.mark.parametrize("change", [{"metric": ["nonsense"]}, {"baseline": "b"}, {"seeds": 0}])
def test_nothing_is_fitted_before_all_is_checked(change: dict[str, Any]) -> None:
    given: dict[str, Any] = {"rankers": {"a": Noisy()}, "datasets": [Dataset("d", X, Y, QID, 3)]}
    Noisy.fits = 0
    with pytest.raises(ValueError, match=next(iter(change)).rstrip("s")):
        compare_rankers(**given | QUIET | change)
    assert Noisy.fits == 0


SCRIPT = """
import sys
from gbrank import GBRanker, cross_validate_rankers, make_cubic

if __name__ == "__main__":
    X, y, qid = make_cubic(12, n_documents=8, n_features=4, random_state=0)
    rankers = {"ranknet": GBRanker("ranknet", n_estimators=30, min_child_samples=3)}
    cross_validate_rankers(rankers, X, y, qid, folds=3, seeds=300, n_jobs=int(sys.argv[1]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_stops(jobs: int) -> None:
    """At once and quietly."""
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(jobs)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    said = ""
    while not re.search(r" ([5-9]|\d\d+)/900", said):
        assert process.poll() is None
        said += process.stderr.read(1)
    os.killpg(process.pid, signal.SIGINT)
    error = process.communicate(timeout=60)[1]
    assert process.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in error
    assert "leaked" not in error
    assert " 900/900" not in error


def test_an_interrupted_fit_is_no_result() -> None:
    """Though GBRanker keeps the rounds that were done."""
    calls = itertools.count()

    def stops(scores: Any, labels: Any, sigma: float) -> Any:
        if next(calls) == 12 + 3 * 4:  # in the fourth round of four queries, after all were tried
            raise KeyboardInterrupt
        return 0.0, scores - labels, np.ones_like(scores)

    rankers = {"stops": GBRanker(custom_objective(stops), **TINY)}
    with pytest.raises(KeyboardInterrupt):
        cross_validate_rankers(rankers, X, Y, QID, folds=3, seeds=1, **QUIET)


@pytest.mark.slow
def test_names_that_a_script_registers(tmp_path: Path) -> None:
    """Other processes train them by a ranker as by their name."""
    script = tmp_path / "script.py"
    script.write_text(
        "from gbrank import GBRanker, cross_validate_rankers, custom_measure, make_cubic\n"
        "from gbrank.extend import custom_objective\n"
        "def squares(scores, labels, sigma):\n"
        "    error = scores - labels\n"
        "    return error @ error / 2, error, 0 * error + 1\n"
        "def first(scores, labels):\n"
        "    return float(labels[0])\n"
        "custom_objective(squares, name='squares')\n"
        "custom_measure(first, name='first label')\n"
        "if __name__ == '__main__':\n"
        "    X, y, qid = make_cubic(12, n_documents=8, n_features=3, random_state=0)\n"
        "    ranker = GBRanker('squares', n_estimators=2, eval_metric='first label')\n"
        "    means = [\n"
        "        cross_validate_rankers({'a': item}, X, y, qid, folds=3, seeds=1, n_jobs=n_jobs,\n"
        "                               progress=False).summary()[0].mean\n"
        "        for item in (ranker, 'squares') for n_jobs in (1, 2)\n"
        "    ]\n"
        "    assert means[0] == means[1] and means[2] == means[3], means\n"
    )
    subprocess.run([sys.executable, str(script)], check=True)
