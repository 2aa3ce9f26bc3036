"""The stages of a fit: which objective a round trains, and at which sigma."""

import pytest

from gbrank import get_objective
from gbrank.boosters.staged_objective import stages_of
from gbrank.schedules import Progress, Schedule, constant, geometric, join, linear, staircase


def test_going_on() -> None:
    """After some rounds of the same schedule it continues there; another one begins anew."""
    objective, schedule = get_objective("approx:ndcg"), geometric(2.0, 0.5)
    before = Progress(str(objective), repr(schedule), 4, 10)
    (main,) = stages_of(objective, schedule, 6, before)
    assert (main.begin, main.rounds) == (-4, 10)
    assert main.sigma(0) == schedule(4, 10)
    (anew,) = stages_of(objective, geometric(2.0, 0.4), 6, before)
    assert (anew.begin, anew.rounds) == (0, 6)


@pytest.mark.parametrize(
    "schedule",
    [
        staircase(64, 0.5, 2),
        linear(2, 0.5, rounds=12),
        join([constant(1.0), geometric(1.0, 0.1, rounds=6)], [4]),
    ],
    ids=str,
)
def test_going_on_beyond_the_first_fit(schedule: Schedule) -> None:
    """A schedule that is longer than the first fit goes on as in one fit of all rounds."""
    objective = get_objective("approx:ndcg")
    before = Progress(str(objective), repr(schedule), 6, 6)
    (main,) = stages_of(objective, schedule, 6, before)
    assert [main.sigma(round) for round in range(6)] == [schedule(r, 12) for r in range(6, 12)]
