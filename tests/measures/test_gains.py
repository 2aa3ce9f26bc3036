"""Gains: tables of them, and labels that are too large for an exponential one."""

import re
import warnings
from typing import Any

import numpy as np
import pytest

from gbrank import (
    DCG,
    NDCG,
    XENDCG,
    GainRegression,
    GBRanker,
    Queries,
    get_measure,
    get_objective,
    make_cubic,
)

TABLE = (0, 1, 3, 7.5)


@pytest.mark.parametrize("table", [list(TABLE), np.array(TABLE), TABLE])
@pytest.mark.parametrize("make", [DCG, NDCG, GainRegression, XENDCG])
def test_tables_of_gains(make: Any, table: Any) -> None:
    """A list or an array is a table as a tuple is: the same value, hash and text."""
    made, expected = make(gain=table), make(gain=TABLE)
    assert made == expected
    assert hash(made) == hash(expected)
    read = get_measure if make in (DCG, NDCG) else get_objective
    assert read(str(made)) == expected
    assert read(str(made).replace("(0.0,1.0,3.0,7.5)", "[0,1,3,7.5]")) == expected
    if make is DCG:
        assert made([3, 0], [1.0, 0.0]) == 7.5


@pytest.mark.parametrize("name", ["ndcg", "dcg@3", "lambda:ndcg", "xendcg", "regression"])
@pytest.mark.parametrize("largest", [31.5, 273.4])
def test_amounts_are_too_large_for_exponential_gains(name: str, largest: float) -> None:
    """Where all but the largest would count for nothing: the warning names labels and remedy."""
    labels, queries = [largest, 12.0, 0.0], Queries.from_sizes([3])
    get: Any = get_objective if name in ("lambda:ndcg", "xendcg", "regression") else get_measure
    found = rf"labels reach {largest:g}, and gain='exp2'.* Use smaller labels, or gain=linear"
    with pytest.warns(UserWarning, match=found):
        get(name).bind(labels, queries)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        get(name).bind([31.0, 12.0, 0.0], queries)
        option = "(gain=linear)"
        get(f"{name.partition('@')[0]}{option}").bind(labels, queries)


def test_the_remedy_for_labels_of_hundreds() -> None:
    """What the error says to write is what trains, decides and scores."""
    X, y, qid = make_cubic(20, n_documents=10, random_state=0)
    revenue = 400 * y

    def fit(**params: str) -> GBRanker:
        ranker = GBRanker(n_estimators=2, n_jobs=1, random_state=0, **params)
        return ranker.fit(X, revenue, qid=qid, eval_set=[(X, revenue)], eval_qid=[qid])

    with pytest.raises(ValueError, match="gain must give gains") as caught:
        fit()
    remedy = dict(re.findall(r'(objective|eval_metric)="([^"]+)"', str(caught.value)))
    with pytest.raises(ValueError, match="eval_metric="):
        fit(objective=remedy["objective"])
    assert fit(**remedy).score(X, revenue, qid) > 0.7
