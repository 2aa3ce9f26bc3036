"""The part common to boosters: settings of trees, steps of training, checks."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np

from gbrank.common.arrays import Positions, Single, Vector
from gbrank.common.plain import plain
from gbrank.data.schema import Schema

GradientFunction: TypeAlias = Callable[[Vector], tuple[Vector, Vector]]  # (and curvature) of scores
Params: TypeAlias = dict[str, Any]  # a booster's own
# The new values of all leaves, of the leaf of each row, a line for each tree, and the old values.
Refit: TypeAlias = Callable[[Positions, list[Vector]], list[Vector]]
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
