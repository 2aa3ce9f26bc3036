"""The driver: runs one kernel over all queries, on all threads.

It alone sorts documents, finds ties, applies weights, normalises, checks for non-finite results
and puts them back into input order. A query's result depends neither on the thread that computes
it nor on the order of its rows: documents reach the kernel sorted by score and then by their
constants, and documents that agree in both get the same bits.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from typing import Any

import numba
import numpy as np
from numba import types
from numpy.typing import NDArray

from gbrank.common.interrupts import interrupts_held
from gbrank.data.queries import Queries
from gbrank.data.sampling import query_keys, query_noise
from gbrank.kernels.compiled import (
    FAST_MATH,
    KERNEL,
    NO_ROWS,
    ROW,
    Function,
    Matrix,
    Vector,
    compile_kernel,
    compile_row,
    inline,
)
from gbrank.kernels.pools import Pool
from gbrank.kernels.sorting import LONG, rank, rank_again

__all__ = [
    "SMALLEST_CURVATURE",
    "Program",
    "Runner",
    "find_ties",
    "query_factor",
    "share_among_equals",
    "usable_threads",
]

# Below this many pairs a second thread costs more than it saves.
PAIRS_PER_THREAD = 200_000
# Rows of work arrays that the loop itself needs.
OWN_REALS, OWN_INTEGERS = 4, 4
SMALLEST_CURVATURE = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class Program:
    """A kernel with the constants that it runs on, for one set of queries.

    Parameters
    ----------
    kernel : function
        Python function of the kernel signature, compiled when first run.
    documents : ndarray, shape (rows, n_documents)
        Constants of each document, in input order. All must be functions of the first, by which
        documents of equal score are sorted, descending.
    queries : ndarray, shape (n_queries, columns)
        Constants of each query.
    table : ndarray, shape (n_documents,)
        Constants of each position, query by query; or empty.
    params : ndarray
        Constants of the objective or measure.
    rows : pair of functions
        The row functions of the measure (prepare, row).
    scratch : int
        How many rows of scratch the kernel needs.
    tied : bool
        Whether documents of equal score form blocks. If not, each stands alone, in the order of
        `ascending` or of the input.
    order : {"descending", "ascending", "input"}
        How documents of equal score are sorted: by their first constant, or as they come.
    query_norm : bool
        Multiply a query's gradient and curvature by log2(1 + S) / S, S = Σ|gradient|.
    seed : int
        What the kernel's random numbers depend on, besides round and query.
    cached : bool
        Whether the compiled kernel may be stored on disk (not for a user's own function).
    """

    kernel: Function
    documents: NDArray[np.float64]
    queries: NDArray[np.float64]
    table: Vector = field(default_factory=lambda: np.empty(0))
    params: Vector = field(default_factory=lambda: np.zeros(1))
    rows: tuple[Function, Function] = NO_ROWS
    scratch: int = 1
    tied: bool = True
    order: str = "descending"
    query_norm: bool = False
    seed: int = 0
    cached: bool = True


class Runner:
    """Runs a program over its queries.

    Parameters
    ----------
    program : Program
    queries : Queries
    n_jobs : int or None
        Number of threads; None or −1 means all that this process may use.
    """

    def __init__(self, program: Program, queries: Queries, n_jobs: int | None = None) -> None:
        if program.table.size not in (0, queries.n_documents):
            raise ValueError(
                f"table must have one entry per document, {queries.n_documents}, or none, "
                f"got {program.table.size}."
            )
        self.queries = queries
        self.n_jobs = n_jobs
        self._order = _sorted_rows(program, queries)
        self._documents = _in_single(program.documents[:, self._order])
        self._table = _of_longest(program.table, queries)
        # What was in input order is not needed again.
        self.program = replace(
            program, documents=program.documents[:, :0].copy(), table=np.empty(0)
        )
        self._params = np.asarray(program.params, dtype=np.float64)
        # New memory costs long lists more than what is done with it.
        rows = OWN_REALS + len(program.documents) + program.scratch
        self._work = Pool(partial(_work_arrays, rows, 1 + int(queries.sizes.max())))
        self._rankings = Pool(partial(np.full, queries.n_documents, -1, np.int16))

    @cached_property
    def _functions(self) -> tuple[Function, ...]:
        program = self.program
        prepare, row = program.rows
        return (
            compile_kernel(program.kernel, program.cached),
            compile_row(prepare),
            compile_row(row),
        )

    @cached_property
    def _keys(self) -> NDArray[np.uint64]:
        return query_keys(self.queries.ids)

    @cached_property
    def _bounds(self) -> NDArray[np.int64]:
        """Split queries into one run per thread, of about equal numbers of pairs."""
        cost = np.cumsum(self.queries.sizes.astype(np.float64) ** 2)
        threads = min(usable_threads(self.n_jobs), 1 + int(cost[-1] / PAIRS_PER_THREAD))
        inner = np.searchsorted(cost, cost[-1] * np.arange(1, threads) / threads)
        return np.concatenate([[0], inner, [self.queries.n_queries]])

    def values(self, scores: Vector, sigma: float = 1.0, round: int = 0) -> Vector:
        """Return the kernel's value of each query, shape (n_queries,)."""
        values = np.empty(self.queries.n_queries)
        nothing = np.empty(0)
        self._run(scores, sigma, round, nothing, values, nothing, nothing)
        return values

    def gradients(
        self, scores: Vector, sigma: float, round: int, weights: Vector
    ) -> tuple[Vector, Vector]:
        """Return gradient and curvature of each document, times its weight, in input order."""
        gradient, curvature = np.empty((2, self.queries.n_documents))
        self._run(scores, sigma, round, weights, np.empty(0), gradient, curvature)
        return gradient, curvature

    def _run(
        self,
        scores: Vector,
        sigma: float,
        round: int,
        weights: Vector,
        values: Vector,
        gradient: Vector,
        curvature: Vector,
    ) -> None:
        program, queries, bounds = self.program, self.queries, self._bounds
        loop = _compiled_loop(self._order.dtype, self._documents.dtype)
        noise = query_noise(self._keys, program.seed, round)
        functions = self._functions  # compiled here, before threads ask for them

        def run(ranked: NDArray[np.int16], begin: int, end: int) -> int:
            with self._work.borrow() as (reals, integers), interrupts_held():
                fault: int = loop(
                    *functions, begin, end, queries.offsets, self._order,
                    scores, self._documents, program.queries, self._table, self._params, sigma,
                    noise, reals, integers, ranked, program.tied, program.query_norm, weights,
                    values, gradient, curvature,
                )  # fmt: skip
            return fault

        with self._rankings.borrow() as ranked:
            if len(bounds) == 2:
                faults = [run(ranked, *bounds)]
            else:
                with ThreadPoolExecutor(len(bounds) - 1) as pool:
                    faults = list(pool.map(partial(run, ranked), bounds[:-1], bounds[1:]))
        if max(faults) >= 0:
            raise self.fault(min(fault for fault in faults if fault >= 0), scores, sigma)

    def documents_of(self, query: int) -> tuple[NDArray[np.signedinteger], Vector]:
        """Return the rows of a query and their first constants, as equal scores are to stand."""
        span = slice(self.queries.offsets[query], self.queries.offsets[query + 1])
        return self._order[span], self._documents[0, span].astype(np.float64)

    def fault(self, query: int, scores: Vector, sigma: float) -> Exception:
        """Return the error for a query whose results are not usable."""
        (name,) = self.queries.ids[query : query + 1].tolist()
        return RuntimeError(
            f"query {name!r} ({self.queries.sizes[query]} documents) has a "
            "loss, gradient or curvature that is not finite, or a negative curvature, "
            f"at sigma={sigma!r}: all must be finite, and no curvature below 0"
        )


def _work_arrays(rows: int, width: int) -> tuple[Matrix, NDArray[np.int64]]:
    return np.empty((rows, width)), np.empty((OWN_INTEGERS, width), np.int64)


def _in_single(values: Matrix) -> NDArray[np.floating]:
    """Return values in single precision, if it holds them exactly."""
    with np.errstate(over="ignore"):
        singles = np.ascontiguousarray(values, dtype=np.float32)
    return singles if np.array_equal(singles, values) else np.ascontiguousarray(values)


def _of_longest(table: Vector, queries: Queries) -> Vector:
    """Return the table of the longest query if the others begin like it, else all tables."""
    if table.size == 0:
        return table
    starts = queries.offsets[:-1]
    longest = int(np.argmax(queries.sizes))
    one = table[starts[longest] : queries.offsets[longest + 1]].copy()
    shared = np.array_equal(table, one[np.arange(table.size) - np.repeat(starts, queries.sizes)])
    return one if shared else table


def _sorted_rows(program: Program, queries: Queries) -> NDArray[np.signedinteger]:
    """Return the rows, query by query, in the order in which equal scores are to stand."""
    if program.order == "input":
        return queries.order
    key = program.documents[0]
    key = key if program.order == "ascending" else -key
    numbers = np.repeat(np.arange(queries.n_queries), queries.sizes)
    return queries.order[np.lexsort((key[queries.order], numbers))]


def usable_threads(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` stands for.

    Parameters
    ----------
    n_jobs : int or None
        A number of threads; None or −1 for all processors that this process may use.

    Returns
    -------
    int

    Examples
    --------
    >>> usable_threads(2)
    2
    """
    if n_jobs is None or n_jobs == -1:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    return n_jobs


def _loop(
    kernel: Any, prepare: Any, row: Any, begin: int, end: int, offsets: Any, order: Any,
    scores: Any, documents: Any, queries: Any, table: Any, params: Any, sigma: float,
    noise: Any, reals: Any, integers: Any, ranked: Any, tied: bool, query_norm: bool, weights: Any,
    values: Any, gradient: Any, curvature: Any,
) -> int:  # fmt: skip
    """Run the kernel over queries begin, ..., end − 1; return the first faulty one, or −1."""
    s, spare, g_buffer, h_buffer = reals[0], reals[1], reals[2], reals[3]
    sorted_documents = reals[OWN_REALS : OWN_REALS + documents.shape[0]]
    work = reals[OWN_REALS + documents.shape[0] :]
    ranking, rows, first, last = integers[0], integers[1], integers[2], integers[3]
    with_gradient = gradient.size > 0

    for q in range(begin, end):
        start = offsets[q]
        m = offsets[q + 1] - start
        before = ranked[start : start + m]
        sorted_again = m < LONG and before[0] >= 0
        if sorted_again:
            for i in range(m):
                ranking[i] = before[i]
                s[i] = scores[order[start + ranking[i]]]
            sorted_again = rank_again(s[:m], ranking[:m])
        if not sorted_again:
            for i in range(m):
                s[i] = scores[order[start + i]]
            rank(s[:m], ranking[:m], spare[:m], rows[:m])
        if m < LONG:
            for i in range(m):
                before[i] = ranking[i]
        for i in range(m):
            position = start + ranking[i]
            rows[i] = order[position]
            for c in range(documents.shape[0]):
                sorted_documents[c, i] = documents[c, position]
        find_ties(s[:m], first, last, tied)
        g = g_buffer[: m if with_gradient else 0]
        h = h_buffer[: m if with_gradient else 0]
        g[:] = 0.0
        h[:] = 0.0
        place = start if table.size == order.size else 0  # a shared table is that of the longest
        value = kernel(
            s[:m], first[:m], last[:m], sorted_documents, queries[q], table[place : place + m],
            params, sigma, noise[q], prepare, row, work, g, h,
        )  # fmt: skip
        if not with_gradient:
            if not np.isfinite(value):
                return q
            values[q] = value
            continue
        if tied:
            share_among_equals(s[:m], sorted_documents[0, :m], g, h)
        factor = query_factor(g) if query_norm else 1.0
        for i in range(m):
            if not (np.isfinite(g[i]) and np.isfinite(h[i]) and h[i] >= 0):
                return q
        for i in range(m):
            weight = factor
            if weights.size > 0:
                weight = factor * weights[rows[i]]
            gradient[rows[i]] = g[i] * weight
            curvature[rows[i]] = max(h[i] * weight, SMALLEST_CURVATURE)
    return -1


@inline
def query_factor(gradient: Vector) -> float:
    """Return log2(1 + S) / S, S = Σ|gradient|: the factor of ``normalize="query"``."""
    total = np.abs(gradient).sum()
    return np.log2(1 + total) / total if total > 0 else 1.0


@inline
def share_among_equals(s: Vector, x: Vector, gradient: Vector, curvature: Vector) -> None:
    """Give documents of equal score and constants their mean, whichever row each of them is."""
    start = 0
    while start < s.size:
        end = start + 1
        while end < s.size and s[end] == s[start] and x[end] == x[start]:
            end += 1
        if end > start + 1:
            gradient[start:end] = gradient[start:end].sum() / (end - start)
            curvature[start:end] = curvature[start:end].sum() / (end - start)
        start = end


@inline
def find_ties(s: Any, first: Any, last: Any, tied: bool) -> None:
    """Write where the block of documents of equal score begins and ends."""
    m = s.size
    for i in range(m):
        first[i] = first[i - 1] if tied and i > 0 and s[i] == s[i - 1] else i
    for i in range(m - 1, -1, -1):
        last[i] = last[i + 1] if i + 1 < m and first[i + 1] == first[i] else i + 1


@cache
def _compiled_loop(rows: np.dtype[Any], documents: np.dtype[Any]) -> Function:
    vector, matrix, positions = types.float64[::1], types.float64[:, ::1], types.int64[::1]
    order, constants = numba.from_dtype(rows)[::1], numba.from_dtype(documents)[:, ::1]
    signature = types.int64(
        KERNEL, ROW, ROW, types.int64, types.int64, positions, order,
        vector, constants, matrix, vector, vector, types.float64,
        types.uint64[::1], matrix, types.int64[:, ::1], types.int16[::1], types.boolean,
        types.boolean, vector, vector, vector, vector,
    )  # fmt: skip
    compiled: Function = numba.njit(
        signature, nogil=True, cache=True, error_model="numpy", fastmath=FAST_MATH
    )(_loop)
    return compiled
