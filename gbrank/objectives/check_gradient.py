"""Checks of an objective: whether its gradient is the slope of its loss, and what boosters need."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.checks import check_number
from gbrank.common.errors import ArgumentError
from gbrank.common.table import Table, Tabular
from gbrank.common.values import Matrix, Vector
from gbrank.data.queries import Queries
from gbrank.engine.query_loop import SMALLEST_CURVATURE
from gbrank.objectives.objective import BoundObjective, Objective
from gbrank.objectives.objective_registry import get_objective
from gbrank.schedules import check_sigma

STEP = 1e-5  # of central differences, where scores are apart by 1/200 or more
SMALL = 0.1  # errors are relative to a gradient, or to this share of the largest one
SIZES = (1, 2, 3, 5, 8, 13, 21)
EXTREME = (1e100, 1e-300)
HEAD = ("check", "sigma", "largest error", "at most", "query", "passed")


class CheckedGradient(NamedTuple):
    """The outcome of one check of a gradient."""

    check: str
    sigma: float
    error: float
    tolerance: float
    query: int  # the number of that with the largest error

    @property
    def passed(self) -> bool:
        """Whether the error is at most the tolerance; NaN is not."""
        return self.error <= self.tolerance

    def __str__(self) -> str:
        """Return the check, its answer, and where the largest error is."""
        answer = "yes" if self.passed else "no"
        at = f"at sigma {self.sigma:g} in query {self.query}"
        return f"{self.check}? {answer}, error {self.error:.3g} {at} (at most {self.tolerance:g})"


class GradientChecks(Tabular):
    """The outcomes of `check_gradient`, shown as a table."""

    def __init__(self, outcomes: Sequence[CheckedGradient]) -> None:
        self.outcomes = list(outcomes)

    def __repr__(self) -> str:
        """Return the table as text."""
        return self._table().to_text()

    def _table(self) -> Table:
        rows = [(*outcome, "yes" if outcome.passed else "NO") for outcome in self.outcomes]
        return Table(HEAD, rows, words=(0, 5))


def check_gradient(
    objective: str | Objective | Callable[..., Any],
    *,
    labels: ArrayLike = (0.0, 1.0, 2.0, 3.0),
    sigmas: Sequence[float] = (0.3, 1.0, 3.0),
    random_state: int = 0,
) -> GradientChecks:
    """Check the gradient and the curvature of an objective on random lists.

    At each sigma: the gradient is the slope of the loss, (L(s + h) − L(s − h)) / 2h, where no two
    documents swap ranks; the curvature is positive, and no less than the second derivative where
    the facts declare one; where they declare that shifts do not matter, gradients sum to zero and a
    constant on all scores of a query changes nothing; documents of equal score and label have equal
    derivatives; the order of rows changes no bit; scores of ±1e100 and ±1e-300 give finite ones.

    Parameters
    ----------
    objective : str, Objective or callable
        What `GBRanker` and the hooks take: a name, an instance, or a function of one query.
    labels : array-like
        The labels that documents may have.
    sigmas : sequence of float
        The widths to check, in the objective's own unit.
    random_state : int
        Seed of the lists.

    Returns
    -------
    GradientChecks
        The largest error of each check, and what it may be.

    Raises
    ------
    AssertionError
        If a check fails: the message names each such check, its sigma, its error and the query.
    ValueError
        If an argument is not usable.

    Examples
    --------
    >>> from gbrank.extend import check_gradient
    >>> len(check_gradient("approx:ndcg", sigmas=[1.0]).outcomes)
    6
    >>> def steep(scores, labels, sigma):
    ...     error = scores - labels
    ...     return error @ error / 2, 1.02 * error, 0 * error + 1
    >>> check_gradient(steep, sigmas=[1.0])
    Traceback (most recent call last):
    ...
    AssertionError: steep: gradient is the slope? no, error 0.0178 at sigma 1 ...
    """
    checked = get_objective(objective)
    grades = np.unique(np.asarray(labels, dtype=np.float64))
    if grades.size < 2:
        raise ArgumentError("labels", "must hold two labels or more", repr(labels))
    check_number(random_state, "random_state", 0, integer=True)
    rng = np.random.default_rng(random_state)
    queries = Queries.from_sizes(SIZES)
    drawn = rng.choice(grades, queries.n_documents)
    drawn[queries.index == 2] = grades[-1]  # where all labels are equal
    parts = [(rng.permutation(m) + rng.uniform(0.1, 0.9, m)) / m for m in SIZES]
    scores = 4.0 * np.concatenate(parts) - 2.0
    bound = checked.bind(drawn, queries)
    outcomes = []
    for sigma in [check_sigma(width, "sigmas") for width in sigmas]:
        for check, tolerance, errors in _errors(bound, drawn, scores, sigma):
            row = int(np.argmax(np.where(np.isnan(errors), np.inf, errors)))
            place = int(queries.index[row])
            outcomes.append(CheckedGradient(check, sigma, float(errors[row]), tolerance, place))
    if failed := [outcome for outcome in outcomes if not outcome.passed]:
        raise AssertionError(f"{checked}: {'; '.join(map(str, failed))}.")
    return GradientChecks(outcomes)


def _errors(
    bound: BoundObjective, labels: Vector, scores: Vector, sigma: float
) -> Iterator[tuple[str, float, Vector]]:
    """Yield each check, the largest error that it may have, and the error of each document."""

    def derivatives(scores: Vector) -> Matrix:
        return np.stack(bound.gradients(scores, sigma))

    facts, queries, index = bound.objective.facts, bound.queries, bound.queries.index
    gradient, curvature = derivatives(scores)
    slope = _differences(lambda moved: bound.loss(moved, sigma)[index], scores, queries)
    yield "gradient is the slope", 5e-3, _relative(slope - gradient, gradient)

    positive = (curvature > SMALLEST_CURVATURE) | (gradient == 0.0)
    yield "curvature is positive", 0.0, np.where(positive, 0.0, np.inf)

    if facts.second_derivative:
        second = _differences(lambda moved: derivatives(moved)[0], scores, queries)
        short = np.maximum(second - curvature, 0.0)
        yield "curvature ≥ second derivative", 5e-3, _relative(short, curvature)

    if facts.shift_invariant:
        shifted, _ = derivatives(scores + 1.0 + index)
        total = np.abs(np.bincount(index, gradient)[index])
        yield "shifts change nothing", 1e-9, _relative(np.abs(shifted - gradient) + total, gradient)

    rounded = np.round(scores)
    keys = np.column_stack([index, rounded, labels])
    _, first, same = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    tied = derivatives(rounded)
    yield "ties are equal", 0.0, np.abs(tied - tied[:, first[same.ravel()]]).sum(0)

    turned = bound.objective.bind(labels[::-1], Queries.from_qid(index[::-1]))
    changes = [
        np.stack(turned.gradients(these[::-1], sigma))[:, ::-1] - derivatives(these)
        for these in (scores, rounded)
    ]
    yield "order changes no bit", 0.0, np.abs(changes).sum((0, 1))

    unbounded = np.zeros(len(scores))
    for size in EXTREME:
        try:
            derivatives(size * np.sign(scores))
        except RuntimeError:  # which names a query, but not whose score it was
            unbounded += np.inf
    yield "extremes are finite", 0.0, unbounded


def _differences(function: Callable[[Vector], Vector], scores: Vector, queries: Queries) -> Vector:
    """Return central differences of a function of documents by each one's score."""
    place = np.arange(len(scores)) - queries.offsets[queries.index]
    slopes = np.empty(len(place))
    for row in range(max(SIZES)):
        step = STEP * (place == row)
        change = function(scores + step) - function(scores - step)
        slopes[place == row] = (change / (2 * STEP))[place == row]
    return slopes


def _relative(errors: Vector, values: Vector) -> Vector:
    """Return how large errors are, relative to the values, or to a share of the largest one."""
    sizes = np.abs(values)
    return np.abs(errors) / (sizes + SMALL * sizes.max(initial=1e-300))
