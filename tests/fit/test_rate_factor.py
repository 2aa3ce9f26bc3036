"""Larger steps where held-out queries tell that labels have little noise."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import sem

from gbrank import NDCG, GBRanker, Queries
from gbrank.data.rows import Rows
from gbrank.datasets import FeatureBatches
from gbrank.fit import rate_factor
from gbrank.fit.held_out import judge_of, mean_and_error
from gbrank.fit.plan import BoostingPlan
from gbrank.fit.rate_factor import _gains, _sides, with_rate_factor
from gbrank.fit.rounds import Round

N_QUERIES, SIZE = 160, 20
QID = np.repeat(np.arange(N_QUERIES), SIZE)
RATE = 15 * np.sqrt(len(QID) / 70_000) / 100
PARAMS: dict[str, Any] = {"n_estimators": 100, "num_leaves": 15, "random_state": 0, "n_jobs": 1}


def grades(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return grades from 0 to 3, few of which are high."""
    return np.digitize(values, np.quantile(values, [0.5, 0.8, 0.95])).astype(float)


X = np.random.default_rng(0).normal(size=(len(QID), 6))
CLEAN = grades(X @ [3.0, -2.0, 1.5, 1.0, 1.0, -1.0])
NOISY = grades(X[:, 0] + 5 * np.random.default_rng(1).normal(size=len(QID)))


def rate_of(y: NDArray[Any] = CLEAN, features: Any = X, **given: Any) -> float:
    """Return the learning rate of a fit, by the factor on that of the size of its data."""
    arguments = {
        name: given.pop(name) for name in ("position", "labels", "init_score") if name in given
    }
    ranker = GBRanker(**PARAMS | given).fit(features, y, qid=QID, **arguments)
    return float(ranker.learning_rate_ / RATE)


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_clean_labels_are_learned_in_larger_steps(booster: str) -> None:
    """And rank new queries better by them; noisy labels are not."""
    ranker = GBRanker(booster=booster, **PARAMS).fit(X, CLEAN, qid=QID)
    assert ranker.learning_rate_ > 1.5 * RATE
    usual = GBRanker(booster=booster, learning_rate=RATE, **PARAMS).fit(X, CLEAN, qid=QID)
    others = np.random.default_rng(2).normal(size=X.shape)
    y = grades(others @ [3.0, -2.0, 1.5, 1.0, 1.0, -1.0])
    assert ranker.score(others, y, QID) > usual.score(others, y, QID) + 0.003
    assert rate_of(NOISY, booster=booster) == pytest.approx(1)


@pytest.mark.parametrize(
    "given",
    [
        {"position": np.tile(np.arange(1, SIZE + 1), N_QUERIES)},
        {"labels": {"other": NOISY}},
        {"init_score": 0.1 * X[:, 0]},
        {"init": "regression"},
        {"objective": "approx:ndcg"},
        {"constraints": ["ndcg@5 >= 0.1"]},
        {"booster_params": {"boosting_type": "dart"}},
        {"features": FeatureBatches(lambda: np.array_split(X, 2), X.shape)},
    ],
    ids=lambda given: next(iter(given)),
)  # fmt: skip
def test_the_size_alone_counts(given: dict[str, Any]) -> None:
    """Where y alone does not say what is learned, or the first trees are no smaller fit."""
    assert rate_of(**given) == pytest.approx(1)


def test_few_and_large_data_and_given_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Are left alone; nor is a rate larger than the largest."""
    part = QID < 100
    few = GBRanker(**PARAMS).fit(X[part], CLEAN[part], qid=QID[part])
    assert few.learning_rate_ == pytest.approx(RATE * np.sqrt(100 / N_QUERIES))
    part = QID < 101
    more = GBRanker(**PARAMS).fit(X[part], CLEAN[part], qid=QID[part])
    assert more.learning_rate_ > 1.5 * few.learning_rate_
    assert rate_of(learning_rate=0.03) == pytest.approx(0.03 / RATE)
    assert rate_of(n_estimators=20) == pytest.approx(0.2 / RATE)
    assert rate_of(n_estimators=10) == pytest.approx(0.2 / RATE)
    monkeypatch.setattr(rate_factor, "LARGE", len(QID))
    assert rate_of() == pytest.approx(1)


def plan(y: NDArray[Any]) -> BoostingPlan:
    """Return the plan of a fit."""
    captured: list[BoostingPlan] = []

    def capture(plan: BoostingPlan) -> BoostingPlan:
        captured.append(plan)
        return plan

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gbrank.fit.boost.with_rate_factor", capture)
        GBRanker(**PARAMS).fit(X, y, qid=QID)
    return captured[0]


@pytest.mark.parametrize("factor", [1, 2])
@pytest.mark.parametrize("y", [CLEAN, NOISY], ids=["clean", "noisy"])
def test_what_tells(y: NDArray[Any], factor: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three standard errors: of the gain from half a sum of rates to twice of it, still rising."""
    own = plan(y)
    (train, _), (others, _) = _sides(own.rows)
    rounds = factor * 15 * np.sqrt(len(train.y) / 70_000) / 0.2
    values = []
    for n in (round(rounds / 2), round(rounds), round(2 * rounds)):
        ranker = GBRanker(**PARAMS | {"learning_rate": 0.2, "n_estimators": n, "monotone": "free"})
        ranker.fit(train.X, train.y, qid=train.queries.ids[train.queries.index])
        scores = ranker.predict(others.X)
        values.append(NDCG(k=10).per_query(others.y, scores, qid=others.queries.index))
    gains = values[2] - values[0]
    z, rises = gains.mean() / sem(gains), (values[2] - values[1]).mean() > 0
    for errors, expected in ((z - 0.01, rises), (z + 0.01, False)):
        monkeypatch.setattr(rate_factor, "ERRORS", errors)
        assert _gains(own, train, others, factor) == expected


def test_other_numbers_of_rounds_keep_the_factor() -> None:
    """As a limit of time makes them."""
    chosen = with_rate_factor(plan(CLEAN))
    assert chosen.settings.learning_rate > 1.5 * RATE
    rates = [chosen.changed(n_estimators=n).settings.learning_rate for n in (300, 600)]
    assert rates[0] > 1.5 * RATE / 3
    assert rates[1] == pytest.approx(rates[0] / 2)


def test_one_worker_of_several(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tries nothing: it does not have the queries of the others."""
    monkeypatch.setattr(rate_factor, "n_workers", lambda: 2)
    assert rate_of() == pytest.approx(1)


@pytest.mark.parametrize("gaining", [0, 1, 2, 3])
def test_each_doubling_is_asked_for(gaining: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until one brings nothing; the sum of rates is then that which was tried."""
    asked: list[int] = []

    def gains(plan: BoostingPlan, train: Rows, others: Rows, multiple: int) -> bool:
        asked.append(multiple)
        return len(asked) <= gaining

    monkeypatch.setattr(rate_factor, "_gains", gains)
    (train, _), _ = _sides(Rows(X, NOISY, Queries.from_qid(QID)))
    tried = 2**gaining * 15 * np.sqrt(len(train.y) / 70_000)
    found = rate_of(NOISY, n_estimators=200)
    assert found == pytest.approx(max(RATE / 2, min(tried / 200, 0.2)) / RATE)
    assert asked == [1, 2, 4][: gaining + 1]


def test_who_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter of at most so many documents, whatever the order of rows."""
    monkeypatch.setattr(rate_factor, "DOCUMENTS", 1_600)
    order = np.random.default_rng(3).permutation(len(QID))
    first = _sides(Rows(X, CLEAN, Queries.from_qid(QID)))
    again = _sides(Rows(X[order], CLEAN[order], Queries.from_qid(QID[order])))
    for (_, chosen), (_, taken) in zip(first, again, strict=True):
        assert sorted(order[taken]) == sorted(chosen)
    train, judging = (set(QID[chosen]) for _, chosen in first)
    assert not train & judging
    assert len(train) + len(judging) == N_QUERIES // 2
    assert 10 <= len(judging) <= 30
    model = GBRanker(**PARAMS).fit(X, CLEAN, qid=QID)
    same = GBRanker(**PARAMS).fit(X[order], CLEAN[order], qid=QID[order])
    assert model.learning_rate_ == same.learning_rate_ > 1.5 * RATE
    np.testing.assert_array_equal(model.predict(X), same.predict(X))


def test_queries_on_which_nothing_can_be_learned() -> None:
    """Those that are tried may hold no value that varies: the fit itself goes on."""
    (train, _), (_, judging) = _sides(Rows(X, CLEAN, Queries.from_qid(QID)))
    rare = np.zeros((len(QID), 1))
    rare[judging] = np.arange(len(judging))[:, None]
    with pytest.raises(ValueError, match="X must have a feature that varies"):
        GBRanker(**PARAMS).fit(np.zeros(train.X.shape), train.y, qid=train.queries.index)
    assert rate_of(features=rare) == pytest.approx(1)


def test_a_resumed_fit_has_it_too(tmp_path: Path) -> None:
    """The same bits as one that was not stopped."""
    whole = GBRanker(**PARAMS).fit(X, CLEAN, qid=QID)

    def stop(round: Round) -> None:
        if round.number == 50:
            raise RuntimeError

    with pytest.raises(RuntimeError):
        GBRanker(**PARAMS).fit(X, CLEAN, qid=QID, checkpoint=tmp_path, callbacks=[stop])
    resumed = GBRanker(**PARAMS).fit(X, CLEAN, qid=QID, checkpoint=tmp_path)
    np.testing.assert_array_equal(resumed.predict(X), whole.predict(X))


def test_mean_and_error() -> None:
    """As SciPy has it, of what is known; to the last bit in any order."""
    gains = np.array([0.1, np.nan, -0.3, 0.25, 0.0])
    mean, error = mean_and_error(gains)
    assert mean == pytest.approx(np.nanmean(gains), rel=1e-15)
    assert error == pytest.approx(sem(gains, nan_policy="omit"), rel=1e-15)
    assert mean_and_error(np.array([1e16, 1.0, -1e16, 1.0]))[0] == 0.5
    assert np.isnan(mean_and_error(gains[:2])).all()


def test_gains_of_labels() -> None:
    """2 to their power less 1 of grades, which are 31 at most; amounts are worth themselves."""
    of_grades, of_amounts = (
        judge_of(Rows(X[:3], np.array([0.0, 1.0, largest]), Queries.from_sizes([3])))
        for largest in (31.0, 32.0)
    )
    assert (of_grades, of_amounts) == (NDCG(k=10), NDCG(k=10, gain="linear"))


@pytest.mark.parametrize("n_queries", [40, N_QUERIES])
def test_labels_may_be_amounts(n_queries: int) -> None:
    """Held-out queries are then judged by linear gains: 2 to the power of a price is infinite."""
    part = n_queries > QID
    prices = np.round(np.exp(X[:, 0] + 5))
    assert prices[part].max() > 1_100
    ranker = GBRanker("ranknet", **PARAMS).fit(X[part], prices[part], qid=QID[part])
    assert ranker.booster_.num_trees() == 100
