"""The stages of a fit: what an objective begins with, then the objective itself."""

from collections.abc import Callable
from dataclasses import dataclass

from gbrank.common.checks import check_number
from gbrank.objectives.from_string import get_objective
from gbrank.objectives.objective import Objective
from gbrank.schedules import Schedule, Sigma, as_schedule, check_schedule, sigma_at


@dataclass(frozen=True)
class Progress:
    """How far a fit came in the schedule of its objective: so many rounds of so many."""

    objective: str
    schedule: str
    done: int
    rounds: int

    def __post_init__(self) -> None:
        check_number(self.rounds, "rounds", 1, integer=True)
        check_number(self.done, "done", 0, integer=True)


@dataclass(frozen=True)
class Stage:
    """An objective and its widths, from one round on, for so many rounds."""

    objective: Objective
    schedule: Callable[[int, int | None], float]
    begin: int
    rounds: int | None

    def __post_init__(self) -> None:
        check_schedule(self.schedule, self.rounds, sigma_at)

    def sigma(self, round: int) -> float:
        """Return sigma in a round of the fit, in the schedule's unit; it stays at the last."""
        place = round - self.begin
        if self.rounds is not None:
            place = min(place, self.rounds - 1)
        return sigma_at(self.schedule, place, self.rounds)

    def progress(self, rounds: int) -> Progress | None:
        """Return how far the schedule is after some rounds of the fit, if that can be said."""
        if self.rounds is None or not isinstance(self.schedule, Schedule):
            return None
        done = max(0, rounds - self.begin)
        return Progress(str(self.objective), repr(self.schedule), done, self.rounds)


def stages_of(
    objective: Objective, sigma: Sigma | None, rounds: int | None, start: bool,
    before: Progress | None = None,
) -> list[Stage]:  # fmt: skip
    """Return the stages of a fit: two if the objective begins with another, and is to.

    After a fit `before` with the same schedule, this goes on where that left off.
    """
    check_number(rounds, "rounds", 1, integer=True, optional=True)
    schedule = as_schedule(objective.facts.sigma if sigma is None else sigma)
    if before is not None:
        own = Stage(objective, schedule, -before.done, before.rounds)
        if own.progress(0) == before:
            return [own]
    first = objective.facts.start
    if first == "none" or not start:
        return [Stage(objective, schedule, 0, rounds)]
    if rounds is None:
        raise ValueError(
            f"rounds must be given with {objective}, which begins with {first} for half of them. "
            "start=False is for boosting from the scores of a model."
        )
    begin = rounds // 2
    own = Stage(objective, schedule, begin, rounds - begin)
    if begin == 0:
        return [own]
    convex = get_objective(first)
    return [Stage(convex, as_schedule(convex.facts.sigma), 0, begin), own]
