"""Columns of a data frame, by their names, as arguments of fit, score, rank and predict."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from gbrank import GBRanker, LinearRanker, SLAMPerceptron, make_cubic

X, Y, QID = make_cubic(20, n_documents=10, n_features=3, random_state=0)
WEIGHT, IMPORTANCE = 1.0 + np.arange(200) % 3, 1.0 + QID % 4
POSITION, DEVICE = 1 + np.arange(200) % 10, 1 + np.arange(200) % 2
FRAME = pd.DataFrame(X, columns=list("abc"))
TABLE = FRAME.assign(
    label=Y, query_id=QID, weight=WEIGHT, importance=IMPORTANCE, place=POSITION, device=DEVICE
)
PARAMS = {"n_estimators": 4, "min_child_samples": 3, "random_state": 0, "n_jobs": 1}


@pytest.mark.parametrize("convert", [lambda frame: frame, pl.from_pandas], ids=["pandas", "polars"])
def test_names_stand_for_columns(convert: Any) -> None:
    """The same model as of the values, and the columns are no features."""
    kept = convert(TABLE.drop(columns=["place", "device"]))
    named = GBRanker(**PARAMS).fit(
        kept,
        "label",
        qid="query_id",
        sample_weight="weight",
        query_weight="importance",
        eval_set=[(kept, "label")],
        eval_qid=["query_id"],
    )
    weights = {"sample_weight": WEIGHT, "query_weight": 1.0 + np.arange(20) % 4}
    passed = GBRanker(**PARAMS).fit(
        FRAME, Y, qid=QID, **weights, eval_set=[(FRAME, Y)], eval_qid=[QID]
    )
    assert named.feature_names_in_.tolist() == ["a", "b", "c"]
    assert_array_equal(named.predict(kept), passed.predict(FRAME))
    assert named.evals_result_ == passed.evals_result_
    by_name = named.score(kept, "label", "query_id", query_weight="importance")
    assert by_name == passed.score(FRAME, Y, QID, query_weight=weights["query_weight"])
    assert_array_equal(named.rank(kept, "query_id"), passed.rank(FRAME, QID))


def test_positions_by_name() -> None:
    """One column, or one for each context."""
    for named, values in (
        ("place", POSITION),
        ({"position": "place", "device": "device"}, {"position": POSITION, "device": DEVICE}),
    ):
        used = ["place"] if named == "place" else ["place", "device"]
        table = FRAME.assign(**TABLE[used])
        by_name = GBRanker(**PARAMS).fit(table, Y, qid=QID, position=named)
        passed = GBRanker(**PARAMS).fit(FRAME, Y, qid=QID, position=values)
        assert by_name.position_bias_ == passed.position_bias_
        assert by_name.n_features_in_ == 3


def test_linear_rankers_take_names() -> None:
    table = TABLE[["a", "b", "c", "label", "query_id"]]
    linear = LinearRanker("regression", by_query=True)
    scores = linear.fit(table, "label", "query_id").predict(table, "query_id")
    assert_array_equal(scores, linear.fit(FRAME, Y, QID).predict(FRAME, QID))
    learned = SLAMPerceptron().fit(table, "label", "query_id").coef_
    assert_array_equal(learned, SLAMPerceptron().fit(FRAME, Y, QID).coef_)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"qid": "query"}, r"unknown column \(qid\) 'query'. Did you mean 'query_id'\?"),
        ({"X": X, "qid": "query_id"}, "qid must hold values; a column by its name needs a data fr"),
        ({"query_weight": "weight"}, "query_weight .*query 0"),
    ],
    ids=["unknown", "array", "weights of a query that differ"],
)
def test_what_names_no_column_is_refused(arguments: dict[str, Any], message: str) -> None:
    data = {"X": TABLE, "y": Y, "qid": "query_id", **arguments}
    with pytest.raises((TypeError, ValueError), match=message):
        GBRanker(**PARAMS).fit(data.pop("X"), data.pop("y"), **data)


def test_each_table_is_converted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of rows, for a fit with validation data."""

    class Rows(list):
        conversions = 0

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            Rows.conversions += 1
            return np.array(list(self), dtype)

    train, valid = Rows(X.tolist()), Rows(X[:100].tolist())
    ranker = GBRanker(**PARAMS)
    ranker.fit(train, Y, qid=QID, eval_set=[(valid, Y[:100])], eval_qid=[QID[:100]])
    assert Rows.conversions == 2
    assert_array_equal(ranker.predict(X), GBRanker(**PARAMS).fit(X, Y, qid=QID).predict(X))
