"""Every parameter and column refuses values below, above and of another type, by its name.

The cases follow from what fields declare; errors_of_*.py lists what is refused for other reasons.
"""

from collections.abc import Iterator
from dataclasses import MISSING, Field, fields
from typing import Any

import numpy as np
import pytest

from gbrank import (
    AP,
    ERR,
    NDCG,
    RBP,
    ApproxRank,
    GBRanker,
    LambdaRank,
    LinearRanker,
    NoisyLambdaRank,
    SLAMPerceptron,
    list_measures,
    list_objectives,
    make_cubic,
)
from gbrank.common.checks import ArgumentError, ArgumentTypeError, check_choice, check_number
from gbrank.common.fields import CHECK
from gbrank.schedules import constant, cosine, geometric, linear, staircase

X, Y, QID = make_cubic(10, n_documents=6, n_features=3, random_state=0)
RANKERS = [GBRanker, LinearRanker, SLAMPerceptron]
SCHEDULES = [constant, linear, geometric, cosine, staircase]
VALUES = [*dict.fromkeys(item.cls for item in (*list_measures(), *list_objectives())), *SCHEDULES]
OTHER_TYPES: list[Any] = [
    "x" * 5000, b"ab", [1], {"a": 1}, object(), 1j, np.array([1.0, 2.0]), np.datetime64("2020"),
]  # fmt: skip


def declared(cls: Any) -> Iterator[Field[Any]]:
    """Yield the fields of a class that declare their values."""
    return (item for item in fields(cls) if CHECK in item.metadata)


def outside(item: Field[Any]) -> Iterator[Any]:
    """Yield numbers beside the bounds of a field of numbers, and what is not finite."""
    bounds = item.metadata[CHECK].keywords
    for bound, step in (("low", -1), ("high", 1), ("above", 0), ("below", 0)):
        if np.isfinite(limit := bounds.get(bound, np.inf)):
            yield limit + step
    yield from () if bounds.get("integer") else (np.nan, np.inf)
    yield 10**400


def of_another_type(item: Field[Any]) -> Iterator[Any]:
    """Yield what a field of numbers cannot hold, whatever its bounds."""
    yield from (*OTHER_TYPES, True)
    bounds = item.metadata[CHECK].keywords
    yield from [2.5] if bounds.get("integer") else []
    yield from [] if bounds.get("optional") else [None]


def give(cls: Any, name: str, value: Any) -> None:
    """Make a value with this field, or fit a ranker with this parameter."""
    if cls in RANKERS:
        cls().set_params(**{name: value}).fit(X, Y, qid=QID)
        return
    needed = [item.name for item in fields(cls) if item.default is item.default_factory is MISSING]
    cls(**dict.fromkeys(needed, 1) | {name: value})


CASES = [(cls, item) for cls in (*RANKERS, *VALUES) for item in declared(cls)]


@pytest.mark.parametrize(
    ("cls", "item"),
    [pytest.param(*case, id=f"{case[0].__name__}.{case[1].name}") for case in CASES],
)
def test_parameters(cls: Any, item: Field[Any]) -> None:
    """The error is short, and of a type as Python's own."""
    check, refused = item.metadata[CHECK].func, list[tuple[Any, type[Exception]]]()
    if check is check_number:
        refused += [(value, ArgumentError) for value in outside(item)]
        refused += [(value, ArgumentTypeError) for value in of_another_type(item)]
    elif check is check_choice:
        refused += [(value, ArgumentError) for value in (*OTHER_TYPES, "no such choice", 7)]
    else:
        refused += [(value, Exception) for value in (object(), 1j)]
    for value, kind in refused:
        with pytest.raises((ValueError, TypeError)) as caught:
            give(cls, item.name, value)
        assert isinstance(caught.value, kind)
        assert item.name in getattr(caught.value, "argument", str(caught.value))
        assert len(str(caught.value)) < 450


# The first values beside what the declared bounds must be.
FIRST_OUTSIDE: dict[Any, dict[str, list[float]]] = {
    GBRanker: {
        "n_estimators": [0], "learning_rate": [0], "num_leaves": [1, 2**31],
        "max_depth": [0, 2**31],
        "min_child_samples": [-1, 2**31], "subsample": [0, 1.01], "colsample": [0, 1.01],
        "reg_lambda": [-1e-9], "validation_fraction": [0, 1], "random_state": [-1, 2**31],
        "n_jobs": [-2, 0], "early_stopping_rounds": [0],
    },
    LinearRanker: {
        "reg_lambda": [-1e-9], "n_steps": [0], "ridge": [0], "max_iter": [0], "tol": [-1e-9],
        "learning_rate": [0],
    },
    SLAMPerceptron: {"learning_rate": [0], "max_iter": [0]},
    NDCG: {"k": [0]}, AP: {"threshold": [0]}, RBP: {"p": [0, 1]}, ERR: {"max_grade": [0, 16.1]},
    LambdaRank: {"truncation": [0]}, NoisyLambdaRank: {"draws": [0]}, ApproxRank: {"beta": [0]},
    geometric: {"start": [0], "stop": [0]}, linear: {"stop": [-1e-9]}, staircase: {"every": [0]},
}  # fmt: skip


@pytest.mark.parametrize("cls", FIRST_OUTSIDE)
def test_bounds(cls: Any) -> None:
    """By hand: a bound that is declared wrongly is no bound of the cases above."""
    for name, values in FIRST_OUTSIDE[cls].items():
        for value in values:
            with pytest.raises(ArgumentError, match=f"{name} must be"):
                give(cls, name, value)


def test_all_fields_are_here() -> None:
    """Of rankers, measures, objectives and schedules."""
    assert {cls for cls, _ in CASES} >= {*RANKERS, NDCG, LambdaRank, *SCHEDULES}
    assert len(CASES) > 100


# Of each column, a good entry, and entries below and above what it holds.
COLUMNS: dict[str, tuple[float, list[float]]] = {
    "y": (1.0, [-1.0]),
    "sample_weight": (1.0, [-1.0, 1e19]),
    "query_weight": (1.0, [-1.0, 1e19]),
    "init_score": (0.0, [-1e31, 1e31]),
    "position": (1.0, [0.0, 1.5]),
}


def fit(**columns: Any) -> None:
    """Fit a ranker."""
    GBRanker("ranknet", n_estimators=1).fit(**{"X": X, "y": Y, "qid": QID, **columns})


@pytest.mark.parametrize("name", COLUMNS)
def test_columns(name: str) -> None:
    """One entry that is out of bounds, a column of another length, shape or type."""
    good, outside = COLUMNS[name]
    column = np.full(10 if name == "query_weight" else len(Y), good)
    for value in (*outside, np.nan, np.inf, -np.inf):
        column[7] = value
        with pytest.raises(ArgumentError, match="7") as caught:
            fit(**{name: column})
        assert caught.value.argument == name
    column[7] = good
    for other in (column[1:], column[None], 3.0):
        with pytest.raises(ArgumentError) as caught:
            fit(**{name: other})
        assert caught.value.argument == name
    with pytest.raises(ArgumentTypeError) as caught_type:
        fit(**{name: np.full(len(column), "good")})
    assert caught_type.value.argument == name


@pytest.mark.parametrize("name", ["y", "init_score"])
def test_columns_of_a_validation_set(name: str) -> None:
    """The error has the place of the set."""
    bad = np.full(len(Y), np.nan)
    valid: dict[str, Any] = {"eval_set": [(X, Y), (X, bad)], "eval_qid": [QID, QID]}
    if name == "init_score":
        valid |= {"eval_set": [(X, Y)] * 2, "eval_init_score": [0 * Y, bad], "init_score": 0 * Y}
    with pytest.raises(ArgumentError) as caught:
        fit(**valid)
    assert (caught.value.argument, caught.value.context) == (name, "eval_set[1]: ")


@pytest.mark.parametrize("name", ["y", "scores", "sample_weight", "query_weight"])
def test_columns_of_a_measure(name: str) -> None:
    """As those of a fit."""
    columns: dict[str, Any] = {"y": Y, "scores": X[:, 0], "qid": QID}
    bad = np.full(10 if name == "query_weight" else len(Y), np.nan)
    with pytest.raises(ArgumentError) as caught:
        NDCG()(**columns | {name: bad})
    assert caught.value.argument == name
