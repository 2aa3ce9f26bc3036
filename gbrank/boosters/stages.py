"""The stages of a fit: the objective that it begins with, if any, then its own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gbrank.common.checks import check_integer
from gbrank.objectives.objective import Objective
from gbrank.objectives.objective_registry import first_learned
from gbrank.schedules import Curve, Progress, Schedule, Sigma, as_schedule, check_schedule, sigma_at

from .plan import Plan


@dataclass(frozen=True)
class Stage:
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
    objective: Objective,
    sigma: Sigma | None,
    rounds: int | None,
    start: bool,
    before: Progress | None = None,
) -> list[Stage]:
    """Plan the stages of a fit: two if the objective begins with another one, and `start` is set.

    After a fit `before` with the same schedule, there is one, which continues that schedule.
    """
    check_integer(rounds, "rounds", 1, optional=True)
    schedule = as_schedule(objective.facts.sigma if sigma is None else sigma)
    if before is not None:
        main = make_stage(objective, schedule, -before.done, before.rounds)
        if main.progress(0) == before:
            return [main]
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


def stages_by_plan(stages: Sequence[Stage], plan: Plan) -> Sequence[Stage]:
    """Shift the stages of a plan whose start may have ended early."""
    *starts, main = stages
    if not starts or main.begin == plan.begin:
        return stages
    return [*starts, replace(main, begin=plan.begin, rounds=plan.end - plan.begin)]
