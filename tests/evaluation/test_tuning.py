"""Tuning: what is tried, on which queries it is judged, what comes out, and how it goes on."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from gbrank import GBRanker, get_measure, make_cubic, tune
from gbrank.evaluation import QueryKFold, QueryTimeSeriesSplit
from gbrank.evaluation.tuning import VARIANTS
from gbrank.fit.interrupted import FitInterrupted

X, Y, QID = make_cubic(40, n_documents=10, n_features=5, random_state=0)
RANKER = GBRanker(n_estimators=8, min_child_samples=5, random_state=0, n_jobs=1)
OPTIONS: dict[str, Any] = {"ranker": RANKER, "folds": 2, "n_trials": 7}
NDCG = get_measure("ndcg@10")
SPLIT = list(QueryKFold(2, shuffle=True, random_state=0).split(None, qid=QID))


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    optuna.logging.set_verbosity(optuna.logging.ERROR)


@pytest.fixture(scope="module")
def found() -> Any:
    return tune(X, Y, qid=QID, **OPTIONS)


def stored(path: Path, **options: Any) -> Any:
    """Return a study that a file keeps, as a new process opens it."""
    storage = JournalStorage(JournalFileBackend(str(path)))
    given = {"study_name": "s", "direction": "maximize", "load_if_exists": True}
    return optuna.create_study(storage=storage, **given | options)


def ranker_like(**params: Any) -> GBRanker:
    """Return the ranker of these tests with other parameters."""
    return GBRanker(**RANKER.get_params() | params)


def held_out_value(ranker: GBRanker, factor: float = 1.0, **columns: Any) -> float:
    """Return what a ranker is worth on the folds' held-out queries, by hand."""
    values = []
    for train, held in SPLIT:
        own = {name: column[train] for name, column in columns.items()}
        fitted = ranker_like(**ranker.get_params()).fit(X[train], Y[train], qid=QID[train], **own)
        if factor != 1:
            fitted.set_params(learning_rate=factor * fitted.learning_rate_)
            fitted.fit(X[train], Y[train], qid=QID[train], **own)
        scores = fitted.predict(X[held]) + columns.get("init_score", 0 * X[:, 0])[held]
        values.append(NDCG(Y[held], scores, qid=QID[held]))
    return float(np.mean(values))


def test_the_first_trials_are_the_ranker_itself_and_known_variants(found: Any) -> None:
    """Judged on whole queries that they were not trained on; a rate multiplies the rule's."""
    _, study = found
    assert [trial.number for trial in study.trials] == [*range(7)]
    first = study.trials[0]
    assert_allclose(first.value, held_out_value(RANKER))
    places = [first.params | variant for variant in VARIANTS]
    assert [trial.params for trial in study.trials[1:4]] == places
    variant = ranker_like(objective="ranknet", num_leaves=15)
    assert_allclose(study.trials[1].value, held_out_value(variant))
    assert_allclose(study.trials[2].value, held_out_value(RANKER, factor=0.5))


def test_the_best_is_trained_on_all_queries(found: Any) -> None:
    ranker, study = found
    assert ranker.training_data_["train"] == {"documents": 400, "queries": 40}
    again = GBRanker(**ranker.get_params(deep=False)).fit(X, Y, qid=QID)
    assert_array_equal(again.predict(X), ranker.predict(X))
    best = study.best_params
    assert (ranker.objective, ranker.num_leaves) == (best["objective"], best["num_leaves"])
    usual = ranker_like(n_estimators=best["n_estimators"]).fit(X, Y, qid=QID).learning_rate_
    assert_allclose(ranker.learning_rate_, min(0.3, best["rate"] * usual))


def test_the_same_seed_gives_the_same(found: Any) -> None:
    ranker, study = tune(X, Y, qid=QID, **OPTIONS)
    assert [trial.params for trial in study.trials] == [trial.params for trial in found[1].trials]
    assert_array_equal(ranker.predict(X), found[0].predict(X))


def test_what_is_not_tuned() -> None:
    """An objective with its own sigma, or that is no name; thresholds where there are none."""
    few = OPTIONS | {"n_trials": 4}
    for own in ({"objective": "approx:ndcg", "sigma": 0.5}, {"objective": mine}):
        ranker, study = tune(X, Y, qid=QID, **few | {"ranker": ranker_like(**own)})
        assert "objective" not in study.best_params
        assert {name: getattr(ranker, name) for name in own} == own
    _, study = tune(X, Y, qid=QID, **few | {"ranker": ranker_like(booster="xgboost")})
    assert "extra_trees" not in study.best_params
    odd = ranker_like(min_child_samples=0, colsample=1, n_estimators=np.int64(8), num_leaves=4)
    first = tune(X, Y, qid=QID, **few | {"ranker": odd})[1].trials[0].params
    assert (first["min_child_samples"], first["colsample"], first["num_leaves"]) == (0, 1, 4)


def mine(scores: Any, labels: Any, sigma: float) -> Any:
    error = scores - labels
    return float(error @ error) / 2, error, np.ones(len(scores))


def test_a_study_that_minimizes_is_refused() -> None:
    with pytest.raises(ValueError, match="study must maximize"):
        tune(X, Y, qid=QID, **OPTIONS | {"study": optuna.create_study()})


def test_columns_and_other_splits() -> None:
    """Weights, labels of a frame, later queries, and a validation set, by another measure."""
    frame = pd.DataFrame(X, columns=list("abcde")).assign(margin=np.round(np.abs(X[:, 0])))
    options = OPTIONS | {"n_trials": 2, "folds": QueryTimeSeriesSplit(2)}
    options["ranker"] = ranker_like(eval_metric="ap[margin]")
    weights = np.linspace(1, 2, 40)
    ranker, _ = tune(frame, Y, qid=QID, labels=["margin"], query_weight=weights, **options)
    assert list(ranker.feature_names_in_) == list("abcde")
    rows = np.arange(400)
    pair = OPTIONS | {"n_trials": 1, "folds": [(rows[:300], rows[300:])]}
    _, study = tune(X, Y, qid=QID, **pair)
    ranker = ranker_like().fit(X[:300], Y[:300], qid=QID[:300])
    assert_allclose(study.best_value, ranker.score(X[300:], Y[300:], QID[300:]))


def test_initial_scores_are_judged_with_the_trees() -> None:
    scores = 9 * X[:, 0]
    _, study = tune(X, Y, qid=QID, init_score=scores, **OPTIONS | {"n_trials": 1})
    assert_allclose(study.best_value, held_out_value(RANKER, init_score=scores))


@pytest.mark.parametrize("kind", ["seed", "no seed", "function"])
def test_a_search_goes_on(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is finished is not done again, also without a seed, or by a function of one's own."""
    own = {"seed": {}, "no seed": {"random_state": None}, "function": {"objective": mine}}[kind]
    given = OPTIONS | {"ranker": ranker_like(**own), "n_trials": 5}
    fit, calls, stops = GBRanker.fit, [], [4]

    def stopping(self: GBRanker, *args: Any, **named: Any) -> GBRanker:
        calls.append(self)
        if len(calls) in stops:
            raise KeyboardInterrupt
        return fit(self, *args, **named)

    monkeypatch.setattr(GBRanker, "fit", stopping)
    with pytest.warns(FitInterrupted, match="best ranker so far"):
        tune(X, Y, qid=QID, study=stored(tmp_path / "t.log"), **given)
    first = stored(tmp_path / "t.log").trials
    assert [trial.state.name for trial in first[:2]] == ["COMPLETE", "FAIL"]
    _, study = tune(X, Y, qid=QID, study=stored(tmp_path / "t.log"), **given)
    assert study.trials[0].value == first[0].value
    places = [trial.params for trial in study.trials if trial.state.name in ("COMPLETE", "PRUNED")]
    assert places.count(first[0].params) == 1
    assert places.count(first[1].params) == 1  # the one that was cut off is tried again
    others: list[dict[str, Any]] = [
        {"ranker": ranker_like(reg_lambda=9.0, **own)}, {"folds": SPLIT[::-1]}, {"y": Y[::-1]},
        {"X": X + 1},
    ]  # fmt: skip
    for change in others:
        with pytest.raises(ValueError, match="of the same data, folds and ranker, got 's'"):
            tune(**{"X": X, "y": Y, "qid": QID, "study": study} | given | change)


SCRIPT = """
import sys
from pathlib import Path
from test_tuning import OPTIONS, QID, X, Y, stored, tune
tune(X, Y, qid=QID, study=stored(Path(sys.argv[1])), **OPTIONS | {"n_trials": 10_000})
"""


@pytest.mark.slow
def test_two_processes_share_a_storage(tmp_path: Path) -> None:
    """While both search, and after one was killed, the other finds what both have done."""
    path = tmp_path / "t.log"
    other = subprocess.Popen([sys.executable, "-c", SCRIPT, path], cwd=Path(__file__).parent)
    complete = [optuna.trial.TrialState.COMPLETE]
    while not (path.exists() and stored(path).get_trials(states=complete)):
        assert other.poll() is None
    tune(X, Y, qid=QID, study=stored(path), **OPTIONS | {"n_trials": 4})
    other.send_signal(signal.SIGKILL)
    other.wait()
    done = stored(path).get_trials(states=complete)
    assert len(done) > 4
    _, study = tune(X, Y, qid=QID, study=stored(path), **OPTIONS | {"n_trials": 1})
    assert {trial.number for trial in done} <= {trial.number for trial in study.trials}
    assert study.best_value >= max(trial.value for trial in done)


def test_a_variant_that_is_refused_is_a_failed_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = GBRanker.fit

    def refusing(self: GBRanker, *args: Any, **named: Any) -> GBRanker:
        if self.objective == "ranknet":
            raise ValueError("not this one")
        return fit(self, *args, **named)

    monkeypatch.setattr(GBRanker, "fit", refusing)
    _, study = tune(X, Y, qid=QID, **OPTIONS)
    assert len(study.trials) == 7
    failed = {trial.params["objective"] for trial in study.trials if trial.state.name == "FAIL"}
    assert failed == {"ranknet"}
    for params in ({"monotone_constraints": [1, 0, 0, 0, 0]}, {"extra_seed": 3}):
        _, study = tune(X, Y, qid=QID, **OPTIONS | {"ranker": ranker_like(booster_params=params)})
        assert study.trials[0].state.name == "COMPLETE"


def test_a_pruner_prunes_and_callbacks_are_called() -> None:
    """After the first fold, but never the ranker itself."""
    pruner = optuna.pruners.ThresholdPruner(lower=2.0)
    study, seen = optuna.create_study(direction="maximize", pruner=pruner), []
    shown = {"callbacks": [lambda _, trial: seen.append(trial)], "progress": True}
    tune(X, Y, qid=QID, study=study, **shown, **OPTIONS)
    assert [trial.state.name for trial in seen] == ["COMPLETE", *["PRUNED"] * 6]
    assert [len(trial.intermediate_values) for trial in seen] == [2, *[1] * 6]


def test_time() -> None:
    """The first trial is finished, and no other begins."""
    _, study = tune(X, Y, qid=QID, **OPTIONS | {"minutes": 1e-4})
    assert [trial.state.name for trial in study.trials][:2] == ["COMPLETE", "WAITING"]
