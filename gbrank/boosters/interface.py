"""The part common to boosters: settings of trees, steps of training, names, rows of bins."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp

from gbrank.common.collective import all_sum
from gbrank.common.values import Positions, Single, Vector, plain
from gbrank.data.feature_matrix import Features
from gbrank.data.sampling import row_keys
from gbrank.data.schema import Schema

GradientFunction: TypeAlias = Callable[[Vector], tuple[Vector, Vector]]  # (and curvature) of scores
# The new values of all leaves, of the leaf of each row, a line for each tree, and the old values.
Refit: TypeAlias = Callable[[Positions, list[Vector]], list[Vector]]
State: TypeAlias = dict[str, bytes]  # what a checkpoint keeps of a booster in training
BINNED_ROWS = 200_000  # LightGBM's own default


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


class Steps(Protocol):
    """A model in training."""

    def train_scores(self) -> Vector:
        """Return the current scores of the training rows, in input order."""

    def valid_scores(self) -> list[Vector]:
        """Return the current scores of each validation set."""


def single_precision(derivatives: tuple[Vector, Vector]) -> tuple[Single, Single]:
    """Return derivatives as boosters keep them, so that doubles are freed before a tree grows."""
    gradient, curvature = derivatives
    return gradient.astype(np.float32), curvature.astype(np.float32)


def safe_names(schema: Schema) -> list[str] | None:
    """Return the column names, or None if a booster's file format could not hold them."""
    unsafe = set('[]<>{}":, \n\t\r')
    unfit = any(unsafe & set(name) or not name for name in schema.names or ())
    return None if unfit else schema.names


def stacked(parts: Sequence[Features]) -> Features:
    """Return rows below one another, sparse if the first ones are."""
    return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)


def bin_sample(X: Features, most: int = BINNED_ROWS) -> Features:
    """Return this worker's share of a sample of `most` rows, in the order of their hashes.

    Bins are made from it: rows are chosen by content, not by position.
    """
    count = math.ceil(X.shape[0] * min(1, most / all_sum(X.shape[0])))
    return X[np.argsort(row_keys(X))[:count]]
