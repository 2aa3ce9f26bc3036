"""`check_gradient` passes what is right, and finds each fault that it names."""

from typing import Any

import numpy as np
import pytest

from gbrank.extend import Facts, Objective, check_gradient


def squares(scores: Any, labels: Any, sigma: float) -> Any:
    """Return the squared loss, whose gradient is the error."""
    error = scores - labels
    return error @ error / 2, error, np.ones(len(error))


def wrong(change: Any) -> Any:
    """Return the squared loss with a change of its gradient and curvature."""

    def function(scores: Any, labels: Any, sigma: float) -> Any:
        loss, gradient, curvature = squares(scores, labels, sigma)
        return loss, *change(scores, gradient, curvature)

    return function


class Rows(Objective):
    """The squared loss over all rows at once, with a change of it, and facts of one's choice."""

    name = "rows"

    def __init__(self, change: Any = lambda gradient: gradient, **facts: Any) -> None:
        self.change = change
        self.declared = Facts("(s − y)² / 2", "a test", **{"shift_invariant": False, **facts})

    def __str__(self) -> str:
        """Return the name."""
        return self.name

    def runner(self, binding: Any) -> Any:
        """Return the evaluator."""

        class Runner:
            def values(self, scores: Any, sigma: float, round: int = 0) -> Any:
                return np.bincount(binding.queries.index, (scores - binding.y) ** 2 / 2)

            def gradients(self, scores: Any, sigma: float, round: int, weights: Any) -> Any:
                return change(scores - binding.y), np.full(len(scores), 0.5)

        change = self.change
        return Runner()


def by_row(gradient: Any) -> Any:
    """Add a little to the gradients of later rows."""
    return gradient + 1e-9 * np.arange(len(gradient))


@pytest.mark.parametrize(
    "objective", [squares, "lambda:ndcg@3", "approx:ap", "smooth:ndcg", "tie:ndcg", "slam:map"]
)
def test_what_is_right_passes(objective: Any) -> None:
    """Functions and names; the table has a row for each check and sigma."""
    checks = check_gradient(objective)
    assert all(outcome.passed for outcome in checks.outcomes)
    assert {outcome.sigma for outcome in checks.outcomes} == {0.3, 1.0, 3.0}
    assert checks.to_pandas().shape == (len(checks.outcomes), 6)
    assert "gradient is the slope" in repr(checks)


@pytest.mark.parametrize(
    ("objective", "check"),
    [
        (wrong(lambda s, g, h: (1.02 * g, h)), "gradient is the slope"),
        (wrong(lambda s, g, h: (np.where(s > 1.5, 1.02, 1) * g, h)), "gradient is the slope"),
        (wrong(lambda s, g, h: (g, 0 * h)), "curvature is positive"),
        (Rows(by_row), "order changes no bit"),
        (Rows(by_row), "ties are equal"),
        (wrong(lambda s, g, h: (g, np.where(abs(s) > 9, np.inf, h))), "extremes are finite"),
        (Rows(shift_invariant=True), "shifts change nothing"),
        (Rows(second_derivative=True), "curvature ≥ second derivative"),
    ],
)
def test_what_is_wrong_is_named(objective: Any, check: str) -> None:
    """The message has the check, its error, sigma and query."""
    with pytest.raises(AssertionError, match=rf"{check}\? no, error .* at sigma .* in query \d"):
        check_gradient(objective)
