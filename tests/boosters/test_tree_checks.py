"""A booster's file that someone else wrote: refused by name, before a booster follows it."""

import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gbrank import GBRanker, make_cubic
from gbrank.boosters import MODELS
from gbrank.boosters.xgboost.json_checks import forest_of

X, Y, QID = make_cubic(30, n_documents=20, n_features=4, random_state=0)
X[:, 3] = (3 * Y + np.arange(len(Y)) % 3) % 5  # categories that every booster splits by


def fitted(booster: str, **params: Any) -> GBRanker:
    """Return a model of a few trees, with a column of categories."""
    defaults: dict[str, Any] = {"n_estimators": 4, "num_leaves": 6, "min_child_samples": 5,
                                "colsample": 1.0}  # fmt: skip
    ranker = GBRanker("ranknet", booster=booster, random_state=0, n_jobs=1, **defaults | params)
    return ranker.fit(X, Y, qid=QID, categorical_feature=[3])


TEXT = fitted("lightgbm")._model.dump().decode()
TREES = json.loads(fitted("xgboost")._model.dump())


@pytest.mark.parametrize(
    ("booster", "params"),
    [
        ("lightgbm", {}),
        ("lightgbm", {"min_child_samples": 1000}),
        ("lightgbm", {"booster_params": {"boosting": "dart"}}),
        ("lightgbm", {"booster_params": {"linear_tree": True}}),
        ("lightgbm", {"num_leaves": 300, "min_child_samples": 1}),
        ("xgboost", {}),
        ("xgboost", {"min_child_samples": 1000}),
        ("xgboost", {"booster_params": {"booster": "dart"}}),
        ("xgboost", {"booster_params": {"num_parallel_tree": 3}, "colsample": 0.5}),
        ("xgboost", {"booster_params": {"tree_method": "approx", "gamma": 1.0}}),
        ("xgboost", {"num_leaves": 300, "min_child_samples": 1}),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:no tree has a split")
def test_what_boosters_write(booster: str, params: dict[str, Any]) -> None:
    """Their own files are read, to the same predictions."""
    model = fitted(booster, **params)._model
    schema = fitted(booster)._schema
    again = MODELS[booster].load(model.dump())
    np.testing.assert_array_equal(again.predict(X, schema, 1), model.predict(X, schema, 1))


@pytest.mark.parametrize(
    ("line", "instead", "message"),
    [
        (r"left_child=\S+", "left_child=99", "children must be from -6 to 4"),
        (r"left_child=\S+", "left_child=0", "one way from the root"),
        (r"right_child=\S+", "right_child=-77", "children must be from -6 to 4"),
        (r"right_child=\S+", "right_child=x", "right_child must hold numbers"),
        (r"split_feature=\S+", "split_feature=4", "split_feature must be from 0 to 3"),
        (r"split_feature=\S+", "split_feature=0.5", "split_feature must hold integers"),
        (r"decision_type=.*", "decision_type=1 1 2 1 2", "threshold of a category must"),
        (r"decision_type=\S+", "decision_type=99", "decision_type must be from 0 to 15"),
        (r"threshold=\S+", "threshold=nan", "threshold must be finite"),
        (r"leaf_value=\S+", "leaf_value=1 2", "leaf_value must have 6 entries, got 7"),
        (r"num_leaves=6", "num_leaves=2000000000", "num_leaves must be the number of leaves"),
        (r"num_cat=\d", "num_cat=7", "cat_boundaries must have 8 entries"),
        (r"num_cat=\d", "num_cat=-1", "num_cat must be at least 0"),
        (r"cat_boundaries=0", "cat_boundaries=5", "cat_boundaries must rise from 0"),
        (r"cat_threshold=\S+", "cat_threshold=-1", "cat_threshold must be from 0"),
        (r"max_feature_idx=3", "max_feature_idx=999999999", "max_feature_idx must be from 0"),
        (r"num_class=1", "num_class=3", "num_class must be 1"),
        (r"is_linear=0", "is_linear=1", "num_features must count the features of each leaf"),
        (r"tree_sizes=\d+", "tree_sizes=1", "tree_sizes must be those of the trees"),
        (r"end of trees", "end", "it must have an end of trees"),
    ],
)
def test_text(line: str, instead: str, message: str) -> None:
    """Of LightGBM, without and with the sizes of the trees."""
    changed, count = re.subn(line, instead, TEXT, count=1)
    assert count == 1
    if "sizes" not in line:
        changed = re.sub(r"tree_sizes=.*\n", "", changed)
    with pytest.raises(ValueError, match=f"not a LightGBM model: .*{message}"):
        MODELS["lightgbm"].load(changed.encode())


def tree_of(model: dict[str, Any]) -> dict[str, Any]:
    """Return the first tree that splits by a category."""
    trees = model["learner"]["gradient_booster"]["model"]["trees"]
    return next(tree for tree in trees if tree["categories_nodes"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda model, tree: tree["left_children"].__setitem__(0, 99), "children must be from -1"),
        (lambda model, tree: tree["left_children"].__setitem__(0, 0), "one way from the root"),
        (lambda model, tree: tree["right_children"].__setitem__(0, -1), "two children or none"),
        (lambda model, tree: tree["parents"].__setitem__(1, -5), "parents must be those"),
        (lambda model, tree: tree["parents"].pop(), "parents must have 11 entries, got 10"),
        (lambda model, tree: tree["split_indices"].__setitem__(0, 4), "split_indices must be from"),
        (lambda model, tree: tree["split_type"].__setitem__(0, 7), "split_type must be from 0"),
        (lambda model, tree: tree["base_weights"].__setitem__(0, float("nan")), "must be finite"),
        (lambda model, tree: tree["categories"].__setitem__(0, -1), "categories must be from 0"),
        (lambda model, tree: tree["categories_sizes"].__setitem__(0, 99), "be within categories"),
        (
            lambda model, tree: tree["categories_nodes"].__setitem__(0, 10),
            "be the splits of categories",
        ),
        (lambda model, tree: tree["tree_param"].update(size_leaf_vector="-5"), "tree_param must"),
        (lambda model, tree: tree["tree_param"].update(num_nodes="3"), "the number of nodes"),
        (lambda model, tree: tree.pop("left_children"), "it must have all that a model has"),
        (lambda model, tree: tree.update(id=77), "id must be"),
        (lambda model, tree: model["tree_info"].__setitem__(0, 5), "tree_info must be"),
        (lambda model, tree: model["iteration_indptr"].__setitem__(1, 9), "iteration_indptr must"),
        (lambda model, tree: model["gbtree_model_param"].update(num_trees="9"), "num_trees must"),
        (lambda model, tree: model.update(weight_drop=[1.0]), "weight_drop must have 4 entries"),
    ],
)
def test_json(change: Callable[[Any, Any], object], message: str) -> None:
    """Of XGBoost."""
    whole = json.loads(json.dumps(TREES))
    change(whole["learner"]["gradient_booster"]["model"], tree_of(whole))
    with pytest.raises(ValueError, match=f"not an XGBoost model: .*{message}"):
        MODELS["xgboost"].load(json.dumps(whole).encode())


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_thresholds_of_categories(value: str) -> None:
    """XGBoost 3.0 writes NaN for them, and reads none; those of numbers and leaves are finite."""
    whole = json.loads(json.dumps(TREES))
    tree = tree_of(whole)
    for node in tree["categories_nodes"]:
        tree["split_conditions"][node] = float(value)
    schema = fitted("xgboost")._schema
    model, own = (MODELS["xgboost"].load(json.dumps(each).encode()) for each in (whole, TREES))
    np.testing.assert_array_equal(model.predict(X, schema, 1), own.predict(X, schema, 1))
    assert model.trees() == own.trees()
    by_number = next(
        node
        for node, child in enumerate(tree["left_children"])
        if child != -1 and node not in tree["categories_nodes"]
    )
    for node in (by_number, len(tree["left_children"]) - 1):
        broken = json.loads(json.dumps(whole))
        tree = tree_of(broken)
        tree["split_conditions"][node] = float(value)
        with pytest.raises(ValueError, match="split_conditions must be finite"):
            MODELS["xgboost"].load(json.dumps(broken).encode())
        tree["split_type"][node] = 1
        with pytest.raises(ValueError, match=r"split_conditions must be finite|categories_nodes"):
            MODELS["xgboost"].load(json.dumps(broken).encode())


FOLLOWED = """
import sys
from pathlib import Path
import test_tree_checks as own
model, schema = own.MODELS[sys.argv[1]], own.fitted(sys.argv[1])._schema
for file in sorted(Path(sys.argv[2]).iterdir()):
    print(file, flush=True)
    try:
        read = model.load(file.read_bytes())
        read.predict(own.X, schema, 1), read.contributions(own.X[:5], schema, 1), read.trees()
    except ValueError:
        pass
print("done")
"""
EVIL = ["0", "1", "3", "7", "-1", "-2", "-100", "99999", "2147483648", "-2147483648", "1e308",
        "4294967295", "18446744073709551616", "0.5", "-0.0", "1e-320"]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_random_edits(booster: str, tmp_path: Path) -> None:
    """Numbers replaced at random: no file ends the process that reads and follows it."""
    rng = random.Random(0)
    for number in range(150):
        text = TEXT if booster == "lightgbm" else json.dumps(TREES)
        text = re.sub(r"tree_sizes=.*\n", "", text)
        for _ in range(rng.choice([1, 1, 2, 3])):
            found = rng.choice(list(re.finditer(r"-?\d+(\.\d+)?(e[-+]?\d+)?", text)))
            text = text[: found.start()] + rng.choice(EVIL) + text[found.end() :]
        (tmp_path / f"{number:03}").write_text(text, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-c", FOLLOWED, booster, str(tmp_path)],
        cwd=Path(__file__).parent,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr + run.stdout[-200:]
    assert run.stdout.endswith("done\n")


def test_the_weights_of_dart() -> None:
    """XGBoost writes them in the model since 3.4, and beside "gbtree" before."""
    model = {"trees": [{}, {}]}
    old = {"name": "dart", "gbtree": {"model": model}, "weight_drop": [0.5, 0.25]}
    new = {"name": "gbtree", "model": {**model, "weight_drop": [0.5, 0.25]}}
    assert [forest_of(old)[1], forest_of(new)[1]] == [[0.5, 0.25], [0.5, 0.25]]
    assert forest_of({"name": "gbtree", "model": model}) == (model, None)
