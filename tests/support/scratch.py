"""Measures that do something to their work arrays besides: after each of their functions."""

from typing import Any

import numpy as np

from gbrank.extend import Measure, Ranking, inline, standalone


@standalone
def fill_with_nan(ranking: Ranking) -> None:
    """Leave nothing in the work arrays."""
    ranking.memory[:, :] = np.nan


def then(measure: type[Measure], more: Any) -> Measure:
    """Return a measure that does more at the end of its functions; rows prepare first."""
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

    def by_rank_then(ranking: Ranking, ranks: Any, beta: float, out: Any) -> float:
        found = by_rank(ranking, ranks, beta, out)
        more(ranking)
        return found

    def by_position_then(ranking: Ranking, means: Any, out: Any) -> float:
        found = by_position(ranking, means, out)
        more(ranking)
        return found

    functions = {"value": value_then, "by_rank": by_rank_then, "by_position": by_position_then}
    changed = swaps._replace(separable=separable_then, prepare=prepare_then, row=row_then)
    return type("Then", (measure,), {**functions, "swaps": changed})()
