"""The contract of boosters: settings of trees, a trainer, a model; names, rows of bins."""

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

import numpy as np

from gbrank.common.checks import Matrix, Positions, Single, Vector
from gbrank.common.collective import all_sum
from gbrank.data.documents import Documents
from gbrank.data.feature_matrix import Features
from gbrank.data.sampling import row_keys
from gbrank.data.schema import Schema

from .gradient_watch import RoundGradients
from .tree import Tree

Params: TypeAlias = dict[str, Any]  # of a booster, by name
GradientPair: TypeAlias = tuple[Vector, Vector]  # gradient and curvature
GradientFunction: TypeAlias = Callable[[Vector], GradientPair]  # of scores
# The new values of all leaves, of the leaf of each row, a line for each tree, and the old values.
Refit: TypeAlias = Callable[[Positions, list[Vector]], list[Vector]]
State: TypeAlias = dict[str, bytes]  # what a checkpoint keeps of a booster in training
BINNED_ROWS = 200_000  # LightGBM's own default


class TreeSettings(NamedTuple):
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
    params: Params  # the booster's own
    early_stopping: bool  # whether the model may be cut at an earlier round
    resumable: bool  # whether training may be interrupted, and go on from a state


class Plan(NamedTuple):
    """The rounds of a training: `begin` is the first one of the objective itself.

    Early stopping is decided here, for fits and hooks alike. `done` rounds have been trained, of
    which `best` are to be kept.
    """

    begin: int
    end: int

    def out_of_patience(self, done: int, best: int, patience: int | None) -> bool:
        """Tell whether training ends; patience counts from the round `begin`."""
        return patience is not None and done - max(best, self.begin) >= patience

    def without_patience(self, done: int, best: int, patience: int | None) -> "Plan":
        """Begin the objective itself now if its start has stopped improving.

        It is then trained for as many rounds as the start was.
        """
        if patience is None or done >= self.begin or done - best < patience:
            return self
        return Plan(begin=done, end=done + min(done, self.end - done))


class RoundRecord(NamedTuple):
    """Sigma of a round that was trained, its gradients where they are watched, its weights."""

    sigma: float
    gradients: RoundGradients | None = None
    coef: Vector | None = None  # of linear rankers


class Trainer(Protocol):
    """A booster in training."""

    def scores(self, place: int) -> Vector:
        """Compute the current scores, in input order, of the training rows (place 0).

        The validation sets have the places from 1.
        """

    def step(self, derivatives: GradientFunction) -> None:
        """Grow one tree on derivatives at the current scores of the training rows.

        With gradient g, curvature h and L2 penalty λ, a leaf is -rate Σg / (Σh + λ) or what stands
        for it in the booster; gradient and curvature are 0 for documents that are not sampled.
        """

    def state(self) -> State:
        """Serialize what a trainer of the same rows needs to continue from here, bit for bit."""

    def finish(self, rounds: int) -> "Model":
        """Cut the model after some rounds."""

    def close(self) -> None:
        """Release data, and connections to the other workers of a distributed fit."""


# A class of trainers. The first of the documents are trained on, the others are validation sets;
# X are features, and scores start at `init_score`, or 0. The state is of a trainer to continue.
NewTrainer: TypeAlias = Callable[[Sequence[Documents], Schema, TreeSettings, State | None], Trainer]


class Model(Protocol):
    """A trained model, whose score is the sum of its trees."""

    booster: ClassVar[str]  # the name of the booster
    native: Any  # its own object, which users get as `booster_`

    def schema(self) -> Schema:
        """Describe the columns that the model reads, as far as the model's library keeps it."""

    @classmethod
    def load(cls, content: bytes, n_jobs: int | None = None) -> "Model":
        """Load what `dump` returned; the model predicts on at most `n_jobs` threads."""

    @classmethod
    def read_file(cls, content: bytes) -> "Model":
        """Load a model file that may have been cut or edited.

        Such a file raises ValueError; it must not end the process, now or in a prediction.
        """

    @classmethod
    def recognise(cls, model: object) -> "Model | None":
        """Wrap a trained object of the library's; None for anything else."""

    def dump(self) -> bytes:
        """Serialize the model as UTF-8 text."""

    def predict(self, X: Features, n_jobs: int, n_trees: int | None = None) -> Vector:
        """Score each row, by the first trees or by all."""

    def predict_native(self, X: Any) -> Vector:
        """Score each row, untransformed, of a table that the library reads itself.

        Called for models of users, which `recognise` wraps.
        """

    def refit(self, X: Features, n_jobs: int, change: Refit) -> "Model":
        """Copy the trees with other leaf values, which depend on the leaves of rows."""

    def contributions(self, X: Features, n_jobs: int) -> Matrix:
        """Split the score of each row by features, shape (n_rows, n_features + 1).

        A row sums to its score; the last column has the mean score of the training rows.
        """

    def importances(self, kind: str = "gain") -> Vector:
        """Total each feature's gain ("gain"), or count its splits ("split")."""

    def trees(self) -> list[Tree]:
        """Convert the trees to the form that exports write; their sum is the score."""


def single_precision(derivatives: GradientPair) -> tuple[Single, Single]:
    """Round derivatives as boosters do, so that doubles are freed before a tree grows."""
    gradient, curvature = derivatives
    return gradient.astype(np.float32), curvature.astype(np.float32)


def safe_names(schema: Schema) -> list[str] | None:
    """Keep the column names, or None if a booster's file format could not hold them."""
    unsafe = set('[]<>{}":, \n\t\r')
    unfit = any(unsafe & set(name) or not name for name in schema.names or ())
    return None if unfit else schema.names


def bin_sample(X: Features, most: int = BINNED_ROWS) -> Features:
    """Take this worker's share of a sample of `most` rows, in the order of their hashes.

    Bins are made from it: rows are chosen by content, not by position.
    """
    count = math.ceil(X.shape[0] * min(1, most / all_sum(X.shape[0])))
    return X[np.argsort(row_keys(X))[:count]]
