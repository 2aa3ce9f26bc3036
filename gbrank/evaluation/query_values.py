"""Values of queries: an array of rankers, seeds and queries for each measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gbrank.common.arrays import Positions, Vector
from gbrank.data.documents import Documents
from gbrank.measures.judges import JUDGE, PEOPLE, both_values, queries_of_people
from gbrank.measures.measure import Measure, bind_to_rows

Cube: TypeAlias = NDArray[np.float64]  # shape (n_rankers, n_seeds, n_queries)


@dataclass(frozen=True, eq=False)
class QueryValues:
    """Values of the queries of all folds; a query of several folds is there several times."""

    queries: Sequence[Any]  # their ids, fold by fold
    folds: Positions  # the fold of each, counted from 1
    # By measure, NaN where a query is skipped. Beside a judge also by its labels ("map[judge]"),
    # and 1 for queries that people have judged ("people").
    values: Mapping[str, Cube]

    def by_query(self, measure: str) -> Cube:
        """Return the values by a measure, those of a query averaged over folds."""
        places: dict[Any, int] = {}
        index = [places.setdefault(query, len(places)) for query in self.queries]
        cube = self.values[measure]
        total = np.zeros((len(places), *cube.shape[:2]))
        np.add.at(total, np.array(index), np.moveaxis(cube, 2, 0))
        return np.ascontiguousarray(np.moveaxis(total, 0, 2)) / np.bincount(index)

    @property
    def judged(self) -> NDArray[np.bool_] | None:
        """Which queries people have judged; None without a judge."""
        return self.by_query(PEOPLE)[0, 0] > 0 if PEOPLE in self.values else None


def by_judge(measure: str) -> str:
    """Return the name of a measure by the judge's labels."""
    return f"{measure}[{JUDGE}]"


def query_values(
    measures: Sequence[Measure], rows: Documents, scores: Vector, n_jobs: int | None = None
) -> dict[str, Vector]:
    """Return the value of each query by each measure, named as in `QueryValues`."""
    if JUDGE not in rows.labels:
        return {str(item): bind_to_rows(item, rows, n_jobs).per_query(scores) for item in measures}
    values: dict[str, Vector] = {}
    for measure in measures:
        people, judge = both_values(measure, rows, scores, n_jobs)
        values |= {str(measure): people, by_judge(str(measure)): judge}
    return values | {PEOPLE: queries_of_people(rows).astype(np.float64)}
