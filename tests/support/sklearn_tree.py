"""A third booster, in the order of CONTRIBUTING.md: trees of scikit-learn on Newton steps."""

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from gbrank.boosters import Booster, TreeSettings
from gbrank.boosters.booster import Options
from gbrank.boosters.interface import GradientFunction, Refit, State
from gbrank.boosters.tree import Leaf, Threshold, Tree
from gbrank.common.checks import ArgumentError, Matrix, Positions, Vector
from gbrank.data.documents import Documents
from gbrank.data.feature_matrix import Features, as_dense
from gbrank.data.schema import Schema

Nodes = dict[str, list[Any]]  # of a tree: the columns of its nodes

# 1. Options: other names, what has no effect here, with what leaves are no Newton steps.
OPTIONS = Options(
    aliases={"min_weight_fraction_leaf": ["min_leaf_weight"]},
    idle={"a leaf is a weighted mean of steps": ["criterion"]},
    of_leaves=["monotonic_cst"],
)


# 2. Parameters: settings in the library's names, with those of the user.
def tree_params(settings: TreeSettings, schema: Schema) -> dict[str, Any]:
    """Return parameters of DecisionTreeRegressor; refuse what it cannot do."""
    if schema.categorical:
        raise ArgumentError("categorical_feature", "must be None: these trees split numbers")
    if settings.reg_lambda:
        raise ArgumentError("reg_lambda", "must be 0 with these trees", str(settings.reg_lambda))
    defaults = {
        "max_leaf_nodes": settings.num_leaves,
        "max_depth": settings.max_depth,
        "min_samples_leaf": max(1, settings.min_child_samples),
        "max_features": settings.colsample,
    }
    known = DecisionTreeRegressor().get_params()
    return defaults | OPTIONS.check(settings.params, defaults, known, schema)


# 3. A trainer: one tree a round, on derivatives at the scores so far.
class TreeTrainer:
    """Trees in training."""

    def __init__(
        self, rows: Sequence[Documents], schema: Schema, settings: TreeSettings, state: State | None
    ) -> None:
        self._params = tree_params(settings, schema)
        self._settings = settings
        self._model = TreeModel([], schema.n_features, schema.names)
        if state is not None:
            self._model = TreeModel.load(state["model"])
        self._X = [part.X for part in rows]
        self._scores = [
            (0.0 if part.init_score is None else part.init_score) + self._model.predict(part.X, 1)
            for part in rows
        ]

    def step(self, derivatives: GradientFunction) -> None:
        gradient, curvature = derivatives(self._scores[0])
        steps = np.zeros(len(gradient))
        np.divide(-gradient, curvature, out=steps, where=curvature > 0)
        seed = self._settings.seed + len(self._model.nodes)
        regressor = DecisionTreeRegressor(**self._params, random_state=seed)
        tree = regressor.fit(as_dense(self._X[0]), steps, sample_weight=curvature).tree_
        share = tree.weighted_n_node_samples * tree.impurity
        gain = share - np.where(tree.children_left < 0, share, 0.0)
        inner = tree.children_left >= 0
        gain[inner] -= share[tree.children_left[inner]] + share[tree.children_right[inner]]
        nodes = {
            "left": tree.children_left.tolist(),
            "right": tree.children_right.tolist(),
            "feature": tree.feature.tolist(),
            "threshold": tree.threshold.tolist(),
            "value": (self._settings.learning_rate * tree.value[:, 0, 0]).tolist(),
            "gain": gain.tolist(),
        }
        self._model.nodes.append(nodes)
        for scores, X in zip(self._scores, self._X, strict=True):
            scores += np.array(nodes["value"])[_leaves(nodes, X)]

    def scores(self, place: int) -> Vector:
        return self._scores[place]

    def state(self) -> State:
        return {"model": self._model.dump()}

    def finish(self, rounds: int) -> "TreeModel":
        return TreeModel(
            self._model.nodes[:rounds], self._model.n_features, self._model.feature_names
        )

    def close(self) -> None:
        pass


# 4. A model: scores, explanations, and the same bytes after loading.
class TreeModel:
    """Trained trees."""

    booster = "sklearn-tree"

    def __init__(self, nodes: list[Nodes], n_features: int, names: list[str] | None) -> None:
        self.nodes = nodes
        self.n_features = n_features
        self.feature_names = names

    @property
    def native(self) -> "TreeModel":
        return self

    def schema(self) -> Schema:
        return Schema(self.n_features, self.feature_names, [], {})

    @classmethod
    def load(cls, content: bytes, n_jobs: int | None = None) -> "TreeModel":
        return cls(**json.loads(content)["sklearn-tree"])

    @classmethod
    def read_file(cls, content: bytes) -> "TreeModel":
        return cls.load(content)

    @classmethod
    def recognise(cls, model: object) -> "TreeModel | None":
        return model if isinstance(model, TreeModel) else None

    def dump(self) -> bytes:
        parts = {"nodes": self.nodes, "n_features": self.n_features, "names": self.feature_names}
        return json.dumps({"sklearn-tree": parts}).encode()

    def predict(self, X: Features, n_jobs: int, n_trees: int | None = None) -> Vector:
        scores = np.zeros(X.shape[0])
        for nodes in self.nodes[:n_trees]:
            scores += np.array(nodes["value"])[_leaves(nodes, X)]
        return scores

    def predict_native(self, X: Any) -> Vector:
        return self.predict(np.asarray(X, dtype=np.float64), 1)

    def refit(self, X: Features, n_jobs: int, change: Refit) -> "TreeModel":
        leaves = np.array([_leaves(nodes, X) for nodes in self.nodes])
        values = change(leaves, [np.array(nodes["value"]) for nodes in self.nodes])
        changed = [
            {**nodes, "value": new.tolist()} for nodes, new in zip(self.nodes, values, strict=True)
        ]
        return TreeModel(changed, self.n_features, self.feature_names)

    def contributions(self, X: Features, n_jobs: int) -> Matrix:
        shares = np.zeros((X.shape[0], self.n_features + 1))
        rows = np.arange(X.shape[0])
        for nodes in self.nodes:
            feature, value = np.array(nodes["feature"]), np.array(nodes["value"])
            shares[:, -1] += value[0]
            before = np.zeros(len(rows), dtype=np.int64)
            for after in _levels(nodes, X):
                moved = after != before
                np.add.at(
                    shares,
                    (rows[moved], feature[before[moved]]),
                    value[after[moved]] - value[before[moved]],
                )
                before = after
        return shares

    def importances(self, kind: str = "gain") -> Vector:
        totals = np.zeros(self.n_features)
        for nodes in self.nodes:
            for feature, gain in zip(nodes["feature"], nodes["gain"], strict=True):
                if feature >= 0:
                    totals[feature] += gain if kind == "gain" else 1.0
        return totals

    def trees(self) -> list[Tree]:
        return [_tree(nodes, 0) for nodes in self.nodes]


def _levels(nodes: Nodes, X: Features) -> list[Positions]:
    """Return the node of each row, level by level; missing values go right."""
    left, right = np.array(nodes["left"]), np.array(nodes["right"])
    columns = as_dense(X).astype(np.float32)  # as scikit-learn compares them
    levels = [np.zeros(len(columns), dtype=np.int64)]
    while (left[levels[-1]] >= 0).any():
        node = levels[-1]
        value = columns[np.arange(len(node)), np.array(nodes["feature"])[node]]
        child = np.where(value <= np.array(nodes["threshold"])[node], left[node], right[node])
        levels.append(np.where(left[node] >= 0, child, node))
    return levels


def _leaves(nodes: Nodes, X: Features) -> Positions:
    return _levels(nodes, X)[-1]


def _tree(nodes: Nodes, node: int) -> Tree:
    if nodes["left"][node] < 0:
        return Leaf(nodes["value"][node])
    left, right = _tree(nodes, nodes["left"][node]), _tree(nodes, nodes["right"][node])
    return Threshold(nodes["feature"][node], False, left, right, nodes["threshold"][node])


# 5. The declaration: BOOSTERS[SKLEARN_TREE.name] = SKLEARN_TREE makes it known, as the tests do.
SKLEARN_TREE = Booster(
    name="sklearn-tree",
    title="scikit-learn",
    library="sklearn",
    file=re.compile(rb'\{"sklearn-tree"'),
    options=OPTIONS,
    random_thresholds=False,
    params_name="sklearn_tree:tree_params",
    trainer_name="sklearn_tree:TreeTrainer",
    model_name="sklearn_tree:TreeModel",
)
