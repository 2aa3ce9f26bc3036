"""Trained models of LightGBM."""

import re
from collections.abc import Sequence
from typing import Any

import lightgbm as lgb
import numpy as np
from lightgbm.basic import LightGBMError

from gbrank.boosters.lightgbm import check_threads, translated
from gbrank.boosters.tree import Leaf, Membership, Threshold, Tree
from gbrank.common.arrays import Matrix, Vector
from gbrank.common.interrupts import interrupts_held
from gbrank.common.threads import usable_threads
from gbrank.data.schema import Features, Schema, as_dense


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
    def recognise(cls, model: object) -> "LightGBMModel | None":
        """Return the model that a booster or a fitted LGBMModel is, or None."""
        if isinstance(model, lgb.LGBMModel) and model.__sklearn_is_fitted__():
            model = model.booster_
        return cls(model) if isinstance(model, lgb.Booster) else None

    @classmethod
    def weighted_sum(
        cls, models: Sequence["LightGBMModel"], weights: Sequence[float]
    ) -> "LightGBMModel":
        """Return the model of all trees, whose score is the weighted sum of the models' scores.

        The first columns of the widest model must be those of the others.
        """
        pairs = zip(models, weights, strict=True)
        texts = [_scaled_leaves(model.native.model_to_string(), own) for model, own in pairs]
        widest = max(range(len(models)), key=lambda i: models[i].native.num_feature())
        text, *others = [texts.pop(widest), *texts]
        for other in others:
            text = joined_trees(text, other)
        return cls(lgb.Booster(model_str=text))

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
        infos = self.native.dump_model()["tree_info"]
        _, blocks, _ = _split_model(self.native.model_to_string())
        return [
            _tree(info["tree_structure"], _thresholds(block))
            for info, block in zip(infos, blocks, strict=True)
        ]


def joined_trees(first: str, second: str, leave_out: int = 0) -> str:
    """Return the text of a model with the first's trees, and the second's but for `leave_out`."""
    head, trees, _ = _split_model(first)
    _, more, tail = _split_model(second)
    return _without_sizes(head) + "".join([*trees, *more[leave_out:], tail])


def _scaled_leaves(text: str, weight: float) -> str:
    """Return the text of a model whose scores are those of another one times a weight."""

    def scaled(line: re.Match[str]) -> str:
        return line[1] + " ".join(repr(weight * float(value)) for value in line[2].split())

    text = re.sub(
        r"^((?:leaf_value|leaf_const|leaf_coeff|internal_value)=)(.*)$",
        scaled,
        text,
        flags=re.MULTILINE,
    )
    return _without_sizes(text)


def _without_sizes(text: str) -> str:
    """Return a model's text without the sizes of trees: LightGBM then reads one after the other."""
    return re.sub(r"\ntree_sizes=.*", "", text)


def _split_model(text: str) -> tuple[str, list[str], str]:
    """Split a model's text into what stands before the trees, the trees, and what follows."""
    end = text.index("\nend of trees\n") + 1
    head, *trees = re.split(r"(?=^Tree=\d+$)", text[:end], flags=re.MULTILINE)
    return head, trees, text[end:]


def _thresholds(block: str) -> list[float]:
    """Return a tree's thresholds; `dump_model` cuts them off at 1e300."""
    found = re.search(r"^threshold=(.+)$", block, flags=re.MULTILINE)
    return [float(text) for text in found[1].split()] if found else []


def _tree(node: dict[str, Any], thresholds: list[float]) -> Tree:
    if "leaf_coeff" in node:
        raise ValueError(
            "the model must have constants in its leaves, got the linear functions of linear_tree."
        )
    if "split_feature" not in node:
        return Leaf(float(node["leaf_value"]))
    feature = int(node["split_feature"])
    left, right = (_tree(node[f"{side}_child"], thresholds) for side in ("left", "right"))
    if node["decision_type"] == "==":
        categories = tuple(map(int, node["threshold"].split("||")))
        return Membership(feature, False, left, right, categories)  # missing values go right
    threshold = thresholds[node["split_index"]]
    # Without missing values in training, a missing one is read as zero.
    kind, default_left, zero_left = node["missing_type"], bool(node["default_left"]), threshold >= 0
    if kind == "Zero" and default_left != zero_left:
        raise ValueError(
            "the model must treat zeros as numbers, but with zero_as_missing it sends those of "
            f"column {feature} to the other side than the numbers next to them."
        )
    missing_left = zero_left if kind == "None" else default_left
    return Threshold(feature, missing_left, left, right, threshold)
