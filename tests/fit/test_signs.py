"""Signs of slopes that few training queries teach."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.stats import pearsonr, rankdata

from gbrank import GBRanker, Queries, load_ranker
from gbrank.data.checking import select_queries
from gbrank.data.rows import Rows
from gbrank.fit import signs
from gbrank.fit.plan import BoostingPlan
from gbrank.fit.rank_correlations import rank_correlations
from gbrank.fit.signs import _do_harm, clear_signs

N_QUERIES, SIZE = 60, 15
QID = np.repeat(np.arange(N_QUERIES), SIZE)
PARAMS: dict[str, Any] = {
    "n_estimators": 20,
    "min_child_samples": 3,
    "random_state": 0,
    "n_jobs": 1,
}


def learned_signs(rows: Rows) -> list[int]:
    """Return the signs that the queries of rows teach."""
    return clear_signs(rank_correlations(rows)[0])


def queries(relevance: Any, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return five features, and grades by what `relevance` makes of them, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(len(QID), 5))
    values = relevance(X) + rng.normal(size=len(QID))
    return X, np.digitize(values, np.quantile(values, [0.5, 0.8, 0.95])).astype(float)


def slopes(X: NDArray[Any]) -> NDArray[Any]:
    """Return relevance that rises with the first feature and falls with the second."""
    return X[:, 0] - X[:, 1]


def hills(X: NDArray[Any]) -> NDArray[Any]:
    """Return relevance that is largest in the middle of two features."""
    return -np.abs(X[:, 0] - 0.4) - np.abs(X[:, 1] + 0.4)


MONOTONE = queries(slopes)


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_scores_keep_to_the_signs(booster: str) -> None:
    """What is larger in the first feature never scores less; in the second never more."""
    X, y = MONOTONE
    ranker = GBRanker(booster=booster, **PARAMS).fit(X, y, qid=QID)
    assert {name: ranker.monotone_.get(name) for name in ("f0", "f1")} == {"f0": 1, "f1": -1}
    free = GBRanker(booster=booster, monotone="free", **PARAMS).fit(X, y, qid=QID)
    assert free.monotone_ == {}
    for column, sign in [(0, 1), (1, -1)]:
        grid = np.repeat(X[:40], 50, axis=0)
        grid[:, column] = np.tile(np.linspace(-3, 3, 50), 40)
        steps, free_steps = (
            sign * np.diff(model.predict(grid).reshape(40, 50), axis=1) for model in (ranker, free)
        )
        assert steps.min() >= 0
        assert steps.max() > 0
        assert free_steps.min() < 0


def test_nothing_is_learned_where_it_does_harm() -> None:
    """Relevance that rises and falls is learned better by trees without signs."""
    X, y = queries(hills)
    assert GBRanker(**PARAMS).fit(X, y, qid=QID).monotone_ == {}
    assert any(learned_signs(Rows(X, y, Queries.from_qid(QID))))


def test_signs_are_those_of_clear_rank_correlations() -> None:
    """More than one standard error from 0, by SciPy's correlations of pandas' ranks.

    NaN has the mean rank. A query whose labels are equal does not tell.
    """
    X, y = queries(lambda X: X[:, 0] - 0.2 * X[:, 1] + 0.1 * X[:, 2])
    X[:, 2] = np.round(X[:, 2])
    X[QID == 3, 3] = 7.0
    X[QID == 4, 3] = np.nan
    X[::4, 4] = np.nan
    y[QID == 5] = 1.0
    parts = [(pd.DataFrame(X[query == QID]).rank(), y[query == QID]) for query in range(N_QUERIES)]
    telling = [query for query in range(N_QUERIES) if query != 5]
    expected = np.array(
        [
            [
                pearsonr(ranks[j].fillna(ranks[j].mean()), rankdata(labels)).statistic
                if ranks[j].nunique() > 1
                else 0.0
                for j in range(5)
            ]
            for ranks, labels in map(parts.__getitem__, telling)
        ]
    )
    found, which = rank_correlations(Rows(X, y, Queries.from_qid(QID)))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert which.tolist() == telling
    t = found.mean(axis=0) / (found.std(axis=0, ddof=1) / np.sqrt(len(found)))
    clear = np.where(np.abs(t) > 1, np.sign(t), 0)
    assert 0 < np.abs(clear).sum() < 5
    assert clear_signs(found) == clear.tolist()


@pytest.mark.parametrize(("mean", "sign"), [(0.6, 1), (0.55, 0), (-0.55, 0), (-0.6, -1)])
def test_a_mean_is_clear_from_a_standard_error(mean: float, sign: int) -> None:
    """Of three queries: around the mean, -1, 0 and 1 have one of 1 / sqrt(3) = 0.577."""
    assert clear_signs(mean + np.array([[-1.0], [0.0], [1.0]])) == [sign]


@pytest.mark.parametrize(
    ("gains", "harm"),
    [
        ([-1.28, -0.28, 0.72], False),
        ([-1.3, -0.3, 0.7], True),
        ([np.nan, 1.0, np.nan], True),
        ([np.nan, 0.0, 0.0], False),
    ],
)
def test_signs_do_harm_if_they_cost_half_a_standard_error(gains: list[float], harm: bool) -> None:
    """Which is 0.289 in the first two cases; or if fewer than two queries say what they cost."""
    assert _do_harm(np.array(gains)) == harm


def test_signs_are_tried_on_queries_that_did_not_teach_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of those that tell, each in turn; what stands beside is learned from the same others."""
    X, y = MONOTONE
    y = np.where(QID == 7, 1.0, y)
    tried = []

    def judged(plan: BoostingPlan, trained: Any, correlations: Any) -> Any:
        expected = rank_correlations(select_queries(plan.rows, trained)[0])[0]
        np.testing.assert_allclose(correlations, expected, atol=1e-12)
        tried.append(np.flatnonzero(~trained))
        return np.zeros((3, (~trained).sum()))

    monkeypatch.setattr(signs, "_judged", judged)
    GBRanker(**PARAMS).fit(X, y, qid=QID)
    assert [len(queries) for queries in tried] == [20, 20, 19]
    assert sorted(np.concatenate(tried)) == [query for query in range(N_QUERIES) if query != 7]


@pytest.mark.parametrize("harmful", [True, False])
def test_the_trees_that_are_kept_are_those_beside_a_feature(
    harmful: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Held-out queries say what trees of both kinds and the feature are worth."""
    X, y = MONOTONE
    worth = np.repeat([[0.7 - 0.2 * harmful], [0.5 + 0.2 * harmful], [0.8]], N_QUERIES, axis=1)
    monkeypatch.setattr(signs, "_held_out", lambda *_: worth)
    with pytest.warns(UserWarning, match=r"less theirs is \+0.1000, .* from \+0.1000 to \+0.1000"):
        ranker = GBRanker(**PARAMS).fit(X, y, qid=QID)
    assert bool(ranker.monotone_) != harmful


@pytest.mark.filterwarnings("error")
def test_nothing_is_tried_where_no_sign_is_clear() -> None:
    """Nor is anything said of a feature, though it is as good as trees on labels by chance."""
    rng = np.random.default_rng(0)
    X, y, qid = rng.normal(size=(120, 1)), rng.integers(0, 3, 120), np.repeat(np.arange(12), 10)
    assert GBRanker(**PARAMS | {"n_estimators": 2}).fit(X, y, qid=qid).monotone_ == {}


@pytest.mark.parametrize(
    ("weights", "counts"),
    [
        ({"query_weight": np.r_[np.zeros(30), np.ones(30)]}, QID >= 30),
        ({"sample_weight": np.where(QID < 30, 0.0, 2.0)}, QID >= 30),
        ({"sample_weight": np.arange(len(QID)) % 2.0}, np.arange(len(QID)) % 2 == 1),
    ],
)
def test_what_has_no_weight_teaches_nothing(weights: Any, counts: Any) -> None:
    """As if it were not there: queries, and documents."""
    X, y = MONOTONE
    turned = np.where(counts, y, 3 - y)
    learned = learned_signs(Rows(X, turned, Queries.from_qid(QID), **weights))
    assert learned == learned_signs(Rows(X[counts], y[counts], Queries.from_qid(QID[counts])))
    assert any(learned)


@pytest.mark.parametrize(
    ("params", "data"),
    [
        ({"monotone": "free"}, {}),
        ({"booster_params": {"mc": [1, 0, 0, 0, 0]}}, {}),
        ({"booster_params": {"linear_tree": True}}, {}),
        ({"objective": "lightgbm:lambdarank"}, {}),
        ({"objective": "regression"}, {}),
        ({}, {"categorical_feature": [4]}),
        ({}, {"init_score": np.zeros(len(QID))}),
        ({}, {"labels": {"clicked": np.ones(len(QID))}}),
        ({}, {"position": np.tile(np.arange(1, SIZE + 1), N_QUERIES)}),
        ({"init": GBRanker(**PARAMS).fit(*MONOTONE, qid=QID)}, {}),
    ],
)
def test_where_none_are_learned(params: dict[str, Any], data: dict[str, Any]) -> None:
    """Where others than y are learned from, or the user has said what holds."""
    X, y = MONOTONE
    X = np.column_stack([X[:, :4], X[:, 4] > 0])
    ranker = GBRanker(**PARAMS | params).fit(X, y, qid=QID, **data)
    assert ranker.monotone_ == {}


def test_how_many_queries_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer than 10 do not tell; from more than 100, trees learn slopes. Nor on wide data."""
    monkeypatch.setattr(signs, "_do_harm", lambda gains: False)
    X, y = MONOTONE
    for n, learned in [(9, False), (10, True), (100, True), (101, False)]:
        qid = np.arange(len(y)) % n
        assert bool(GBRanker(**PARAMS).fit(X, y, qid=qid).monotone_) == learned
    monkeypatch.setattr(signs, "WIDE", X.shape[1])
    assert not GBRanker(**PARAMS).fit(X, y, qid=QID).monotone_


def test_a_smoothed_objective_keeps_those_of_its_start() -> None:
    """RankNet, which it begins with, has learned them from the same queries."""
    X, y = MONOTONE
    ranker = GBRanker("approx:ndcg", **PARAMS).fit(X, y, qid=QID)
    assert ranker.monotone_["f0"] == 1


def test_order_of_rows_names_of_queries_and_files(tmp_path: Any) -> None:
    """Signs depend on neither, and are in a saved model."""
    X, y = MONOTONE
    ranker = GBRanker("ranknet", **PARAMS).fit(X, y, qid=QID)
    order = np.random.default_rng(0).permutation(len(y))
    names = np.array([f"query {-query}" for query in QID])[order]
    other = GBRanker("ranknet", **PARAMS).fit(X[order], y[order], qid=names)
    np.testing.assert_array_equal(ranker.predict(X), other.predict(X))
    ranker.save(tmp_path)
    assert load_ranker(tmp_path).monotone_ == ranker.monotone_ != {}


def test_the_order_of_queries_with_equal_correlations() -> None:
    """Of two documents a query, all correlations are 1 or −1: their folds follow from features."""
    rng, qid = np.random.default_rng(0), np.repeat(np.arange(90), 2)
    X = rng.normal(size=(180, 4))
    y = (0.3 * X[:, 0] - 0.2 * X[:, 1] ** 2 + rng.random(180) > 0.5).astype(float)
    params = {"n_estimators": 10, "random_state": 0, "n_jobs": 1}
    found = set()
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(180)
        ranker = GBRanker(**params).fit(X[order], y[order], qid=qid[order])
        found.add(ranker.predict(X).tobytes())
    assert len(found) == 1


def test_what_a_fit_is_measured_by_plays_no_part() -> None:
    """Nor does the number of rounds."""
    X, y = queries(hills)
    for given in ({"eval_metric": "err@1"}, {"n_estimators": 3}):
        assert GBRanker(**PARAMS | given).fit(X, y, qid=QID).monotone_ == {}


def test_signs_are_tried_at_one_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the rate of the fit is, which is the last one here."""
    rates: list[float] = []
    trainer = BoostingPlan.trainer
    monkeypatch.setattr(
        BoostingPlan,
        "trainer",
        lambda plan: rates.append(plan.settings.learning_rate) or trainer(plan),
    )
    few, tried = QID < 10, []
    for given in ({}, {"learning_rate": 0.3}):
        GBRanker(**PARAMS | given).fit(MONOTONE[0][few], MONOTONE[1][few], qid=QID[few])
        tried.append(rates[:-1])
        assert rates[-1] == given.get("learning_rate", rates[-1])
        rates.clear()
    assert tried[0] == tried[1]
    assert len(tried[0]) == 6


def test_parts_of_queries_that_teach_nothing_end_no_fit() -> None:
    """One query alone has labels that differ, or in which a feature varies: the rest is no fit."""
    X, y = MONOTONE
    ranker = GBRanker(**PARAMS).fit(X, np.where(QID == 3, y, 0), qid=QID)
    assert ranker.monotone_ == {}
    one = np.where(QID == 3, X[:, 0], 0.0)[:, None]
    GBRanker(**PARAMS).fit(one, y, qid=QID)
