"""The results of a fit: one immutable structure, which `save` writes and `load` restores."""

from ast import literal_eval
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Generic, TypeVar, cast

import numpy as np

from gbrank.boosters import Model
from gbrank.clicks import PositionReport
from gbrank.common.checks import Vector, as_json
from gbrank.data.schema import Schema
from gbrank.schedules import Progress

from .rounds import EvalsResult

S = TypeVar("S", bound="Fitted")
T = TypeVar("T")


def saved(restore: Callable[[Any], Any]) -> Any:
    """Declare a field that a saved model holds, and how to make its value of what JSON gives."""
    return field(metadata={"restore": restore})


def vector_of(values: list[float]) -> Vector:
    """Return a vector that JSON holds as a list."""
    return np.array(values, dtype=np.float64)


@dataclass(frozen=True, eq=False, kw_only=True)
class Fitted:
    """Results that a fit publishes at once: one that does not end leaves those before it."""

    schema: Schema

    def to_json(self) -> dict[str, Any]:
        """Return the fields that a saved model holds."""
        values = {item.name: getattr(self, item.name) for item in fields(self) if item.metadata}
        return {
            name: asdict(value) if isinstance(value, Progress | PositionReport) else as_json(value)
            for name, value in values.items()
        }

    @classmethod
    def restored(cls: type[S], content: dict[str, Any], **others: Any) -> S:
        """Return what `to_json` has written, with the fields that it leaves out."""
        values = {
            item.name: item.metadata["restore"](content[item.name])
            for item in fields(cls)
            if item.metadata
        }
        return cls(**values, **others)


class Published(Generic[T]):
    """An attribute of a ranker, which reads the field of its name in what a fit has published."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._field = name.strip("_")

    def __get__(self, ranker: Any, owner: type) -> T:
        return cast(T, self if ranker is None else getattr(ranker._fitted, self._field))

    def __set__(self, ranker: Any, value: T) -> None:
        ranker._published = replace(ranker._fitted, **{self._field: value})


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedRounds(Fitted):
    """Results of the rounds of a fit, which are described in `GBRanker`."""

    best_iteration: int = saved(int)
    best_score: float = saved(lambda score: np.nan if score is None else float(score))
    evals_result: EvalsResult = saved(EvalsResult)
    sigmas: Vector = saved(vector_of)


class TrainedInRounds:
    """The attributes of rankers that are trained in rounds."""

    best_iteration_ = Published[int]()
    best_score_ = Published[float]()
    evals_result_ = Published[EvalsResult]()
    sigmas_ = Published[Vector]()


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedTrees(FittedRounds):
    """Results of a fit of a GBRanker."""

    model: Model
    init: Any  # the fitted ranker that the trees add to, or None
    learning_rate: float = saved(float)
    position_bias: dict[Any, float] | None = saved(
        lambda biases: biases and {literal_eval(slot): biases[slot] for slot in biases}
    )
    position_report: PositionReport | None = saved(
        lambda report: report and PositionReport.restored(**report)
    )
    colsample: float = saved(float)
    extra_trees: bool = saved(bool)
    progress: Progress | None = saved(lambda progress: progress and Progress(**progress))
    data: dict[str, dict[str, int]] = saved(dict)
    data_key: str = saved(str)  # a hash of the training data
