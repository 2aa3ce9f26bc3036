"""`check_gradient` passes what is right, and finds each fault that it names."""

import ast
import re
from typing import Any

import numpy as np
import pytest

from gbrank import Queries
from gbrank.extend import Facts, Objective, check_gradient, custom_objective


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

    def runner(self, documents: Any, n_jobs: Any, rounds: Any) -> Any:
        """Return the evaluator."""

        class Runner:
            def values(self, scores: Any, sigma: float, round: int = 0) -> Any:
                return np.bincount(documents.queries.index, (scores - documents.y) ** 2 / 2)

            def gradients(self, scores: Any, sigma: float, round: int, weights: Any) -> Any:
                return change(scores - documents.y), np.full(len(scores), 0.5)

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


@pytest.mark.parametrize("factor", [1e-3, 2e-3])
def test_a_curvature_far_too_small(factor: float) -> None:
    """Newton steps of a thousand times the error are refused; a tenth of the curvature is not."""
    with pytest.raises(AssertionError, match=r"Newton steps are short\? no, error \d+"):
        check_gradient(wrong(lambda s, g, h: (g, factor * h)), sigmas=[1.0])
    check_gradient(wrong(lambda s, g, h: (g, 0.1 * h)), sigmas=[1.0])


def test_the_scores_of_a_wrong_gradient_are_named() -> None:
    """They and the labels are what the function was wrong for."""
    with pytest.raises(AssertionError) as caught:
        check_gradient(wrong(lambda s, g, h: (g + 0.5 * (s == s.max()), h)), sigmas=[1.0])
    number, scores, labels = re.search(
        r"slope\? no.* document (\d+) of the scores (\[.*?\]) with labels (\[.*?\])",
        str(caught.value),
    ).groups()  # type: ignore[union-attr]
    values = ast.literal_eval(scores)
    assert values[int(number)] == max(values)
    assert len(ast.literal_eval(labels)) == len(values)


class Pulled(Objective):
    """Σ (s − mean s)²/2 + s/5, which is wrongly declared to be shift-invariant."""

    name = "pulled"
    declared = Facts("Σ (s − mean s)²/2 + s/5", "a test")

    def __str__(self) -> str:
        """Return the name."""
        return self.name

    def runner(self, documents: Any, n_jobs: Any, rounds: Any) -> Any:
        """Return the evaluator."""
        index, sizes = documents.queries.index, documents.queries.sizes

        class Runner:
            def values(self, scores: Any, sigma: float, round: int = 0) -> Any:
                centered = scores - (np.bincount(index, scores) / sizes)[index]
                return np.bincount(index, centered**2 / 2 + scores / 5)

            def gradients(self, scores: Any, sigma: float, round: int, weights: Any) -> Any:
                centered = scores - (np.bincount(index, scores) / sizes)[index]
                return centered + 0.2, np.ones(len(scores))

        return Runner()


def test_sums_of_gradients() -> None:
    """Shifts change no gradient, but the loss: the sums are what gives it away."""
    with pytest.raises(AssertionError) as caught:
        check_gradient(Pulled(), sigmas=[1.0])
    assert "shifts change nothing? no" in str(caught.value)
    assert "gradient is the slope? no" not in str(caught.value)


def plackett_luce(scores: Any, labels: Any, sigma: float, rng: np.random.Generator) -> Any:
    """Policy gradient of DCG over 16 orders drawn by Plackett and Luce."""
    order = np.argsort(-(scores / sigma + rng.gumbel(size=(16, len(scores)))))
    z = scores[order] / sigma
    rest = np.logaddexp.accumulate(z[:, ::-1], axis=1)[:, ::-1]
    chances = np.triu(np.exp(np.minimum(z[:, None, :] - rest[:, :, None], 0.0))).sum(axis=1)
    rewards = labels[order] @ (1 / np.log2(np.arange(2, 2 + len(scores))))
    advantage = (rewards - rewards.mean()) * 16 / 15
    drawn = -advantage[:, None] * (1.0 - chances) / sigma
    gradient = np.bincount(order.ravel(), drawn.ravel()) / 16
    return -rewards.mean(), gradient, np.abs(gradient) / sigma


def doubled(scores: Any, labels: Any, sigma: float, rng: np.random.Generator) -> Any:
    """Twice the gradient."""
    loss, gradient, curvature = plackett_luce(scores, labels, sigma, rng)
    return loss, 2 * gradient, curvature


def test_random_objectives_by_their_means() -> None:
    """The mean over draws is the slope of the mean loss, and a doubled one is found."""
    checks = check_gradient(plackett_luce, labels=[0, 1], sigmas=[1.0], draws=25)
    assert checks.outcomes[0].check == "mean gradient is the slope"
    with pytest.raises(AssertionError, match="mean gradient is the slope"):
        check_gradient(doubled, labels=[0, 1], sigmas=[1.0], draws=25)
    check_gradient("xendcg", draws=10)


def test_draws_depend_on_seed_round_and_query() -> None:
    """Not on the order of queries or rows."""
    labels, scores = np.array([1.0, 0, 2, 0, 1, 0]), np.arange(6.0)
    qid = np.array([7, 7, 7, 9, 9, 9])

    def gradient(seed: int = 0, round: int = 0, rows: Any = slice(None)) -> Any:
        objective = custom_objective(plackett_luce, seed=seed)
        bound = objective.bind(labels[rows], Queries.from_qid(qid[rows]))
        return bound.gradients(scores[rows], 5.0, round)[0].tolist()

    assert custom_objective(plackett_luce).facts.stochastic
    assert gradient(rows=slice(None, None, -1)) == gradient()[::-1]
    assert gradient() != gradient(round=1)
    assert gradient() != gradient(seed=1)
