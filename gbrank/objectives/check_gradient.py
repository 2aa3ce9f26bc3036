"""Checks of an objective: whether its gradient is the slope of its loss, and what boosters need."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.argument_error import ArgumentError
from gbrank.common.arrays import Matrix, Vector
from gbrank.common.checks import check_number
from gbrank.common.table import Table, Tabular
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
    outcomes = []
    for sigma in [check_sigma(width, "sigmas") for width in sigmas]:
        lists = RandomLists(checked, drawn, scores, queries, sigma)
        for check, tolerance, errors_of, fact in CHECKS:
            if fact is None or getattr(checked.facts, fact):
                errors = np.abs(errors_of(lists))
                row = int(np.argmax(np.where(np.isnan(errors), np.inf, errors)))
                place = int(queries.index[row])
                outcome = CheckedGradient(check, sigma, float(errors[row]), tolerance, place)
                outcomes.append(outcome)
    if failed := [outcome for outcome in outcomes if not outcome.passed]:
        raise AssertionError(f"{checked}: {'; '.join(map(str, failed))}.")
    return GradientChecks(outcomes)


@dataclass(frozen=True, eq=False)
class RandomLists:
    """Labels and scores of lists, and the checks of an objective on them: errors by document."""

    objective: Objective
    labels: Vector
    scores: Vector
    queries: Queries
    sigma: float

    @cached_property
    def bound(self) -> BoundObjective:
        """The objective, bound to the labels."""
        return self.objective.bind(self.labels, self.queries)

    def derivatives(self, scores: Vector) -> Matrix:
        """Return gradients and curvatures, a row of each."""
        return np.stack(self.bound.gradients(scores, self.sigma))

    def differences(self, function: Callable[[Vector], Vector]) -> Vector:
        """Return central differences of a function of documents by each one's own score."""
        index = self.queries.index
        place = np.arange(len(index)) - self.queries.offsets[index]
        slopes = np.empty(len(place))
        for row in range(max(SIZES)):
            step = STEP * (place == row)
            change = function(self.scores + step) - function(self.scores - step)
            slopes[place == row] = (change / (2 * STEP))[place == row]
        return slopes

    def slope(self) -> Vector:
        """Compare gradients with differences of losses."""
        gradient, _ = self.derivatives(self.scores)
        slopes = self.differences(lambda s: self.bound.loss(s, self.sigma)[self.queries.index])
        return _relative(slopes - gradient, gradient)

    def second(self) -> Vector:
        """Compare curvatures with differences of gradients."""
        _, curvature = self.derivatives(self.scores)
        second = self.differences(lambda scores: self.derivatives(scores)[0])
        return _relative(np.maximum(second - curvature, 0.0), curvature)

    def sign(self) -> Vector:
        """Find gradients without a curvature."""
        gradient, curvature = self.derivatives(self.scores)
        return np.where((curvature > SMALLEST_CURVATURE) | (gradient == 0.0), 0.0, np.inf)

    def shifts(self) -> Vector:
        """Add the sum of a query's gradients, and their change when its scores are shifted."""
        index = self.queries.index
        gradient, _ = self.derivatives(self.scores)
        shifted, _ = self.derivatives(self.scores + 1.0 + index)
        return _relative(
            np.abs(shifted - gradient) + np.abs(np.bincount(index, gradient)[index]), gradient
        )

    def ties(self) -> Vector:
        """Compare documents of equal score and label."""
        scores = np.round(self.scores)
        derivatives = self.derivatives(scores)
        keys = np.column_stack([self.queries.index, scores, self.labels])
        _, first, same = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        return np.abs(derivatives - derivatives[:, first[same.ravel()]]).sum(0)

    def order(self) -> Vector:
        """Compare with the same rows in turned order, with and without ties."""
        queries = Queries.from_qid(self.queries.index[::-1])
        turned = replace(self, labels=self.labels[::-1], queries=queries)
        changes = [
            turned.derivatives(scores[::-1])[:, ::-1] - self.derivatives(scores)
            for scores in (self.scores, np.round(self.scores))
        ]
        return np.abs(changes).sum((0, 1))

    def extremes(self) -> Vector:
        """Find what is not finite; the error names a query, but not whose score it was."""
        errors = np.zeros(len(self.scores))
        for size in EXTREME:
            try:
                self.derivatives(size * np.sign(self.scores))
            except RuntimeError:
                errors += np.inf
        return errors


def _relative(errors: Vector, values: Vector) -> Vector:
    """Return errors relative to the values, or to a share of the largest where these are small."""
    sizes = np.abs(values)
    return errors / (sizes + SMALL * sizes.max(initial=1e-300))


# Each with the largest error that it may have, and the fact that it is for.
CHECKS: tuple[tuple[str, float, Callable[[RandomLists], Vector], str | None], ...] = (
    ("gradient is the slope", 5e-3, RandomLists.slope, None),
    ("curvature is positive", 0.0, RandomLists.sign, None),
    ("curvature ≥ second derivative", 5e-3, RandomLists.second, "second_derivative"),
    ("shifts change nothing", 1e-9, RandomLists.shifts, "shift_invariant"),
    ("ties are equal", 0.0, RandomLists.ties, None),
    ("order changes no bit", 0.0, RandomLists.order, None),
    ("extremes are finite", 0.0, RandomLists.extremes, None),
)
