"""Checks of an objective: whether its gradient is the slope of its loss, and what boosters need."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.checks import ArgumentError, Function, Matrix, Vector, check_integer
from gbrank.common.table import Table, Tabular
from gbrank.data.queries import Queries
from gbrank.engine.query_loop import SMALLEST_CURVATURE
from gbrank.schedules import check_sigma

from .objective import BoundObjective, Objective
from .objective_registry import get_objective

STEP = 1e-5  # of central differences, where scores are apart by 1/200 or more
TOLERANCE = 5e-3
RANDOM_STEP = 0.1  # of differences of random losses, in widths
MOST_STANDARD_ERRORS = 5.0
LONGEST_STEP = 100.0  # in widths
SMALL = 0.1  # errors are relative to a gradient, or to this share of the largest one
SIZES = (1, 2, 3, 5, 8, 13, 21)
EXTREME = (1e100, 1e-300)


class CheckedGradient(NamedTuple):
    """The outcome of one check of a gradient."""

    check: str
    sigma: float
    error: float
    tolerance: float
    query: int  # the number of that with the largest error
    where: str  # the document, and the scores and labels of the query

    @property
    def passed(self) -> bool:
        """Whether the error is at most the tolerance; NaN is not."""
        return self.error <= self.tolerance

    def __str__(self) -> str:
        """Write the check, its answer, and where the largest error is."""
        answer = "yes" if self.passed else "no"
        at = f"at sigma {self.sigma:g} in query {self.query}, {self.where}"
        return f"{self.check}? {answer}, error {self.error:.3g} {at} (at most {self.tolerance:g})"


@dataclass(eq=False)
class GradientChecks(Tabular):
    """The outcomes of `check_gradient`, shown as a table."""

    outcomes: list[CheckedGradient]

    def __repr__(self) -> str:
        """Write the table as text."""
        return self._table().to_text()

    def _table(self) -> Table:
        rows = [(*outcome[:5], "yes" if outcome.passed else "NO") for outcome in self.outcomes]
        head = ("check", "sigma", "largest error", "at most", "query", "passed")
        return Table(head, rows, words=(0, 5))


def check_gradient(
    objective: str | Objective | Function,
    *,
    labels: ArrayLike = (0.0, 1.0, 2.0, 3.0),
    sigmas: Sequence[float] = (0.3, 1.0, 3.0),
    random_state: int = 0,
    draws: int | None = None,
) -> GradientChecks:
    """Check the gradient and the curvature of an objective on random lists.

    At each sigma: the gradient is the slope of the loss, (L(s + h) − L(s − h)) / 2h, where no two
    documents swap ranks; the curvature is positive, makes no Newton step |gradient|/curvature of
    more than 100 widths (sigma, or the range of labels if that is larger), and is no less than the
    second derivative where the facts declare one; where they declare that shifts do not matter,
    gradients sum to zero and a constant on all scores of a query changes nothing; documents of
    equal score and label have equal derivatives; the order of rows changes no bit; scores of ±1e100
    and ±1e-300 give finite ones.

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
    draws : int, optional
        For random objectives: compares the mean gradient of this many rounds with the slope of the
        mean loss, over a tenth of sigma, in standard errors. By default, gradient and loss of one
        round are compared, as for objectives that draw nothing.

    Returns
    -------
    GradientChecks
        The largest error of each check, and what it may be.

    Raises
    ------
    AssertionError
        If a check fails: the message names each such check, its sigma, its error, and the scores
        and labels of the query.
    ValueError
        If an argument is not usable.

    Examples
    --------
    >>> from gbrank.extend import check_gradient
    >>> len(check_gradient("approx:ndcg", sigmas=[1.0]).outcomes)
    7
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
        raise ArgumentError("labels", "must hold at least two distinct labels", repr(labels))
    check_integer(random_state, "random_state", 0)
    check_integer(draws, "draws", 2, optional=True)
    queries = Queries.from_sizes(SIZES)
    rng = np.random.default_rng(random_state)
    drawn = rng.choice(grades, queries.n_documents)
    drawn[queries.index == 2] = grades[-1]  # where all labels are equal
    parts = [(rng.permutation(m) + rng.uniform(0.1, 0.9, m)) / m for m in SIZES]
    scores = 4.0 * np.concatenate(parts) - 2.0
    bound = checked.bind(drawn, queries)
    outcomes = []
    for sigma in [check_sigma(width, "sigmas") for width in sigmas]:
        for check, tolerance, errors in _errors(bound, drawn, scores, sigma, draws):
            row = int(np.argmax(errors))  # NaN, if there is one
            query = int(queries.index[row])
            rows = queries.index == query
            shown = f"{np.round(scores[rows], 3).tolist()} with labels {drawn[rows].tolist()}"
            where = f"document {row - np.argmax(rows)} of the scores {shown}"
            outcomes.append(
                CheckedGradient(check, sigma, float(errors[row]), tolerance, query, where)
            )
    if failed := [outcome for outcome in outcomes if not outcome.passed]:
        raise AssertionError(f"{checked}: {'; '.join(map(str, failed))}.")
    return GradientChecks(outcomes)


def _errors(
    bound: BoundObjective, labels: Vector, scores: Vector, sigma: float, draws: int | None
) -> Iterator[tuple[str, float, Vector]]:
    """Yield each check, the largest error that it may have, and the error of each document."""

    def derivatives(scores: Vector) -> Matrix:
        return np.stack(bound.gradients(scores, sigma))

    facts = bound.objective.facts
    index = bound.queries.index
    gradient, curvature = derivatives(scores)
    if draws is None:
        slope = _slopes(bound, scores, sigma, 0, STEP)
        yield "gradient is the slope", TOLERANCE, _relative(slope - gradient, gradient)
    else:
        errors = _standard_errors(bound, scores, sigma, draws)
        yield "mean gradient is the slope", MOST_STANDARD_ERRORS, errors
    positive = (curvature > SMALLEST_CURVATURE) | (gradient == 0.0)
    yield "curvature is positive", 0.0, np.where(positive, 0.0, np.inf)
    with np.errstate(over="ignore"):
        steps = np.abs(gradient) / np.maximum(curvature, SMALLEST_CURVATURE)
    yield "Newton steps are short", LONGEST_STEP, steps / max(sigma, np.ptp(labels))

    if facts.second_derivative:
        second = _differences(lambda moved: derivatives(moved)[0], scores, bound.queries, STEP)
        short = np.maximum(second - curvature, 0.0)
        yield "curvature ≥ second derivative", TOLERANCE, _relative(short, curvature)

    if facts.shift_invariant:
        shifted, _ = derivatives(scores + 1.0 + index)
        total = np.abs(np.bincount(index, gradient)[index])
        yield "shifts change nothing", 1e-9, _relative(np.abs(shifted - gradient) + total, gradient)

    rounded = np.round(scores)
    keys = np.column_stack([index, rounded, labels])
    _, first, same = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    tied = derivatives(rounded)
    yield "ties are equal", 0.0, np.abs(tied - tied[:, first[same.ravel()]]).sum(0)

    backward = bound.objective.bind(labels[::-1], Queries.from_qid(index[::-1]))
    turned = [np.stack(backward.gradients(s[::-1], sigma))[:, ::-1] for s in (scores, rounded)]
    changes = np.array(turned) - [(gradient, curvature), tied]
    yield "order changes no bit", 0.0, np.abs(changes).sum(axis=(0, 1))
    error = 0.0
    try:
        for size in EXTREME:
            derivatives(size * np.sign(scores))
    except RuntimeError:  # which names a query, but not whose score it was
        error = np.inf
    yield "extremes are finite", 0.0, np.full(len(scores), error)


def _standard_errors(bound: BoundObjective, scores: Vector, sigma: float, draws: int) -> Vector:
    """Compute how many standard errors the mean gradient is from the slope of the mean loss."""
    gradients = np.array([bound.gradients(scores, sigma, draw)[0] for draw in range(draws)])
    step = RANDOM_STEP * sigma
    slopes = np.array([_slopes(bound, scores, sigma, draw, step) for draw in range(draws)])
    differences = slopes - gradients
    error = differences.std(axis=0, ddof=1) / np.sqrt(draws)
    mean = gradients.mean(axis=0)
    return np.abs(differences.mean(axis=0)) / (error + TOLERANCE * _sizes(mean))


def _slopes(bound: BoundObjective, scores: Vector, sigma: float, round: int, step: float) -> Vector:
    def losses(moved: Vector) -> Vector:
        return bound.loss(moved, sigma, round)[bound.queries.index]

    return _differences(losses, scores, bound.queries, step)


def _differences(
    function: Callable[[Vector], Vector], scores: Vector, queries: Queries, step: float
) -> Vector:
    """Compute central differences of a function of documents by each one's score."""
    place = queries.places
    slopes = np.empty(len(place))
    for row in range(max(SIZES)):
        change = function(scores + step * (place == row)) - function(scores - step * (place == row))
        slopes[place == row] = (change / (2 * step))[place == row]
    return slopes


def _relative(errors: Vector, values: Vector) -> Vector:
    return np.abs(errors) / _sizes(values)


def _sizes(values: Vector) -> Vector:
    """Compute sizes of values, of small ones a share of the largest."""
    sizes = np.abs(values)
    return sizes + SMALL * sizes.max(initial=1e-300)
