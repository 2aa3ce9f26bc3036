"""Values of queries: an array of rankers, seeds and queries for each measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gbrank.common.arrays import Positions
from gbrank.data.documents import Documents
from gbrank.data.ids import as_list
from gbrank.measures.judges import JUDGE, PEOPLE, of_y, queries_of_people
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

    @classmethod
    def of_scores(
        cls, measures: Sequence[Measure], folds: Sequence[tuple[int, Documents, Cube]]
    ) -> QueryValues:
        """Return the values of scores: a fold is its number, its documents and their scores.

        Scores have shape (n_rankers, n_seeds, n_documents).
        """
        parts = [_values(measures, documents, scores) for _, documents, scores in folds]
        sizes = [documents.queries.n_queries for _, documents, _ in folds]
        return cls(
            [query for _, documents, _ in folds for query in as_list(documents.queries.ids)],
            np.repeat([number for number, _, _ in folds], sizes),
            {name: np.concatenate([part[name] for part in parts], axis=2) for name in parts[0]},
        )


def _values(measures: Sequence[Measure], documents: Documents, scores: Cube) -> dict[str, Cube]:
    """Return the value of each query by each measure, named as in `QueryValues`."""
    n_queries = documents.queries.n_queries

    def cube(measure: Measure) -> Cube:
        bound = bind_to_rows(measure, documents)
        return np.array([[bound.per_query(vector) for vector in seeds] for seeds in scores])

    if JUDGE not in documents.labels:
        return {str(measure): cube(measure) for measure in measures}
    judged = queries_of_people(documents)
    shape, values = (*scores.shape[:2], n_queries), dict[str, Cube]()
    for measure in map(of_y, measures):
        people = cube(replace(measure, label=PEOPLE)) if judged.any() else np.full(shape, np.nan)
        values |= {
            str(measure): people,
            by_judge(str(measure)): cube(replace(measure, label=JUDGE)),
        }
    return values | {PEOPLE: np.broadcast_to(judged.astype(np.float64), shape)}


def by_judge(measure: str) -> str:
    """Return the name of a measure by the judge's labels."""
    return f"{measure}[{JUDGE}]"
