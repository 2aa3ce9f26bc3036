"""Errors about parameters and arguments of `fit` that are of no right kind: all name them."""

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from gbrank import GBRanker, LinearRanker, SLAMPerceptron, make_cubic

X, Y, QID = make_cubic(10, n_documents=6, n_features=3, random_state=0)
STRANGE: list[Any] = [
    -0.5, 1.5, float("nan"), 10**400, -(10**4000), "", "x" * 5000, "9" * 5000, b"ab", [], [1],
    ["a", 3], (), {}, {"a": 1}, {1: 2}, set(), np.array(3), np.array([1.0, 2.0]), np.array([]),
    object(), Decimal("0.5"), 1j, np.complex128(1j), pd.DataFrame({"a": [1]}), pd.NA,
    np.datetime64("2020"), sp.csr_matrix(np.eye(2)), [X, 1], [[1, 2], [3]],
]  # fmt: skip
RANKERS: dict[str, Any] = {
    "GBRanker": lambda: GBRanker("ranknet", n_estimators=1, min_child_samples=2, n_jobs=1),
    "LinearRanker": lambda: LinearRanker("ranknet", n_steps=1, max_iter=1, n_jobs=1),
    "SLAMPerceptron": SLAMPerceptron,
}
# What others word: names of measures and objectives, schedules, and the boosters' own parameters.
OTHERS = {"objective", "eval_metric", "measure", "sigma", "booster_params"}
PARAMETERS = [
    (kind, name)
    for kind, make in RANKERS.items()
    for name in make().get_params(deep=False)
    if name not in OTHERS
]


def refused_by_name(name: str, ranker: Any, **arguments: Any) -> None:
    """Fit; if that is refused, the error is short and names the argument."""
    try:
        ranker.fit(**{"X": X, "y": Y, "qid": QID, **arguments})
    except (ValueError, TypeError) as error:
        message = str(error)
        assert name in message
        assert len(message) < 450
        assert "truth value" not in message


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("kind", "name"), PARAMETERS)
def test_parameters_of_no_right_kind(kind: str, name: str) -> None:
    """Of any Python type, of any size."""
    for value in STRANGE:
        if name in ("n_estimators", "n_steps", "max_iter") and isinstance(value, int):
            continue  # so many rounds take long
        refused_by_name(name, RANKERS[kind]().set_params(**{name: value}))


VALID = {"eval_set": [(X, Y)], "eval_qid": [QID]}
LISTS = ["eval_set", "eval_qid", "eval_group", "eval_init_score"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", LISTS)
def test_lists_of_another_kind(name: str) -> None:
    """An entry of the wrong kind is an error of that validation set."""
    given = {**VALID, "init_score": Y} if name == "eval_init_score" else VALID
    if name == "eval_group":
        given = {"eval_set": [(X, Y)]}
    for value in [*STRANGE, [(X,)], [X], (X, Y), [(X, Y, QID)], iter([QID])]:
        if isinstance(value, list | tuple) and name != "eval_set":
            continue  # lists are right: data/ words what is wrong with their entries
        refused_by_name(name, RANKERS["GBRanker"](), **{**given, name: value})
    with pytest.raises(TypeError if name != "eval_set" else ValueError, match=f"{name} must be"):
        RANKERS["GBRanker"]().fit(X, Y, qid=QID, **{**given, name: 3})


@pytest.mark.parametrize("value", [True, 1, 0.5, "ab", [None], [[1]], [1.5], [X], ["a"]])
def test_categorical_features_are_a_list_of_columns(value: Any) -> None:
    """By position or name, and nothing else."""
    error = r"categorical_feature must be|categorical_feature by name"
    with pytest.raises((TypeError, ValueError), match=error):
        RANKERS["GBRanker"]().fit(X, Y, qid=QID, categorical_feature=value)


@pytest.mark.parametrize(
    "value", [[0], (0,), np.array([0]), [np.int64(0)], range(1), ["a"], np.array(["a"]),
              pd.Index(["a"])],
)  # fmt: skip
def test_any_list_of_columns_will_do(value: Any) -> None:
    """Arrays and indices of data frames, too."""
    frame = pd.DataFrame({"a": Y, "b": X[:, 0]})
    ranker = RANKERS["GBRanker"]().fit(frame, Y, qid=QID, categorical_feature=value)
    assert ranker._schema.categorical == [0]


def test_columns_may_be_none() -> None:
    """An empty list, of any kind."""
    for value in ([], (), np.array([]), None):
        ranker = RANKERS["GBRanker"]().fit(X, Y, qid=QID, categorical_feature=value)
        assert ranker._schema.categorical == []


@pytest.mark.parametrize("value", [{1: 2}, [("max_bin", 3)], "max_bin=3", 3])
def test_the_boosters_own_are_a_dict_by_name(value: Any) -> None:
    with pytest.raises(
        TypeError, match=r"booster_params must (be a dict|have texts as names), got"
    ):
        RANKERS["GBRanker"]().set_params(booster_params=value).fit(X, Y, qid=QID)


@pytest.mark.parametrize("value", [[1], b"ab", ["ndcg", 3], "no such measure", ["ndcg@0"]])
def test_measures_are_those_of_an_argument(value: Any) -> None:
    """The error of a measure tells where it was given."""
    for kind in ("GBRanker", "LinearRanker"):
        with pytest.raises((TypeError, ValueError), match=r"^eval_metric: "):
            RANKERS[kind]().set_params(eval_metric=value).fit(X, Y, qid=QID)
