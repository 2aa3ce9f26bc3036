"""The driver: runs a program's kernels over its queries, on all threads.

It alone sorts documents, finds ties, applies weights, checks for non-finite results and puts them
back into input order. A query's result depends neither on the thread that computes it nor on the
order of its rows: documents reach the kernel sorted by score and then by key, and documents that
agree in both get the same bits.
"""

import warnings
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numba import typeof, types
from numba.core.errors import NumbaExperimentalFeatureWarning
from numpy.typing import NDArray

from gbrank.common.checks import Function, Mask, Matrix, Positions, Vector
from gbrank.common.runtime import interrupts_held, usable_threads
from gbrank.data.queries import Queries
from gbrank.data.sampling import query_noise

from .compiling import address, compiled
from .contract import SIGNATURES, MeasureFunctions, Program, Terms
from .numba_internals import carve, memory_rows
from .query_loop import AllQueries, Outputs, Ranked, Work, loop_of

# Below this many pairs a second thread costs more than it saves.
PAIRS_PER_THREAD = 2_000_000
# What a document takes besides its pairs, in pairs.
PAIRS_PER_DOCUMENT = 100

T = TypeVar("T")


class Pool(Generic[T]):
    """A thread-safe pool of as many items as were ever in use at once.

    A copy or a pickle starts empty.

    Parameters
    ----------
    make : callable
        Makes an item.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._free: deque[T] = deque()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle how to make items, but no item."""
        return Pool, (self._make,)

    @contextmanager
    def borrow(self) -> Iterator[T]:
        """Lend an item, in the state in which it was given back."""
        try:
            item = self._free.pop()
        except IndexError:
            item = self._make()
        try:
            yield item
        finally:
            self._free.append(item)


class Share(NamedTuple):
    """The work of a kernel in a thread: its loop, the loop's arrays, and its queries."""

    loop: Function
    work: Pool[Work]
    queries: Positions


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
        terms = program.terms or Terms(program.key)
        if terms.discounts.size not in (0, queries.n_documents):
            raise ValueError(
                f"discounts must have one entry per document, {queries.n_documents}, or none, "
                f"got {terms.discounts.size}."
            )
        self.queries = queries
        self.n_jobs = n_jobs
        self._cost = queries.sizes * (queries.sizes + PAIRS_PER_DOCUMENT)
        self._order = queries.order  # the rows, query by query, in the order for equal scores
        if program.order != "input":
            key = program.key if program.order == "ascending" else -program.key
            self._order = np.lexsort((key, queries.index)).astype(queries.order.dtype)
        columns = [program.key] if terms.gains is program.key else [program.key, terms.gains]
        constants = np.empty((queries.n_queries, len(terms.constants)))
        for column, values in enumerate(terms.constants):
            constants[:, column] = values
        scale = np.ones(queries.n_queries) if terms.scale is None else terms.scale
        nothing = np.empty(0)
        self._documents = AllQueries(  # what a round brings is empty
            queries.offsets,
            self._order,
            nothing,
            *_in_least_memory(np.stack([column[self._order] for column in columns])),
            np.ascontiguousarray(scale),
            float(terms.cut),
            constants,
            _of_longest(terms.discounts, queries),
            1.0,
            np.empty(0, np.uint64),
            nothing,
            program.tied,
        )
        # Arrays in input order are not needed again.
        self.program = replace(program, key=np.empty(0), terms=None)
        self._rankings = Pool(partial(np.full, queries.n_documents, -1, np.int16))

    @cached_property
    def _threads(self) -> int:
        """How many threads the queries are worth."""
        return min(usable_threads(self.n_jobs), 1 + int(self._cost.sum() / PAIRS_PER_THREAD))

    @cached_property
    def _gradient_shares(self) -> list[Share]:
        return self._shares(self.program.others)

    @cached_property
    def _value_shares(self) -> list[Share]:
        return self._gradient_shares if self.program.others_for_values else self._shares(False)

    def _shares(self, others: Mask | bool) -> list[Share]:
        """Return the shares of all kernels, one for each thread, of about equal work."""
        program = self.program
        others = np.broadcast_to(others, self.queries.n_queries)
        examples = (
            MeasureFunctions(*(0 for _ in SIGNATURES)),
            program.parameters,
            self._documents,
            np.empty(0, np.int16),
            _work_arrays(program, 1),
            Outputs(*np.empty((3, 0))),
            np.empty(0, np.int64),
        )
        signature = types.int64(*map(typeof, examples))
        shares = []
        for kernel, picked in ((program.kernel, ~others), (program.other_kernel, others)):
            queries = np.flatnonzero(picked)
            if queries.size == 0:
                continue
            cost = np.cumsum(self._cost[queries])
            inner = np.searchsorted(cost, cost[-1] * np.arange(1, self._threads) / self._threads)
            with warnings.catch_warnings():  # functions as arguments are experimental, but tested
                warnings.simplefilter("ignore", NumbaExperimentalFeatureWarning)
                # With the kernel inlined: faster than a call by pointer.
                loop = compiled(signature, loop_of(kernel))
            # To allocate memory costs long lists more than to compute in it.
            longest = int(self.queries.sizes[queries].max())
            work = Pool(partial(_work_arrays, program, 1 + longest))
            shares += [Share(loop, work, part) for part in np.split(queries, inner)]
        return shares

    @cached_property
    def _functions(self) -> MeasureFunctions:
        """The addresses of the measure's functions; 0 for one that it does not have."""
        return MeasureFunctions(
            *(
                0 if function is None else address(signature, function)
                for signature, function in zip(SIGNATURES, self.program.measure, strict=True)
            )
        )

    def values(self, scores: Vector, sigma: float = 1.0, round: int = 0) -> Vector:
        """Return the kernel's value of each query, shape (n_queries,)."""
        nothing = np.empty(0)
        outputs = Outputs(np.empty(self.queries.n_queries), nothing, nothing)
        self._run(scores, sigma, round, nothing, outputs)
        return outputs.values

    def gradients(
        self, scores: Vector, sigma: float, round: int, weights: Vector
    ) -> tuple[Vector, Vector]:
        """Return gradient and curvature of each document, times its weight, in input order."""
        outputs = Outputs(np.empty(0), *np.empty((2, self.queries.n_documents)))
        self._run(scores, sigma, round, weights, outputs)
        return outputs.gradient, outputs.curvature

    def _run(
        self, scores: Vector, sigma: float, round: int, weights: Vector, outputs: Outputs
    ) -> None:
        program = self.program
        # Compiled before threads ask for them.
        shares = self._value_shares if outputs.values.size > 0 else self._gradient_shares
        functions = self._functions
        documents = self._documents._replace(
            scores=scores,
            sigma=float(sigma),
            noise=query_noise(self.queries.id_keys, program.seed, round),
            weights=weights,
        )

        def run(ranked: NDArray[np.int16], share: Share) -> int:
            with share.work.borrow() as work, interrupts_held():
                return share.loop(
                    functions, program.parameters, documents, ranked, work, outputs, share.queries
                )

        with self._rankings.borrow() as ranked:
            if self._threads == 1:
                faults = [run(ranked, share) for share in shares]
            else:
                with ThreadPoolExecutor(self._threads) as pool:
                    faults = list(pool.map(partial(run, ranked), shares))
        if max(faults) >= 0:
            first = min(fault for fault in faults if fault >= 0)
            raise RuntimeError(
                f"{self.place(first, sigma)} has a loss, gradient or curvature that is not finite, "
                "or a negative curvature: all must be finite, and no curvature below 0"
            )

    def best_first(self, query: int, scores: Vector) -> tuple[Positions, Vector, Vector]:
        """Return the rows of a query, best first, with copies of their scores and keys."""
        span = slice(self.queries.offsets[query], self.queries.offsets[query + 1])
        kept = self._documents.singles if self._documents.singles.size else self._documents.doubles
        order = self._order[span]
        ranking = np.argsort(-scores[order], kind="stable")
        rows = order[ranking]
        return rows, scores[rows], kept[0, span][ranking].astype(np.float64)

    def place(self, query: int, sigma: float) -> str:
        """Return how messages describe a query."""
        name = self.queries.id_list[query]
        return f"query {name!r} ({self.queries.sizes[query]} documents), sigma={sigma!r}"


def _work_arrays(program: Program, length: int) -> Work:
    """Return the arrays of the loop, the kernel and the measure."""
    return Work(
        carve(Ranked, length, {}),
        carve(program.work, program.lists * length, program.rows),
        np.empty((memory_rows(program.memory, {}), length)),
    )


def _in_least_memory(values: Matrix) -> tuple[NDArray[np.float32], Matrix]:
    """Return values in single precision if it holds them exactly, else in double; one is empty."""
    with np.errstate(over="ignore"):
        singles = values.astype(np.float32)
    if np.array_equal(singles, values):
        return singles, np.empty((len(values), 0))
    return np.empty((len(values), 0), np.float32), values


def _of_longest(discounts: Vector, queries: Queries) -> Vector:
    """Return the discounts of the longest query if the others begin like them, else all."""
    if discounts.size == 0:
        return discounts
    longest = int(np.argmax(queries.sizes))
    of_longest = discounts[queries.offsets[longest] : queries.offsets[longest + 1]].copy()
    return of_longest if np.array_equal(discounts, of_longest[queries.places]) else discounts
