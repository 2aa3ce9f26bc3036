"""Objectives from a loss that JAX or PyTorch differentiates."""

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gbrank.common.checks import check_choice, check_takes
from gbrank.common.errors import ArgumentError
from gbrank.common.runtime import import_optional
from gbrank.common.values import Array, Mask, Matrix, Positions, Vector
from gbrank.data.documents import Documents
from gbrank.data.queries import Queries
from gbrank.data.sampling import query_keys
from gbrank.engine.compiling import standalone
from gbrank.engine.contract import Derivatives, Program
from gbrank.engine.driver import Runner
from gbrank.engine.numba_internals import slice_of
from gbrank.engine.query_loop import Outputs, share_among_equals, write_back
from gbrank.numerics.vectors import size_as_curvature
from gbrank.objectives.objective import Facts
from gbrank.objectives.objective_registry import UNKNOWN, UserObjective, register_objective

CURVATURES = ("size", "unit")
# Queries are evaluated in chunks, since a loss over pairs needs memory for their squared lengths.
PAIRS_PER_CHUNK = 2**22

Loss = Callable[..., Any]


class Differentiated(NamedTuple):
    """A loss of padded arrays, scores, labels and mask, and its derivatives, in double precision.

    Parameters
    ----------
    value : callable
        Evaluates the loss: a number per query, or their sum.
    gradient : callable
        Differentiates the sum of the losses by each score.
    """

    value: Callable[..., Vector]
    gradient: Callable[..., Matrix]


def _with_jax(loss: Loss) -> Differentiated:
    """Compile a loss of JAX, once for each shape."""
    jax: Any = import_optional("jax", "jax")
    enable_x64 = (jax if hasattr(jax, "enable_x64") else jax.experimental).enable_x64

    def in_double_precision(function: Loss) -> Loss:
        compiled = jax.jit(function)

        def call(*arrays: Any) -> Vector:
            with enable_x64(True):  # here only: JAX's own setting belongs to the user
                return np.asarray(compiled(*arrays), np.float64)

        return call

    slope = jax.grad(lambda scores, *others: loss(scores, *others).sum())
    return Differentiated(in_double_precision(loss), in_double_precision(slope))


def _with_torch(loss: Loss) -> Differentiated:
    torch: Any = import_optional("torch", "torch")

    def value(*arrays: Any) -> Vector:
        with torch.no_grad():
            return loss(*map(torch.from_numpy, arrays)).numpy()

    def gradient(scores: Matrix, *others: Any) -> Matrix:
        variable = torch.from_numpy(scores).requires_grad_()
        total = loss(variable, *map(torch.from_numpy, others)).sum()
        (derivatives,) = torch.autograd.grad(total, variable)
        return derivatives.numpy()

    return Differentiated(value, gradient)


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


class Chunk(NamedTuple):
    """Queries of similar length, padded to one shape, which all chunks of a width share."""

    queries: Positions
    rows: Positions  # shape (rows of the arrays, width), by falling label; any where masked
    mask: Mask


class PaddedRunner(Runner):
    """Evaluates a loss on padded arrays, with the driver's order, ties, weights and checks."""

    def __init__(
        self, program: Program, queries: Queries, loss: Differentiated, *, unit: bool
    ) -> None:
        super().__init__(program, queries)
        self._labels = program.key
        self._loss = loss
        self._unit = unit
        widths = 2 ** np.ceil(np.log2(queries.sizes)).astype(np.int64)
        self._chunks = [
            chunk for width in np.unique(widths) for chunk in self._chunked(widths == width, width)
        ]
        self._check_loss()

    def _chunked(self, members: Mask, width: int) -> Iterator[Chunk]:
        """Yield the chunks of the queries of one width."""
        numbers = np.flatnonzero(members)
        # By id, so that the order of rows in a table changes no bit.
        numbers = numbers[np.argsort(query_keys(self.queries.ids[numbers]), kind="stable")]
        n_chunks = math.ceil(len(numbers) * width**2 / PAIRS_PER_CHUNK)
        height = math.ceil(len(numbers) / n_chunks)
        for start in range(0, len(numbers), height):
            part = numbers[start : start + height]
            yield Chunk(part, *self._padded(np.resize(part, height), width))

    def _padded(self, numbers: Positions, width: int) -> tuple[Positions, Mask]:
        """Find the rows of queries, by falling label, and which places of a width they fill."""
        places = np.arange(width)
        mask = places < self.queries.sizes[numbers][:, None]
        first = self.queries.offsets[numbers][:, None]
        return self._order[first + np.where(mask, places, 0)].astype(np.int64), mask

    def _check_loss(self) -> None:
        """Compare the loss of two queries with the sum of each one's, alone and without padding."""
        tested = sorted({self._chunks[0].queries[0], self._chunks[-1].queries[-1]})
        sizes = self.queries.sizes[tested]
        rows, mask = self._padded(np.array(tested), 1 + sizes.max())
        labels = np.where(mask, self._labels[rows], 0.0)
        scores = np.where(mask, 1.0 / (2.0 + np.arange(mask.shape[1])), 0.0)
        together = self._loss.value(scores, labels, mask)
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
        for chunk in self._chunks:
            ascending = np.where(chunk.mask, -scores[chunk.rows], np.inf)
            ranking = np.argsort(ascending, axis=1, kind="stable")
            rows = np.take_along_axis(chunk.rows, ranking, axis=1)
            best_first = np.where(chunk.mask, scores[rows], 0.0)
            labels = np.where(chunk.mask, self._labels[rows], 0.0)
            if outputs.values.size:
                losses = self._losses(best_first, labels, chunk.mask)[: len(chunk.queries)]
                outputs.values[chunk.queries] = losses
                faults = np.flatnonzero(~np.isfinite(losses))
                fault = faults[0] if faults.size else -1
            else:
                gradient = np.array(self._loss.gradient(best_first, labels, chunk.mask))
                padded = Padded(rows, best_first, labels, gradient, np.ones_like(gradient))
                sizes = self.queries.sizes[chunk.queries]
                fault = write_all(sizes, padded, self._unit, weights, outputs)
            if fault >= 0:
                raise RuntimeError(
                    f"{self.place(chunk.queries[fault], sigma)} has a loss or a gradient that is "
                    "not finite"
                )

    def _losses(self, *arrays: Array) -> Vector:
        """Evaluate the loss of each query, one by one where it returns their sum."""
        losses = self._loss.value(*arrays)
        if losses.ndim == 1:
            return losses
        queries = zip(*(np.split(array, len(array)) for array in arrays), strict=True)
        return np.array([self._loss.value(*query) for query in queries])


class Padded(NamedTuple):
    """Arrays of shape (queries, width), best first."""

    rows: Positions
    scores: Matrix
    labels: Matrix
    gradient: Matrix
    curvature: Matrix


@standalone
def write_all(
    sizes: Positions, padded: Padded, unit: bool, weights: Vector, outputs: Outputs
) -> int:
    """Write the derivatives of each query to its rows; return the first faulty query, or −1."""
    for q in range(sizes.size):
        m = sizes[q]
        out = Derivatives(slice_of(padded.gradient[q], 0, m), slice_of(padded.curvature[q], 0, m))
        scores = slice_of(padded.scores[q], 0, m)
        share_among_equals(scores, slice_of(padded.labels[q], 0, m), out)
        if not unit:
            size_as_curvature(out)
        if not write_back(slice_of(padded.rows[q], 0, m), out, weights, outputs):
            return q
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
    entries as there are documents, and JAX compiles the loss once for each width. All is computed
    in double precision. The result does not depend on the order of rows.

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
