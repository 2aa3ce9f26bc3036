"""Trained models of XGBoost."""

import json
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from gbrank.boosters.interface import Refit
from gbrank.boosters.tree import Membership, Node, Threshold, Tree, check_nodes
from gbrank.common.checks import Matrix, Vector, error_context
from gbrank.common.collective import BoosterError
from gbrank.common.runtime import interrupts_held, usable_threads
from gbrank.data.feature_matrix import Features, dense_blocks
from gbrank.data.schema import Schema

from .library import check_threads, translated, xgb

# Objectives whose predictions are exponentials of scores.
LOGARITHMS = {"count:poisson", "reg:gamma", "reg:tweedie", "survival:aft", "survival:cox"}
NOT_HELD = "X must be what XGBoost can hold"


class XGBoostModel:
    """A trained XGBoost booster."""

    booster = "xgboost"

    def __init__(self, native: xgb.Booster) -> None:
        self.native = native

    @classmethod
    def load(cls, content: bytes, n_jobs: int | None = None) -> "XGBoostModel":
        """Read a model from XGBoost's formats; it predicts on at most `n_jobs` threads."""
        booster = xgb.Booster({"nthread": n_jobs} if n_jobs else None)
        with translated("not an XGBoost model"):
            booster.load_model(bytearray(content))
        return cls(booster)

    @classmethod
    def read_file(cls, content: bytes) -> "XGBoostModel":
        """Read a model file that may have been cut or edited.

        Refuse one whose trees lack the nodes or features that their splits name.
        """
        model = cls.load(content)
        for tree in model_in(json.loads(model.dump()))["trees"]:
            children = np.array([tree["left_children"], tree["right_children"]])
            (splits,) = np.nonzero(children[0] != -1)
            n_nodes = children.shape[1]
            features = np.array(tree["split_indices"])[splits]
            check_nodes(splits, children[:, splits], n_nodes, features, model.native.num_features())
        return model

    @classmethod
    def recognise(cls, model: object) -> "XGBoostModel | None":
        """Wrap a booster or a fitted XGBModel, up to its best iteration; None for anything else."""
        if isinstance(model, xgb.XGBModel) and model.__sklearn_is_fitted__():
            if not np.isnan(model.missing):
                return None  # how it reads X is not known to its booster
            model = model.get_booster()
        if not isinstance(model, xgb.Booster):
            return None
        best = model.attr("best_iteration")
        if best is not None and int(best) + 1 < model.num_boosted_rounds():
            name = json.loads(model.save_config())["learner"]["gradient_booster"]["name"]
            if name != "gblinear":  # which has no rounds
                model = model[: int(best) + 1]
        return cls(model)

    def dump(self) -> bytes:
        """Serialize the model in XGBoost's JSON format."""
        return bytes(self.native.save_raw("json"))

    @cached_property
    def _reads_arrays(self) -> bool:
        """Whether arrays need not become matrices first, as they must on another device."""
        device = json.loads(self.native.save_config())["learner"]["generic_param"]["device"]
        return bool(device == "cpu")

    def predict(self, X: Features, n_jobs: int, n_trees: int | None = None) -> Vector:
        """Score each row, by the first trees or by all."""
        check_threads(n_jobs)
        rounds = (0, n_trees or 0)
        scores = []
        for block in dense_blocks(X):
            with np.errstate(over="ignore"):
                single = block.astype(np.float32, order="C", copy=False)
            if self._reads_arrays and not np.isinf(single).any():
                part = self.native.inplace_predict(
                    single, iteration_range=rounds, predict_type="margin", validate_features=False
                )
            else:  # a matrix refuses what is beyond single precision
                part = self._by_matrices(block, n_jobs, output_margin=True, iteration_range=rounds)
            scores.append(part)
        return np.concatenate(scores, dtype=np.float64)

    def _by_matrices(self, X: Features, n_jobs: int, **options: Any) -> Any:
        """Predict some rows of a sparse matrix at a time."""
        blocks = (as_matrix(block, n_jobs) for block in dense_blocks(X))
        return np.concatenate(
            [self.native.predict(block, validate_features=False, **options) for block in blocks]
        )

    def refit(self, X: Features, n_jobs: int, change: Refit) -> "XGBoostModel":
        """Copy the trees with other leaf values, which depend on the leaves of rows."""
        content = json.loads(self.dump())
        leaves = self._by_matrices(X, n_jobs, pred_leaf=True)
        leaves = leaves.reshape(X.shape[0], -1).T.astype(np.int64)
        trees = model_in(content)["trees"]
        values = [np.array(tree["split_conditions"]) for tree in trees]
        for tree, new in zip(trees, change(leaves, values), strict=True):
            tree["split_conditions"] = new.tolist()
        return XGBoostModel.load(json.dumps(content).encode())

    @interrupts_held()
    def predict_native(self, X: Any) -> Vector:
        """Score each row, untransformed, of a table that XGBoost reads itself."""
        threads = usable_threads(None)
        check_threads(threads)
        with error_context("X must match the pretrained booster: "):
            expected = self.native.num_features()
            if X.shape[1] != expected:  # XGBoost would take absent columns as missing values
                raise ValueError(f"it has {X.shape[1]} columns, expected {expected}.")
            data = xgb.DMatrix(X, enable_categorical=True, nthread=threads)
            scores = self.native.predict(
                data, output_margin=True, validate_features=data.feature_names is not None
            )
        return np.asarray(scores, dtype=np.float64)

    def contributions(self, X: Features, n_jobs: int) -> Matrix:
        """Split each row's score by features; the mean score is last."""
        shares = self._by_matrices(X, n_jobs, pred_contribs=True)
        return np.asarray(shares, dtype=np.float64)

    def importances(self, kind: str = "gain") -> Vector:
        """Total each feature's gain, or count its splits."""
        kinds = {"gain": "total_gain", "split": "weight"}
        worth = self.native.get_score(importance_type=kinds[kind])
        names = self.native.feature_names or [
            f"f{place}" for place in range(self.native.num_features())
        ]
        return np.array([worth.get(name, 0.0) for name in names], dtype=np.float64)

    def schema(self) -> Schema:
        """Describe the columns, with categories, which XGBoost keeps since 3.1."""
        listed = enumerate(model_in(json.loads(self.dump()))["cats"]["enc"])
        categories = {column: _texts(values) for column, values in listed if values["values"]}
        names = None if self.native.feature_names is None else [*self.native.feature_names]
        return Schema(self.native.num_features(), names, sorted(categories), categories)

    def trees(self) -> list[Tree]:
        """Read the trees, whose sum is the score; a base score is a tree of one leaf."""
        content = json.loads(self.dump())
        learner = content["learner"]
        sizes = learner["learner_model_param"]
        n_outputs = max(int(sizes["num_class"]), int(sizes.get("num_target", 1)))
        if n_outputs > 1:
            raise ValueError(f"the model must have one output, got {n_outputs}.")
        if learner["gradient_booster"]["name"] == "gblinear":
            raise ValueError("the model must be of trees, got booster='gblinear'.")
        model = model_in(content)
        weights = model["weight_drop"] or [1.0] * len(model["trees"])
        pairs = zip(model["trees"], weights, strict=True)
        base = _base_score(learner["objective"]["name"], sizes["base_score"])
        start: list[Tree] = [base] if base else []
        return start + [_tree(tree, weight) for tree, weight in pairs]


def _base_score(objective: str, text: str) -> float:
    """Read the score that trees add to; a file has what it predicts, which the objective links."""
    base = float(text.strip("[]"))
    if objective in ("binary:logistic", "reg:logistic"):
        return float(np.log(base / (1 - base)))
    return float(np.log(base)) if objective in LOGARITHMS else base


def model_in(content: Node) -> Node:
    """Find the model in a file: its trees, none of "gblinear", categories, and weights in DART.

    XGBoost before 3.4 has the weights beside the model of "gbtree", and before 3.1 no categories.
    """
    booster = content["learner"]["gradient_booster"]
    absent = {"trees": [], "cats": {"enc": []}, "weight_drop": booster.get("weight_drop")}
    return absent | booster.get("gbtree", booster)["model"]


def _texts(kept: Node) -> list[Any]:
    """Read the categories of a column: numbers, or texts one after another."""
    values = kept["values"]
    if "offsets" not in kept:
        return list(values)
    return [bytes(values[start:end]).decode() for start, end in pairwise(kept["offsets"])]


def _tree(tree: Node, weight: float) -> Tree:
    columns = (tree[f"categories_{name}"] for name in ("nodes", "segments", "sizes"))
    go_right = {
        node: tuple(tree["categories"][start : start + size])
        for node, start, size in zip(*columns, strict=True)
    }

    def below(node: int) -> Tree:
        condition = np.float32(tree["split_conditions"][node])
        if tree["left_children"][node] == -1:
            return weight * float(condition)
        left = below(tree["left_children"][node])
        right = below(tree["right_children"][node])
        feature = int(tree["split_indices"][node])
        missing_left = bool(tree["default_left"][node])
        if node in go_right:
            return Membership(feature, not missing_left, right, left, go_right[node])
        return Threshold(feature, missing_left, left, right, _last_before(condition))

    return below(0)


def _last_before(threshold: np.float32) -> float:
    """Find the largest double that is below the threshold when rounded to single precision."""
    if np.isinf(threshold):
        return float(threshold)
    below = np.nextafter(threshold, np.float32(-np.inf))
    middle = (float(below) + float(threshold)) / 2
    return middle if np.float32(middle) < threshold else float(np.nextafter(middle, -np.inf))


def as_matrix(
    X: Features, n_jobs: int, init_score: Vector | None = None, **columns: Any
) -> xgb.DMatrix:
    """Convert features and initial scores; only training needs to know the columns."""
    check_threads(n_jobs)
    if sp.issparse(X):  # XGBoost takes what is not in a sparse matrix as missing
        X = X.astype(np.float32).toarray()
    with translated(NOT_HELD, BoosterError):
        return xgb.DMatrix(
            X, base_margin=init_score, nthread=n_jobs, enable_categorical=True, **columns
        )
