"""A model that was trained can be saved and loaded, resumed and boosted from, whatever it is."""

import json
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from gbrank import GBRanker, load_ranker
from gbrank.boosters import BOOSTERS
from gbrank.boosters.tree import Membership, Threshold, splits
from gbrank.boosters.xgboost.trained_model import model_in

N = 300
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, N).astype(float)
QID = np.arange(N) // 15
OFTEN = RNG.random(N) < np.array([0.6, 0.3, 0.05])[Y.astype(int)]  # the less relevant, the more so
NOISE = RNG.normal(size=N)
LARGEST = float(np.finfo(np.float32).max)
COLUMNS: dict[str, NDArray[Any]] = {
    "missing or a number": np.where(OFTEN, np.nan, NOISE),
    "missing or one number": np.where(OFTEN, np.nan, 0.0),
    "missing or the largest": np.where(OFTEN, np.nan, LARGEST),
    "missing or the smallest": np.where(OFTEN, np.nan, -LARGEST),
    "always missing": np.full(N, np.nan),
    "constant": np.full(N, -7.0),
    "3.4e38": np.where(OFTEN, 3.4e38, -3.4e38),
    "largest": np.where(OFTEN, LARGEST, NOISE),
    "smallest": np.where(OFTEN, -LARGEST, NOISE),
    "1e300": np.where(OFTEN, 1e300, -1e300) * RNG.choice([1, 0.5, 0.1], N),
    "tiny": (NOISE + Y) * 1e-36,
    "denormal": (NOISE + Y) * 1e-40,
    "zeros of both signs": np.where(OFTEN, -0.0, 0.0),
    "booleans": OFTEN * 1.0,
}
CATEGORIES = np.where(
    RNG.random(N) < 0.1, np.nan, (3 * RNG.integers(0, 12, N) + Y + (NOISE > 1)) % 36
)
X = np.c_[NOISE + Y, COLUMNS["missing or a number"], CATEGORIES, RNG.normal(size=N)]
KINDS: dict[str, dict[str, Any]] = {
    "one leaf": {"min_child_samples": 1000},
    "stumps": {"num_leaves": 2},
    "a leaf for each document": {"num_leaves": N, "min_child_samples": 0},
    "a start": {"init": "regression"},
    "weak": {"learning_rate": 1e-30},
}
OWN: dict[str, list[dict[str, Any]]] = {
    "lightgbm": [
        {"boosting": "dart"},
        {"linear_tree": True},
        {"zero_as_missing": True},
        {"use_missing": False},
        {"max_cat_to_onehot": 50},
        {"cat_smooth": 0.0, "min_data_per_group": 1, "max_cat_threshold": 1},
        {"path_smooth": 1e300},
        {"min_gain_to_split": 1e30},
    ],
    "xgboost": [
        {"booster": "dart", "rate_drop": 0.5},
        {"num_parallel_tree": 3},
        {"tree_method": "approx", "gamma": 1.0},
        {"grow_policy": "depthwise"},
        {"max_cat_to_onehot": 50},
        {"max_bin": 2},
    ],
}
boosters = pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])


def made(booster: str, **params: Any) -> GBRanker:
    """Return a ranker of a few trees, not fitted."""
    defaults = {"objective": "ranknet", "n_estimators": 4, "num_leaves": 8, "learning_rate": 0.3,
                "min_child_samples": 3, "colsample": 1.0, "extra_trees": False}  # fmt: skip
    return GBRanker(booster=booster, random_state=0, n_jobs=1, **defaults | params)


def fitted(ranker: GBRanker, X: Any = X, **fit: Any) -> GBRanker:
    """Return a ranker, fitted to the documents of this file."""
    categories = [2] if X.shape[1] > 2 else None
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "no tree has a split")
        return ranker.fit(X, Y, qid=QID, categorical_feature=categories, **fit)


def assert_comes_back(ranker: GBRanker, folder: Path, X: Any = X) -> None:
    """Assert that a ranker is the same once it was saved and loaded, and saved again."""
    ranker.save(folder)
    again = load_ranker(folder)
    assert isinstance(again, GBRanker)
    assert_array_equal(again.predict(X), ranker.predict(X))
    assert again._model.dump() == ranker._model.dump()


@boosters
@pytest.mark.parametrize("column", COLUMNS)
def test_columns(booster: str, column: str, tmp_path: Path) -> None:
    """Odd ones, with thresholds that are drawn and with the best ones."""
    X = np.c_[NOISE + Y, COLUMNS[column]]
    for extra_trees in [True, False] if booster == "lightgbm" else [False]:
        ranker = made(booster, extra_trees=extra_trees)
        if (booster, column) == ("xgboost", "1e300"):
            with pytest.raises(ValueError, match="X must be what XGBoost can hold"):
                fitted(ranker, X)
        else:
            assert_comes_back(fitted(ranker, X), tmp_path / f"{extra_trees}", X)


@boosters
@pytest.mark.parametrize("kind", KINDS)
def test_shapes(booster: str, kind: str, tmp_path: Path) -> None:
    """From one leaf to one for each document."""
    ranker = fitted(made(booster, **KINDS[kind]))
    assert_comes_back(ranker, tmp_path)
    sizes = {sum(1 for _ in splits(tree)) for tree in ranker._model.trees()}
    assert {"one leaf": sizes <= {0}, "stumps": sizes == {1}}.get(kind, max(sizes) > 1)


@pytest.mark.parametrize(
    ("booster", "own"), [(booster, own) for booster, each in OWN.items() for own in each], ids=str
)
def test_the_boosters_own_options(booster: str, own: dict[str, Any], tmp_path: Path) -> None:
    """Trees of all the kinds that they grow."""
    assert_comes_back(fitted(made(booster, booster_params=own)), tmp_path)


def booster_of_lightgbm(X: Any) -> Any:
    """Return what LightGBM itself trains."""
    params = {"verbosity": -1, "num_threads": 1, "num_leaves": 5, "min_data_in_leaf": 3}
    return lgb.train(params, lgb.Dataset(X, Y), 3)


def booster_of_xgboost(X: Any) -> Any:
    """Return what XGBoost itself trains."""
    return xgb.train({"nthread": 1, "max_depth": 3}, xgb.DMatrix(X, Y), 3)


@pytest.mark.parametrize("train", [booster_of_lightgbm, booster_of_xgboost])
@pytest.mark.parametrize("column", ["missing or one number", "missing or the largest", "tiny"])
def test_models_of_the_boosters_themselves(
    train: Callable[[Any], Any], column: str, tmp_path: Path
) -> None:
    """A ranker boosts from them, and comes back with them."""
    data = np.c_[NOISE + Y, COLUMNS[column]]
    assert_comes_back(fitted(made("lightgbm", init=train(data)), data), tmp_path, data)


@cache
def text_of(booster: str) -> str:
    """Return what a booster writes of trees that split by numbers and by categories."""
    return str(fitted(made(booster))._model.dump().decode())


def test_thresholds_of_categories() -> None:
    """XGBoost 3.0 writes NaN where a split of categories has none."""
    content = json.loads(text_of("xgboost"))
    for tree in model_in(content)["trees"]:
        for node in tree["categories_nodes"]:
            tree["split_conditions"][node] = float("nan")
    old, new = (
        BOOSTERS["xgboost"].model.load(text.encode())
        for text in (json.dumps(content), text_of("xgboost"))
    )
    assert_array_equal(old.predict(X, 1), new.predict(X, 1))
    assert old.trees() == new.trees()
    kinds = {type(split) for tree in new.trees() for split in splits(tree)}
    assert kinds == {Membership, Threshold}


def test_the_weights_of_dart() -> None:
    """XGBoost writes them in the model since 3.4, and beside "gbtree" before."""
    model = {"trees": [{}, {}]}
    old = {"name": "dart", "gbtree": {"model": model}, "weight_drop": [0.5, 0.25]}
    new = {"name": "gbtree", "model": {**model, "weight_drop": [0.5, 0.25]}}
    without = {"name": "gbtree", "model": model}
    for booster, weights in ((old, [0.5, 0.25]), (new, [0.5, 0.25]), (without, None)):
        content = {"learner": {"gradient_booster": booster}}
        found = model_in(content)
        assert (found["trees"], found["weight_drop"]) == (model["trees"], weights)
