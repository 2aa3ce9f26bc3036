"""The interface of boosters: trainers that grow trees on given derivatives, and models."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np

from gbrank.boosters.tree import Tree
from gbrank.common.arrays import Matrix, Single, Vector
from gbrank.common.plain import plain
from gbrank.data.documents import Documents
from gbrank.data.feature_matrix import Features
from gbrank.data.schema import Schema

GradientFunction: TypeAlias = Callable[[Vector], tuple[Vector, Vector]]  # (and curvature) of scores
Params: TypeAlias = dict[str, Any]  # a booster's own
State: TypeAlias = dict[str, bytes]  # what a checkpoint keeps of a booster in training


@dataclass(frozen=True)
class TreeSettings:
    """Parameters of the trees, in gbrank's names."""

    learning_rate: float
    num_leaves: int
    max_depth: int | None
    min_child_samples: int
    subsample: float  # of documents
    colsample: float
    extra_trees: bool
    reg_lambda: float
    seed: int
    n_jobs: int
    params: dict[str, Any] = field(default_factory=dict)  # the booster's own
    early_stopping: bool = False  # whether the model may be cut at an earlier round
    resumable: bool = False  # whether training may be interrupted, and go on from a state

    def __post_init__(self) -> None:
        object.__setattr__(self, "params", plain(self.params))


class Model(Protocol):
    """Trees, ready to predict."""

    native: Any

    @classmethod
    def load(cls, content: bytes, n_jobs: int | None = None) -> "Model":
        """Read a model from the booster's own format; it predicts on at most `n_jobs` threads."""

    @classmethod
    def recognise(cls, model: object) -> "Model | None":
        """Return the model of a booster of this kind or its fitted estimator; None for others."""

    def dump(self) -> bytes:
        """Return the model in the booster's own format."""

    @property
    def n_features(self) -> int:
        """The number of columns that the model reads."""

    def check_links(self) -> None:
        """Refuse trees that have not the nodes or features that their splits name."""

    def predict(
        self, X: Features, schema: Schema, n_jobs: int, n_trees: int | None = None
    ) -> Vector:
        """Return the score of each row, by the first trees or by all."""

    def predict_native(self, X: object) -> Vector:
        """Return the untransformed score of each row of a table that the booster reads itself."""

    def contributions(self, X: Features, schema: Schema, n_jobs: int) -> Matrix:
        """Return what each feature adds to each row's score, and the mean score last."""

    def importances(self, kind: str = "gain") -> Vector:
        """Return the total "gain" of each feature, or in how many splits it is ("split")."""

    def trees(self) -> list[Tree]:
        """Return the trees, whose sum is the score."""


class Steps(Protocol):
    """A model in training."""

    def train_scores(self) -> Vector:
        """Return the current scores of the training rows, in input order."""

    def valid_scores(self) -> list[Vector]:
        """Return the current scores of each validation set."""


class Trainer(Steps, Protocol):
    """A booster in training."""

    def step(self, derivatives: GradientFunction) -> None:
        """Grow one tree on derivatives at the current scores."""

    @property
    def done(self) -> int:
        """How many rounds have been trained."""

    def state(self) -> State:
        """Return what a trainer of the same rows needs to resume from here, bit for bit."""

    def finish(self, rounds: int) -> Model:
        """Return the model of the first rounds."""

    def close(self) -> None:
        """Release data, and connections to the other workers of a distributed fit."""


class TrainerFactory(Protocol):
    """The class of a booster's trainers."""

    def __call__(
        self,
        train: Documents,
        valid: list[Documents],
        schema: Schema,
        settings: TreeSettings,
        state: State | None = None,
    ) -> Trainer:
        """Return a booster that has no tree, or those of a state."""

    def check(self, settings: TreeSettings, schema: Schema) -> Params:
        """Return the booster's parameters; refuse those that it does not know or would ignore."""


def single_precision(derivatives: tuple[Vector, Vector]) -> tuple[Single, Single]:
    """Return derivatives as boosters keep them, so that doubles are freed before a tree grows."""
    gradient, curvature = derivatives
    return gradient.astype(np.float32), curvature.astype(np.float32)


def safe_names(schema: Schema) -> list[str] | None:
    """Return the column names, or None if a booster's file format could not hold them."""
    names = schema.names
    if names is None:
        return None
    unsafe = set('[]<>{}":, ') | {"\n", "\t", "\r"}
    return None if any(unsafe & set(name) or not name for name in names) else names


def refuse_settings(settings: TreeSettings, kind: str, stateful: Iterable[str]) -> None:
    """Refuse early stopping with dart, and checkpoints where the booster has a hidden state."""
    if kind == "dart" and settings.early_stopping:
        raise ValueError(
            "early_stopping_rounds must be None with boosting='dart': later rounds rescale "
            "earlier trees, so that no earlier model can be cut out."
        )
    if settings.resumable and stateful:
        raise ValueError(
            f"checkpoint must be None with {' and '.join(sorted(stateful))}: the booster has a "
            "state of its own between rounds, so that training could not go on to the same model."
        )
