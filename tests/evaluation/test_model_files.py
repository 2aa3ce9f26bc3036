"""Files of models: each gives what the model itself predicts, and damaged ones are refused."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from numpy.testing import assert_allclose, assert_array_equal

from gbrank import GBRanker
from gbrank.evaluation import scores_from
from scored import FRAME, QID, X, Y, lightgbm_ranker


def test_files_are_recognized_by_their_content(tmp_path: Path) -> None:
    """Whatever their names."""
    ranker = lightgbm_ranker()
    ranker.booster_.save_model(tmp_path / "one")
    assert_allclose(scores_from(tmp_path / "one", FRAME), ranker.predict(FRAME))
    other = xgb.XGBRanker(n_estimators=5).fit(X, Y, qid=QID)
    for kind in ("json", "ubj"):
        (tmp_path / "two").write_bytes(other.get_booster().save_raw(kind))
        assert_allclose(scores_from(str(tmp_path / "two"), X), other.predict(X), rtol=1e-6)
    own = GBRanker(n_estimators=3, random_state=0).fit(X, Y, qid=QID)
    own.save(tmp_path / "three")
    assert_array_equal(scores_from(tmp_path / "three", X), own.predict(X))


def test_reading_a_file_starts_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One would import modules of the working directory, such as somebody's own numpy.py."""
    ranker = lightgbm_ranker()
    ranker.booster_.save_model(tmp_path / "model")
    (tmp_path / "numpy.py").write_text("raise ImportError")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(subprocess, "Popen", None)
    assert_allclose(scores_from("model", FRAME), ranker.predict(FRAME))


@pytest.mark.slow
def test_files_of_early_stopped_rankers(tmp_path: Path) -> None:
    """The rounds up to the best one count, as for XGBRanker; linear boosters have no rounds."""
    for kind, ending in (("gbtree", "json"), ("dart", "ubj"), ("gblinear", "json")):
        ranker = xgb.XGBRanker(n_estimators=9, booster=kind, n_jobs=1).fit(X, Y, qid=QID)
        ranker.get_booster().set_attr(best_iteration="3")
        expected = ranker.predict(X, output_margin=True)
        path = tmp_path / f"{kind}.{ending}"
        ranker.save_model(path)
        for source in (ranker, ranker.get_booster(), path):
            assert_allclose(scores_from(source, X), expected, rtol=1e-6, atol=1e-7)
        above = GBRanker(n_estimators=1, min_child_samples=2, init=str(path), n_jobs=1)
        start = above.fit(X, Y, qid=QID).init_
        assert_allclose(start.predict(X), expected, rtol=1e-6, atol=1e-7)


def whole_lightgbm() -> bytes:
    """Return the file of a model with numbers, categories and trees of one leaf."""
    frame = FRAME.assign(kind=pd.Categorical(np.arange(len(Y)) % 12))
    params = {"n_estimators": 4, "min_child_samples": 2, "verbosity": -1, "n_jobs": 1}
    own = {"min_data_per_group": 2, "cat_smooth": 1, "max_cat_to_onehot": 1}
    found = lgb.LGBMRegressor(**params, **own).fit(frame, Y + np.arange(len(Y)) % 12)
    return bytes(found.booster_.model_to_string().encode())


DAMAGE: dict[str, Any] = {
    "half": lambda text: text[: len(text) // 2],
    "nine tenths": lambda text: text[: len(text) * 9 // 10],
    "in the parameters": lambda text: text[: text.index(b"end of parameters")],
    "number": lambda text: re.sub(rb"(leaf_value=.*) \S+\n", rb"\g<1>\n", text, count=1),
    "leaves": lambda text: text.replace(b"num_leaves=", b"num_leaves=9", 1),
    "no numbers": lambda text: re.sub(rb"leaf_value=.*\n", b"leaf_value=\n", text, count=1),
    "child": lambda text: re.sub(rb"(left_child=.*)\d\n", rb"\g<1>0\n", text, count=1),
    "feature": lambda text: re.sub(rb"split_feature=\d", b"split_feature=9", text, count=1),
    "leaf": lambda text: re.sub(
        rb"(num_leaves=(\d+)\n(?:.*\n)*?left_child=)-?\d+",
        lambda found: b"%s-%d" % (found[1], int(found[2]) + 1),
        text,
        count=1,
    ),
    "category": lambda text: re.sub(rb"num_cat=[1-9]", b"num_cat=0", text, count=1),
    "parameter": lambda text: text.replace(b"[boosting: gbdt]", b"boosting"),
    "word": lambda text: re.sub(rb"shrinkage=\d", b"shrinkage=x", text, count=1),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_files_of_lightgbm(damage: str, tmp_path: Path) -> None:
    """LightGBM would end the process: the message has the file and its kind, also as an init."""
    path, text = tmp_path / "live.txt", whole_lightgbm()
    path.write_bytes(DAMAGE[damage](text))
    assert path.read_bytes() != text
    refusal = r"live\.txt: expected a whole LightGBM model, got one that was"
    with pytest.raises(ValueError, match=refusal):
        scores_from(path, X)
    with pytest.raises(ValueError, match=refusal):
        GBRanker(init=path).fit(X, Y, qid=QID)


def test_files_of_lightgbm_with_other_line_ends(tmp_path: Path) -> None:
    """They say the same."""
    ranker = lightgbm_ranker()
    text = ranker.booster_.model_to_string().encode()
    (tmp_path / "live").write_bytes(text.replace(b"\n", b"\r\n"))
    assert_array_equal(scores_from(tmp_path / "live", FRAME), ranker.predict(FRAME))
    sizeless = re.sub(rb"tree_sizes=.*\n", b"", text)
    (tmp_path / "live").write_bytes(sizeless)
    assert_array_equal(scores_from(tmp_path / "live", FRAME), ranker.predict(FRAME))


def circle(trees: list[Any]) -> None:
    """Let the root be its own child."""
    trees[0]["left_children"][0] = 0


def beyond(trees: list[Any]) -> None:
    """Let the root be of a column that is not there, where values are that no probe has."""
    trees[0]["split_indices"][0] = 10**6


def child(trees: list[Any]) -> None:
    """Let a node that is far from any probe have a child that is not there."""
    node = next(node for node, left in enumerate(trees[0]["left_children"]) if left > 0)
    trees[0]["left_children"][node] = 10**6


@pytest.mark.parametrize("damage", [circle, beyond, child, None])
def test_damaged_files_of_xgboost(damage: Any, tmp_path: Path) -> None:
    """XGBoost itself would end the process, or never come to an end."""
    booster = xgb.train({"max_depth": 3, "nthread": 1}, xgb.DMatrix(X, Y), 3)
    content = json.loads(booster.save_raw("json"))
    if damage is None:  # XGBoost reads beyond the end of the array
        content["learner"]["gradient_booster"]["model"]["trees"][0]["split_conditions"] = []
    else:
        damage(content["learner"]["gradient_booster"]["model"]["trees"])
    (tmp_path / "live").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r"live: expected a whole XGBoost model, got"):
        scores_from(tmp_path / "live", X)


def test_catboost() -> None:
    """A fitted one, which sees the columns of its frame."""
    catboost = pytest.importorskip("catboost")
    options = {"iterations": 5, "verbose": 0, "allow_writing_files": False}
    ranker = catboost.CatBoostRanker(**options).fit(FRAME, Y, group_id=QID)
    assert_allclose(scores_from(ranker, FRAME), ranker.predict(FRAME))
