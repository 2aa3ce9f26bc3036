"""The warning where a feature alone ranks queries no worse than the ranker."""

import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from gbrank import NDCG, GBRanker, Queries, make_cubic
from gbrank.data.sampling import query_noise
from gbrank.fit.best_feature import difference_of

N_QUERIES, SIZE = 60, 12
QID = np.repeat(np.arange(N_QUERIES), SIZE)
TRAIN = QID < 30
RNG = np.random.default_rng(0)
FEATURES = RNG.normal(size=(len(QID), 4))
RELEVANCE = FEATURES[:, 0] - FEATURES[:, 1] + 0.3 * RNG.normal(size=len(QID))
Y = np.digitize(RELEVANCE, np.quantile(RELEVANCE, [0.6, 0.85])).astype(float)


def fit(X: Any, **params: Any) -> GBRanker:
    """Train on the first queries, and validate on the others."""
    given = {"n_estimators": 60, "learning_rate": 0.1, "random_state": 0, "n_jobs": 1} | params
    valid = {"eval_set": [(X[~TRAIN], Y[~TRAIN])], "eval_qid": [QID[~TRAIN]]}
    return GBRanker(**given).fit(X[TRAIN], Y[TRAIN], qid=QID[TRAIN], **valid)


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


def test_missing_values_are_last() -> None:
    """Below what is known, even among huge values, which 1 more or less does not change."""
    X = FEATURES.copy()
    X[:, 2] = np.where(Y > 0, (Y - 3) * 1e300, np.nan)
    with pytest.warns(UserWarning, match="'f2' alone, largest"):
        fit(X, n_estimators=1, num_leaves=2, colsample=0.25)


@pytest.mark.filterwarnings("error")
def test_nothing_is_said_without_validation_queries() -> None:
    """Training queries have taught the trees."""
    X = np.column_stack([RELEVANCE, FEATURES])
    GBRanker(n_estimators=1, num_leaves=2, random_state=0, n_jobs=1).fit(X, Y, qid=QID)


def test_all_columns_are_numbers_of_the_user() -> None:
    """A strong one is found among many, by its smallest values; codes are left out."""
    rng = np.random.default_rng(1)
    weak = RELEVANCE[:, np.newaxis] + 3 * rng.normal(size=(len(QID), 6))
    with pytest.warns(UserWarning, match="'f6' alone, smallest first"):
        fit(np.column_stack([weak, -RELEVANCE]), n_estimators=1, num_leaves=2)
    given = {"n_estimators": 1, "num_leaves": 2, "learning_rate": 1e-9}
    codes = np.digitize(RELEVANCE, np.quantile(RELEVANCE, [0.4, 0.7, 0.9]))
    X = np.column_stack([codes, 0 * codes])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".* are duplicates within")
        GBRanker(**given, random_state=0, n_jobs=1).fit(
            X[TRAIN], Y[TRAIN], qid=QID[TRAIN], eval_set=[(X[~TRAIN], Y[~TRAIN])],
            eval_qid=[QID[~TRAIN]], categorical_feature=[0],
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
    assert "Rank by this column" in text
    plain = GBRanker(init=init, **params)
    fold = (
        np.argsort(np.argsort(query_noise(Queries.from_qid(np.arange(N_QUERIES)).id_keys, 3, 0)))[
            QID
        ]
        % 3
    )
    scores = np.zeros(len(Y))
    for held_out in (fold == number for number in range(3)):
        part = {name: values[~held_out] for name, values in data.items()}
        plain.fit(X[~held_out], Y[~held_out], qid=QID[~held_out], **part)
        scores[held_out] = plain.predict(X[held_out]) + (not init) * init_score[held_out]
    alone, own = (NDCG(k=10)(Y, values, qid=QID) for values in (RELEVANCE, scores))
    assert given_lead(caught) == pytest.approx(alone - own, abs=1e-4)
    assert_array_equal(plain.fit(X, Y, qid=QID, **data).predict(X), ranker.predict(X))


def given_lead(caught: Any) -> float:
    """Return the lead that the one warning of a feature says."""
    (text,) = (str(each.message) for each in caught if "alone" in str(each.message))
    return float(re.findall(r"[-+]\d\.\d{4}", text)[0])


def test_initial_scores_are_part_of_what_a_feature_is_compared_with() -> None:
    """As of what `best_score_` is of."""
    X, y, qid = FEATURES[~TRAIN], Y[~TRAIN], QID[~TRAIN]
    with pytest.warns(UserWarning, match="'f0' alone") as caught:
        ranker = GBRanker(n_estimators=3, random_state=0, n_jobs=1).fit(
            FEATURES[TRAIN], Y[TRAIN], qid=QID[TRAIN], init_score=-9 * FEATURES[TRAIN, 0],
            eval_set=[(X, y)], eval_qid=[qid], eval_init_score=[-9 * X[:, 0]],
        )  # fmt: skip
    alone = NDCG(k=10)(y, X[:, 0], qid=qid)
    assert given_lead(caught) == pytest.approx(alone - ranker.best_score_, abs=1e-4)


def test_queries_without_weight_are_not_in_the_interval() -> None:
    first, second = np.random.default_rng(3).random((2, 9))
    interval = difference_of(first, second, np.array([0, 1, 2, 0, 3, 1, 1, 1, 1.0]))
    kept = [1, 2, 4, 5, 6, 7, 8]
    assert interval == difference_of(first[kept], second[kept], np.array([1, 2, 3, 1, 1, 1, 1.0]))


def test_features_of_arrays_are_counted_from_0() -> None:
    """The error names the last one to people who count from 1, as LETOR files do."""
    X, y, qid = make_cubic(20, n_documents=10, n_features=3, random_state=0)
    with pytest.raises(ValueError, match=r"'f3'\. Did you mean 'f2', as the first column is 'f0'"):
        GBRanker(baseline="f3").fit(X, y, qid=qid)
