"""The driver: runs one kernel over all queries, on all threads.

It alone sorts documents, finds ties, applies weights, checks for non-finite results and puts them
back into input order. A query's result depends neither on the thread that computes it nor on the
order of its rows: documents reach the kernel sorted by score and then by label, and documents that
agree in both get the same bits.
"""

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache, cached_property, partial
from types import FunctionType
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core.errors import NumbaExperimentalFeatureWarning
from numpy.typing import NDArray

from gbrank.common.arrays import Matrix, Vector
from gbrank.common.interrupts import interrupts_held
from gbrank.common.threads import usable_threads
from gbrank.data.queries import Queries
from gbrank.data.sampling import query_keys, query_noise
from gbrank.kernels.compiled import Function, borrowed, compile_for, inline, plain
from gbrank.kernels.contract import SIGNATURES, MeasureFunctions, Query, Ranking
from gbrank.kernels.pools import Pool
from gbrank.kernels.program import Program
from gbrank.kernels.sorting import LONG, rank, rank_again

# Below this many pairs a second thread costs more than it saves.
PAIRS_PER_THREAD = 200_000
# Rows of work arrays that the loop itself needs.
OWN_REALS, OWN_INTEGERS = 6, 4
SMALLEST_CURVATURE = float(np.finfo(np.float64).tiny)


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
        documents = [program.labels] if program.x is None else [program.labels, program.x]
        self._documents = _in_least_memory(np.stack([row[self._order] for row in documents]))
        self._table = _of_longest(program.table, queries)
        ones = np.ones(queries.n_queries)
        self._scale = ones if program.scale is None else np.ascontiguousarray(program.scale)
        nothing = np.empty((queries.n_queries, 0))
        constants = nothing if program.constants is None else program.constants
        self._constants = np.ascontiguousarray(constants, dtype=np.float64)
        # Arrays in input order are not needed again.
        self.program = replace(
            program, labels=np.empty(0), x=None, scale=None, constants=None, table=np.empty(0)
        )
        # To allocate memory costs long lists more than to compute in it.
        rows = (OWN_REALS, program.scratch, program.measure_scratch)
        self._work = Pool(partial(_work_arrays, rows, 1 + int(queries.sizes.max())))
        self._rankings = Pool(partial(np.full, queries.n_documents, -1, np.int16))

    @cached_property
    def _functions(self) -> tuple[Any, ...]:
        """The loop with the program's kernel in it, and the functions of the measure."""
        program = self.program
        return (
            _compiled_loop(program, self._order),
            *(
                None if own is None else compile_for(signature, own)
                for signature, own in zip(SIGNATURES, program.measure, strict=True)
            ),
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
        self, scores: Vector, sigma: float, round: int, weights: Vector,
        values: Vector, gradient: Vector, curvature: Vector,
    ) -> None:  # fmt: skip
        program, queries, bounds = self.program, self.queries, self._bounds
        noise = query_noise(self._keys, program.seed, round)
        loop, *functions = self._functions  # compiled here, before threads ask for them

        def run(ranked: NDArray[np.int16], begin: int, end: int) -> int:
            with self._work.borrow() as work, interrupts_held():
                fault: int = loop(
                    *functions, program.parameters, begin, end, queries.offsets, self._order,
                    scores, *self._documents, self._scale, program.cut, self._constants,
                    self._table, sigma, noise, *work, ranked, program.tied, weights, values,
                    gradient, curvature,
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
        """Return the rows of a query and their labels, in the order for equal scores."""
        span = slice(self.queries.offsets[query], self.queries.offsets[query + 1])
        (labels,) = (kept[0, span] for kept in self._documents if kept.size)
        return self._order[span], labels.astype(np.float64)

    def fault(self, query: int, scores: Vector, sigma: float) -> Exception:
        """Return the error for a query whose results are not usable."""
        return RuntimeError(
            f"{self.place(query, sigma)} has a loss, gradient or curvature that is not finite, or "
            "a negative curvature: all must be finite, and no curvature below 0"
        )

    def place(self, query: int, sigma: float) -> str:
        """Return how messages describe a query."""
        (name,) = self.queries.ids[query : query + 1].tolist()
        return f"query {name!r} ({self.queries.sizes[query]} documents), sigma={sigma!r}"


def _work_arrays(rows: tuple[int, ...], width: int) -> tuple[Any, ...]:
    """Return the loop's own reals, the kernel's and the measure's scratch, and integers."""
    return *(np.empty((count, width)) for count in rows), np.empty((OWN_INTEGERS, width), np.int64)


def _in_least_memory(values: Matrix) -> tuple[NDArray[np.float32], Matrix]:
    """Return values in single precision if it holds them exactly, else in double; one is empty."""
    with np.errstate(over="ignore"):
        singles = np.ascontiguousarray(values, dtype=np.float32)
    if np.array_equal(singles, values):
        return singles, np.empty((len(values), 0))
    return np.empty((len(values), 0), np.float32), np.ascontiguousarray(values)


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
    """Return the rows, query by query, in the order for equal scores."""
    if program.order == "input":
        return queries.order
    key = program.labels if program.order == "ascending" else -program.labels
    numbers = np.repeat(np.arange(queries.n_queries), queries.sizes)
    return queries.order[np.lexsort((key[queries.order], numbers))]


kernel: Any = None  # a placeholder: each copy of the loop has its own


def _loop(
    value: Any, by_rank: Any, by_position: Any, separable: Any, row: Any, prepare: Any,
    grades: Any, parameters: Any, begin: int, end: int, offsets: Any, order: Any, scores: Any,
    singles: Any, doubles: Any, scale: Any, cut: float, constants: Any, table: Any, sigma: float,
    noise: Any, reals: Any, scratch: Any, measure_scratch: Any, integers: Any, ranked: Any,
    tied: bool, weights: Any, values: Any, gradient: Any, curvature: Any,
) -> int:  # fmt: skip
    """Run the kernel over queries begin, ..., end − 1; return the first faulty one, or −1."""
    measure = MeasureFunctions(value, by_rank, by_position, separable, row, prepare, grades)
    offsets, order, scores = borrowed(offsets), borrowed(order), borrowed(scores)
    singles, doubles, scale = borrowed(singles), borrowed(doubles), borrowed(scale)
    constants, table, noise = borrowed(constants), borrowed(table), borrowed(noise)
    reals, scratch, measure_scratch = borrowed(reals), borrowed(scratch), borrowed(measure_scratch)
    integers, ranked, weights = borrowed(integers), borrowed(ranked), borrowed(weights)
    values, gradient, curvature = borrowed(values), borrowed(gradient), borrowed(curvature)
    s, g_buffer, h_buffer = reals[0], reals[2], reals[3]
    labels, x = reals[4], reals[4 + singles.shape[0] - 1]
    first, last = integers[2], integers[3]
    with_gradient = gradient.size > 0

    for q in range(begin, end):
        start = offsets[q]
        m = offsets[q + 1] - start
        _take(start, m, order, scores, singles, doubles, ranked, tied, reals, integers)
        g = g_buffer[: m if with_gradient else 0]
        h = h_buffer[: m if with_gradient else 0]
        g[:] = 0.0
        h[:] = 0.0
        place = start if table.size == order.size else 0  # 0 if all queries share the longest's
        query = Query(
            s[:m],
            labels[:m],
            Ranking(
                x[:m], first[:m], last[:m], table[place : place + m], scale[q], cut, constants[q],
                measure_scratch,
            ),
            sigma,
            q,
            noise[q],
            scratch,
        )  # fmt: skip
        loss = kernel(query, measure, parameters, g, h)
        if not with_gradient:
            if not np.isfinite(loss):
                return q
            values[q] = loss
            continue
        if tied:
            share_among_equals(s[:m], labels[:m], g, h)
        if not _give(integers[1, :m], g, h, weights, gradient, curvature):
            return q
    return -1


@plain
def _take(
    start: int, m: int, order: Any, scores: Any, singles: Any, doubles: Any, ranked: Any,
    tied: bool, reals: Any, integers: Any,
) -> None:  # fmt: skip
    """Write a query's scores, labels, x, rows and ties to the work arrays, best score first."""
    s, spare = reals[0], reals[1]
    ranking, rows = integers[0], integers[1]
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
        rows[i] = order[start + ranking[i]]
    for c in range(singles.shape[0]):
        if singles.size > 0:
            for i in range(m):
                reals[4 + c, i] = singles[c, start + ranking[i]]
        else:
            for i in range(m):
                reals[4 + c, i] = doubles[c, start + ranking[i]]
    _find_ties(s[:m], integers[2], integers[3], tied)


@plain
def _give(rows: Any, g: Any, h: Any, weights: Any, gradient: Any, curvature: Any) -> bool:
    """Write a query's derivatives, weighted, to its rows; return False if they are not usable."""
    for i in range(rows.size):
        if not (np.isfinite(g[i]) and np.isfinite(h[i]) and h[i] >= 0):
            return False
    for i in range(rows.size):
        weight = weights[rows[i]] if weights.size > 0 else 1.0
        gradient[rows[i]] = g[i] * weight
        curvature[rows[i]] = max(h[i] * weight, SMALLEST_CURVATURE)
    return True


@plain
def share_among_equals(s: Vector, x: Vector, gradient: Vector, curvature: Vector) -> None:
    """Give documents of equal score and label the mean of their derivatives."""
    start = 0
    while start < s.size:
        end = start + 1
        while end < s.size and s[end] == s[start] and x[end] == x[start]:
            end += 1
        if end > start + 1:
            gradient[start:end] = gradient[start:end].sum() / (end - start)
            curvature[start:end] = curvature[start:end].sum() / (end - start)
        start = end


@plain
def _find_ties(s: Any, first: Any, last: Any, tied: bool) -> None:
    """Write where each document's block of equal scores begins and ends."""
    m = s.size
    for i in range(m):
        first[i] = first[i - 1] if tied and i > 0 and s[i] == s[i - 1] else i
    for i in range(m - 1, -1, -1):
        last[i] = last[i + 1] if i + 1 < m and first[i + 1] == first[i] else i + 1


def _compiled_loop(program: Program, order: NDArray[Any]) -> Function:
    """Return the compiled loop with this kernel inlined: faster than a call by pointer."""
    vector, matrix, positions = types.float64[::1], types.float64[:, ::1], types.int64[::1]
    with warnings.catch_warnings():  # functions as arguments are experimental, but tested
        warnings.simplefilter("ignore", NumbaExperimentalFeatureWarning)
        # A missing function is None, not a dummy: to pass a function costs as much as a short list.
        functions = (
            types.none if own is None else types.FunctionType(signature)
            for signature, own in zip(SIGNATURES, program.measure, strict=True)
        )
        signature = types.int64(
            *functions, numba.typeof(program.parameters), types.int64, types.int64, positions,
            numba.typeof(order), vector, types.float32[:, ::1], matrix, vector, types.float64,
            matrix, vector, types.float64, types.uint64[::1], matrix, matrix, matrix,
            types.int64[:, ::1], types.int16[::1], types.boolean, vector, vector, vector, vector,
        )  # fmt: skip
        return compile_for(signature, _with_kernel(program.kernel))


@cache
def _with_kernel(own: Function) -> Function:
    """Return a copy of the loop that calls this kernel, and is stored on disk beside it."""
    code = own.__code__
    name = f"{own.__name__}_loop"
    copy = FunctionType(
        _loop.__code__.replace(
            co_filename=code.co_filename, co_firstlineno=code.co_firstlineno, co_name=name
        ),
        {**_loop.__globals__, "kernel": inline(own), "__name__": own.__module__},
        name,
    )
    copy.__qualname__ = name
    return copy
