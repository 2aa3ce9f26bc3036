"""Parameters as NumPy's scalars, as searches over arrays set them; and how rankers print."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV

from gbrank import GBRanker, LinearRanker, SLAMPerceptron, load_ranker, make_cubic
from gbrank.common.plain import as_json, plain
from gbrank.evaluation import QueryKFold

X, Y, QID = make_cubic(20, n_documents=10, n_features=3, random_state=0)
SMALL: dict[str, Any] = {
    "n_estimators": 2,
    "min_child_samples": 3,
    "n_jobs": 1,
    "random_state": 0,
}
# A value of each parameter, as Python has it; None where a parameter takes no number or text.
BOOSTED: dict[str, Any] = {
    "objective": "ranknet", "booster": "xgboost", "n_estimators": 3, "learning_rate": 0.25,
    "num_leaves": 7, "max_depth": 3, "min_child_samples": 4, "subsample": 0.5,
    "subsample_by": "query", "colsample": 0.75, "extra_trees": True, "reg_lambda": 0.5,
    "sigma": 0.5, "curvature": "unit", "init": "regression", "eval_metric": "map",
    "early_stopping_rounds": 2, "validation_fraction": 0.5, "random_state": 7, "n_jobs": 2,
    "verbose": 0, "booster_params": {"max_bin": 31},
}  # fmt: skip
LINEAR: dict[str, Any] = {
    "objective": "ranknet", "solver": "sgd", "reg_lambda": 0.5, "sigma": 0.5, "n_steps": 2,
    "init": "zero", "center": "zero", "ridge": 0.5, "balanced": True, "max_iter": 3, "tol": 0.5,
    "learning_rate": 0.5, "eval_metric": "map", "early_stopping_rounds": 2, "random_state": 7,
    "n_jobs": 2, "verbose": 0,
}  # fmt: skip
PERCEPTRON: dict[str, Any] = {
    "measure": "ap", "learning_rate": 0.5, "margin": 0.5, "max_iter": 2,
}  # fmt: skip
RANKERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "GBRanker": (lambda: GBRanker("lambdarank", **SMALL), BOOSTED),
    "LinearRanker": (lambda: LinearRanker("ranknet", n_steps=1, random_state=0), LINEAR),
    "SLAMPerceptron": (SLAMPerceptron, PERCEPTRON),
}
KINDS: dict[type, tuple[type, ...]] = {
    bool: (np.bool_,), int: (np.int64, np.uint8, np.int32), float: (np.float64, np.float32),
    str: (np.str_,),
}  # fmt: skip


def numpys(value: Any, kind: type) -> Any:
    """Return a value as NumPy has it; of a dict its values."""
    if isinstance(value, dict):
        return {np.str_(name): kind(item) for name, item in value.items()}
    return kind(value)


CASES = [
    pytest.param(name, param, kind, marks=[pytest.mark.slow] if number else [])
    for name, (_, params) in RANKERS.items()
    for param, value in params.items()
    for number, kind in enumerate(
        KINDS[type(next(iter(value.values())) if isinstance(value, dict) else value)]
    )
]


@pytest.mark.parametrize(("name", "param", "kind"), CASES)
def test_every_parameter(name: str, param: str, kind: type, tmp_path: Path) -> None:
    """The model is that of Python's own number or text, and is saved, loaded, cloned, printed."""
    make, params = RANKERS[name]
    value = params[param]
    valid = {"eval_set": [(X, Y)], "eval_qid": [QID]} if param == "early_stopping_rounds" else {}
    expected = make().set_params(**{param: value}).fit(X, Y, qid=QID, **valid)
    ranker = make().set_params(**{param: numpys(value, kind)})
    copied = clone(ranker)
    for own in (ranker, copied):
        own.fit(X, Y, qid=QID, **valid).save(tmp_path / "model")
        np.testing.assert_array_equal(own.predict(X), expected.predict(X))
        loaded = load_ranker(tmp_path / "model")
        np.testing.assert_array_equal(loaded.predict(X), expected.predict(X))
        assert loaded.get_params()[param] == value
        assert type(loaded.get_params()[param]) in (type(value), float)
        assert param in repr(own) or param == "verbose"
        clone(loaded)


@pytest.mark.parametrize("kind", [np.int16, np.int64, int])
def test_the_boosters_own(kind: type) -> None:
    """Values and lists of values."""
    made = GBRanker(
        "ranknet", **SMALL,
        booster_params={"max_bin": kind(31), "monotone_constraints": [kind(1), kind(0), kind(0)]},
    )  # fmt: skip
    expected = clone(made).set_params(
        booster_params={"max_bin": 31, "monotone_constraints": [1, 0, 0]}
    )
    found, wanted = (ranker.fit(X, Y, qid=QID).predict(X) for ranker in (made, expected))
    np.testing.assert_array_equal(found, wanted)


def test_a_search_over_arrays(tmp_path: Path) -> None:
    """The best ranker of a grid is saved."""
    with config_context(enable_metadata_routing=True):
        grid = {"n_estimators": np.arange(1, 3), "learning_rate": np.array([0.1, 0.2], np.float32)}
        search = GridSearchCV(GBRanker("ranknet", **SMALL), grid, cv=QueryKFold(2), n_jobs=1)
        search.fit(X, Y, qid=QID)
    search.best_estimator_.save(tmp_path)
    loaded = load_ranker(tmp_path)
    assert loaded.n_estimators == search.best_params_["n_estimators"]
    np.testing.assert_array_equal(loaded.predict(X), search.predict(X))


@pytest.mark.parametrize("value", [np.timedelta64(3), np.datetime64("2020-01-01"), np.complex64(3)])
@pytest.mark.parametrize("param", ["n_estimators", "learning_rate", "reg_lambda", "max_depth"])
def test_what_is_no_number_is_refused(param: str, value: Any) -> None:
    """By the name of the parameter."""
    with pytest.raises(TypeError, match=f"{param} must be"):
        GBRanker("ranknet", **{**SMALL, param: value}).fit(X, Y, qid=QID)


def test_plain_values() -> None:
    """NumPy's scalars and arrays change; other containers keep their type."""
    given = {np.str_("a"): (np.int8(1), [np.float16(0.5)], np.bool_(True)), "b": np.longdouble(2)}
    assert plain(given) == {"a": (1, [0.5], True), "b": 2.0}
    assert [type(item) for item in plain(given)["a"]] == [int, list, bool]
    assert type(plain(given)["b"]) is float
    array = np.arange(3)
    assert plain(array) == [0, 1, 2]
    assert as_json({1: array, "x": (np.uint8(3), None, np.random.RandomState(0))}) == {
        "1": [0, 1, 2], "x": [3, None, None],
    }  # fmt: skip


# --- How rankers print ------------------------------------------------------------------------


def chain(links: int) -> GBRanker:
    """Return a ranker that boosts from another one, and so on."""
    ranker = GBRanker(n_estimators=1)
    for _ in range(links):
        ranker = GBRanker(n_estimators=1, init=ranker)
    return ranker


def test_a_chain_prints_each_link_once() -> None:
    """The text grows by the same for each link; a long one is cut as scikit-learn cuts it."""
    assert repr(chain(1)) == "GBRanker(init=GBRanker(n_estimators=1), n_estimators=1)"
    assert repr(chain(3)).count("GBRanker(") == 4
    assert len(repr(chain(60))) < 2000
    asked = []

    class Counted(GBRanker):
        def get_params(self, deep: bool = True) -> dict[str, Any]:
            asked.append(deep)
            return super().get_params(deep)

    counts = []
    for links in (2, 4, 8, 16):
        ranker: GBRanker = Counted(n_estimators=1)
        for _ in range(links):
            ranker = Counted(n_estimators=1, init=ranker)
        asked.clear()
        repr(ranker)
        counts.append(len(asked))
    assert np.ptp(np.diff(counts) / [2, 4, 8]) == 0
    assert set(asked) == {False}


@pytest.mark.parametrize(
    "ranker",
    [
        GBRanker(), LinearRanker("ranknet", init=np.arange(3.0)), SLAMPerceptron("ap@3"),
        GBRanker("lambda:ndcg@10", booster="xgboost", n_estimators=50, learning_rate=0.125,
                 num_leaves=9, subsample=0.5, eval_metric=["ndcg", "map"]),
    ],
)  # fmt: skip
def test_prints_as_other_estimators(ranker: Any) -> None:
    """What scikit-learn's own representation says, with its breaks of lines."""
    kind = type(type(ranker).__name__, (type(ranker),), {"__repr__": BaseEstimator.__repr__})
    assert repr(ranker) == repr(kind(**ranker.get_params(deep=False)))
