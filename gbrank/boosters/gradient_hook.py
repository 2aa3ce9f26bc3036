"""The part of hooks that is the same for all boosters."""

import sys
import weakref
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from traceback import walk_stack
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from gbrank.boosters.gradient_watch import RoundGradients, Watch
from gbrank.boosters.stages import Progress, Stage, stages_of
from gbrank.common.argument_error import found_in
from gbrank.common.arrays import Mask, Vector
from gbrank.common.checks import check_choice, check_finite, check_number, check_vector
from gbrank.common.collective import all_any, all_sum
from gbrank.common.warnings import warn_user
from gbrank.data.queries import Queries
from gbrank.data.spread import step_factor, unit_width
from gbrank.data.sums import largest_size, order_free_mean, round_to_exact_sums
from gbrank.engine.query_loop import SMALLEST_CURVATURE
from gbrank.measures.measure import BoundMeasure, query_weights
from gbrank.measures.measure_registry import Metric, get_measures
from gbrank.measures.per_query import labels_differ, nothing_to_learn
from gbrank.objectives.objective import BoundObjective, Objective
from gbrank.objectives.objective_registry import DEFAULT_OBJECTIVE, get_objective
from gbrank.schedules import Sigma, unit_of

T = TypeVar("T")

# XGBoost squares sums of gradients in single precision.
LARGEST_SUM = float(np.sqrt(np.finfo(np.float32).max))
# Smaller gradients are the remains of underflow, where all pairs are in order.
SMALLEST_GRADIENT = 1e-290
# Boosters keep single precision.
SMALLEST_SINGLE = float(np.finfo(np.float32).tiny)


class Parts(NamedTuple):
    """A booster's data set without its features; `group` holds the sizes of queries."""

    labels: Any
    group: Any
    sample_weight: Any = None
    query_weight: Any = None

    @property
    def queries(self) -> Queries:
        """Which rows belong to which query."""
        return Queries.resolve(len(np.asarray(self.labels)), group=self.group)


class PerDataset(Generic[T]):
    """A cache of one value per data set, made anew if its content changes, dropped with it."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[weakref.ref[Any], Parts, T]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return PerDataset, ()  # its values belong to this process's data sets

    def get(self, owner: object, parts: Parts, make: Callable[[Parts], T]) -> T:
        """Return ``make(parts)`` for a data set that consists of these arrays."""
        key = id(owner)
        cached = self._made.get(key)
        if cached and cached[0]() is owner and all(map(np.array_equal, cached[1], parts)):
            return cached[2]
        value = make(parts)
        copies = Parts._make(None if part is None else np.array(part) for part in parts)
        reference = weakref.ref(owner, lambda _: self._made.pop(key, None))
        self._made[key] = (reference, copies, value)
        return value


def _callbacks_of(module: str, name: str) -> list[Any]:
    """Return the callbacks of a booster's training that is calling us: a local variable of it."""
    for frame, _ in walk_stack(sys._getframe(1)):
        if frame.f_globals.get("__name__") == module and name in frame.f_locals:
            return list(frame.f_locals[name])
    return []


def caller(kind: type[T]) -> T | None:
    """Return the object of a class whose method is calling us, however indirectly.

    Boosters do not tell a custom objective which round it is, but the calling booster knows. A
    count of calls would be wrong in cross-validation, on continuation from a model, and when a
    data set is used again.
    """
    for frame, _ in walk_stack(sys._getframe(1)):
        owner = frame.f_locals.get("self") if "self" in frame.f_code.co_varnames else None
        if isinstance(owner, kind):
            return owner
    return None


class GradientHook:
    """Turns scores into the derivatives that boosters take: the part common to all of them.

    Its parameters and `sigmas` are those of `lightgbm_fobj`.
    """

    def __init__(
        self,
        objective: str | Objective | Callable[..., Any] = DEFAULT_OBJECTIVE,
        sigma: Sigma | None = None,
        *,
        start: bool = True,
        rounds: int | None = None,
        curvature: str = "own",
        n_jobs: int | None = None,
        watch: Watch | None = None,
    ) -> None:
        self.curvature = check_choice(curvature, "curvature", ["own", "unit"])
        self.objective = get_objective(objective)
        self._stages_after = partial(stages_of, self.objective, sigma, rounds, start)
        self.stages = self._stages_after()
        self.n_jobs = n_jobs
        self.watch = watch
        self.gradients: RoundGradients | None = None  # of the last round, where a fit watches
        self.sigma_of_round: dict[int, float] = {}
        self._warned = False
        self._bound: PerDataset[list[BoundObjective]] = PerDataset()

    def __deepcopy__(self, memo: dict[int, Any]) -> "GradientHook":
        """Return itself: boosters copy their parameters, but the record is the user's."""
        return self

    @property
    def sigmas(self) -> Vector:
        """The sigma of each round; NaN of rounds that were not this hook's."""
        n_rounds = 1 + max(self.sigma_of_round, default=-1)
        return np.array([self.sigma_of_round.get(round, np.nan) for round in range(n_rounds)])

    def go_on_from(self, before: Progress | None) -> None:
        """Continue the schedule of another model, given how far that came."""
        self.stages = self._stages_after(before)

    def bind(self, y: ArrayLike, queries: Queries, **columns: Any) -> list[BoundObjective]:
        """Return the objective of each stage, for these labels; weights and others are columns."""
        return [
            stage.objective.bind(y, queries, rounds=stage.rounds, n_jobs=self.n_jobs, **columns)
            for stage in self.stages
        ]

    def of_data(
        self, owner: object, parts: Parts, scores: ArrayLike, round: int | None
    ) -> tuple[Vector, Vector]:
        """Return gradient and curvature in a round, for a data set of the booster's."""
        if round == 0:  # an earlier training may have ended the start early
            self.stages = self._stages_after()
            self.sigma_of_round.clear()
        return self.derivatives(self._bound.get(owner, parts, self._bind), scores, round)

    def _bind(self, parts: Parts) -> list[BoundObjective]:
        labels, _, by_document, by_query = parts
        return self.bind(labels, parts.queries, sample_weight=by_document, query_weight=by_query)

    def warn_of_stopping(
        self, round: int, training: tuple[str, str], patience_of: Callable[[Any], int]
    ) -> None:
        """Warn once that a booster's own early stopping may end training in the start.

        `training` are the module that trains and its variable of callbacks, among which those of
        early stopping have a patience.
        """
        if self._warned or round >= self.begin:
            return
        patience = [*filter(None, map(patience_of, _callbacks_of(*training)))]
        if not patience:
            return
        self._warned = True
        first, main = self.stages
        warn_user(
            f"early stopping may leave a model of {first.title} alone: {main.title} trains "
            f"{first.title} for {main.begin} rounds. Use the hook's: "
            f"callbacks=[hook.early_stopping({patience[0]})]."
        )

    def warn_of_start_alone(self, done: int, best: int) -> None:
        """Warn where the rounds that a model keeps are all of the start."""
        if len(self.stages) > 1 and best <= self.begin:
            first, main = self.stages
            warn_user(
                f"the model keeps {best} of {done} rounds, all of them of {first.title}: "
                f"{main.title} begins in round {main.begin + 1}."
            )

    @property
    def begin(self) -> int:
        """The round in which the objective itself begins."""
        return self.stages[-1].begin

    def end_start(self, round: int) -> int:
        """Begin the objective itself now, for as many rounds as its start had; return the end."""
        *starts, main = self.stages
        assert main.rounds is not None  # known wherever there is a start
        rounds = min(round, main.begin + main.rounds - round)
        self.stages = [*starts, replace(main, begin=round, rounds=rounds)]
        return round + rounds

    def derivatives(
        self,
        bound: list[BoundObjective],
        scores: ArrayLike,
        round: int | None,
        left_out: Mask | None = None,
    ) -> tuple[Vector, Vector]:
        """Return gradient and curvature for a round, in the booster's scale.

        With the objective's own curvature, both are divided by the mean curvature of all workers,
        so that min_child_weight and min_sum_hessian_in_leaf count documents, as for squared loss;
        Newton steps stay the same. With "unit", gradients are divided by the mean weight, whose
        scale would be a factor on the learning rate. Objectives that begin with another one take
        steps of about sigma; a schedule in spreads lengthens them (see `step_factor`).
        """
        index = self._index(round)
        stage, objective = self.stages[index], self.stages[index].objective
        sigma, lengthening = self._sigma_and_lengthening(
            stage, bound[index].queries, scores, round or 0
        )
        if round is not None:
            self.sigma_of_round[round] = sigma
        where = f"round {'unknown' if round is None else round} of {stage.name}: "
        with found_in(where, traced=True):
            gradient, curvature = bound[index].gradients(scores, sigma, (round or 0) - stage.begin)
            if round == 0 and objective.facts.needs_start:
                _check_differ(np.asarray(scores), bound[index].queries)
            gradient *= lengthening
            if self.curvature == "unit":
                drawn = objective.facts.draws_documents
                curvature[:] = curvature > (SMALLEST_CURVATURE if drawn else 0.0)
                gradient /= bound[index].mean_weight
            count = len(curvature)
            if left_out is not None:
                gradient[left_out] = 0.0
                curvature[left_out] = 0.0
                count -= int(left_out.sum())
            _check_any(gradient, curvature, bound[index], first=round == 0)
            rescaled = objective.rescaled and self.curvature == "own"
            if rescaled:
                rescale_to_unit_mean(gradient, curvature, count)
            _check_size(gradient, curvature, self._advice(objective, sigma))
            if self.watch is not None and round is not None:
                s, g, h = map(np.array, (scores, gradient, curvature))
                queries = bound[index].queries
                self.watch(RoundGradients(round, stage.name, sigma, s, g, h, queries))
            _round(gradient, curvature, SMALLEST_SINGLE if rescaled else 0.0)
        return gradient, curvature

    def _advice(self, objective: Objective, sigma: float) -> str:
        """Return what to do where gradients are too large."""
        side = "above" if self.curvature == "unit" else "far below"
        has_sigma = objective.facts.sigma_unit != "none"
        return f" Choose a sigma {side} {sigma:.3g}." if has_sigma else ""

    def _index(self, round: int | None) -> int:
        """Return the place of a round's stage; if the round is unknown, it must not matter."""
        if round is not None:
            return sum(round >= stage.begin for stage in self.stages[1:])
        first = self.stages[0]
        annealed = first.objective.facts.annealed or first.sigma(1) != first.sigma(0)
        if len(self.stages) > 1 or annealed:
            raise ValueError(
                "the round is not known outside the booster's training, and sigma or the objective "
                "depends on it: use the hook's method at_round."
            )
        return 0

    def _sigma_and_lengthening(
        self, stage: Stage, queries: Queries, scores: ArrayLike, round: int
    ) -> tuple[float, float]:
        """Return sigma in units of the score, and the factor on the length of steps."""
        sigma, unit = stage.sigma(round), stage.objective.facts.sigma_unit
        if unit_of(stage.schedule) != "spread":
            return sigma, 1.0
        scores = check_finite(check_vector(scores, "scores", queries.n_documents), "scores")
        longer = stage.objective.facts.start != "none" and self.curvature == "own"
        lengthening = step_factor(sigma, queries, unit) if longer else 1.0
        return sigma * unit_width(scores, queries, unit), lengthening


def _check_differ(scores: Vector, queries: Queries) -> None:
    """Refuse scores that are equal in every query, where the objective has no gradient."""
    if not all_any(labels_differ(scores, queries).any()):
        raise ValueError(
            "initial scores must differ within queries, as the gradient is zero where all scores "
            "of a query are equal; they do not. Set init='regression', or pass other scores."
        )


def _check_any(gradient: Vector, curvature: Vector, bound: BoundObjective, first: bool) -> None:
    """Set gradients that underflowed to 0; refuse that in the first round, and no curvature."""
    any_gradient = all_any(largest_size(gradient) > SMALLEST_GRADIENT)
    if not any_gradient:
        gradient[:] = 0.0
    if first and not any_gradient:
        raise nothing_to_learn(bound.queries)
    infinite = all_any(not np.isfinite(_sum_of(curvature)))
    if infinite or (any_gradient and not all_any(curvature.max(initial=0.0) > SMALLEST_CURVATURE)):
        raise ValueError(
            "the curvature must be positive for some document, and have a finite sum. Return ones "
            "for plain gradient steps."
        )


def _sum_of(values: Vector) -> float:
    """Return the sum, which may be infinite."""
    with np.errstate(over="ignore"):
        return float(values.sum())


def _check_size(gradient: Vector, curvature: Vector, advice: str) -> None:
    """Refuse gradients whose sum boosters could not square."""
    size = all_sum(max(_sum_of(np.abs(gradient)), _sum_of(curvature)))
    if not size <= LARGEST_SUM:
        raise ValueError(
            f"gradients must sum to {LARGEST_SUM:.3g} at most, or boosters find no splits, got "
            f"{size:.3g}.{advice}"
        )


def _round(gradient: Vector, curvature: Vector, smallest: float) -> None:
    """Round both, in place, so that boosters' sums lose no bit; they add in an order of their own.

    A document with a gradient keeps some curvature, any other the `smallest`.
    """
    _, unit = round_to_exact_sums(gradient, curvature)
    np.maximum(curvature, np.where(gradient == 0.0, smallest, unit), out=curvature)


class MeasureHook:
    """Measures as custom metrics: the part that is the same for all boosters."""

    def __init__(self, *measures: Metric) -> None:
        self.measures = get_measures(measures or "ndcg", "measures")
        self._bound: PerDataset[tuple[list[BoundMeasure], Vector | None]] = PerDataset()

    def of_data(self, owner: object, parts: Parts, scores: ArrayLike) -> list[tuple[str, float]]:
        """Return name and value of each measure, for a data set of the booster's."""
        bound, weights = self._bound.get(owner, parts, self._bind)
        return [(str(item.measure), item.mean(scores, weights)) for item in bound]

    def _bind(self, parts: Parts) -> tuple[list[BoundMeasure], Vector | None]:
        queries = parts.queries
        bound = [measure.bind(parts.labels, queries) for measure in self.measures]
        return bound, query_weights(queries, parts.sample_weight, parts.query_weight)


class StagedStopping:
    """Ends people's own training calls as `GBRanker` ends its own; says what the model keeps."""

    def __init__(self, hook: GradientHook, rounds: int, verbose: bool) -> None:
        self._hook, self._verbose = hook, verbose
        self._patience = check_number(rounds, "rounds", 1, integer=True)
        self.end: int | None = None  # if the start has ended early; None before a training

    def ends(self, done: int, best: int) -> bool:
        """Return whether training ends after some rounds, of which `best` are to be kept.

        Patience counts from the round in which the objective itself begins. If it is lost before
        that, the objective begins now.
        """
        hook = self._hook
        if done < hook.begin and done - best >= self._patience:
            self.end = hook.end_start(done)
        return done == self.end or done - max(best, hook.begin) >= self._patience

    def say(self, done: int, best: int) -> None:
        """Print how many rounds the model keeps of each stage; warn if it keeps only the start."""
        self._hook.warn_of_start_alone(done, best)
        if self._verbose:
            *starts, main = self._hook.stages
            first = min(best, max(0, main.begin))
            of_start = f"{first} of {starts[0].title}, then " if starts else ""
            of_main = f"{best - first} of {main.title}"
            print(f"The model keeps {best} of {done} rounds: {of_start}{of_main}.")


def rescale_to_unit_mean(gradient: Vector, curvature: Vector, count: int) -> None:
    """Divide both, in place, by the mean curvature over all workers; `count` documents are here."""
    mean = order_free_mean(curvature, count)
    gradient /= mean
    curvature /= mean
