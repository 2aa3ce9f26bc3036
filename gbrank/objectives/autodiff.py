"""Objectives from a loss that JAX or PyTorch differentiates."""

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbrank.common.checks import (
    ArgumentError,
    Array,
    Mask,
    Positions,
    Vector,
    check_choice,
    check_takes,
)
from gbrank.common.runtime import import_optional
from gbrank.data.documents import Documents
from gbrank.data.queries import Queries
from gbrank.engine.compiling import standalone
from gbrank.engine.contract import Derivatives, Program
from gbrank.engine.driver import Pool, Runner
from gbrank.engine.numba_internals import borrow, carve, slice_of
from gbrank.engine.query_loop import Outputs, Sorting, share_among_equals, sort, write_back
from gbrank.numerics.vectors import size_as_curvature

from .objective import Facts
from .objective_registry import UNKNOWN, UserObjective, register_objective

CURVATURES = ("size", "unit")
# Queries are evaluated in chunks, since a loss over pairs needs memory for their squared lengths.
PAIRS_PER_CHUNK = 2**22

Loss = Callable[..., Any]


class Differentiated(NamedTuple):
    """A loss of padded arrays and its derivatives, in double precision.

    Parameters
    ----------
    value : callable
        Evaluates the loss of scores, labels and mask: a number per query, or their sum.
    gradient : callable
        Differentiates the sum of the losses by each score, of all buckets one after another.
    kept : callable
        Prepares the masks, which are those of every round, for `gradient`.
    """

    value: Callable[..., Vector]
    gradient: Callable[[Vector, Vector, Any], Vector]
    kept: Callable[[Sequence[Mask]], Any]


def _buckets(masks: Sequence[Any], *arrays: Any) -> Iterator[tuple[Any, ...]]:
    """Yield for each mask the next part of each array, in its shape, and the mask."""
    start = 0
    for mask in masks:
        end = start + math.prod(mask.shape)
        yield *(array[start:end].reshape(mask.shape) for array in arrays), mask
        start = end


def _chunks(masks: Sequence[Mask], *arrays: Vector) -> Iterator[tuple[Array, ...]]:
    """Yield what a loss is given at a time: scores, labels and mask of some queries."""
    for bucket in _buckets(masks, *arrays):
        yield from zip(*bucket, strict=True)


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

    def gradient(scores: Any, labels: Any, masks: Sequence[Any]) -> Any:
        buckets = _buckets(masks, scores, labels)
        slopes = [jax.lax.map(lambda chunk: slope(*chunk), bucket) for bucket in buckets]
        return jax.numpy.concatenate([part.ravel() for part in slopes])

    return Differentiated(in_double_precision(loss), in_double_precision(gradient), jax.device_put)


def _with_torch(loss: Loss) -> Differentiated:
    torch: Any = import_optional("torch", "torch")

    def value(*arrays: Any) -> Vector:
        with torch.no_grad():
            return loss(*map(torch.from_numpy, arrays)).numpy()

    def slope(scores: Any, *others: Any) -> Vector:
        variable = torch.from_numpy(scores).requires_grad_()
        total = loss(variable, *map(torch.from_numpy, others)).sum()
        (derivatives,) = torch.autograd.grad(total, variable)
        return derivatives.numpy().ravel()

    def gradient(scores: Vector, labels: Vector, masks: Sequence[Mask]) -> Vector:
        return np.concatenate([slope(*chunk) for chunk in _chunks(masks, scores, labels)])

    return Differentiated(value, gradient, list)


FRAMEWORKS = {"jax": _with_jax, "torch": _with_torch}


def framework_of(framework: str | None) -> str:
    """Return the framework of a loss: the one that is loaded, where none is named."""
    if framework is not None:
        return check_choice(framework, "framework", FRAMEWORKS)
    loaded = [name for name in FRAMEWORKS if name in sys.modules]
    if len(loaded) != 1:
        which = "both are imported" if loaded else "neither is imported"
        raise ArgumentError("framework", 'must be "jax" or "torch"', f"None, where {which}")
    return loaded[0]


@dataclass(frozen=True, repr=False, kw_only=True)
class AutodiffObjective(UserObjective):
    """An objective from a differentiable loss; made by `autodiff_objective`."""

    framework: str
    curvature: str

    def runner(self, documents: Documents, n_jobs: int | None, rounds: int | None) -> Runner:
        """Return a driver that evaluates the loss on padded arrays."""
        loss = FRAMEWORKS[self.framework](self.function)
        unit = self.curvature == "unit"
        return PaddedRunner(Program(self.function, documents.y), documents.queries, loss, unit=unit)


class Padded(NamedTuple):
    """Queries best first, each padded with zeros to the width of its bucket."""

    sorting: Sorting
    labels: Vector


class Lists(NamedTuple):
    """The padded lists: their queries, and where each begins before and after padding."""

    queries: Positions
    begins: Positions
    starts: Positions
    sizes: Positions


class PaddedRunner(Runner):
    """Evaluates a loss on padded arrays, with the driver's order, ties, weights and checks.

    Queries of similar length are a bucket, with arrays of shape (chunks, queries, width).
    """

    def __init__(
        self, program: Program, queries: Queries, loss: Differentiated, *, unit: bool
    ) -> None:
        super().__init__(program, queries)
        self._labels = program.key
        self._loss = loss
        self._unit = unit
        widths = 2 ** np.ceil(np.log2(queries.sizes)).astype(np.int64)
        # By id, so that the order of rows in a table changes no bit.
        by_id = np.argsort(queries.id_keys, kind="stable")
        buckets = [_in_chunks(by_id[widths[by_id] == width], width) for width in np.unique(widths)]
        numbers = np.concatenate([bucket.ravel() for bucket in buckets])
        ends = np.cumsum(widths[numbers])
        sizes = queries.sizes[numbers]
        self._lists = Lists(numbers, queries.offsets[numbers], ends - widths[numbers], sizes)
        self._masks = [
            np.arange(widths[bucket[0, 0]]) < queries.sizes[bucket][..., None] for bucket in buckets
        ]
        self._kept = loss.kept(self._masks)
        self._arrays = Pool(partial(_padded, int(ends[-1])))
        self._check_loss()

    def _check_loss(self) -> None:
        """Compare the loss of two queries with the sum of each one's, alone and without padding."""
        tested = self._lists.queries[[0, -1]]
        sizes = self.queries.sizes[tested]
        places = np.arange(1 + sizes.max())
        mask = places < sizes[:, None]
        scores = np.where(mask, 1.0 / (2.0 + places), 0.0)
        labels = np.zeros(mask.shape)
        labels[mask] = np.concatenate([self._labels[self.queries.rows(query)] for query in tested])
        together = self._loss.value(scores, labels, mask)
        self._is_sum = together.ndim == 0
        if together.shape not in ((), (len(mask),)):
            demand = "must return a number for each query, shape (queries,), or their sum"
            got = f"shape {together.shape} for {len(mask)} queries"
            raise ArgumentError("loss", demand, got)
        apart = 0.0
        for query, size in enumerate(sizes):
            alone = (array[query : query + 1, :size] for array in (scores, labels, mask))
            apart += float(self._loss.value(*alone).sum())
        if not np.isclose(together.sum(), apart, equal_nan=True):
            raise ArgumentError(
                "loss",
                "must return a number for each query or their sum, and ignore documents where "
                "the mask is False",
                f"{together.sum():.6g} for padded queries whose losses sum to {apart:.6g}",
                hint=" Is it a mean over queries or documents?",
            )

    def _run(
        self, scores: Vector, sigma: float, round: int, weights: Vector, outputs: Outputs
    ) -> None:
        with self._arrays.borrow() as padded, self._rankings.borrow() as ranked:
            pad_all(self._lists, self._order, scores, self._labels, ranked, padded)
            if outputs.values.size:
                losses = self._losses(padded)
                outputs.values[self._lists.queries] = losses
                fault = next(iter(np.flatnonzero(~np.isfinite(losses))), -1)
            else:
                slopes = self._loss.gradient(padded.sorting.scores, padded.labels, self._kept)
                out = Derivatives(np.array(slopes), np.ones_like(slopes))
                fault = write_all(self._lists, padded, out, self._unit, weights, outputs)
        if fault >= 0:
            raise RuntimeError(
                f"{self.place(self._lists.queries[fault], sigma)} has a loss or a gradient that is "
                "not finite"
            )

    def _losses(self, padded: Padded) -> Vector:
        """Evaluate the loss of each query, one by one where it returns their sum."""
        losses: list[Vector] = []
        for chunk in _chunks(self._masks, padded.sorting.scores, padded.labels):
            queries = zip(*(array[:, None] for array in chunk), strict=True)
            parts = queries if self._is_sum else [chunk]
            losses += [np.atleast_1d(self._loss.value(*part)) for part in parts]
        return np.concatenate(losses)


def _in_chunks(queries: Positions, width: int) -> Positions:
    """Arrange queries in chunks of one size; some come twice, to fill the last one."""
    n_chunks = math.ceil(queries.size * width**2 / PAIRS_PER_CHUNK)
    size = math.ceil(queries.size / n_chunks)
    return np.resize(queries, (math.ceil(queries.size / size), size))


def _padded(size: int) -> Padded:
    padded = carve(Padded, size, {})
    padded.sorting.scores[:] = 0.0
    padded.labels[:] = 0.0
    return padded


@standalone
def pad_all(
    lists: Lists,
    order: NDArray[np.signedinteger],
    scores: Vector,
    labels: Vector,
    ranked: NDArray[np.int16],
    padded: Padded,
) -> None:
    """Write scores, rows and labels of each query."""
    padded = borrow(padded)
    for i in range(lists.sizes.size):
        begin = lists.begins[i]
        start = lists.starts[i]
        m = lists.sizes[i]
        end = start + m
        sorting = Sorting(
            slice_of(padded.sorting.scores, start, end),
            slice_of(padded.sorting.ranking, start, end),
            slice_of(padded.sorting.rows, start, end),
            slice_of(padded.sorting.spare, start, end),
        )
        sort(scores, slice_of(order, begin, begin + m), slice_of(ranked, begin, begin + m), sorting)
        for j in range(m):
            padded.labels[start + j] = labels[sorting.rows[j]]


@standalone
def write_all(
    lists: Lists, padded: Padded, slopes: Derivatives, unit: bool, weights: Vector, outputs: Outputs
) -> int:
    """Write the derivatives of each query to its rows; return the first faulty list, or −1."""
    padded = borrow(padded)
    for i in range(lists.sizes.size):
        start = lists.starts[i]
        end = start + lists.sizes[i]
        scores = slice_of(padded.sorting.scores, start, end)
        out = Derivatives(
            slice_of(slopes.gradient, start, end), slice_of(slopes.curvature, start, end)
        )
        share_among_equals(scores, slice_of(padded.labels, start, end), out)
        if not unit:
            size_as_curvature(out)
        if not write_back(slice_of(padded.sorting.rows, start, end), out, weights, outputs):
            return i
    return -1


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
    objective = AutodiffObjective(
        loss,
        name or str(getattr(loss, "__name__", "autodiff")),
        facts or UNKNOWN,
        framework=framework_of(framework),
        curvature=check_choice(curvature, "curvature", CURVATURES),
    )
    if name is not None:
        register_objective(objective)
    return objective
