"""Trained models of LightGBM."""

import re
from collections.abc import Mapping
from typing import Any

import lightgbm as lgb
import numpy as np
from lightgbm.basic import LightGBMError

from gbrank.boosters.lightgbm import check_threads, translated
from gbrank.boosters.tree import Leaf, Membership, Threshold, Tree
from gbrank.common.arrays import Matrix, Vector
from gbrank.common.interrupts import interrupts_held
from gbrank.common.threads import usable_threads
from gbrank.data.feature_matrix import Features, as_dense
from gbrank.data.schema import Schema

# Bits of a split's "decision_type".
CATEGORICAL, DEFAULT_LEFT, ZERO_IS_MISSING, NAN_IS_MISSING = 1, 2, 4, 8


class LightGBMModel:
    """A trained LightGBM booster."""

    def __init__(self, native: lgb.Booster) -> None:
        self.native = native

    @classmethod
    def load(cls, content: bytes, n_jobs: int | None = None) -> "LightGBMModel":
        """Read a model from LightGBM's text format; each prediction is told its threads."""
        with translated("not a LightGBM model"):
            return cls(lgb.Booster(model_str=content.decode()))

    @classmethod
    def from_file(cls, content: bytes) -> "LightGBMModel":
        """Read a model from a file of LightGBM, on a damaged one of which it ends the process."""
        text = content.replace(b"\r\n", b"\n")
        try:
            _check_whole(text.decode())
        except (ArithmeticError, KeyError, IndexError, ValueError) as error:
            reason = f"it lacks {error}" if isinstance(error, KeyError) else error
            raise ValueError(
                f"expected a whole LightGBM model, got one that was cut or edited: {reason}"
            ) from None
        return cls.load(text)

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

    def trees(self) -> list[Tree]:
        """Return the trees, whose sum is the score."""
        return [_tree(block) for block in _split_model(self.native.model_to_string())[1]]


def joined_trees(first: str, second: str, leave_out: int = 0) -> str:
    """Return the text of a model with the first's trees, and the second's but for `leave_out`."""
    head, trees, _ = _split_model(first)
    _, more, tail = _split_model(second)
    return _without_sizes(head) + "".join([*trees, *more[leave_out:], tail])


def _without_sizes(text: str) -> str:
    """Return a model's text without the sizes of trees: LightGBM then reads one after the other."""
    return re.sub(r"\ntree_sizes=.*", "", text)


def _split_model(text: str) -> tuple[str, list[str], str]:
    """Split a model's text into what stands before the trees, the trees, and what follows."""
    end = text.index("\nend of trees\n") + 1
    head, *trees = re.split(r"(?=^Tree=\d+$)", text[:end], flags=re.MULTILINE)
    return head, trees, text[end:]


def _check_whole(text: str) -> None:
    """Refuse a model's text whose trees are not those that its head and their own lines promise."""
    if "\nend of trees\n" not in text:
        raise ValueError('it lacks "end of trees"')
    head, trees, tail = _split_model(text)
    lines = _lines(head)
    if "\nparameters:" in tail and "\nend of parameters\n" not in tail:
        raise ValueError("its parameters have no end")
    sizes = [len(tree.encode()) for tree in trees]
    if sizes != [int(size) for size in lines.get("tree_sizes", "").split()] and (
        "tree_sizes" in lines or not trees
    ):
        raise ValueError("its trees have not the sizes that its tree_sizes say")
    if len(trees) % int(lines["num_tree_per_iteration"]):
        raise ValueError("its num_tree_per_iteration does not divide the number of its trees")
    for number, tree in enumerate(trees):
        if not _is_whole(_lines(tree), int(lines["max_feature_idx"])):
            raise ValueError(f"the lines of tree {number} do not fit together")


def _is_whole(lines: dict[str, str], last_feature: int) -> bool:
    """Say whether the splits of a tree lead once to each split and leaf, by known columns."""
    leaves, categorical = int(lines["num_leaves"]), int(lines["num_cat"])
    float(lines["shrinkage"])
    of_splits = "split_feature", "threshold", "decision_type", "left_child", "right_child"
    rows = [np.array(lines[name].split(), float) for name in of_splits if leaves > 1]
    values = np.array(lines["leaf_value"].split(), float)
    if len(values) != leaves or any(len(row) != leaves - 1 for row in rows):
        return False
    if not rows:
        return True
    features, thresholds, kinds, left, right = rows
    children, splits = np.stack([left, right]), np.arange(leaves - 1)
    later = (children < 0) | (children > splits)
    once = np.array_equal(np.sort(children, axis=None), np.r_[-leaves:0, 1 : leaves - 1])
    places = thresholds[kinds.astype(int) & CATEGORICAL > 0]
    bounds = np.array(lines["cat_boundaries"].split() if categorical else [0], int)
    words = lines["cat_threshold"].split() if categorical else []
    return bool(
        once
        and later.all()
        and ((features >= 0) & (features <= last_feature)).all()
        and ((places >= 0) & (places < categorical)).all()
        and (len(bounds), bounds[0], bounds[-1]) == (categorical + 1, 0, len(words))
        and (np.diff(bounds) >= 0).all()
    )


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
