"""Trained models of LightGBM."""

import re
from collections.abc import Mapping
from typing import Any

import lightgbm as lgb
import numpy as np
from lightgbm.basic import LightGBMError

from gbrank.boosters.interface import Refit
from gbrank.boosters.lightgbm import check_threads, translated
from gbrank.boosters.tree import (
    Leaf,
    Membership,
    Threshold,
    Tree,
    check_features,
    check_nodes,
)
from gbrank.common.arrays import Matrix, Vector
from gbrank.common.interrupts import interrupts_held
from gbrank.common.threads import usable_threads
from gbrank.data.feature_matrix import Features, as_dense
from gbrank.data.schema import Schema

# Bits of a split's "decision_type".
CATEGORICAL, DEFAULT_LEFT, ZERO_IS_MISSING, NAN_IS_MISSING = 1, 2, 4, 8
PARAMETERS = re.compile(r"\nparameters:\n(\[\w+: .*\]\n)*\nend of parameters\n")
LEAF_VALUES, SIZES = re.compile(r"^leaf_value=(.*)$", re.M), re.compile(r"^tree_sizes=.*\n", re.M)
# Lines of a tree that name nodes, features or categories.
OF_LINKS = (
    "split_feature",
    "decision_type",
    "left_child",
    "right_child",
    "threshold",
    "leaf_features",
    "cat_boundaries",
    "cat_threshold",
)


class LightGBMModel:
    """A trained LightGBM booster."""

    def __init__(self, native: lgb.Booster) -> None:
        self.native = native

    @classmethod
    def load(cls, content: bytes, n_jobs: int | None = None) -> "LightGBMModel":
        """Read a model from LightGBM's text format; each prediction is told its threads."""
        text = content.decode().replace("\r\n", "\n")
        if "\nparameters:" in text and not PARAMETERS.search(text):  # LightGBM may end the process
            raise ValueError("its parameters are not whole")
        with translated("not a LightGBM model"):
            return cls(lgb.Booster(model_str=text))

    @classmethod
    def recognise(cls, model: object) -> "LightGBMModel | None":
        """Return the model that a booster or a fitted LGBMModel is, or None."""
        if isinstance(model, lgb.LGBMModel) and model.__sklearn_is_fitted__():
            model = model.booster_
        return cls(model) if isinstance(model, lgb.Booster) else None

    def dump(self) -> bytes:
        """Return the model in LightGBM's text format."""
        return bytes(self.native.model_to_string().encode())

    def predict(
        self, X: Features, schema: Schema, n_jobs: int, n_trees: int | None = None
    ) -> Vector:
        """Return the score of each row, by the first trees or by all."""
        check_threads(n_jobs)
        scores = self.native.predict(
            X, num_iteration=n_trees, raw_score=True, num_threads=n_jobs, validate_features=False
        )
        return np.asarray(scores, dtype=np.float64)

    def refit(self, X: Features, schema: Schema, n_jobs: int, change: Refit) -> "LightGBMModel":
        """Return the same trees with other leaf values, which depend on the leaves of rows."""
        check_threads(n_jobs)
        options: Any = {"pred_leaf": True, "num_threads": n_jobs, "validate_features": False}
        leaves = np.ascontiguousarray(np.transpose(self.native.predict(X, **options)))
        text = SIZES.sub("", self.native.model_to_string())  # of the texts of trees
        values = [np.array(line.split(), np.float64) for line in LEAF_VALUES.findall(text)]
        lines = (" ".join(map(repr, each.tolist())) for each in change(leaves, values))
        text = LEAF_VALUES.sub(lambda _: f"leaf_value={next(lines)}", text)
        return LightGBMModel.load(text.encode())

    @interrupts_held()
    def predict_native(self, X: object) -> Vector:
        """Return the untransformed score of each row of a table that LightGBM reads itself."""
        check_threads(usable_threads(None))
        by_name = hasattr(X, "columns")
        try:
            scores = self.native.predict(X, raw_score=True, validate_features=by_name)
        except (LightGBMError, ValueError) as error:
            raise ValueError(f"X must be as the pretrained booster takes it: {error}") from None
        return np.asarray(scores, dtype=np.float64)

    def contributions(self, X: Features, schema: Schema, n_jobs: int) -> Matrix:
        """Return what each feature adds to each row's score, and the mean score last."""
        check_threads(n_jobs)
        with translated("LightGBM cannot explain the model"):
            shares: Any = self.native.predict(
                X, pred_contrib=True, num_threads=n_jobs, validate_features=False
            )
        return np.asarray(as_dense(shares), dtype=np.float64)

    def importances(self, kind: str = "gain") -> Vector:
        """Return each feature's total gain, or its number of splits."""
        return np.asarray(self.native.feature_importance(kind), dtype=np.float64)

    @property
    def n_features(self) -> int:
        """The number of columns that the model reads."""
        return int(self.native.num_feature())

    @property
    def feature_names(self) -> list[str] | None:
        """The names of these columns."""
        names: list[str] | None = self.native.feature_name()
        return names

    def check_links(self) -> None:
        """Refuse trees that have not the nodes or features that their splits name."""
        for block in _tree_texts(self.native.model_to_string()):
            _check_splits(_lines(block), self.n_features)

    def trees(self) -> list[Tree]:
        """Return the trees, whose sum is the score."""
        return [_tree(block) for block in _tree_texts(self.native.model_to_string())]


def _tree_texts(text: str) -> list[str]:
    """Return the texts of the trees of a model."""
    end = text.index("\nend of trees\n") + 1
    return re.split(r"(?=^Tree=\d+$)", text[:end], flags=re.MULTILINE)[1:]


def _check_splits(lines: dict[str, str], n_features: int) -> None:
    """Refuse the text of a tree whose splits name what is not there."""
    numbers = {name: np.array(lines.get(name, "").split(), float) for name in OF_LINKS}
    features, kinds, left, right, thresholds, of_leaves, bounds, words = numbers.values()
    children, n_splits = np.stack([left, right]), len(left)
    children[children < 0] = n_splits - 1 - children[children < 0]  # leaves come after the splits
    check_nodes(np.arange(n_splits), children, 2 * n_splits + 1)
    check_features(np.concatenate([features, of_leaves]), n_features)
    places = thresholds[kinds.astype(int) & CATEGORICAL > 0]
    if len(places) and not (
        0 <= places.min() <= places.max() < len(bounds) - 1
        and (bounds[0], bounds[-1]) == (0, len(words))
        and (np.diff(bounds) >= 0).all()
    ):
        raise ValueError("a split is by categories that are not there")


def _lines(block: str) -> dict[str, str]:
    """Return the lines of a text, by name."""
    return dict(re.findall(r"^(\w+)=(.*)$", block, flags=re.MULTILINE))


def _tree(block: str) -> Tree:
    """Return the tree of a text, in which children come after their parents."""
    lines = _lines(block)
    if lines.get("is_linear") == "1":
        raise ValueError(
            "the model must have constants in its leaves, got the linear functions of linear_tree."
        )
    numbers = {name: [*map(float, line.split())] for name, line in lines.items()}
    leaves = [*map(Leaf, numbers["leaf_value"])]
    if len(leaves) == 1:
        return leaves[0]
    columns = ("split_feature", "decision_type", "threshold", "left_child", "right_child")
    splits = np.array([numbers[name] for name in columns]).T.tolist()
    made: dict[int, Tree] = {}
    for number, (column, kind, threshold, *ends) in reversed([*enumerate(splits)]):
        left, right = (leaves[~int(end)] if end < 0 else made[int(end)] for end in ends)
        feature, bits = int(column), int(kind)
        if bits & CATEGORICAL:  # missing values go right
            categories = _categories(numbers, int(threshold))
            made[number] = Membership(feature, False, left, right, categories)
        else:
            missing_left = _missing_left(feature, bits, threshold)
            made[number] = Threshold(feature, missing_left, left, right, threshold)
    return made[0]


def _categories(numbers: Mapping[str, list[float]], place: int) -> tuple[int, ...]:
    """Return the categories that go left, which are bits of 32-bit words."""
    start, end = map(int, numbers["cat_boundaries"][place : place + 2])
    words = np.array(numbers["cat_threshold"][start:end], "<u4")
    return tuple(np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")).tolist())


def _missing_left(feature: int, bits: int, threshold: float) -> bool:
    """Return where missing values go; without any in training, they are read as zeros."""
    default_left, zero_left = bool(bits & DEFAULT_LEFT), threshold >= 0
    if bits & ZERO_IS_MISSING and default_left != zero_left:
        raise ValueError(
            "the model must treat zeros as numbers, but with zero_as_missing it sends those of "
            f"column {feature} to the other side than the numbers next to them."
        )
    return default_left if bits & NAN_IS_MISSING or bits & ZERO_IS_MISSING else zero_left
