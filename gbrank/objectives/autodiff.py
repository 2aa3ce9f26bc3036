"""Objectives from a loss that JAX or PyTorch differentiates."""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gbrank.common.checks import (
    ArgumentError,
    Function,
    Positions,
    Vector,
    check_choice,
    check_takes,
)
from gbrank.common.runtime import import_optional
from gbrank.data.documents import Documents
from gbrank.data.queries import Queries
from gbrank.engine.compiling import standalone
from gbrank.engine.contract import Derivatives, Program, Query
from gbrank.engine.driver import Pool, Runner
from gbrank.engine.query_loop import share_among_equals
from gbrank.numerics.vectors import size_as_curvature

from .objective import Facts
from .objective_registry import UNKNOWN, UserObjective, register_objective

CURVATURES = ("size", "unit")
# Queries are evaluated in chunks, since a loss over pairs needs memory for their squared lengths.
PAIRS_PER_CHUNK = 2**22

Loss = Function


# Scores, labels and mask of lists of one width; the shape is (chunks, queries, width).
Bucket: TypeAlias = tuple[Any, Any, Any]


class Differentiated(NamedTuple):
    """A loss of padded arrays and its derivatives, in double precision.

    Parameters
    ----------
    value : callable
        Evaluates the loss of scores, labels and mask: a number per query, or their sum.
    gradient : callable
        Differentiates the sum of the losses by each score, of all buckets one after another.
    """

    value: Callable[..., Vector]
    gradient: Callable[[Sequence[Bucket]], Vector]


def _with_jax(loss: Loss) -> Differentiated:
    """Compile a loss of JAX, once for each width, and its derivatives for all together."""
    jax: Any = import_optional("jax", "jax")
    enable_x64 = (jax if hasattr(jax, "enable_x64") else jax.experimental).enable_x64
    slope = jax.grad(lambda scores, *others: loss(scores, *others).sum())

    def in_double_precision(function: Loss) -> Loss:
        compiled = jax.jit(function)

        def call(*arrays: Any) -> Vector:
            with enable_x64(True):  # here only: JAX's own setting belongs to the user
                return np.asarray(compiled(*arrays), np.float64)

        return call

    def gradient(buckets: Sequence[Bucket]) -> Any:
        slopes = [jax.lax.map(lambda chunk: slope(*chunk), bucket) for bucket in buckets]
        return jax.numpy.concatenate([part.ravel() for part in slopes])

    return Differentiated(in_double_precision(loss), in_double_precision(gradient))


def _with_torch(loss: Loss) -> Differentiated:
    torch: Any = import_optional("torch", "torch")

    def value(*arrays: Any) -> Vector:
        with torch.no_grad():
            return loss(*map(torch.from_numpy, arrays)).numpy()

    def gradient(buckets: Sequence[Bucket]) -> Vector:
        slopes = []
        for bucket in buckets:
            for scores, *others in zip(*bucket, strict=True):
                variable = torch.from_numpy(scores).requires_grad_()
                total = loss(variable, *map(torch.from_numpy, others)).sum()
                (derivatives,) = torch.autograd.grad(total, variable)
                slopes.append(derivatives.numpy().ravel())
        return np.concatenate(slopes)

    return Differentiated(value, gradient)


FRAMEWORKS = {"jax": _with_jax, "torch": _with_torch}


@dataclass(frozen=True, repr=False, kw_only=True)
class AutodiffObjective(UserObjective):
    """An objective from a differentiable loss; made by `autodiff_objective`."""

    framework: str
    curvature: str

    def runner(
        self, documents: Documents, n_jobs: int | None, rounds: int | None
    ) -> "PaddedRunner":
        """Return an evaluator of the loss on padded arrays."""
        loss = FRAMEWORKS[self.framework](self.function)
        queries = documents.queries

        def make() -> Runner:
            arrays = np.zeros((4, 1 + queries.n_documents))
            exchange = Exchange(self.curvature == "unit", queries.starts, *arrays)
            program = Program(exchanged, documents.y, parameters=exchange, tied=False)
            return Runner(program, queries, n_jobs)

        return PaddedRunner(loss, documents, Pool(make))


class Exchange(NamedTuple):
    """Arrays that the driver and a loss exchange: query by query, documents best first.

    The last entry of each one of documents stands for padding.
    """

    unit: bool  # whether curvatures are 1
    starts: Positions  # of the queries
    scores: Vector
    labels: Vector
    losses: Vector  # each at the start of its query
    slopes: Vector


class PaddedRunner:
    """Evaluates a loss on padded arrays, with the driver's order, ties, weights and checks.

    Queries of similar length are a bucket. A first run of the driver hands over the documents,
    best first, a second one the results of the loss.
    """

    def __init__(self, loss: Differentiated, documents: Documents, runners: Pool[Runner]) -> None:
        self._loss = loss
        self._runners = runners
        self._cells = _cells_of(documents.queries)
        # The loss of two queries must be the sum of each one's, alone and without padding.
        y = documents.y[documents.queries.order]
        tested = [self._cells[0][0, 0], self._cells[-1][-1, -1]]
        lists = [y[cells[cells < y.size]] for cells in tested]
        places = np.arange(1 + max(map(len, lists)))
        mask = np.array([places < len(values) for values in lists])
        scores = np.where(mask, 1.0 / (2.0 + places), 0.0)
        labels = np.zeros(mask.shape)
        labels[mask] = np.concatenate(lists)
        together = self._loss.value(scores, labels, mask)
        self._is_sum = together.ndim == 0
        if together.shape not in ((), (len(mask),)):
            raise ArgumentError(
                "loss",
                "must return a number for each query, shape (queries,), or their sum",
                f"shape {together.shape} for {len(mask)} queries",
            )
        apart = 0.0
        for query in zip(scores, labels, mask, strict=True):
            alone = (array[np.newaxis, query[-1]] for array in query)
            apart += float(self._loss.value(*alone).sum())
        if not np.isclose(together.sum(), apart, equal_nan=True):
            raise ArgumentError(
                "loss",
                "must return a number for each query or their sum, and ignore documents where "
                "the mask is False",
                f"{together.sum():.6g} for padded queries whose losses sum to {apart:.6g}",
                hint=" Is it a mean over queries or documents?",
            )

    def values(self, scores: Vector, sigma: float, round: int) -> Vector:
        """Evaluate the loss of each query, one by one where it returns their sum."""
        with self._runners.borrow() as runner:
            losses = runner.program.parameters.losses
            for cells, bucket in zip(self._cells, self._buckets(runner, scores), strict=True):
                for starts, *chunk in zip(cells[..., 0], *bucket, strict=True):
                    queries = zip(*(array[:, None] for array in chunk), strict=True)
                    parts = queries if self._is_sum else [chunk]
                    losses[starts] = np.ravel([self._loss.value(*part) for part in parts])
            return runner.values(scores, sigma)

    def gradients(
        self, scores: Vector, sigma: float, round: int, weights: Vector
    ) -> tuple[Vector, Vector]:
        """Differentiate the sum of the losses by each score."""
        with self._runners.borrow() as runner:
            slopes = self._loss.gradient(self._buckets(runner, scores))
            cells = np.concatenate([cells.ravel() for cells in self._cells])
            runner.program.parameters.slopes[cells] = slopes
            return runner.gradients(scores, sigma, round, weights)

    def _buckets(self, runner: Runner, scores: Vector) -> list[Bucket]:
        """Sort the documents by score, and pad their queries."""
        exchange = runner.program.parameters
        exchange.losses[:] = 0.0
        runner.values(scores)
        padding = exchange.scores.size - 1
        return [
            (exchange.scores[cells], exchange.labels[cells], cells < padding)
            for cells in self._cells
        ]


def _cells_of(queries: Queries) -> list[Positions]:
    """List the places of documents that each bucket holds, and that behind them for padding.

    The shape is (chunks, queries, width); some queries come twice, to fill the last chunk.
    """
    widths = 2 ** np.ceil(np.log2(queries.sizes)).astype(np.int64)
    # By id, so that the order of rows in a table changes no bit.
    order = np.lexsort((queries.id_keys, widths))
    buckets = []
    for numbers in np.split(order, np.flatnonzero(np.diff(widths[order])) + 1):
        width = widths[numbers[0]]
        n_chunks = math.ceil(numbers.size * width**2 / PAIRS_PER_CHUNK)
        size = math.ceil(numbers.size / n_chunks)
        chunks = np.resize(numbers, (math.ceil(numbers.size / size), size, 1))
        places = np.arange(width)
        cells = queries.starts[chunks] + places
        buckets.append(np.where(places < queries.sizes[chunks], cells, queries.n_documents))
    return buckets


def exchanged(query: Query, measure: Any, out: Derivatives) -> float:
    """Hand over the documents of a query, and return what the loss has come to."""
    exchange = query.parameters
    start = exchange.starts[query.number]
    for i in range(query.scores.size):
        exchange.scores[start + i] = query.scores[i]
        exchange.labels[start + i] = query.key[i]
    for i in range(out.gradient.size):
        out.gradient[i] = exchange.slopes[start + i]
        out.curvature[i] = 1.0
    if out.gradient.size > 0:
        share_among_equals(query.scores, query.key, out)
        if not exchange.unit:
            size_in_order(out)
    return exchange.losses[start]


@standalone
def size_in_order(out: Derivatives) -> None:
    """Write curvatures, with sums in the order in which they are written."""
    size_as_curvature(out)


def autodiff_objective(
    loss: Loss,
    framework: str | None = None,
    *,
    curvature: str = "size",
    name: str | None = None,
    facts: Facts | None = None,
) -> AutodiffObjective:
    """Make an objective from a loss that JAX or PyTorch differentiates.

    Queries are padded to a few widths, powers of 2, so that arrays hold at most twice as many
    entries as there are documents (but for a few long queries, which come twice to fill chunks),
    and JAX compiles the loss once for each width. All is computed in double precision. The result
    does not depend on the order of rows.

    Parameters
    ----------
    loss : callable
        ``loss(scores, labels, mask)`` takes arrays of JAX or tensors of PyTorch of shape (queries,
        documents), and returns the loss of each query, shape (queries,), or their sum, to be
        minimized. Documents come best first; where `mask` is False there is none, and the loss must
        not depend on what stands there.
    framework : {"jax", "torch"}, optional
        What the loss is written in; by default the one of the two that is imported.
    curvature : {"size", "unit"}
        ``"size"``: the absolute gradient plus its mean over the query, which bounds each Newton
        step, as gbrank's own objectives have it where the loss is not convex. ``"unit"``: 1, with
        which trees fit the gradient itself.
    name : str, optional
        Registers the objective, so that strings and the command line know it.
    facts : Facts, optional
        Its known properties, such as convexity; ``start="ranknet"`` trains RankNet for half of the
        rounds first.

    Returns
    -------
    AutodiffObjective
        Usable wherever a built-in objective is.

    Raises
    ------
    ImportError
        If the framework is not installed.
    TypeError, ValueError
        If an argument is not usable, or the name is taken. Training raises ValueError if the loss
        is a mean instead of a sum or depends on padding.

    Notes
    -----
    Losses of Rax take the mask as `where`, and must be configured not to average: ``lambda scores,
    labels, mask: rax.softmax_loss(scores, labels, where=mask, reduce_fn=jax.numpy.sum)``.

    Examples
    --------
    >>> import jax.numpy as jnp  # doctest: +SKIP
    >>> from gbrank import GBRanker
    >>> from gbrank.extend import autodiff_objective
    >>> def pairwise(scores, labels, mask):
    ...     margins = scores[:, :, None] - scores[:, None, :]
    ...     better = (labels[:, :, None] > labels[:, None, :]) & mask[:, :, None] & mask[:, None, :]
    ...     return jnp.where(better, jnp.logaddexp(0, -margins), 0).sum(axis=(1, 2))
    >>> ranker = GBRanker(autodiff_objective(pairwise, "jax"))
    """
    check_takes(loss, "loss", "scores", "labels", "mask")
    if framework is None:
        loaded = [name for name in FRAMEWORKS if name in sys.modules]
        if len(loaded) != 1:
            which = "both are imported" if loaded else "neither is imported"
            raise ArgumentError("framework", 'must be "jax" or "torch"', f"None, where {which}")
        framework = loaded[0]
    objective = AutodiffObjective(
        loss,
        name or str(getattr(loss, "__name__", "autodiff")),
        facts or UNKNOWN,
        framework=check_choice(framework, "framework", FRAMEWORKS),
        curvature=check_choice(curvature, "curvature", CURVATURES),
    )
    if name is not None:
        register_objective(objective)
    return objective
