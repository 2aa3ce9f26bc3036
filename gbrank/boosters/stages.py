"""The stages of a fit: what an objective begins with, then the objective itself."""

from collections.abc import Callable
from dataclasses import dataclass

from gbrank.common.checks import check_number
from gbrank.objectives.from_string import get_objective
from gbrank.objectives.objective import Objective
from gbrank.schedules import Sigma, as_schedule, check_schedule, sigma_at

__all__ = ["Stage", "stages_of"]


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
        """Return sigma in a round of the fit, in the schedule's unit."""
        return sigma_at(self.schedule, round - self.begin, self.rounds)


def stages_of(
    objective: Objective, sigma: Sigma | None, rounds: int | None, start: bool
) -> list[Stage]:
    """Return the stages of a fit: two if the objective begins with another, and is to."""
    check_number(rounds, "rounds", 1, integer=True, optional=True)
    schedule = as_schedule(objective.facts.sigma if sigma is None else sigma)
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
    before = get_objective(first)
    return [Stage(before, as_schedule(before.facts.sigma), 0, begin), own]
