"""The objectives of a training, stage by stage, and their gradients in the booster's scale.

A training may begin with another objective than its own: these are two stages.
"""

from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.checks import (
    Function,
    Mask,
    Vector,
    check_choice,
    check_finite,
    check_integer,
    error_context,
    warn_user,
)
from gbrank.common.collective import all_any, all_sum
from gbrank.data.documents import Documents
from gbrank.data.spread import step_factor, unit_width
from gbrank.data.sums import max_abs, order_free_mean, round_to_exact_sums
from gbrank.engine.query_loop import SMALLEST_CURVATURE
from gbrank.measures.per_query import labels_differ, nothing_to_learn
from gbrank.objectives.objective import BoundObjective, Objective
from gbrank.objectives.objective_registry import DEFAULT_OBJECTIVE, first_learned, get_objective
from gbrank.schedules import (
    Curve,
    Progress,
    Schedule,
    Sigma,
    as_schedule,
    check_schedule,
    sigma_at,
    unit_of,
)

from .gradient_watch import RoundGradients
from .interface import Plan, RoundRecord

# XGBoost squares sums of gradients in single precision.
LARGEST_SUM = float(np.sqrt(np.finfo(np.float32).max))
# Smaller gradients are the remains of underflow, where all pairs are in order.
SMALLEST_GRADIENT = 1e-290
# Boosters keep single precision.
SMALLEST_SINGLE = float(np.finfo(np.float32).tiny)


class Stage(NamedTuple):
    """An objective and its schedule of sigma, from round `begin` on, for `rounds` rounds."""

    objective: Objective
    name: str  # the objective as a text, which takes long to write
    schedule: Curve
    begin: int
    rounds: int | None

    @property
    def title(self) -> str:
        """The name as messages have it."""
        return self.name.replace("ranknet", "RankNet")

    def sigma(self, round: int) -> float:
        """Compute sigma in a round of the fit, in the schedule's unit.

        After the stage, a schedule continues as it is defined; a plain function keeps its last
        value.
        """
        stage_round = round - self.begin
        if self.rounds is not None and not isinstance(self.schedule, Schedule):
            stage_round = min(stage_round, self.rounds - 1)
        return sigma_at(self.schedule, stage_round, self.rounds)

    def progress(self, rounds: int) -> Progress | None:
        """Tell how far the schedule is after some rounds of the fit; None if it is not known."""
        if self.rounds is None or not isinstance(self.schedule, Schedule):
            return None
        done = max(0, rounds - self.begin)
        return Progress(self.name, repr(self.schedule), done, self.rounds)


def make_stage(objective: Objective, schedule: Curve, begin: int, rounds: int | None) -> Stage:
    """Check the schedule of a stage."""
    check_schedule(schedule, rounds)
    return Stage(objective, str(objective), schedule, begin, rounds)


def stages_of(
    objective: Objective, sigma: Sigma | None, rounds: int | None, start: bool | Progress
) -> list[Stage]:
    """Plan the stages of a fit: two if the objective begins with another one, and `start` is True.

    After a fit with the same schedule, there is one, which continues that schedule.
    """
    check_integer(rounds, "rounds", 1, optional=True)
    schedule = as_schedule(objective.facts.sigma if sigma is None else sigma)
    if isinstance(start, Progress):
        main = make_stage(objective, schedule, -start.done, start.rounds)
        if main.progress(0) == start:
            return [main]
        start = False
    first = first_learned(objective)
    if first is None or not start or rounds == 1:
        return [make_stage(objective, schedule, 0, rounds)]
    if rounds is None:
        raise ValueError(
            f"rounds is required for {objective}, whose first half of the rounds trains {first}. "
            "To boost from the scores of a model, set start=False instead."
        )
    begin = rounds // 2
    main = make_stage(objective, schedule, begin, rounds - begin)
    return [make_stage(first, as_schedule(first.facts.sigma), 0, begin), main]


@dataclass(eq=False)
class StagedObjective:
    """The objective of a training, and the one that it begins with, if any.

    Parameters
    ----------
    objective, sigma, rounds, curvature, n_jobs
        As for `lightgbm_fobj`.
    start : bool or Progress
        As for `lightgbm_fobj`; or how far another model came in its schedule, which this training
        continues.
    """

    objective: str | Objective | Function = DEFAULT_OBJECTIVE
    sigma: Sigma | None = None
    _: KW_ONLY
    start: bool | Progress = True
    rounds: int | None = None
    curvature: str = "own"
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        check_choice(self.curvature, "curvature", ["own", "unit"])
        self.objective = get_objective(self.objective)
        self.stages = stages_of(self.objective, self.sigma, self.rounds, self.start)
        self.plan = Plan(begin=max(0, self.stages[-1].begin), end=self.rounds or 0)

    def bind(self, documents: Documents) -> list[BoundObjective]:
        """Bind the objective of each stage to the labels and weights of documents."""
        return [
            stage.objective.bind_documents(documents, n_jobs=self.n_jobs, rounds=stage.rounds)
            for stage in self.stages
        ]

    def stages_by(self, plan: Plan) -> list[Stage]:
        """Shift the stages by a plan whose start may have ended early."""
        *starts, main = self.stages
        if not starts or main.begin == plan.begin:
            return self.stages
        return [*starts, main._replace(begin=plan.begin, rounds=plan.end - plan.begin)]

    def derivatives(
        self,
        bound: list[BoundObjective],
        scores: ArrayLike,
        round: int | None,
        *,
        plan: Plan | None = None,
        left_out: Mask | None = None,
        watched: bool = False,
    ) -> tuple[Vector, Vector, RoundRecord]:
        """Compute gradient and curvature for a round, in the booster's scale, and its record.

        With the objective's own curvature, both are divided by the mean curvature of all workers,
        so that min_child_weight and min_sum_hessian_in_leaf count documents, as for squared loss;
        Newton steps stay the same. With "unit", gradients are divided by the mean weight, whose
        scale would be a factor on the learning rate. Objectives that begin with another one take
        steps of about sigma; a schedule in spreads lengthens them (see `step_factor`).
        """
        if round is None:
            self._check_round_plays_no_part()
        number = round or 0
        stages = self.stages_by(plan or self.plan)
        index = sum(number >= stage.begin for stage in stages[1:])
        stage = stages[index]
        part = bound[index]
        facts = stage.objective.facts
        queries = part.queries
        sigma = stage.sigma(number)
        lengthening = 1.0
        if unit_of(stage.schedule) == "spread":
            seen = check_finite(scores, "scores", queries.n_documents)
            if facts.start != "none" and self.curvature == "own":
                lengthening = step_factor(sigma, queries, facts.sigma_unit)
            sigma *= unit_width(seen, queries, facts.sigma_unit)
        where = f"round {'unknown' if round is None else round} of {stage.name}: "
        with error_context(where, traced=True):
            gradient, curvature = part.gradients(scores, sigma, number - stage.begin)
            if round == 0 and facts.needs_start:
                differ = labels_differ(np.asarray(scores), queries).any()
                if not all_any(differ):
                    raise ValueError(
                        "the initial scores are equal within every query, where the gradient is "
                        "zero. Set init='regression', or pass initial scores that differ."
                    )
            gradient *= lengthening
            with np.errstate(over="ignore"):  # of sums, which are checked
                smallest = self._scale(gradient, curvature, part, left_out, sigma, round == 0)
            gradients = None
            if watched:
                s, g, h = map(np.array, (scores, gradient, curvature))
                gradients = RoundGradients(number, stage.name, sigma, s, g, h, queries)
            # Boosters add in an order of their own. What has a gradient keeps some curvature.
            _, unit = round_to_exact_sums(gradient, curvature)
            np.maximum(curvature, np.where(gradient == 0.0, smallest, unit), out=curvature)
        return gradient, curvature, RoundRecord(sigma, gradients)

    def progress(self, plan: Plan, rounds: int) -> Progress | None:
        """Tell how far the schedule of the objective itself is after some rounds of a plan."""
        return self.stages_by(plan)[-1].progress(rounds)

    def warn_of_start_alone(self, done: int, best: int, plan: Plan) -> None:
        """Warn where the rounds that a model keeps are all of the start."""
        if len(self.stages) > 1 and best <= plan.begin:
            first, main = self.stages
            warn_user(
                f"the model keeps {best} of {done} rounds, which all trained {first.title}: "
                f"{main.title} begins in round {plan.begin + 1}."
            )

    def _check_round_plays_no_part(self) -> None:
        """Refuse derivatives of no known round where sigma or the objective depends on it."""
        stage, *more = self.stages
        if more or stage.objective.facts.annealed or stage.sigma(1) != stage.sigma(0):
            raise ValueError(
                "the round is not known outside the booster's training, and sigma or the objective "
                "depends on it: call the hook's method at_round instead."
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
        count = len(curvature)
        objective = part.objective
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
