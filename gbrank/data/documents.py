"""Documents that somebody asks for: by row, by rank in a query, or by name."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbrank.common.argument_error import ArgumentError
from gbrank.common.arrays import Positions, Vector
from gbrank.common.checks import check_number, quoted
from gbrank.data.ids import as_list, number_of
from gbrank.data.queries import Queries


def by_rank(rows: Positions, scores: Vector) -> Positions:
    """Return rows with the best score first; equal scores take the order of the rows."""
    return rows[np.argsort(-scores, kind="stable")]


def rows_asked_for(
    asked: Mapping[str, object],
    queries: Queries,
    query: object,
    docid: Any,
    ranked: Callable[[Positions], Positions],
) -> tuple[list[int], list[str]]:
    """Return the rows of documents of one query, and what they are called, by argument.

    With `docid` they are asked for by name; else with `query` by rank, from 1, in the rows that
    `ranked` puts in order; else by row, from 0.
    """
    rows = np.arange(queries.n_documents) if query is None else _rows_of(query, queries)
    if docid is not None:
        called = np.array([*map(str, np.asarray(docid, dtype=object).tolist())], dtype=object)
        if len(called) != queries.n_documents:
            raise ArgumentError(
                "docid", f"must have {queries.n_documents} entries", str(len(called))
            )
        found = [_row_of(name, argument, called, rows) for argument, name in asked.items()]
        names = [str(name) for name in asked.values()]
    else:
        first, kind = (0, "row") if query is None else (1, "rank")
        rows = rows if query is None else ranked(rows)
        places = [
            check_number(place, name, first, len(rows) - 1 + first, integer=True)
            for name, place in asked.items()
        ]
        found = [int(rows[place - first]) for place in places]
        names = [f"{kind} {place}" for place in places]
    if len({*queries.index[found].tolist()}) > 1:
        both = " and ".join(repr(queries.ids[queries.index[row]].item()) for row in found)
        raise ArgumentError(" and ".join(asked), "must be of one query", both)
    return found, names


def _rows_of(query: object, queries: Queries) -> Positions:
    """Return the rows of the query that was asked for."""
    number = number_of(query, queries.ids)
    if number is None:
        such = f"{as_list(queries.ids)[0]!r}"
        demand = f"must be one of the {queries.n_queries} queries of X, such as {such}"
        raise ArgumentError("query", demand, quoted(query))
    return queries.rows(number)


def _row_of(name: object, argument: str, called: NDArray[Any], rows: Positions) -> int:
    """Return the row of a document, by its name."""
    found = rows[called[rows] == str(name)]
    if len(found) != 1:
        demand = "must be the name of one document" + (" of the query" if len(found) else "")
        raise ArgumentError(argument, demand, f"{quoted(name)}, of {len(found)} rows")
    return int(found[0])
