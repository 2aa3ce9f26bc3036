"""What a fit makes: one immutable structure, which `save` writes and `load` restores."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, ClassVar, Generic, TypeVar, cast

import numpy as np

from gbrank.boosters import Model
from gbrank.boosters.stages import Progress
from gbrank.clicks import PositionReport
from gbrank.common.arrays import Vector
from gbrank.common.plain import as_json
from gbrank.data.schema import Schema
from gbrank.data.torn_queries import TrainedQueries
from gbrank.fit.constraints import ConstraintOutcome
from gbrank.fit.context import Context
from gbrank.fit.rounds import EvalsResult

S = TypeVar("S", bound="Fitted")
T = TypeVar("T")
STRUCTURES = (Context, Progress, ConstraintOutcome, PositionReport)


def saved(restore: Callable[[Any], Any], **options: Any) -> Any:
    """Declare a field that a saved model holds, and how to make its value of what JSON gives."""
    return field(metadata={"restore": restore}, **options)


def vector_of(values: list[float]) -> Vector:
    """Return a vector that JSON holds as a list."""
    return np.array(values, dtype=np.float64)


@dataclass(frozen=True, eq=False, kw_only=True)
class Fitted:
    """What a fit publishes, all at once: one that does not end leaves what was there before it."""

    suffix: ClassVar[str] = ""  # of the names in a saved model

    schema: Schema
    trained_on: TrainedQueries | None = None  # None where qid was not given

    def to_json(self) -> dict[str, Any]:
        """Return the fields that a saved model holds."""
        values = {name: getattr(self, name) for name, _ in _saved_fields(type(self))}
        return {f"{name}{self.suffix}": _as_json(value) for name, value in values.items()}

    @classmethod
    def restored(cls: type[S], content: dict[str, Any], **others: Any) -> S:
        """Return what `to_json` has written, with the fields that it leaves out."""
        keys = ((name, f"{name}{cls.suffix}", restore) for name, restore in _saved_fields(cls))
        given = {name: restore(content[key]) for name, key, restore in keys if key in content}
        return cls(**given, **others)


def _as_json(value: Any) -> Any:
    """Return a field as JSON can hold it, a structure as its fields."""
    if isinstance(value, STRUCTURES):
        return asdict(value)
    return [_as_json(item) for item in value] if isinstance(value, list) else as_json(value)


def _saved_fields(cls: type[Fitted]) -> list[tuple[str, Callable[[Any], Any]]]:
    found = ((item.name, item.metadata.get("restore")) for item in fields(cls))
    return [(name, restore) for name, restore in found if restore is not None]


class Published(Generic[T]):
    """A public attribute of a ranker, which reads a field of what its fit has published."""

    def __init__(self, field: str = "") -> None:
        self._field = field

    def __set_name__(self, owner: type, name: str) -> None:
        self._field = self._field or name.strip("_")

    def __get__(self, ranker: Any, owner: type) -> T:
        return cast(T, self if ranker is None else getattr(ranker._fitted, self._field))

    def __set__(self, ranker: Any, value: T) -> None:
        ranker._published = replace(ranker._fitted, **{self._field: value})


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedRounds(Fitted):
    """What is left of the rounds of a fit; the fields are described in `GBRanker`."""

    best_iteration: int = saved(int)
    best_score: float = saved(float)
    evals_result: EvalsResult = saved(EvalsResult)
    sigmas: Vector = saved(vector_of)


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedTrees(FittedRounds):
    """What a fit of a GBRanker makes."""

    model: Model
    booster: str
    init: Any  # the fitted ranker that the trees add to, or None
    learning_rate: float = saved(float)
    position_bias: dict[Any, float] | None = saved(
        lambda biases: biases and {literal_eval(place): biases[place] for place in biases}
    )
    # Models saved by earlier versions lack these.
    position_report: PositionReport | None = saved(
        lambda given: given and PositionReport.restored(**given), default=None
    )
    colsample: float | None = saved(lambda share: share, default=None)
    extra_trees: bool | None = saved(lambda flag: flag, default=None)
    progress: Progress | None = saved(lambda given: given and Progress(**given), default=None)
    data: dict[str, dict[str, int]] = saved(dict, default_factory=dict)
    context: Context = saved(Context.restored, default_factory=Context)
    constraints: list[ConstraintOutcome] = saved(
        lambda given: [ConstraintOutcome(**end) for end in given], default_factory=list
    )

    @property
    def wide_schema(self) -> Schema:
        """The schema of what the trees see."""
        return self.context.widened(self.schema)
