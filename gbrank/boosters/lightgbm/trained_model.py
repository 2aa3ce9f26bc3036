"""Trained models of LightGBM."""

import re
from functools import partial
from typing import Any

import numpy as np

from gbrank.boosters.interface import Refit
from gbrank.boosters.tree import Membership, Node, Split, Threshold, Tree, check_nodes, read_tree
from gbrank.common.checks import Matrix, Vector, error_context
from gbrank.common.runtime import interrupts_held, usable_threads
from gbrank.data.feature_matrix import Features, as_dense
from gbrank.data.schema import Schema

from .library import check_threads, lgb, translated

CATEGORICAL = 1  # a bit of a split's "decision_type"
CATEGORICAL_COLUMNS = re.compile(r"^\[categorical_feature: ([\d,]+)\]$", re.MULTILINE)
LEAF_VALUES = re.compile(r"^leaf_value=(.*)$", re.MULTILINE)
SIZES = re.compile(r"^tree_sizes=.*\n", re.MULTILINE)  # of the texts of trees
# The lines of a tree with a number for each split, and for each leaf.
BY_SPLIT = ["split_feature", "split_gain", "threshold", "decision_type", "left_child"]
BY_SPLIT += ["right_child", "internal_value", "internal_weight", "internal_count"]
BY_LEAF = ["leaf_value", "leaf_weight", "leaf_count"]
PARAMETER = re.compile(r"\[\w+: .*\]|\s*$")  # or a blank line


class LightGBMModel:
    """A trained LightGBM booster."""

    booster = "lightgbm"

    def __init__(self, native: lgb.Booster) -> None:
        self.native = native

    @classmethod
    def load(cls, content: bytes, n_jobs: int | None = None) -> "LightGBMModel":
        """Read a model from LightGBM's text; threads are an argument of each prediction.

        Without the sizes of trees, LightGBM reads one after another, and an error in them does not
        end the process.
        """
        text = _complete_text(content)
        with translated("not a LightGBM model"):
            return cls(lgb.Booster(model_str=SIZES.sub("", text)))

    @classmethod
    def read_file(cls, content: bytes) -> "LightGBMModel":
        """Read a model file that may have been cut or edited, or refuse it."""
        text = _complete_text(content)
        width = 1 + int(_numbers(text, "max_feature_idx").max(initial=-1))
        for tree in _texts_of_trees(text):
            _check_tree(tree, width)
        return cls.load(content)

    @classmethod
    def recognise(cls, model: object) -> "LightGBMModel | None":
        """Wrap a booster or a fitted LGBMModel; None for anything else."""
        if isinstance(model, lgb.LGBMModel) and model.__sklearn_is_fitted__():
            model = model.booster_
        return cls(model) if isinstance(model, lgb.Booster) else None

    def dump(self) -> bytes:
        """Serialize the model in LightGBM's text format."""
        return bytes(self.native.model_to_string().encode())

    def predict(self, X: Features, n_jobs: int, n_trees: int | None = None) -> Vector:
        """Score each row, by the first trees or by all."""
        scores: Vector = self._predicted(X, n_jobs, num_iteration=n_trees, raw_score=True)
        return scores

    def _predicted(self, X: Features, n_jobs: int, **options: Any) -> Any:
        """Predict; columns are known by their places."""
        check_threads(n_jobs)
        return self.native.predict(X, num_threads=n_jobs, validate_features=False, **options)

    def refit(self, X: Features, n_jobs: int, change: Refit) -> "LightGBMModel":
        """Copy the trees with other leaf values, which depend on the leaves of rows."""
        leaves = np.ascontiguousarray(self._predicted(X, n_jobs, pred_leaf=True).T)
        text = self.native.model_to_string()
        values = [np.array(line.split(), np.float64) for line in LEAF_VALUES.findall(text)]
        lines = (" ".join(map(repr, new.tolist())) for new in change(leaves, values))
        text = LEAF_VALUES.sub(lambda _: f"leaf_value={next(lines)}", text)
        return LightGBMModel.load(text.encode())

    @interrupts_held()
    def predict_native(self, X: object) -> Vector:
        """Score each row, untransformed, of a table that LightGBM reads itself."""
        check_threads(usable_threads(None))
        refused = "X must match the pretrained booster"
        with translated(refused), error_context(f"{refused}: "):
            by_name = hasattr(X, "columns")
            scores = self.native.predict(X, raw_score=True, validate_features=by_name)
        return np.asarray(scores, dtype=np.float64)

    def contributions(self, X: Features, n_jobs: int) -> Matrix:
        """Split each row's score by features; the mean score is last."""
        with translated("LightGBM cannot explain the model"):
            shares = self._predicted(X, n_jobs, pred_contrib=True)
        return np.asarray(as_dense(shares), dtype=np.float64)

    def importances(self, kind: str = "gain") -> Vector:
        """Total each feature's gain, or count its splits."""
        return np.asarray(self.native.feature_importance(kind), dtype=np.float64)

    def schema(self) -> Schema:
        """Describe the columns, with categories if it was trained on those of pandas."""
        known = self.native.pandas_categorical or []
        listed = CATEGORICAL_COLUMNS.search(self.native.model_to_string(num_iteration=1))
        columns = [*map(int, listed[1].split(","))] if listed else []
        # Ordered categories are numbers to LightGBM, which does not say of which columns.
        categories = dict(zip(columns, known, strict=True)) if len(columns) == len(known) else {}
        names = self.native.feature_name()
        return Schema(self.native.num_feature(), names, sorted(categories), categories)

    def trees(self) -> list[Tree]:
        """Read the trees, whose sum is the score."""
        text = self.native.model_to_string()
        n_outputs = self.native.num_model_per_iteration()
        if n_outputs > 1:
            raise ValueError(f"the model must have one output, got {n_outputs}.")
        if "\naverage_output\n" in text:
            raise ValueError("the model must be a sum of trees, got a mean (boosting='rf').")
        # The JSON has no infinite thresholds.
        thresholds = (_numbers(tree, "threshold") for tree in _texts_of_trees(text))
        trees = self.native.dump_model()["tree_info"]
        return [
            read_tree(tree["tree_structure"], "leaf_value", partial(_split, of_tree))
            for tree, of_tree in zip(trees, thresholds, strict=True)
        ]


def _complete_text(content: bytes) -> str:
    """Refuse what LightGBM does not notice: a cut file, and a parameter without a colon."""
    text = content.decode().replace("\r\n", "\n")
    _, end, rest = text.partition("\nend of trees")
    _, parameters, listed = rest.partition("\nparameters:")
    if not end or (parameters and "end of parameters" not in listed):
        raise ValueError("it ends before its trees or its parameters do")
    for line in listed.partition("end of parameters")[0].splitlines():
        if not PARAMETER.match(line):
            raise ValueError(f"its parameters have {line!r}, not [name: value]")
    return text


def _texts_of_trees(text: str) -> list[str]:
    return text.partition("\nend of trees")[0].split("\nTree=")[1:]


def _check_tree(text: str, width: int) -> None:
    """Refuse a tree without the nodes, categories or features that its splits name."""
    numbers = partial(_numbers, text)
    children = np.stack([numbers("left_child"), numbers("right_child")])
    n_splits = children.shape[1]
    sizes = dict.fromkeys(BY_SPLIT, n_splits) | dict.fromkeys(BY_LEAF, n_splits + 1)
    for name, values in re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE):
        size = len(values.split())
        if size != sizes.get(name, size) and (n_splits or name == "leaf_value"):
            raise ValueError(f"a tree has {size} numbers in {name}, not {sizes[name]}")
    if numbers("num_leaves").tolist() != [n_splits + 1]:
        raise ValueError("a tree has not num_leaves leaves")
    children[children < 0] = n_splits - 1 - children[children < 0]  # leaves follow splits
    features = np.append(numbers("split_feature"), numbers("leaf_features"))
    check_nodes(np.arange(n_splits), children, 2 * n_splits + 1, features, width)
    places = numbers("threshold")[numbers("decision_type").astype(int) & CATEGORICAL > 0]
    bounds = numbers("cat_boundaries")
    if len(places) and not (
        0 <= places.min() <= places.max() < len(bounds) - 1 == numbers("num_cat")[0]
        and (bounds[0], bounds[-1]) == (0, len(numbers("cat_threshold")))
        and (np.diff(bounds) >= 0).all()
    ):
        raise ValueError("a split is by categories that are not there")


def _numbers(text: str, name: str) -> Vector:
    line = re.search(rf"^{name}=(.*)$", text, re.MULTILINE)
    return np.array(line[1].split() if line else [], float)


def _split(thresholds: Vector, node: Node) -> Split:
    """Read a split; without missing values in training, they are read as zeros."""
    feature = node["split_feature"]
    missing_left = node["default_left"]
    sides = node["left_child"], node["right_child"]
    if any("leaf_const" in side for side in sides):
        raise ValueError(
            "the model must have constants in its leaves, got the linear functions of linear_tree."
        )
    if node["decision_type"] == "==":  # missing values go right
        categories = tuple(map(int, node["threshold"].split("||")))
        return Membership(feature, False, *sides, categories)
    threshold = float(thresholds[node["split_index"]])
    zero_left = threshold >= 0
    if node["missing_type"] == "None":
        missing_left = zero_left
    elif node["missing_type"] == "Zero" and missing_left != zero_left:
        raise ValueError(
            "the model must treat zeros as numbers, but with zero_as_missing it sends those of "
            f"column {feature} to the other side than the numbers next to them."
        )
    return Threshold(feature, missing_left, *sides, threshold)
