"""Schedules: sigma, the width of the smoothing, as a pure function of the boosting round.

A schedule is called as ``schedule(round, rounds)`` with the round from 0 and the total number of
rounds. A plain function of the two works wherever a schedule does, and so does a number. With
``unit="spread"`` sigma is in units of the scores' spread. Weights in a mixture may be schedules.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import pairwise
from typing import Any, Literal, TypeAlias

from .common.checks import ArgumentError, check_integer, check_number, check_takes, quoted
from .common.fields import REQUIRED, Checked, Choice, Integer, Real
from .common.grammar import evaluate

__all__ = ["Schedule", "Sigma", "constant", "cosine", "geometric", "join", "linear", "staircase"]

SMALLEST_SIGMA = 1e-300  # its inverse is finite
TRIED = 10_000  # rounds, before the first one
Curve: TypeAlias = Callable[[int, int | None], float]


@dataclass(frozen=True, repr=False)
class Schedule(Checked, ABC):
    """Base class of schedules: small frozen dataclasses that can be compared and printed.

    Parameters
    ----------
    unit : {"absolute", "spread"}
        The unit of sigma: score units, or the standard deviation of scores within queries at the
        beginning of the round. With "spread" and σ below 1, the Newton steps of objectives that
        begin with another one (RankNet) are lengthened from about σ to σ + (1 − σ) n / (n + 5000),
        with n queries.
    """

    _: KW_ONLY
    unit: Literal["absolute", "spread"] = Choice("absolute", ["absolute", "spread"])

    @abstractmethod
    def __call__(self, round: int, rounds: int | None = None) -> float:
        """Return sigma in a round, counted from 0, out of `rounds`."""


Sigma: TypeAlias = float | str | Schedule | Curve


@dataclass(frozen=True, repr=False)
class constant(Schedule):
    """The same sigma in every round.

    Parameters
    ----------
    value : float
        The sigma, above 0, or weight, at least 0.

    Examples
    --------
    >>> constant(0.5)(7)
    0.5
    """

    value: float = Real(REQUIRED, 0)

    def __call__(self, round: int, rounds: int | None = None) -> float:
        """Return the value."""
        return float(self.value)


@dataclass(frozen=True, repr=False)
class _Interpolation(Schedule):
    start: float = Real(REQUIRED, 0)
    stop: float = Real(REQUIRED, 0)
    rounds: int | None = Integer(None, 1)

    def __call__(self, round: int, rounds: int | None = None) -> float:
        """Return sigma in a round; it stays at `stop` after the last one."""
        total = self.rounds or rounds
        if total is None:
            raise ValueError(
                f"{self!r} needs to know the number of rounds: pass rounds= to the schedule, to "
                "the hook, or to bind."
            )
        if round >= total - 1 and total > 1:
            return float(self.stop)
        return self._between(min(round / max(total - 1, 1), 1.0))

    def _between(self, share: float) -> float:
        """Return sigma after a share of the rounds."""
        return self.start * (1 - share) + self.stop * share


@dataclass(frozen=True, repr=False)
class geometric(_Interpolation):
    """Sigma falls by the same factor every round, from `start` to `stop` in the last one.

    Parameters
    ----------
    start, stop : float
        First and last sigma, above 0.
    rounds : int, optional
        How many rounds it takes; all of the fit by default. Afterwards sigma stays at `stop`.

    Examples
    --------
    >>> [round(geometric(1, 0.01)(r, 3), 6) for r in range(3)]
    [1.0, 0.1, 0.01]
    """

    start: float = Real(REQUIRED, above=0)
    stop: float = Real(REQUIRED, above=0)

    def _between(self, share: float) -> float:
        return math.exp(math.log(self.start) * (1 - share) + math.log(self.stop) * share)


class linear(_Interpolation):
    """Sigma falls by the same amount every round, from `start` to `stop` in the last one.

    Parameters
    ----------
    start, stop : float
        First and last sigma, above 0, or weight, at least 0.
    rounds : int, optional
        How many rounds it takes; all of the fit by default. Afterwards sigma stays at `stop`.

    Examples
    --------
    >>> [linear(1, 0.5)(r, 3) for r in range(3)]
    [1.0, 0.75, 0.5]
    """


class cosine(_Interpolation):
    """Sigma falls from `start` to `stop` along half a cosine: slowly, fast, slowly.

    Parameters
    ----------
    start, stop, rounds
        As for `linear`.

    Examples
    --------
    >>> [round(cosine(1, 0.5)(r, 3), 6) for r in range(3)]
    [1.0, 0.75, 0.5]
    """

    def _between(self, share: float) -> float:
        return super()._between((1 - math.cos(math.pi * share)) / 2)


@dataclass(frozen=True, repr=False)
class staircase(Schedule):
    """Sigma is multiplied by `factor` every so many rounds, as in SmoothRank's annealing.

    Parameters
    ----------
    start : float
        First sigma, above 0.
    factor : float
        What sigma is multiplied by at each step, above 0.
    every : int
        How many rounds a step lasts.

    References
    ----------
    Chapelle & Wu 2010, section 4.4.2.

    Examples
    --------
    >>> [staircase(64, 0.5, 2)(r) for r in range(5)]
    [64.0, 64.0, 32.0, 32.0, 16.0]
    """

    start: float = Real(REQUIRED, above=0)
    factor: float = Real(REQUIRED, above=0)
    every: int = Integer(REQUIRED, 1)

    def __call__(self, round: int, rounds: int | None = None) -> float:
        """Return sigma in a round."""
        return float(self.start * self.factor ** (round // self.every))


@dataclass(frozen=True, init=False, repr=False)
class join(Schedule):
    """One schedule after another.

    Parameters
    ----------
    schedules : sequence of schedules or numbers
        What to run through.
    boundaries : sequence of int
        The round at which each schedule but the first begins, rising. Every schedule counts its
        rounds from its beginning to the next boundary (the last one, to the end of the fit).
        All schedules must have the same unit.

    Examples
    --------
    >>> warm = join([constant(1), geometric(1, 0.25)], [2])
    >>> [warm(r, 5) for r in range(5)]
    [1.0, 1.0, 1.0, 0.5, 0.25]
    """

    schedules: tuple[Curve, ...]
    boundaries: tuple[int, ...]
    unit: Literal["absolute", "spread"] = field(default="absolute", init=False, compare=False)

    def __init__(self, schedules: Sequence[Sigma], boundaries: Sequence[int]) -> None:
        for boundary in boundaries:
            check_integer(boundary, "boundaries", 1)
        if len(schedules) != len(boundaries) + 1 or any(a >= b for a, b in pairwise(boundaries)):
            raise ArgumentError(
                "boundaries",
                f"must be {len(schedules) - 1} increasing rounds, one fewer than schedules",
                quoted(boundaries),
            )
        parts = tuple(map(as_schedule, schedules))
        units = {unit_of(part) for part in parts}
        if len(units) > 1:
            raise ValueError(f"schedules must all have the same unit, got {sorted(units)}.")
        vars(self).update(schedules=parts, boundaries=tuple(boundaries), unit=units.pop())

    def __call__(self, round: int, rounds: int | None = None) -> float:
        """Return sigma in a round."""
        starts = (0, *self.boundaries)
        ends = (*self.boundaries, rounds)
        current = sum(round >= boundary for boundary in self.boundaries)
        start = starts[current]
        end = ends[current]
        return self.schedules[current](round - start, None if end is None else max(end - start, 1))


@dataclass(frozen=True)
class Progress:
    """How far a fit came in the schedule of its objective: `done` rounds of `rounds`."""

    objective: str
    schedule: str
    done: int
    rounds: int


SCHEDULES: dict[str, Callable[..., Curve]] = {
    kind.__name__: kind for kind in (constant, cosine, geometric, join, linear, staircase)
}


def as_schedule(value: Sigma, name: str = "sigma") -> Curve:
    """Return a schedule from a number, a function, or a string that is a number or a call."""
    if callable(value):
        check_takes(value, name, "round", "rounds")
        return value
    if not isinstance(value, str):
        return constant(check_number(value, name, 0))
    try:
        parsed = evaluate(value, SCHEDULES)
        return parsed if callable(parsed) else constant(check_number(parsed, name, 0))
    except (SyntaxError, TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be a number or a schedule such as 'geometric(1, 0.1)', got "
            f"{quoted(value)}: {error}"
        ) from None


def unit_of(schedule: Curve) -> str:
    """Return the unit of a schedule, or of a plain function that stands for one."""
    return str(getattr(schedule, "unit", "absolute"))


def check_sigma(value: Any, name: str) -> float:
    """Return a width, which must be so large that its inverse is finite."""
    return check_number(value, name, SMALLEST_SIGMA)


def sigma_at(schedule: Curve, round: int, rounds: int | None) -> float:
    """Return sigma in a round, refusing what is no valid width."""
    return check_sigma(schedule(round, rounds), f"sigma in round {round}")


def check_schedule(schedule: Curve, rounds: int | None) -> None:
    """Refuse a schedule of sigma with a value that is no valid width.

    Of very many rounds, only some are tried; the others' values are checked when they come.
    """
    known = rounds or getattr(schedule, "rounds", None) or 1
    for round in (*range(0, known, max(1, known // TRIED)), known - 1):
        sigma_at(schedule, round, rounds)
