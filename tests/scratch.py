"""Measures that do something to their work arrays besides: after each of their functions."""

from collections.abc import Collection
from typing import Any

import numpy as np

from gbrank.extend import Measure, Ranking, Swaps, inline, standalone

FUNCTIONS = ("value", "separable", "prepare", "row", "by_rank", "by_position")


@standalone
def fill_with_nan(ranking: Ranking) -> None:
    """Leave nothing in the work arrays."""
    ranking.memory[:, :] = np.nan


@standalone
def write_one_row_more(ranking: Ranking) -> None:
    """Write to the row after the last array that `toys.ToyFirst` declares."""
    ranking.memory[3, 0] = 1.0


def then(measure: type[Measure], more: Any, where: Collection[str] = FUNCTIONS) -> Measure:
    """Return a measure that does more at the end of some of its functions; rows prepare first."""
    swaps: Any = measure.swaps
    value, by_rank, by_position = map(inline, (measure.value, measure.by_rank, measure.by_position))
    separable, prepare, row = map(inline, (swaps.separable, swaps.prepare, swaps.row))

    def value_then(ranking: Ranking) -> float:
        found = value(ranking)
        more(ranking)
        return found

    def separable_then(ranking: Ranking, top: int, delta: Any) -> None:
        separable(ranking, top, delta)
        more(ranking)

    def prepare_then(ranking: Ranking, top: int) -> None:
        prepare(ranking, top)
        more(ranking)

    def row_then(ranking: Ranking, i: int, stop: int, top: int, out: Any) -> None:
        prepare(ranking, top)
        row(ranking, i, stop, top, out)
        more(ranking)

    def by_rank_then(ranking: Ranking, ranks: Any, beta: float, direct: float, out: Any) -> float:
        found = by_rank(ranking, ranks, beta, direct, out)
        more(ranking)
        return found

    def by_position_then(ranking: Ranking, means: Any, out: Any) -> float:
        found = by_position(ranking, means, out)
        more(ranking)
        return found

    changed = {
        name: function
        for name, function in {
            "value": value_then, "separable": separable_then, "prepare": prepare_then,
            "row": row_then, "by_rank": by_rank_then, "by_position": by_position_then,
        }.items()
        if name in where
    }  # fmt: skip
    of_swaps = {name: changed.pop(name) for name in Swaps._fields if name in changed}
    cls = type("Then", (measure,), {**changed, "swaps": swaps._replace(**of_swaps)})
    made: Measure = cls()
    return made
