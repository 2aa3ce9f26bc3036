"""Checks of an objective: whether its gradient is the slope of its loss, and what boosters need."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.argument_error import ArgumentError
from gbrank.common.arrays import Vector
from gbrank.common.checks import check_number
from gbrank.common.table import Table, Tabular
from gbrank.data.queries import Queries
from gbrank.engine.query_loop import SMALLEST_CURVATURE
from gbrank.objectives.objective import BoundObjective, Facts, Objective
from gbrank.objectives.objective_registry import get_objective
from gbrank.schedules import check_sigma

STEP = 1e-5  # of central differences, where scores are apart by 1/200 or more
SMALL = 0.1  # errors are relative to a gradient, or to this share of the largest one
SIZES = (1, 2, 3, 5, 8, 13, 21)
EXTREME = (1e100, 1e-300)
HEAD = ("check", "sigma", "largest error", "at most", "query", "passed")


class Lists(NamedTuple):
    """Labels and scores of the queries that an objective is checked on."""

    labels: Vector
    scores: Vector
    queries: Queries

    def bind(self, objective: Objective) -> BoundObjective:
        """Bind an objective to the labels."""
        return objective.bind(self.labels, self.queries)


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
    lists = _random_lists(grades, np.random.default_rng(random_state))
    outcomes = [
        _outcome(name, sigma, tolerance, errors(checked, lists, sigma), lists)
        for sigma in (check_sigma(width, "sigmas") for width in sigmas)
        for name, tolerance, errors, applies in CHECKS
        if applies(checked.facts)
    ]
    if failed := [outcome for outcome in outcomes if not outcome.passed]:
        raise AssertionError(f"{checked}: {'; '.join(map(str, failed))}.")
    return GradientChecks(outcomes)


def _random_lists(grades: Vector, rng: np.random.Generator) -> Lists:
    """Return lists of one to 21 documents; in one of them all labels are equal."""
    queries = Queries.from_sizes(SIZES)
    labels = rng.choice(grades, queries.n_documents)
    labels[queries.index == 2] = grades[-1]
    scores = [(rng.permutation(m) + rng.uniform(0.1, 0.9, m)) / m for m in SIZES]
    return Lists(labels, 4.0 * np.concatenate(scores) - 2.0, queries)


def _outcome(
    check: str, sigma: float, tolerance: float, errors: Vector, lists: Lists
) -> CheckedGradient:
    """Return the outcome of a check: the largest of the documents' errors, and where it is."""
    row = int(np.argmax(np.where(np.isnan(errors), np.inf, np.abs(errors))))
    query = int(lists.queries.index[row])
    return CheckedGradient(check, sigma, float(np.abs(errors[row])), tolerance, query)


def _relative(errors: Vector, values: Vector) -> Vector:
    """Return errors relative to the values, or to a share of the largest where these are small."""
    sizes = np.abs(values)
    return errors / (sizes + SMALL * sizes.max(initial=1e-300))


def _differences(lists: Lists, function: Callable[[Vector], Vector]) -> Vector:
    """Return central differences of a function of documents by each document's own score."""
    place = np.arange(lists.queries.n_documents) - lists.queries.offsets[lists.queries.index]
    slopes = np.empty(len(place))
    for row in range(max(SIZES)):
        step = STEP * (place == row)
        change = function(lists.scores + step) - function(lists.scores - step)
        slopes[place == row] = (change / (2 * STEP))[place == row]
    return slopes


def _errors_of_slope(objective: Objective, lists: Lists, sigma: float) -> Vector:
    bound = lists.bind(objective)
    gradient, _ = bound.gradients(lists.scores, sigma)
    slopes = _differences(lists, lambda scores: bound.loss(scores, sigma)[lists.queries.index])
    return _relative(slopes - gradient, gradient)


def _errors_of_second(objective: Objective, lists: Lists, sigma: float) -> Vector:
    bound = lists.bind(objective)
    _, curvature = bound.gradients(lists.scores, sigma)
    second = _differences(lists, lambda scores: bound.gradients(scores, sigma)[0])
    return _relative(np.maximum(second - curvature, 0.0), curvature)


def _errors_of_sign(objective: Objective, lists: Lists, sigma: float) -> Vector:
    gradient, curvature = lists.bind(objective).gradients(lists.scores, sigma)
    return np.where((curvature > SMALLEST_CURVATURE) | (gradient == 0.0), 0.0, np.inf)


def _errors_of_shifts(objective: Objective, lists: Lists, sigma: float) -> Vector:
    bound, queries = lists.bind(objective), lists.queries
    gradient, _ = bound.gradients(lists.scores, sigma)
    shifted, _ = bound.gradients(lists.scores + 1.0 + queries.index, sigma)
    sums = np.bincount(queries.index, gradient)[queries.index]
    return _relative(np.abs(shifted - gradient) + np.abs(sums), gradient)


def _errors_of_ties(objective: Objective, lists: Lists, sigma: float) -> Vector:
    scores = np.round(lists.scores)
    derivatives = np.stack(lists.bind(objective).gradients(scores, sigma))
    keys = np.column_stack([lists.queries.index, scores, lists.labels])
    _, first, same = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return np.abs(derivatives - derivatives[:, first[same.ravel()]]).sum(0)


def _errors_of_order(objective: Objective, lists: Lists, sigma: float) -> Vector:
    rows = np.arange(lists.queries.n_documents)[::-1]
    queries = Queries.from_qid(lists.queries.index[rows])
    errors = np.zeros(len(rows))
    for scores in (lists.scores, np.round(lists.scores)):
        expected = np.stack(lists.bind(objective).gradients(scores, sigma))
        turned = objective.bind(lists.labels[rows], queries).gradients(scores[rows], sigma)
        errors += np.abs(np.stack(turned)[:, rows] - expected).sum(0)
    return errors


def _errors_of_extremes(objective: Objective, lists: Lists, sigma: float) -> Vector:
    bound, errors = lists.bind(objective), np.zeros(lists.queries.n_documents)
    for size in EXTREME:
        try:
            bound.gradients(size * np.sign(lists.scores), sigma)
        except RuntimeError:  # names a query, but not whose score it was
            errors += np.inf
    return errors


def _always(facts: Facts) -> bool:
    return True


CHECKS: tuple[
    tuple[str, float, Callable[[Objective, Lists, float], Vector], Callable[[Facts], bool]], ...
] = (
    ("gradient is the slope", 5e-3, _errors_of_slope, _always),
    ("curvature is positive", 0.0, _errors_of_sign, _always),
    (
        "curvature ≥ second derivative",
        5e-3,
        _errors_of_second,
        lambda facts: facts.second_derivative,
    ),
    (
        "shifts change nothing",
        1e-9,
        _errors_of_shifts,
        lambda facts: facts.shift_invariant,
    ),
    ("ties are equal", 0.0, _errors_of_ties, _always),
    ("order changes no bit", 0.0, _errors_of_order, _always),
    ("extremes are finite", 0.0, _errors_of_extremes, _always),
)
