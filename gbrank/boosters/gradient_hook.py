"""The part of hooks that is the same for all boosters."""

import sys
import weakref
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from traceback import walk_stack
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from gbrank.boosters.gradient_watch import RoundGradients, Watch
from gbrank.boosters.stages import stages_of
from gbrank.common.checks import check_choice, check_finite, check_number, check_vector
from gbrank.common.collective import all_any, all_sum
from gbrank.common.errors import found_in, warn_user
from gbrank.common.values import Mask, Vector
from gbrank.data.queries import Queries
from gbrank.data.spread import step_factor, unit_width
from gbrank.data.sums import max_abs, order_free_mean, round_to_exact_sums
from gbrank.engine.query_loop import SMALLEST_CURVATURE
from gbrank.measures.measure import BoundMeasure, query_weights
from gbrank.measures.measure_registry import Metric, get_measures
from gbrank.measures.per_query import labels_differ, nothing_to_learn
from gbrank.objectives.objective import BoundObjective, Objective
from gbrank.objectives.objective_registry import DEFAULT_OBJECTIVE, get_objective
from gbrank.schedules import Progress, Sigma, unit_of

T = TypeVar("T")

# XGBoost squares sums of gradients in single precision.
LARGEST_SUM = float(np.sqrt(np.finfo(np.float32).max))
# Smaller gradients are the remains of underflow, where all pairs are in order.
SMALLEST_GRADIENT = 1e-290
# Boosters keep single precision.
SMALLEST_SINGLE = float(np.finfo(np.float32).tiny)
# A booster's data set without its features: labels, sizes of queries, weights of documents, and of
# queries.
Parts: TypeAlias = tuple[Any, Any, Any, Any]


class PerDataset(dict[int, tuple[weakref.ref[Any], list[Any], T]]):
    """A value per data set, made anew if its content changes, dropped with it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return PerDataset, ()  # its values belong to this process's data sets

    def of(self, owner: object, parts: Parts, make: Callable[[Parts, Queries], T]) -> T:
        """Return what is made for a data set that consists of these arrays, and its queries."""
        key = id(owner)
        kept = self.get(key)
        if kept and kept[0]() is owner and all(map(np.array_equal, kept[1], parts)):
            return kept[2]
        content: list[Any] = [None if part is None else np.array(part) for part in parts]
        made = make(parts, Queries.resolve(len(content[0]), group=content[1]))
        # Unlike `weakref.finalize`, the reference goes with the hook, if that goes first.
        self[key] = weakref.ref(owner, lambda _: self.pop(key, None)), content, made
        return made


def callers(name: str, kind: type[T]) -> T | None:
    """Return the nearest local variable of this name and class, of all that are calling us.

    Boosters do not tell a custom objective which round it is, but the calling booster, a method's
    `self`, knows. A count of calls would be wrong in cross-validation, on continuation from a
    model, and when a data set is used again.
    """
    for frame, _ in walk_stack(sys._getframe(1)):
        value = frame.f_locals.get(name) if name in frame.f_code.co_varnames else None
        if isinstance(value, kind):
            return value
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
        return self.derivatives(self._bound.of(owner, parts, self._bind), scores, round)

    def _bind(self, parts: Parts, queries: Queries) -> list[BoundObjective]:
        labels, _, by_document, by_query = parts
        return self.bind(labels, queries, sample_weight=by_document, query_weight=by_query)

    def warn_of_stopping(self, round: int, patience: int) -> None:
        """Warn once that a booster's own early stopping may end training in the start."""
        if patience <= 0 or round >= self.begin or self._warned:
            return
        self._warned = True
        first, main = self.stages
        warn_user(
            f"early stopping may leave a model of {first.title} alone: {main.title} trains "
            f"{first.title} for {main.begin} rounds. Use the hook's: "
            f"callbacks=[hook.early_stopping({patience})]."
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
        if round is None:
            self._check_round_plays_no_part()
        number = round or 0
        index = sum(number >= stage.begin for stage in self.stages[1:])
        stage, part = self.stages[index], bound[index]
        facts, queries = stage.objective.facts, part.queries
        sigma, lengthening = stage.sigma(number), 1.0
        if unit_of(stage.schedule) == "spread":
            seen = check_finite(check_vector(scores, "scores", queries.n_documents), "scores")
            if facts.start != "none" and self.curvature == "own":
                lengthening = step_factor(sigma, queries, facts.sigma_unit)
            sigma *= unit_width(seen, queries, facts.sigma_unit)
        if round is not None:
            self.sigma_of_round[round] = sigma
        where = f"round {'unknown' if round is None else round} of {stage.name}: "
        with found_in(where, traced=True):
            gradient, curvature = part.gradients(scores, sigma, number - stage.begin)
            if round == 0 and facts.needs_start:
                _check_differ(np.asarray(scores), queries)
            gradient *= lengthening
            with np.errstate(over="ignore"):  # of sums, which are checked
                smallest = self._scale(gradient, curvature, part, left_out, sigma, round == 0)
            if self.watch is not None and round is not None:
                s, g, h = map(np.array, (scores, gradient, curvature))
                self.watch(RoundGradients(round, stage.name, sigma, s, g, h, queries))
            # Boosters add in an order of their own. What has a gradient keeps some curvature.
            _, unit = round_to_exact_sums(gradient, curvature)
            np.maximum(curvature, np.where(gradient == 0.0, smallest, unit), out=curvature)
        return gradient, curvature

    def _check_round_plays_no_part(self) -> None:
        """Refuse derivatives of no known round where sigma or the objective depends on it."""
        stage, *more = self.stages
        if more or stage.objective.facts.annealed or stage.sigma(1) != stage.sigma(0):
            raise ValueError(
                "the round is not known outside the booster's training, and sigma or the objective "
                "depends on it: use the hook's method at_round."
            )

    def _scale(
        self,
        gradient: Vector,
        curvature: Vector,
        part: BoundObjective,
        left_out: Mask | None,
        sigma: float,
        first: bool,
    ) -> float:
        """Bring both, in place, into the booster's scale; return the smallest curvature in it.

        Gradients that underflowed become 0, which is refused in the first round.
        """
        count, objective = len(curvature), part.objective
        if self.curvature == "unit":
            drawn = objective.facts.draws_documents
            curvature[:] = curvature > (SMALLEST_CURVATURE if drawn else 0.0)
            gradient /= part.mean_weight
        if left_out is not None:
            gradient[left_out] = curvature[left_out] = 0.0
            count -= int(left_out.sum())
        if not (learns := all_any(max_abs(gradient) > SMALLEST_GRADIENT)):
            gradient[:] = 0.0
            if first:
                raise nothing_to_learn(part.queries)
        infinite = all_any(not np.isfinite(curvature.sum()))
        if infinite or (learns and not all_any(curvature.max(initial=0.0) > SMALLEST_CURVATURE)):
            raise ValueError(
                "the curvature must be positive for some document, and have a finite sum. Return "
                "ones for plain gradient steps."
            )
        rescaled = objective.rescaled and self.curvature == "own"
        if rescaled:
            mean = order_free_mean(curvature, count)
            gradient /= mean
            curvature /= mean
        size = all_sum(max(np.abs(gradient).sum(), curvature.sum()))
        if not size <= LARGEST_SUM:
            side = "above" if self.curvature == "unit" else "far below"
            has_sigma = objective.facts.sigma_unit != "none"
            raise ValueError(
                f"gradients must sum to {LARGEST_SUM:.3g} at most, or boosters find no splits, got "
                f"{size:.3g}.{f' Choose a sigma {side} {sigma:.3g}.' if has_sigma else ''}"
            )
        return SMALLEST_SINGLE if rescaled else 0.0


def _check_differ(scores: Vector, queries: Queries) -> None:
    """Refuse scores that are equal in every query, where the objective has no gradient."""
    if not all_any(labels_differ(scores, queries).any()):
        raise ValueError(
            "initial scores must differ within queries, as the gradient is zero where all scores "
            "of a query are equal; they do not. Set init='regression', or pass other scores."
        )


class MeasureHook:
    """Measures as custom metrics: the part that is the same for all boosters."""

    def __init__(self, *measures: Metric) -> None:
        self.measures = get_measures(measures or "ndcg", "measures")
        self._bound: PerDataset[tuple[list[BoundMeasure], Vector | None]] = PerDataset()

    def of_data(self, owner: object, parts: Parts, scores: ArrayLike) -> list[tuple[str, float]]:
        """Return name and value of each measure, for a data set of the booster's."""
        bound, weights = self._bound.of(owner, parts, self._bind)
        return [(str(item.measure), item.mean(scores, weights)) for item in bound]

    def _bind(self, parts: Parts, queries: Queries) -> tuple[list[BoundMeasure], Vector | None]:
        labels, _, *weights = parts
        bound = [measure.bind(labels, queries) for measure in self.measures]
        return bound, query_weights(queries, *weights)


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
