"""Early stopping: which round is the best, and after how many without a better one a fit ends."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gbrank.common.argument_error import ArgumentError
from gbrank.common.checks import check_number, quoted
from gbrank.common.warnings import warn_user

# Chosen on validation queries: benchmarks/results/early_stopping.md.
AUTO = "auto"
SHARE_OF_ROUNDS, SUM_OF_RATES = 0.25, 3.0
SHORT = 2.0  # a patience over which rates sum to less


@dataclass(frozen=True)
class Stopping:
    """When a fit ends early: if the mean of the last `window` values has not risen for a while."""

    patience: int  # how many rounds that while has
    window: int = 1

    def mean(self, curve: Sequence[float], round: int) -> float:
        """Return the mean of the last values of a curve until a round, counted from 1."""
        values = curve[max(0, round - self.window) : round]
        return math.fsum(values) / len(values)


def check_patience(patience: object, name: str) -> None:
    """Refuse what `early_stopping_rounds` cannot be."""
    if not isinstance(patience, str):
        check_number(patience, name, 1, integer=True, optional=True)
    elif patience != AUTO:
        demand = f"must be {AUTO!r}, an integer of at least 1 or None"
        raise ArgumentError(name, demand, quoted(patience))


def stopping_of(patience: int | str | None, rounds: int, rate: float) -> Stopping | None:
    """Return when a fit stops early; "auto" has means over w = min(rounds / 4, 3 / rate) rounds."""
    if patience is None:
        return None
    if not isinstance(patience, str):
        return Stopping(int(patience))
    window = max(1, round(min(SHARE_OF_ROUNDS * rounds, SUM_OF_RATES / rate)))
    return Stopping(patience=(window + 1) // 2, window=window)


def warn_of_short_patience(patience: int | str | None, rounds: int, rate: float) -> None:
    """Warn where a few rounds at a low rate say little."""
    long_enough = math.ceil(min(rounds, SHORT / rate))
    if patience is not None and not isinstance(patience, str) and patience < long_enough:
        warn_user(
            f"early_stopping_rounds={patience} is short for a learning rate of {rate:.3g}: chance "
            f"may end the fit too early. Use {AUTO!r}, or at least {long_enough}."
        )
