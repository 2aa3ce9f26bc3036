"""The stages of a fit: which objective a round trains, and at which sigma."""

import pytest

from gbrank import get_objective
from gbrank.boosters.gradient_hook import GradientHook
from gbrank.boosters.stages import Progress, Stage, stages_of
from gbrank.schedules import Schedule, constant, geometric, join, linear, staircase


def falling(round: int, rounds: int | None) -> float:
    """Return 1/(1 + round): a schedule that does not stop by itself."""
    return 1 / (1 + round)


@pytest.mark.parametrize("begin", [0, 3])
def test_sigma_after_the_stage(begin: int) -> None:
    """It stays that of the last round; without a number of rounds, there is none."""
    stage = Stage(get_objective("ranknet"), falling, begin, 5)
    sigmas = [stage.sigma(begin + round) for round in range(8)]
    assert sigmas == [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 5, 1 / 5, 1 / 5]
    endless = Stage(get_objective("ranknet"), falling, begin, None)
    assert endless.sigma(begin + 7) == 1 / 8


def test_how_far_a_schedule_came() -> None:
    """In rounds of the stage: none before it, and unknown without rounds, or of a function."""
    objective, schedule = get_objective("ranknet"), geometric(2.0, 0.5)
    stage = Stage(objective, schedule, 3, 5)
    assert [stage.progress(round).done for round in (0, 3, 5)] == [0, 0, 2]  # type: ignore[union-attr]
    assert stage.progress(5) == Progress("ranknet", repr(schedule), 2, 5)
    assert Stage(objective, constant(2.0), 3, None).progress(5) is None
    assert Stage(objective, falling, 3, 5).progress(5) is None


@pytest.mark.parametrize("rounds", [2, 7, 8])
def test_the_start(rounds: int) -> None:
    """It has the first half of the rounds, rounded down, and the objective itself the others."""
    first, main = stages_of(get_objective("approx:ndcg"), None, rounds, True)
    assert (first.begin, first.rounds) == (0, rounds // 2)
    assert (main.begin, main.rounds) == (rounds // 2, rounds - rounds // 2)
    assert str(first.objective) == "ranknet"
    (alone,) = stages_of(get_objective("approx:ndcg"), None, rounds, False)
    assert (alone.begin, alone.rounds) == (0, rounds)


def test_one_round_has_no_start() -> None:
    """There is no half of it."""
    (main,) = stages_of(get_objective("approx:ndcg"), None, 1, True)
    assert (str(main.objective), main.begin, main.rounds) == ("approx:ndcg", 0, 1)


def test_going_on() -> None:
    """After some rounds of the same schedule it continues there; another one begins anew."""
    objective, schedule = get_objective("approx:ndcg"), geometric(2.0, 0.5)
    before = Progress(str(objective), repr(schedule), 4, 10)
    (main,) = stages_of(objective, schedule, 6, True, before)
    assert (main.begin, main.rounds) == (-4, 10)
    assert main.sigma(0) == schedule(4, 10)
    for other in (geometric(2.0, 0.4), geometric(3.0, 0.5)):
        assert len(stages_of(objective, other, 6, True, before)) == 2


@pytest.mark.parametrize(
    "schedule",
    [
        staircase(64, 0.5, 2),
        geometric(2.0, 0.1, rounds=12),
        linear(2, 0.5, rounds=12),
        join([constant(1.0), geometric(1.0, 0.1, rounds=6)], [4]),
    ],
    ids=str,
)
def test_going_on_beyond_the_first_fit(schedule: Schedule) -> None:
    """A schedule that is longer than the first fit goes on as in one fit of all rounds."""
    objective = get_objective("approx:ndcg")
    before = Progress(str(objective), repr(schedule), 6, 6)
    (main,) = stages_of(objective, schedule, 6, False, before)
    assert [main.sigma(round) for round in range(6)] == [schedule(r, 12) for r in range(6, 12)]


@pytest.mark.parametrize("rounds", [20, 21])
def test_a_start_that_ends_early(rounds: int) -> None:
    """The objective itself then has as many rounds as its start had."""
    hook = GradientHook("approx:ndcg", rounds=rounds)
    assert hook.begin == 10
    assert hook.end_start(4) == 8
    assert (hook.begin, hook.stages[-1].rounds) == (4, 4)
    assert hook.stages[0].begin == 0
