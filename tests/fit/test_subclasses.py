"""Subclasses of rankers in the forms that people write: they fit, clone, save and load."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from gbrank import GBRanker, LinearRanker, load_ranker, make_cubic

X, Y, QID = make_cubic(20, n_documents=10, n_features=3, random_state=0)
PARAMS = {
    "objective": "ranknet",
    "n_estimators": 7,
    "num_leaves": 4,
    "random_state": 0,
    "n_jobs": 1,
}


class Passing(GBRanker):
    """Hands on what it does not know."""

    def __init__(self, *, shop: str = "north", **kwargs: Any) -> None:
        self.shop = shop
        super().__init__(**kwargs)


class Own(GBRanker):
    """Has a constructor of its own."""

    def __init__(self, n_estimators: int = 5, shop: str = "north") -> None:
        super().__init__(**PARAMS | {"n_estimators": n_estimators})
        self.shop = shop


class Plain(GBRanker):
    """Changes nothing."""


@dataclass(eq=False, repr=False)
class Declared(GBRanker):
    """Has one field more."""

    shop: str = "north"


MADE = {
    "passing": lambda: Passing(shop="south", **PARAMS),
    "own": lambda: Own(n_estimators=7, shop="south"),
    "plain": lambda: Plain(**PARAMS),
    "declared": lambda: Declared(shop="south", **PARAMS),
}


@pytest.mark.parametrize("form", MADE)
def test_rankers(form: str, tmp_path: Path) -> None:
    """All have the trees of a GBRanker with these parameters."""
    expected = GBRanker(**PARAMS).fit(X, Y, qid=QID).predict(X)
    ranker = MADE[form]()
    assert_array_equal(ranker.fit(X, Y, qid=QID).predict(X), expected)
    again = clone(ranker)
    assert type(again) is type(ranker)
    assert getattr(again, "shop", None) == getattr(ranker, "shop", None)
    assert_array_equal(again.fit(X, Y, qid=QID).predict(X), expected)
    ranker.save(tmp_path)
    loaded = type(ranker).load(tmp_path)
    assert loaded.get_params() == ranker.get_params()
    assert_array_equal(loaded.predict(X), expected)
    with pytest.raises(ValueError, match=rf"use {type(ranker).__name__}\.load"):
        load_ranker(tmp_path)


def test_linear_rankers(tmp_path: Path) -> None:
    class Linear(LinearRanker):
        def __init__(self, **kwargs: Any) -> None:
            super().__init__(**kwargs)

    ranker = Linear(objective="regression", ridge=5.0).fit(X, Y, qid=QID)
    expected = LinearRanker("regression", ridge=5.0).fit(X, Y, qid=QID)
    assert_array_equal(clone(ranker).fit(X, Y, qid=QID).coef_, expected.coef_)
    ranker.save(tmp_path)
    assert_array_equal(Linear.load(tmp_path).coef_, expected.coef_)


def squares(scores: Any, labels: Any, sigma: float) -> Any:
    return ((scores - labels) ** 2).sum() / 2, scores - labels, 0 * scores + 1


def test_a_function_is_passed_again(tmp_path: Path) -> None:
    """A saved model predicts without it, and a fit of the clone says what is missing."""
    GBRanker(squares, n_estimators=2).fit(X, Y, qid=QID).save(tmp_path)
    loaded = load_ranker(tmp_path)
    assert len(loaded.predict(X)) == len(X)
    with pytest.raises(ValueError, match=r"objective must be passed again, as by set_params\(obj"):
        clone(loaded).fit(X, Y, qid=QID)
    clone(loaded).set_params(objective=squares).fit(X, Y, qid=QID)


def test_the_file_inside_the_folder(tmp_path: Path) -> None:
    GBRanker(**PARAMS).fit(X, Y, qid=QID).save(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"gbrank.json is a file: pass the folder that hol"):
        load_ranker(tmp_path / "gbrank.json")
