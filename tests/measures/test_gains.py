"""Gains: tables of them, and labels that are too large for an exponential one."""

import warnings
from typing import Any

import numpy as np
import pytest

from gbrank import DCG, NDCG, XENDCG, GainRegression, Queries, get_measure, get_objective

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
    found = rf"labels are up to {largest:g}, and gain='exp2'.* Use gain='linear'"
    with pytest.warns(UserWarning, match=found):
        get(name).bind(labels, queries)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        get(name).bind([31.0, 12.0, 0.0], queries)
        option = "(gain=linear)"
        get(f"{name.partition('@')[0]}{option}").bind(labels, queries)
