"""Messages of errors: short, whatever the value, and in gbrank's own words."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gbrank import Queries, get_measure, get_objective
from gbrank.common.checks import listed, quoted
from gbrank.data.schema import Schema

LONG = 10**4000
WIDE = pd.DataFrame(np.zeros((1, 5000))).add_prefix("column ")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        ("a'b", '"a\'b"'),
        (["a", None], "['a', None]"),
        ("x" * 1000, "'" + "x" * 57 + "..." + "x" * 58 + "'"),
    ],
)
def test_quoted(value: Any, text: str) -> None:
    """The repr, if it is short and can be written."""
    assert quoted(value) == text


@pytest.mark.parametrize("value", [np.arange(500), list(range(500)), {"a": "x" * 500}])
def test_long_values_lose_their_middle(value: Any) -> None:
    """Both ends stay."""
    text = quoted(value)
    assert len(text) <= 120
    assert "..." in text
    assert (text[:3], text[-3:]) == (repr(value)[:3], repr(value)[-3:])


def test_listed() -> None:
    """The first of many, and how many there are."""
    assert listed([]) == "[]"
    assert listed(["a", 1]) == "['a', 1]"
    assert listed(range(10)) == str(list(range(10)))
    assert listed(range(11)) == "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ... (11 in all)]"


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: Schema.learn(WIDE).transform(WIDE.iloc[:, :1]), "X must have the columns of fit"),
        (lambda: Schema.union([Schema.learn(WIDE), Schema.learn(WIDE.iloc[:, :9])]), "X must"),
        (lambda: Schema.learn(WIDE, [LONG]), "categorical_feature"),
        (lambda: Queries.from_qid([LONG]).in_order({}), "query_weight"),
        (lambda: Queries.from_qid(["x" * 10**4]).in_order({}), "query_weight"),
        (lambda: Queries.from_qid([{"x" * 10**4: 1}]), "qid"),
        (lambda: get_measure(f"ndcg(k={'x' * 900}.y)"), "no value"),
        (lambda: get_objective(f"ndcg(k={'x' * 900})"), "unknown objective"),
    ],
)
def test_short_messages(call: Callable[[], Any], name: str) -> None:
    """They name the argument."""
    with pytest.raises((ValueError, TypeError), match=name) as caught:
        call()
    assert len(str(caught.value)) < 600
