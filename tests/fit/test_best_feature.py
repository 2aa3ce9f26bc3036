"""The warning where a feature alone ranks queries no worse than the ranker."""

import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from scipy import stats

from gbrank import NDCG, GBRanker, Queries, get_measure
from gbrank.data.documents import Documents
from gbrank.data.sampling import query_keys, query_noise
from gbrank.fit import best_feature

N_QUERIES, SIZE = 60, 12
QID = np.repeat(np.arange(N_QUERIES), SIZE)
TRAIN = QID < 30
RNG = np.random.default_rng(0)
FEATURES = RNG.normal(size=(len(QID), 4))
RELEVANCE = FEATURES[:, 0] - FEATURES[:, 1] + 0.3 * RNG.normal(size=len(QID))
Y = np.digitize(RELEVANCE, np.quantile(RELEVANCE, [0.6, 0.85])).astype(float)


def fit(X: Any, **params: Any) -> GBRanker:
    """Train on the first queries, and validate on the others."""
    given = {"n_estimators": 60, "learning_rate": 0.1, "random_state": 0}
    given |= {"n_jobs": 1} | params
    valid = X[~TRAIN]
    return GBRanker(**given).fit(
        X[TRAIN], Y[TRAIN], qid=QID[TRAIN], eval_set=[(valid, Y[~TRAIN])], eval_qid=[QID[~TRAIN]]
    )


@pytest.mark.parametrize("sign", [1, -1])
def test_a_strong_feature_is_named_with_its_lead(sign: int) -> None:
    """And with the end that ranks first; the lead is the mean over queries, in its interval."""
    X = FEATURES.copy()
    X[:, 2] = sign * (RELEVANCE + 1e-3)
    X = pd.DataFrame(X, columns=["a", "b", "bm25", "c"])
    with pytest.warns(UserWarning, match="'bm25' alone") as caught:
        ranker = fit(X, n_estimators=1, num_leaves=2)
    text = str(caught[-1].message)
    assert ("largest" if sign > 0 else "smallest") in text
    valid = Y[~TRAIN], QID[~TRAIN]
    own = NDCG(k=10).per_query(valid[0], ranker.predict(X[~TRAIN]), qid=valid[1])
    alone = NDCG(k=10).per_query(valid[0], sign * X["bm25"][~TRAIN], qid=valid[1])
    lead, low, high = map(float, re.findall(r"[-+]?\d\.\d{4}", text))
    assert lead == pytest.approx(np.nanmean(alone - own), abs=1e-4)
    error = np.nanstd(alone - own, ddof=1) / np.sqrt(np.isfinite(own).sum())
    assert (low, high) == pytest.approx((lead - 1.96 * error, lead + 1.96 * error), abs=2e-4)


@pytest.mark.parametrize("kind", ["array", "sparse"])
def test_nothing_is_said_of_a_ranker_that_is_ahead(kind: str) -> None:
    """Two features together say more than each."""
    X = sp.csr_matrix(FEATURES) if kind == "sparse" else FEATURES
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(X)


def test_a_lead_of_nothing_has_no_minus() -> None:
    """Trees of the label itself, which rank as it does."""
    with pytest.warns(UserWarning, match=r"is \+0.0000, .* from [+]0.0000 to [+]0.0000"):
        fit(Y[:, np.newaxis], extra_trees=False)


def test_missing_values_are_last() -> None:
    """They do not end the fit, and rank below what is known."""
    X = FEATURES.copy()
    X[:, 2] = np.where(Y > 0, Y, np.nan)
    with pytest.warns(UserWarning, match="'f2' alone, largest"):
        fit(X, n_estimators=1, num_leaves=2, colsample=0.25)


@pytest.mark.filterwarnings("error")
def test_nothing_is_said_without_validation_queries() -> None:
    """Training queries have taught the trees."""
    X = np.column_stack([RELEVANCE, FEATURES])
    GBRanker(n_estimators=1, num_leaves=2, random_state=0, n_jobs=1).fit(X, Y, qid=QID)


def test_the_best_of_five_is_named() -> None:
    """Others agree more with the labels, but put the best documents in the middle."""
    rng = np.random.default_rng(2)
    best = Y == 2
    strong = [np.where(best, 0, RELEVANCE + 0.1 * rng.normal(size=len(QID))) for _ in range(4)]
    weak = best + 0.1 * rng.normal(size=len(QID))
    agree = [abs(stats.spearmanr(column, Y).statistic) for column in (*strong, weak)]
    assert min(agree[:4]) > agree[4]
    with pytest.warns(UserWarning, match="'f4' alone, largest first"):
        fit(np.column_stack([*strong, weak]), n_estimators=1, num_leaves=2)


def test_the_first_measure_on_the_first_validation_queries_says_it() -> None:
    """Once, though the ranker begins with a regression, which is fitted before."""
    X = np.column_stack([RELEVANCE, FEATURES])
    given: dict[str, Any] = {"n_estimators": 1, "num_leaves": 2, "n_jobs": 1}
    given |= {"learning_rate": 1e-9, "random_state": 0}
    ranker = GBRanker(init="regression", eval_metric=["mrr", "ndcg@3"], **given)
    parts = [(QID >= 30) & (QID < 45), QID >= 45]
    with pytest.warns(UserWarning, match="alone") as caught:
        ranker.fit(
            X[TRAIN], Y[TRAIN], qid=QID[TRAIN],
            eval_set=[(X[part], Y[part]) for part in parts], eval_qid=[QID[part] for part in parts],
        )  # fmt: skip
    (text,) = (str(each.message) for each in caught if "alone" in str(each.message))
    own, alone = (
        np.nanmean(get_measure("mrr").per_query(Y[parts[0]], scores, qid=QID[parts[0]]))
        for scores in (ranker.predict(X[parts[0]]), RELEVANCE[parts[0]])
    )
    assert f"its mrr less the ranker's is {alone - own:+.4f}" in text


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ["wide", "one query"])
def test_where_nothing_is_said(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where finding a feature takes long, and where one query has no interval."""
    monkeypatch.setattr(best_feature, "WIDE", 2 if kind == "wide" else 3)
    X, valid = np.column_stack([RELEVANCE, RELEVANCE]), QID == 40 if kind == "one query" else ~TRAIN
    params: dict[str, Any] = {"n_estimators": 1, "num_leaves": 2, "n_jobs": 1}
    GBRanker(learning_rate=1e-9, random_state=0, **params).fit(
        X[TRAIN], Y[TRAIN], qid=QID[TRAIN], eval_set=[(X[valid], Y[valid])], eval_qid=[QID[valid]]
    )


def test_all_columns_are_numbers_of_the_user() -> None:
    """A strong one is found among many, by its smallest values; codes are left out."""
    rng = np.random.default_rng(1)
    weak = RELEVANCE[:, np.newaxis] + 3 * rng.normal(size=(len(QID), 6))
    with pytest.warns(UserWarning, match="'f6' alone, smallest first"):
        fit(np.column_stack([weak, -RELEVANCE]), n_estimators=1, num_leaves=2)
    given = {"n_estimators": 1, "num_leaves": 2, "learning_rate": 1e-9}
    X, valid = np.column_stack([Y, 0 * Y]), [(np.column_stack([Y, 0 * Y])[~TRAIN], Y[~TRAIN])]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".* equal another row")
        GBRanker(**given, random_state=0, n_jobs=1).fit(
            X[TRAIN], Y[TRAIN], qid=QID[TRAIN], eval_set=valid, eval_qid=[QID[~TRAIN]],
            categorical_feature=[0],
        )  # fmt: skip


def test_a_baseline_is_compared_beside_the_best_feature() -> None:
    """By name, largest first, and once where it is the best itself."""
    X = pd.DataFrame(FEATURES, columns=["a", "b", "bm25", "best"])
    X["best"] = RELEVANCE + 1e-3
    X["bm25"] = RELEVANCE + 0.1 * RNG.normal(size=len(QID))
    with pytest.warns(UserWarning, match="alone") as caught:
        fit(X, n_estimators=1, num_leaves=2, colsample=0.25, baseline="bm25")
    assert [re.findall("'(.*)' alone, largest", str(each.message)) for each in caught] == [
        ["best"], ["bm25"]
    ]  # fmt: skip
    with pytest.warns(UserWarning, match="'best' alone") as caught:
        fit(X, n_estimators=1, num_leaves=2, colsample=0.25, baseline="best")
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(FEATURES, baseline=0)


@pytest.mark.parametrize("init", [None, "regression"])
def test_without_validation_queries_a_baseline_is_compared_in_folds(init: str | None) -> None:
    """With rankers of the other two thirds; the best feature is not looked for."""
    X, init_score = np.column_stack([FEATURES, RELEVANCE, RELEVANCE + 1e-3]), 0.1 * FEATURES[:, 0]
    params: dict[str, Any] = {"n_estimators": 10, "num_leaves": 2, "random_state": 3, "n_jobs": 1}
    data = {} if init else {"init_score": init_score}
    with pytest.warns(UserWarning, match=r"^'f4' alone, .* training queries, in folds") as caught:
        ranker = GBRanker(baseline=4, init=init, **params).fit(X, Y, qid=QID, **data)
    (text,) = (str(each.message) for each in caught)
    assert "Keep the column" in text
    plain = GBRanker(init=init, **params)
    fold = np.argsort(np.argsort(query_noise(query_keys(np.arange(N_QUERIES)), 3, 0)))[QID] % 3
    scores = np.zeros(len(Y))
    for held_out in (fold == number for number in range(3)):
        part = {name: values[~held_out] for name, values in data.items()}
        plain.fit(X[~held_out], Y[~held_out], qid=QID[~held_out], **part)
        scores[held_out] = plain.predict(X[held_out]) + (not init) * init_score[held_out]
    alone, own = (NDCG(k=10)(Y, values, qid=QID) for values in (RELEVANCE, scores))
    assert given_lead(caught) == pytest.approx(alone - own, abs=1e-4)
    assert_array_equal(plain.fit(X, Y, qid=QID, **data).predict(X), ranker.predict(X))


@pytest.mark.filterwarnings("error")
def test_folds_say_nothing_of_a_ranker_that_is_ahead() -> None:
    """There must be three queries; early stopping needs others."""
    ranker = GBRanker(n_estimators=60, learning_rate=0.1, random_state=0, n_jobs=1, baseline=0)
    ranker.fit(FEATURES, Y, qid=QID)
    few = QID < 2
    with pytest.raises(ValueError, match=r"baseline needs validation data, or 3 .*, got 2"):
        ranker.fit(FEATURES[few], Y[few], qid=QID[few])
    with pytest.raises(ValueError, match="early_stopping_rounds needs validation data"):
        ranker.set_params(early_stopping_rounds=5).fit(FEATURES, Y, qid=QID)


def given_lead(caught: Any) -> float:
    """Return the lead that the one warning of a feature says."""
    (text,) = (str(each.message) for each in caught if "alone" in str(each.message))
    return float(re.findall(r"[-+]\d\.\d{4}", text)[0])


def test_initial_scores_are_part_of_what_a_feature_is_compared_with() -> None:
    """As of what `evals_result_` has."""
    given: dict[str, Any] = {"n_estimators": 3, "random_state": 0, "n_jobs": 1}
    X, (train, valid) = FEATURES, (TRAIN, ~TRAIN)
    with pytest.warns(UserWarning, match="'f3' alone|'f0' alone") as caught:
        ranker = GBRanker(**given).fit(
            X[train], Y[train], qid=QID[train], init_score=-9 * X[train, 0],
            eval_set=[(X[valid], Y[valid])], eval_qid=[QID[valid]],
            eval_init_score=[-9 * X[valid, 0]],
        )  # fmt: skip
    alone = NDCG(k=10)(Y[valid], X[valid, 0], qid=QID[valid])
    assert given_lead(caught) == pytest.approx(alone - ranker.best_score_, abs=1e-4)


def test_a_lead_is_weighted_as_the_measure_is() -> None:
    """One query has nearly all of the weight."""
    X = np.column_stack([FEATURES, RELEVANCE])
    weights = {query: 1e3 if query == 7 else 1e-3 for query in range(N_QUERIES)}
    given: dict[str, Any] = {"n_estimators": 1, "num_leaves": 2, "n_jobs": 1}
    with pytest.warns(UserWarning, match="'f4' alone") as caught:
        ranker = GBRanker(validation_fraction=0.9, random_state=2, **given).fit(
            X, Y, qid=QID, query_weight=weights
        )
    alone = NDCG(k=10)(Y[QID == 7], RELEVANCE[QID == 7])
    assert given_lead(caught) == pytest.approx(alone - ranker.best_score_, abs=2e-4)


def test_missing_values_are_last_among_huge_ones() -> None:
    """Which 1 more or less does not change."""
    column = np.array([[-1e300], [np.nan], [3.0]])
    assert np.argsort(best_feature._scores(column, 0, 1)).tolist() == [1, 0, 2]
    assert np.argsort(best_feature._scores(column.astype("f"), 0, -1)).tolist() == [1, 2, 0]


@pytest.mark.filterwarnings("ignore::scipy.stats.ConstantInputWarning")
def test_columns_agree_as_far_as_spearmans_correlations_in_queries() -> None:
    """What does not vary in a query, or is not known in it, has none."""
    X, y = FEATURES.copy(), np.where(QID == 5, 1.0, Y)
    X[QID == 3, 1], X[QID == 4, 1], X[::4, 2] = 7.0, np.nan, np.nan
    expected = [
        sum(
            np.nan_to_num(stats.spearmanr(X[own, column], y[own], nan_policy="omit").statistic)
            for own in (query == QID for query in range(N_QUERIES))
        )
        for column in (0, 1, 3)
    ]
    found = best_feature._agreement(Documents(X, y, Queries.from_qid(QID)))
    np.testing.assert_allclose(found[[0, 1, 3]], expected, atol=1e-12)
    assert found[0] > 0 > found[1]


def test_queries_without_weight_are_not_in_the_interval() -> None:
    first, second, weights = np.random.default_rng(3).random((3, 9))
    weights[[2, 5]] = 0
    kept = weights > 0
    found = best_feature.difference_of(first, second, weights)
    assert found == best_feature.difference_of(first[kept], second[kept], weights[kept])
