"""Tuning: what is tried, on which queries it is judged, what comes out, and how it goes on."""

from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gbrank import GBRanker, QueryKFold, QueryTimeSeriesSplit, get_measure, make_cubic, tune
from gbrank.data.queries import Queries
from gbrank.data.spread import spread_within_queries
from gbrank.evaluation import tuning
from gbrank.evaluation.search_space import placed
from gbrank.fit.loop import FitInterrupted

X, Y, QID = make_cubic(40, n_documents=10, n_features=5, random_state=0)
RANKER = GBRanker(n_estimators=8, min_child_samples=5, random_state=0, n_jobs=1)
OPTIONS: dict[str, Any] = {"ranker": RANKER, "folds": 2, "n_trials": 7, "progress": False}
NDCG = get_measure("ndcg@10")
SPLIT = list(QueryKFold(2, shuffle=True, random_state=0).split(None, qid=QID))


@pytest.fixture(scope="module")
def tuned() -> Any:
    return tune(X, Y, qid=QID, **OPTIONS)


def test_the_first_trial_is_the_ranker_itself(tuned: Any) -> None:
    """Judged on whole queries that it was not trained on; a rate is a share of theirs."""
    values, halved = [], []
    for train, held in SPLIT:
        ranker = GBRanker(**RANKER.get_params()).fit(X[train], Y[train], qid=QID[train])
        values.append(NDCG(Y[held], ranker.predict(X[held]), qid=QID[held]))
        ranker.set_params(learning_rate=0.5 * ranker.learning_rate_)
        ranker.fit(X[train], Y[train], qid=QID[train])
        halved.append(NDCG(Y[held], ranker.predict(X[held]), qid=QID[held]))
    assert_allclose(tuned.values["default"], np.mean(values))
    assert_allclose(tuned.study.trials[2].value, np.mean(halved))
    assert tuned.values["default"] == tuned.study.trials[0].value
    assert tuned.values["best trial"] == tuned.study.best_value
    assert tuned.values["ranker"] >= tuned.values["best trial"]
    tried = [trial.params for trial in tuned.study.trials]
    assert len(tried) == 7
    assert [place["objective"] for place in tried[:2]] == ["noisy:ndcg", "ranknet"]
    assert tried[2] == tried[0] | {"rate": 0.5}


def test_what_comes_out_is_a_mean_of_rankers_of_all_queries(tuned: Any) -> None:
    assert len(tuned.members) > 1
    for _, member in tuned.members:
        assert member.training_data_["train"] == {"documents": 400, "queries": 40}
    expected = sum(weight * member.predict(X) for weight, member in tuned.members)
    scores = tuned.ranker.predict(X)
    assert_allclose(scores, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    assert tuned.ranker.best_score_ == tuned.values["ranker"]
    halved = [member for _, member in tuned.members if member.learning_rate is not None]
    rates = [trial.params["rate"] for trial in tuned.study.trials]
    for member in halved:
        usual = min(15 * np.sqrt(400 / 70_000) / member.n_estimators, 0.2)
        assert any(np.isclose(member.learning_rate_, min(rate * usual, 0.3)) for rate in rates)


def test_the_same_seed_gives_the_same(tuned: Any) -> None:
    again = tune(X, Y, qid=QID, **OPTIONS)
    assert_array_equal(again.ranker.predict(X), tuned.ranker.predict(X))


def test_one_ranker(tuned: Any) -> None:
    alone = tune(X, Y, qid=QID, **OPTIONS, average=False)
    ((weight, member),) = alone.members
    assert (weight, member) == (1.0, alone.ranker)
    assert alone.values["ranker"] == alone.values["best trial"] == tuned.values["best trial"]
    best = GBRanker(**tuned.ranker.get_params(deep=False)).fit(X, Y, qid=QID)
    assert_array_equal(alone.ranker.predict(X), best.predict(X))


def test_what_is_kept(tuned: Any) -> None:
    """The objective and sigma are the ranker's own."""
    ranker = GBRanker(**RANKER.get_params()).set_params(objective="approx:ndcg", sigma=0.5)
    keep = ["objective", "rate"]
    found = tune(X, Y, qid=QID, **OPTIONS | {"ranker": ranker, "n_trials": 6}, keep=keep)
    assert set(found.study.best_params) == set(tuned.study.best_params) - set(keep)
    assert found.ranker.predict(X).shape == (400,)
    for _, member in found.members:
        assert (member.objective, member.sigma, member.learning_rate) == ("approx:ndcg", 0.5, None)
    with pytest.raises(ValueError, match="keep must be one of"):
        tune(X, Y, qid=QID, **OPTIONS, keep=["booster"])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"ranker": GBRanker(init="zero")}, "init must be None in the ranker that is tuned"),
        ({"ranker": "ranknet"}, "ranker must be a GBRanker"),
        ({"minutes": 0}, "minutes must be"),
        ({"n_trials": 0}, "n_trials must be"),
        ({"folds": "4"}, "folds must be an integer of at least 2, got '4'"),
        ({"folds": 1}, "folds must be an integer of at least 2, got 1"),
        ({"folds": [(np.arange(200), np.arange(200, 300), np.arange(300, 400))]}, "fold 1"),
    ],
)
def test_what_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        tune(X, Y, qid=QID, **OPTIONS | changed)


def test_tables(tuned: Any) -> None:
    frame = tuned.to_pandas().set_index("parameter")
    assert set(frame.index) == set(tuned.study.trials[0].params)
    assert_allclose(frame["importance"].astype(float).sum(), 1, atol=0.05)
    assert [*map(tuning._shown, (0.12345, 1234, "ranknet"))] == ["0.123", "1234", "ranknet"]
    assert frame["default"]["num_leaves"] == "63"
    assert tuned._repr_html_().count("<tr>") == 1 + len(frame)


def test_votes_begin_with_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the rule, step by step: Caruana et al. 2004, with scores in units of spread."""
    finish, searches = tuning._Search.finish, []

    def noted(self: tuning._Search, average: bool) -> tuning.Tuned:
        searches.append(self)
        return finish(self, average)

    monkeypatch.setattr(tuning._Search, "finish", noted)
    found = tune(X, Y, qid=QID, **OPTIONS | {"n_trials": 12})
    (search,) = searches
    queries = [Queries.from_qid(QID[held]) for _, held in SPLIT]
    labels = [Y[held] for _, held in SPLIT]

    def unit(scores: Any) -> Any:
        parts = np.split(scores, [len(labels[0])])
        pairs = zip(parts, queries, strict=True)
        return scores / np.mean([spread_within_queries(part, own) for part, own in pairs])

    def worth(scores: Any) -> float:
        parts = np.split(scores, [len(labels[0])])
        triples = zip(labels, parts, SPLIT, strict=True)
        return float(np.mean([NDCG(y, part, qid=QID[held]) for y, part, (_, held) in triples]))

    pool = {number: unit(scores) for number, scores in search.scores.items()}
    chosen = sorted(pool, key=lambda number: -worth(pool[number]))[:5]
    while len(chosen) < 20:
        total = np.sum([pool[number] for number in chosen], axis=0)
        chosen.append(max(pool, key=lambda number: round(worth(total + pool[number]), 12)))
    expected = np.mean([pool[number] for number in chosen], axis=0)
    assert_allclose(found.values["ranker"], worth(expected))
    assert len(found.members) == len(set(chosen))
    perfect = np.concatenate(labels)  # a mean with others is no better, and slower
    search.scores = {0: perfect, **{n: X[: len(perfect), n] for n in range(1, 5)}}
    assert search.votes(average=True) == {0: 1.0}


def test_columns_and_other_splits() -> None:
    """Weights, labels of a frame, later queries, and a validation set, by another measure."""
    frame = pd.DataFrame(X, columns=list("abcde")).assign(margin=np.round(np.abs(X[:, 0])))
    ranker = GBRanker(**RANKER.get_params()).set_params(eval_metric="ap[margin]")
    options = OPTIONS | {"ranker": ranker, "n_trials": 2, "folds": QueryTimeSeriesSplit(2)}
    weights = np.linspace(1, 2, 40)
    found = tune(frame, Y, qid=QID, labels=["margin"], query_weight=weights, **options)
    assert found.measure == "ap[margin]"
    assert list(found.ranker.feature_names_in_) == list("abcde")
    rows = np.arange(400)
    found = tune(X, Y, qid=QID, **OPTIONS | {"n_trials": 1, "folds": [(rows[:300], rows[300:])]})
    ranker = GBRanker(**RANKER.get_params()).fit(X[:300], Y[:300], qid=QID[:300])
    assert_allclose(found.values["default"], ranker.score(X[300:], Y[300:], QID[300:]))


def test_xgboost_and_categories_only() -> None:
    """No mean of single precision, no random thresholds."""
    codes = (X[:, :3] > 0).astype(int)
    ranker = GBRanker(**RANKER.get_params() | {"booster": "xgboost"})
    given: dict[str, Any] = OPTIONS | {"ranker": ranker, "n_trials": 3}
    assert len(tune(X, Y, qid=QID, **given | {"n_trials": 7}).members) == 1
    found = tune(codes, Y, qid=QID, categorical_feature=[0, 1, 2], **given)
    assert "extra_trees" not in found.study.trials[0].params


def test_a_call_that_was_stopped_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tuned: Any
) -> None:
    given = OPTIONS | {"results": tmp_path, "n_trials": 5}
    fit, calls, stops = GBRanker.fit, [], [2]

    def stopping(self: GBRanker, *args: Any, **named: Any) -> GBRanker:
        calls.append(self)
        if len(calls) in stops:
            raise MemoryError
        return fit(self, *args, **named)

    monkeypatch.setattr(GBRanker, "fit", stopping)
    with pytest.raises(MemoryError):
        tune(X, Y, qid=QID, **given)
    stops.clear()
    found = tune(X, Y, qid=QID, **given)
    assert len(calls) == 2 + 10 + len(found.members)
    assert found.values["default"] == tuned.values["default"]
    calls.clear()
    again = tune(X, Y, qid=QID, **given)
    assert len(calls) == len(again.members)
    assert_array_equal(again.ranker.predict(X), found.ranker.predict(X))
    tune(X, Y[::-1].copy(), qid=QID, **given | {"n_trials": 1})
    assert len(calls) > len(again.members) + 2  # of other labels
    regular = GBRanker(**RANKER.get_params() | {"reg_lambda": 9.0})
    changes: list[dict[str, Any]] = [{"ranker": regular}, {"folds": SPLIT[::-1]}]
    for change in changes:
        calls.clear()
        tune(X, Y, qid=QID, **given | change | {"n_trials": 1})
        assert len(calls) == 2 + 1


def test_ctrl_c_keeps_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    fit, calls = GBRanker.fit, []

    def interrupted(self: GBRanker, *args: Any, **named: Any) -> GBRanker:
        calls.append(self)
        if len(calls) == stop:
            raise KeyboardInterrupt
        return fit(self, *args, **named)

    monkeypatch.setattr(GBRanker, "fit", interrupted)
    stop = 4
    with pytest.warns(FitInterrupted, match="after 1 trials"):
        found = tune(X, Y, qid=QID, **OPTIONS)
    assert found.values["ranker"] == found.values["default"]
    calls.clear()
    stop = 1
    with pytest.raises(KeyboardInterrupt):
        tune(X, Y, qid=QID, **OPTIONS)


def test_time_and_bad_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that ticks at each look: the first trial is finished, and a later one is given up."""
    ticks = iter(range(10**6))
    monkeypatch.setattr(tuning, "monotonic", lambda: float(next(ticks)))
    found = tune(X, Y, qid=QID, **OPTIONS | {"n_trials": None, "minutes": 2.0})
    states = [trial.state.name for trial in found.study.trials]
    assert states[0] == "COMPLETE"
    assert states[-1] == "FAIL"
    assert 60 < next(ticks) < 250


def test_bad_trials_end_early() -> None:
    """In the first fold, by what others were worth after the same share of the rounds."""
    found = tune(X, Y, qid=QID, **OPTIONS | {"n_trials": 20})
    pruned = [trial for trial in found.study.trials if trial.state.name == "PRUNED"]
    assert any(max(trial.intermediate_values) <= tuning.PARTS for trial in pruned)
    whole = found.study.trials[0].intermediate_values
    assert list(whole) == [*range(1, 11), 11] or max(whole) == tuning.PARTS + 1
    for trial in pruned:
        step = max(trial.intermediate_values)
        others = [
            other.intermediate_values[step]
            for other in found.study.trials[: trial.number]
            if step in other.intermediate_values and other.state.name == "COMPLETE"
        ]
        assert trial.intermediate_values[step] < np.median(others)


def test_rankers_of_a_place() -> None:
    """Steps are not too large; a sigma goes with its objective."""
    queries, ranker = Queries.from_qid(QID), GBRanker("noisy:ndcg", sigma=2.0)
    assert placed(ranker, {"rate": 4.0, "n_estimators": 8}, queries).learning_rate == 0.3
    same = placed(ranker, {"objective": "noisy:ndcg"}, queries)
    assert (same.sigma, same.learning_rate) == (2.0, None)
    other = placed(ranker, {"objective": "listmle"}, queries)
    assert (other.objective, other.sigma) == ("listmle", None)


def test_verbosity_is_as_before() -> None:
    optuna.logging.set_verbosity(optuna.logging.DEBUG)
    tune(X, Y, qid=QID, **OPTIONS | {"n_trials": 1})
    assert optuna.logging.get_verbosity() == optuna.logging.DEBUG


def test_values_at_the_end_of_what_is_allowed() -> None:
    """A smallest leaf of 0, and folds as NumPy counts them; one name is a list of one."""
    ranker = GBRanker(**RANKER.get_params() | {"min_child_samples": 0})
    few = OPTIONS | {"ranker": ranker, "n_trials": 1, "folds": np.int64(2), "keep": "colsample"}
    (trial,) = tune(X, Y, qid=QID, **few).study.trials
    assert trial.params["min_child_samples"] == 0
    assert "colsample" not in trial.params
    with pytest.raises(TypeError, match="folds must be an integer of at least 2, got 'a'"):
        tune(X, Y, qid=QID, **few | {"folds": "a"})


def test_initial_scores_are_judged_with_the_trees() -> None:
    """A mean of several rankers would have another unit."""
    few = OPTIONS | {"n_trials": 3}
    found = tune(X, Y, qid=QID, init_score=9 * X[:, 0], **few)
    assert len(found.members) == 1
    values = []
    for train, held in SPLIT:
        ranker = GBRanker(**RANKER.get_params())
        ranker.fit(X[train], Y[train], qid=QID[train], init_score=9 * X[train, 0])
        scores = ranker.predict(X[held]) + 9 * X[held, 0]
        values.append(NDCG(Y[held], scores, qid=QID[held]))
    assert_allclose(found.values["default"], np.mean(values))


@pytest.mark.parametrize(("kind", "change"), [("*.npy", b"x"), ("*.npy", None), ("*.log", b"x\n")])
def test_damaged_files_say_what_to_do(tmp_path: Path, kind: str, change: bytes | None) -> None:
    few = OPTIONS | {"n_trials": 1, "results": tmp_path}
    tune(X, Y, qid=QID, **few)
    (file,) = tmp_path.glob(kind)
    if change is None:
        file.unlink()
    else:
        file.write_bytes(change)
    with pytest.raises(
        ValueError, match=r"results must be a folder whose files are whole.* Delete"
    ):
        tune(X, Y, qid=QID, **few)
