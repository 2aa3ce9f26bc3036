"""The compiled loop over queries, of which each kernel has a copy."""

from functools import cache
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbrank.common.checks import Function, Matrix, Positions, Vector

from .compiling import inline, standalone
from .contract import SIGNATURES, Derivatives, MeasureFunctions, Query, Ranking
from .numba_internals import PLAIN_PYTHON, borrow, caller_of, slice_of
from .sorting import LONG, rank, rank_again

SMALLEST_CURVATURE = float(np.finfo(np.float64).tiny)

functions_at: Any = caller_of(SIGNATURES)
kernel: Any = None  # a placeholder: each copy of the loop has its own


class AllQueries(NamedTuple):
    """All documents and queries.

    Parameters
    ----------
    offsets : ndarray of int, shape (n_queries + 1,)
        Where each query begins in `order`.
    order : ndarray of int, shape (n_documents,)
        Rows, query by query, in the order for equal scores.
    scores : ndarray, shape (n_documents,)
        In input order.
    singles, doubles : ndarray, shape (1 or 2, n_documents)
        Keys, and gains if they are not the keys, in the order of `order`: in single precision
        or in double; the other one is empty.
    scale : ndarray, shape (n_queries,)
    cut : float
    constants : ndarray, shape (n_queries, columns)
    discounts : ndarray
        Those of all queries, or of the longest if the others begin like it, or none.
    sigma : float
    noise : ndarray of uint64, shape (n_queries,)
    weights : ndarray, shape (n_documents,)
        In input order; or empty.
    tied : bool
        Whether documents of equal score form blocks.
    """

    offsets: Positions
    order: NDArray[np.signedinteger]
    scores: Vector
    singles: NDArray[np.float32]
    doubles: Matrix
    scale: Vector
    cut: float
    constants: Matrix
    discounts: Vector
    sigma: float
    noise: NDArray[np.uint64]
    weights: Vector
    tied: bool


class Sorting(NamedTuple):
    """The scores of the query at hand, best first, and whose they are."""

    scores: Vector
    ranking: Positions  # which document of the query has each rank
    rows: Positions
    spare: Vector


class Ranked(NamedTuple):
    """The query at hand, best score first."""

    sorting: Sorting
    key: Vector
    gains: Vector
    first: Positions  # where the block of equal scores of each rank begins
    last: Positions  # and ends
    out: Derivatives


class Work(NamedTuple):
    """The arrays that a thread works with: the loop's, the kernel's and the measure's."""

    best_first: Ranked
    kernel: Any
    measure: Matrix


class Outputs(NamedTuple):
    """Values of queries, or derivatives in input order; the others are empty."""

    values: Vector
    gradient: Vector
    curvature: Vector


def _loop(
    addresses: MeasureFunctions,
    parameters: Any,
    documents: AllQueries,
    ranked: NDArray[np.int16],
    work: Work,
    outputs: Outputs,
    queries: Positions,
) -> int:
    """Run the kernel over these queries; return the first faulty one, or −1."""
    measure = functions_at(addresses)
    documents = borrow(documents)
    work = borrow(work)
    outputs = borrow(outputs)
    parameters = borrow(parameters)
    ranked = borrow(ranked)
    queries = borrow(queries)
    with_gradient = outputs.gradient.size > 0
    for q in queries:
        start = documents.offsets[q]
        m = documents.offsets[q + 1] - start
        best_first = slice_of(work.best_first, 0, m)
        sorting = best_first.sorting
        order = slice_of(documents.order, start, start + m)
        sort(documents.scores, order, slice_of(ranked, start, start + m), sorting)
        write_ranked(start, documents, best_first)
        begin = start if documents.discounts.size == documents.order.size else 0
        end = begin + min(m, documents.discounts.size)
        query = Query(
            sorting.scores,
            best_first.key,
            Ranking(
                best_first.gains,
                best_first.first,
                best_first.last,
                slice_of(documents.discounts, begin, end),
                documents.scale[q],
                documents.cut,
                documents.constants[q],
                work.measure,
            ),
            documents.sigma,
            q,
            documents.noise[q],
            parameters,
            work.kernel,
        )
        out = clear_derivatives(best_first.out, m if with_gradient else 0)
        loss = kernel(query, measure, out)
        if not with_gradient:
            if not np.isfinite(loss):
                return q
            outputs.values[q] = loss
            continue
        if documents.tied:
            share_among_equals(query.scores, query.key, out)
        if not write_back(sorting.rows, out, documents.weights, outputs):
            return q
    return -1


@inline
def clear_derivatives(out: Derivatives, n: int) -> Derivatives:
    """Return n derivatives, all 0."""
    for i in range(n):
        out.gradient[i] = 0.0
        out.curvature[i] = 0.0
    return slice_of(out, 0, n)


@standalone
def sort(scores: Vector, order: Positions, before: NDArray[np.int16], sorting: Sorting) -> None:
    """Write a query's scores and rows, best score first.

    `before` holds the ranking of the last time, and then that of now; −1 if there was none.
    """
    s = sorting.scores
    ranking = sorting.ranking
    sorted_again = s.size < LONG and before[0] >= 0
    if sorted_again:
        for i in range(s.size):
            ranking[i] = before[i]
            s[i] = scores[order[ranking[i]]]
        sorted_again = rank_again(s, ranking)
    if not sorted_again:
        for i in range(s.size):
            s[i] = scores[order[i]]
        rank(s, ranking, sorting.spare, sorting.rows)
    if s.size < LONG:
        for i in range(s.size):
            before[i] = ranking[i]
    for i in range(s.size):
        sorting.rows[i] = order[ranking[i]]


@standalone
def write_ranked(start: int, documents: AllQueries, best_first: Ranked) -> None:
    """Write what is known of a query's documents, which are sorted: keys, gains and ties."""
    s = best_first.sorting.scores
    first = best_first.first
    last = best_first.last
    for i in range(s.size):
        position = start + best_first.sorting.ranking[i]
        if documents.singles.size > 0:
            best_first.key[i] = documents.singles[0, position]
            best_first.gains[i] = documents.singles[documents.singles.shape[0] - 1, position]
        else:
            best_first.key[i] = documents.doubles[0, position]
            best_first.gains[i] = documents.doubles[documents.doubles.shape[0] - 1, position]
        first[i] = first[i - 1] if documents.tied and i > 0 and s[i] == s[i - 1] else i
    for i in range(s.size - 1, -1, -1):
        same = i + 1 < s.size and first[i + 1] == first[i]
        last[i] = last[i + 1] if same else i + 1


@standalone
def write_back(rows: Positions, out: Derivatives, weights: Vector, outputs: Outputs) -> bool:
    """Write a query's derivatives, weighted, to its rows; return False if they are not usable."""
    for i in range(rows.size):
        gradient = out.gradient[i]
        curvature = out.curvature[i]
        if not (np.isfinite(gradient) and np.isfinite(curvature) and curvature >= 0):
            return False
    for i in range(rows.size):
        weight = weights[rows[i]] if weights.size > 0 else 1.0
        outputs.gradient[rows[i]] = out.gradient[i] * weight
        outputs.curvature[rows[i]] = max(out.curvature[i] * weight, SMALLEST_CURVATURE)
    return True


@standalone
def share_among_equals(s: Vector, key: Vector, out: Derivatives) -> None:
    """Give documents of equal score and key the mean of their derivatives."""
    start = 0
    while start < s.size:
        end = start + 1
        while end < s.size and s[end] == s[start] and key[end] == key[start]:
            end += 1
        if end > start + 1:
            gradient = 0.0
            curvature = 0.0
            for i in range(start, end):
                gradient += out.gradient[i]
                curvature += out.curvature[i]
            for i in range(start, end):
                out.gradient[i] = gradient / (end - start)
                out.curvature[i] = curvature / (end - start)
        start = end


@cache
def loop_of(function: Function) -> Function:
    """Return a copy of the loop that calls this kernel, and is stored on disk beside it."""
    code = _loop.__code__
    name = f"{function.__name__}_loop"
    if not PLAIN_PYTHON:
        theirs = function.__code__
        code = code.replace(
            co_filename=theirs.co_filename, co_firstlineno=theirs.co_firstlineno, co_name=name
        )
    copy = FunctionType(
        code,
        {**_loop.__globals__, "kernel": inline(function), "__name__": function.__module__},
        name,
    )
    copy.__qualname__ = name
    vars(copy).update(vars(function))
    return copy
