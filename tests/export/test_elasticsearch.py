"""Elasticsearch's own format: what it holds, and the trees of its package, eland."""

import json
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gbrank import GBRanker, export_model
from gbrank.boosters.tree import above

N, NAMES = 600, ["title", "body", "tags"]
RNG = np.random.default_rng(0)
X = np.where(RNG.random((N, 3)) < 0.2, np.nan, RNG.normal(size=(N, 3)).astype(np.float32))
Y = np.nan_to_num(X[:, 0] + X[:, 1]).clip(0) // 1 + np.isnan(X[:, 2])
QID = np.arange(N) // 20


@cache
def fitted(booster: str) -> GBRanker:
    """Return a small ranker."""
    return GBRanker(booster=booster, n_estimators=5, num_leaves=8, random_state=0).fit(
        X, Y, qid=QID
    )


def extractor(name: str) -> dict[str, Any]:
    """Return the query of a feature."""
    return {"query_extractor": {"feature_name": name, "query": {"match": {name: "{{query}}"}}}}


def written(path: Path, format: str = "elasticsearch", **options: Any) -> Any:
    """Return the body of the request."""
    export_model(fitted("lightgbm"), path, format, feature_names=NAMES, **options)
    return json.loads(path.read_text())


def test_what_the_body_holds(tmp_path: Path) -> None:
    """The names are its input before 8.15; later versions refuse one."""
    body = written(tmp_path / "model", extractors=map(extractor, NAMES))
    assert body.keys() == {"inference_config", "definition"}
    config = body["inference_config"]["learning_to_rank"]["feature_extractors"]
    assert config == [extractor(name) for name in NAMES]
    assert written(tmp_path / "model")["inference_config"] == {"learning_to_rank": {}}
    for version in ("8.13", "8.14.3"):
        older = written(tmp_path / "model", f"elasticsearch:{version}")
        assert older.pop("input") == {"field_names": NAMES}
        assert older["definition"] == body["definition"]
    for version in ("8.15.0", "9.2"):
        assert "input" not in written(tmp_path / "model", f"elasticsearch:{version}")


@pytest.mark.parametrize("names", [NAMES[:2], [*NAMES, "tgas"], [*NAMES, "body"]])
def test_extractors_that_do_not_fit(names: list[str], tmp_path: Path) -> None:
    """Each feature has one, and there are no others."""
    with pytest.raises(ValueError, match="extractors must have one query for each feature"):
        written(tmp_path / "model", extractors=map(extractor, names))


def nodes(tree: Any, kind: Any, number: int = 0) -> Any:
    """Return a tree as what decides in its nodes; XGBoost's numbers are in single precision."""
    node = tree[number]
    if "leaf_value" in node:
        return kind(node["leaf_value"])
    limit = node["threshold"]
    if kind is np.float32 and node["decision_type"] == "lte":
        limit = above(limit)
    sides = (nodes(tree, kind, node[f"{side}_child"]) for side in ("left", "right"))
    return node["split_feature"], kind(limit), node["default_left"], *sides


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_the_trees_of_eland(booster: str, tmp_path: Path) -> None:
    """Node by node; eland takes models of LightGBM and XGBoost, not of gbrank."""
    transformers = pytest.importorskip("eland.ml.transformers")
    ranker = fitted(booster)
    native: Any = ranker.booster_
    if booster == "lightgbm":
        native.params = {"objective": "regression", "boosting_type": "gbdt"}
        model = SimpleNamespace(booster_=native, n_estimators=5)
        ensemble = transformers.LGBMRegressorTransformer(model, NAMES).transform()
    else:
        facts = {"objective": "reg:squarederror", "booster": "gbtree", "base_score": 0.0}
        model = SimpleNamespace(get_booster=lambda: native, **facts)
        ensemble = transformers.XGBoostRegressorTransformer(model, NAMES).transform()
    theirs = ensemble.serialize_model()["trained_model"]["ensemble"]
    path = tmp_path / "model"
    export_model(ranker, path, "elasticsearch", feature_names=NAMES)
    ours = json.loads(path.read_text())["definition"]["trained_model"]["ensemble"]
    if booster == "xgboost":  # eland adds a tree for the base score
        assert theirs["trained_models"].pop()["tree"]["tree_structure"][0]["leaf_value"] == 0.0
    kind = {"lightgbm": np.float64, "xgboost": np.float32}[booster]
    found = [
        [nodes(model["tree"]["tree_structure"], kind) for model in one["trained_models"]]
        for one in (theirs, ours)
    ]
    assert found[0] == found[1]
    for name in ("feature_names", "target_type", "aggregate_output"):
        assert theirs[name] == ours[name]
