"""Schedules: sigma by round, by hand and as invariants."""

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from gbrank import get_objective
from gbrank.boosters.gradient_hook import GradientHook
from gbrank.boosters.staged_objective import make_stage
from gbrank.schedules import (
    Schedule,
    as_schedule,
    check_schedule,
    constant,
    cosine,
    geometric,
    join,
    linear,
    sigma_at,
    staircase,
)

INTERPOLATIONS = (geometric, linear, cosine)
widths = st.floats(1e-6, 1e6)


def values(schedule: Callable[..., float], rounds: int) -> list[float]:
    """Return sigma in every round."""
    return [schedule(round, rounds) for round in range(rounds)]


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        (constant(0.5), [0.5] * 5),
        (geometric(16, 1), [16, 8, 4, 2, 1]),
        (geometric(1, 16), [1, 2, 4, 8, 16]),
        (geometric(4, 1, rounds=3), [4, 2, 1, 1, 1]),
        (linear(1, 0.2), [1, 0.8, 0.6, 0.4, 0.2]),
        (linear(2, 1, rounds=2), [2, 1, 1, 1, 1]),
        (linear(0, 1), [0, 0.25, 0.5, 0.75, 1]),
        (cosine(2, 0), [2, 1 + math.sqrt(0.5), 1, 1 - math.sqrt(0.5), 0]),
        (join([0, 1], [3]), [0, 0, 0, 1, 1]),
        (staircase(8, 0.5, 2), [8, 8, 4, 4, 2]),
        (join([5, geometric(4, 1)], [2]), [5, 5, 4, 2, 1]),
        (join([linear(3, 1), 0.5, "staircase(8, 0.5, 1)"], [2, 3]), [3, 1, 0.5, 8, 4]),
        (join([join([1, 2], [1]), 3], [2]), [1, 2, 3, 3, 3]),
    ],
    ids=str,
)
def test_values_by_hand(schedule: Schedule, expected: list[float]) -> None:
    """Five rounds of each."""
    assert_allclose(values(schedule, 5), expected, rtol=1e-14)


@pytest.mark.parametrize("kind", INTERPOLATIONS)
@given(start=widths, stop=widths, rounds=st.integers(2, 50))
def test_interpolations(kind: Any, start: float, stop: float, rounds: int) -> None:
    """They begin at start, end exactly at stop, stay there, and go one way only."""
    schedule = kind(start, stop)
    path = values(schedule, rounds)
    assert path[0] == pytest.approx(start, rel=1e-14)
    assert path[-1] == stop == schedule(rounds + 5, rounds)
    steps = np.diff(path) * np.sign(stop - start)
    assert (steps >= -1e-9 * max(start, stop)).all()
    assert values(kind(start, stop, rounds=rounds), rounds) == path
    assert values(kind(start, stop, rounds), 1000)[:rounds] == path


def test_a_join_that_outlasts_the_fit() -> None:
    """Fewer rounds than the boundary: the first schedule runs as it would."""
    assert values(join([geometric(4, 1), 9], [3]), 2) == pytest.approx([4, 2])
    late = join([1, geometric(4, 1)], [3])
    assert values(late, 4) == [1, 1, 1, 4]


PRINTABLE = [
    constant(0.25),
    geometric(1, 0.1),
    geometric(1, 0.1, rounds=20),
    linear(3, 1),
    cosine(2, 1, rounds=7),
    staircase(64, 0.5, 10),
    join([constant(1), geometric(1, 0.25)], [2]),
    join([1, join([2, cosine(3, 1)], [4]), staircase(4, 0.5, 2)], [3, 9]),
]


@pytest.mark.parametrize("schedule", PRINTABLE, ids=str)
def test_strings_round_trip(schedule: Schedule) -> None:
    """What a schedule prints, as_schedule reads: models are saved with it."""
    assert as_schedule(str(schedule)) == schedule
    assert as_schedule(f"  {schedule!r} ") == schedule
    again = pickle.loads(pickle.dumps(schedule))
    assert again == schedule
    assert hash(again) == hash(schedule)
    assert schedule != constant(77)
    assert as_schedule(schedule) is schedule


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.5", constant(0.5)),
        ("2", constant(2)),
        ("geometric(1, 0.1)", geometric(1, 0.1)),
        ("linear(start=1, stop=0.5, rounds=3)", linear(1, 0.5, 3)),
        (" staircase(64, 0.5, every=10)", staircase(64, 0.5, 10)),
        ("cosine( 1 ,\n 0.5 )", cosine(1, 0.5)),
    ],
)
def test_strings(text: str, expected: Schedule) -> None:
    """A number or a call."""
    assert as_schedule(text) == expected


def test_numbers_and_functions() -> None:
    """A number is constant; a function is used as it is."""
    assert as_schedule(2) == as_schedule(np.float32(2)) == constant(2)

    def falling(round: int, rounds: int | None) -> float:
        return 1 / (1 + round)

    assert as_schedule(falling) is falling
    assert sigma_at(falling, 3, None) == 0.25
    assert values(join([falling, 9], [2]), 3) == [1, 0.5, 9]


@pytest.mark.parametrize(
    ("schedule", "rounds", "bad"),
    [
        (constant(0), 9, 0),
        (constant(0), None, 0),
        (linear(1, 0), 9, 8),
        (cosine(1, 0, rounds=4), 9, 3),
        (linear(1, 0, rounds=4), None, 3),
        (join([1, 0], [5]), 9, 5),
        (lambda round, rounds: 3 - round, 9, 3),
    ],
)
def test_all_rounds_are_checked_before_the_first(schedule: Any, rounds: Any, bad: int) -> None:
    """As many as are known; in a hook, when it is made."""
    message = f"sigma in round {bad} must be a number of at least 1e-300, got 0"
    with pytest.raises(ValueError, match=message):
        check_schedule(schedule, rounds)
    with pytest.raises(ValueError, match=message):
        GradientHook("ranknet", schedule, rounds=rounds)


def test_a_function_after_its_stage() -> None:
    """It keeps its last value."""
    stage = make_stage(get_objective("ranknet"), lambda round, _: 1 / (1 + round), 3, 5)
    assert [stage.sigma(3 + round) for round in (3, 4, 5, 7)] == [1 / 4, 1 / 5, 1 / 5, 1 / 5]
