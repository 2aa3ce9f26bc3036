"""The part of hooks that is the same for all boosters."""

import sys
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from traceback import walk_stack
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.checks import Vector, check_integer, warn_user
from gbrank.common.grammar import changed_options, format_call
from gbrank.data.documents import Documents
from gbrank.data.queries import Queries
from gbrank.measures.measure import BoundMeasure, mean_weights
from gbrank.measures.measure_registry import Metric, get_measures
from gbrank.objectives.objective import BoundObjective

from .gradient_watch import Watch
from .interface import GradientPair
from .staged_objective import StagedObjective

T = TypeVar("T")

# A booster's data set without its features: labels, sizes of queries, weights of documents, and of
# queries.
Parts: TypeAlias = tuple[Any, Any, Any, Any]


class PerDataset(dict[int, tuple[weakref.ref[Any], list[Any], T]]):
    """A value per data set, made anew if its content changes, dropped with it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return PerDataset, ()  # its values belong to this process's data sets

    def of(self, owner: object, parts: Parts, make: Callable[[Documents], T]) -> T:
        """Make a value for a data set of these arrays, unless there is one."""
        key = id(owner)
        entry = self.get(key)
        if entry and entry[0]() is owner and all(map(np.array_equal, entry[1], parts)):
            return entry[2]
        content: list[Any] = [None if part is None else np.array(part) for part in parts]
        labels, sizes, by_document, by_query = content
        queries = Queries.resolve(len(labels), group=sizes)
        made = make(
            Documents.checked(
                None, labels, queries, sample_weight=by_document, query_weight=by_query
            )
        )
        # Unlike `weakref.finalize`, the reference goes with the hook, if that goes first.
        self[key] = weakref.ref(owner, lambda _: self.pop(key, None)), content, made
        return made


def callers(name: str, kind: type[T]) -> T | None:
    """Find the nearest local variable of this name and class in the calling functions.

    Boosters do not tell a custom objective which round it is, but the calling booster, a method's
    `self`, knows. A count of calls would be wrong in cross-validation, on continuation from a
    model, and when a data set is used again.
    """
    for frame, _ in walk_stack(sys._getframe(1)):
        value = frame.f_locals.get(name) if name in frame.f_code.co_varnames else None
        if isinstance(value, kind):
            return value
    return None


@dataclass(eq=False, kw_only=True)
class GradientHook(StagedObjective):
    """A custom objective for training calls of the boosters' own: the part common to all of them.

    Its parameters and `sigmas` are those of `lightgbm_fobj`.
    """

    watch: Watch | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.current_plan = self.plan  # its start may have ended early
        self._sigma_of_round: dict[int, float] = {}
        self._warned = False
        self._bound: PerDataset[list[BoundObjective]] = PerDataset()

    def __repr__(self) -> str:
        options = changed_options(self)
        objective = options.pop("objective")
        return format_call(self, options, str(objective))

    def __deepcopy__(self, memo: dict[int, Any]) -> "GradientHook":
        """Return itself: boosters copy their parameters, but the record is the user's."""
        return self

    @property
    def sigmas(self) -> Vector:
        """The sigma of each round; NaN of rounds that were not this hook's."""
        n_rounds = 1 + max(self._sigma_of_round, default=-1)
        return np.array([self._sigma_of_round.get(round, np.nan) for round in range(n_rounds)])

    def of_data(
        self, owner: object, parts: Parts, scores: ArrayLike, round: int | None
    ) -> GradientPair:
        """Compute gradient and curvature in a round, for a data set of the booster's."""
        if round == 0:  # an earlier training may have ended the start early
            self.current_plan = self.plan
            self._sigma_of_round.clear()
        gradient, curvature, record = self.derivatives(
            self._bound.of(owner, parts, self.bind),
            scores,
            round,
            plan=self.current_plan,
            watched=self.watch is not None and round is not None,
        )
        if round is not None:
            self._sigma_of_round[round] = record.sigma
        if self.watch is not None and record.gradients is not None:
            self.watch(record.gradients)
        return gradient, curvature

    def warn_of_stopping(self, round: int, of_booster: Iterable[int]) -> None:
        """Warn once that a booster's own early stopping may end training in the start."""
        begin = self.current_plan.begin
        patience = max(of_booster, default=0)
        if patience <= 0 or round >= begin or self._warned:
            return
        self._warned = True
        first, main = self.stages
        warn_user(
            f"early stopping may end training before {main.title} begins: the first {begin} rounds "
            f"train {first.title}. Use the hook's early stopping instead: "
            f"callbacks=[hook.early_stopping({patience})]."
        )


class MeasureHook:
    """Measures as custom metrics: the part that is the same for all boosters."""

    def __init__(self, *metrics: Metric) -> None:
        self.measures = get_measures(metrics or "ndcg", "metrics")
        self._bound: PerDataset[list[BoundMeasure]] = PerDataset()

    def __repr__(self) -> str:
        return format_call(self, {}, *map(str, self.measures))

    def of_data(self, owner: object, parts: Parts, scores: ArrayLike) -> list[tuple[str, float]]:
        """Compute each measure, by name, for a data set of the booster's."""
        bound = self._bound.of(owner, parts, self._bind)
        return [(str(item.measure), item.mean(scores)) for item in bound]

    def _bind(self, documents: Documents) -> list[BoundMeasure]:
        return [
            replace(measure.bind(documents.y, documents.queries), weights=mean_weights(documents))
            for measure in self.measures
        ]


@dataclass(eq=False)
class StagedStopping:
    """Ends people's own training calls as `GBRanker` ends its own; says what the model keeps."""

    hook: GradientHook
    patience: int
    verbose: bool

    def __post_init__(self) -> None:
        check_integer(self.patience, "rounds", 1)

    def ends(self, done: int, best: int) -> bool:
        """Tell whether training ends after some rounds, of which `best` are to be kept."""
        hook = self.hook
        plan = hook.current_plan.without_patience(done, best, self.patience)
        hook.current_plan = plan
        ended_early = plan != hook.plan and done == plan.end
        return ended_early or plan.out_of_patience(done, best, self.patience)

    def say(self, done: int, best: int) -> None:
        """Print how many rounds the model keeps of each stage; warn if it keeps only the start."""
        plan = self.hook.current_plan
        self.hook.warn_of_start_alone(done, best, plan)
        if not self.verbose:
            return
        *starts, main = self.hook.stages
        first = min(best, plan.begin)
        of_start = f"{first} of {starts[0].title}, then " if starts else ""
        of_main = f"{best - first} of {main.title}"
        print(f"The model keeps {best} of {done} rounds: {of_start}{of_main}.")
