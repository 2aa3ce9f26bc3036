"""The condition for a cost to exist, on lambdas of which it is known."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbrank import check_lambdas

SCORES = [0.3, -1.0, 0.8, 0.1]


@given(st.integers(0, 9999), st.integers(1, 6))
@settings(max_examples=50)
def test_linear_lambdas(seed: int, m: int) -> None:
    """λ = A s: asymmetry and eigenvalue are those of A."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(m, m))
    found = check_lambdas(lambda s: A @ s, rng.normal(size=m))
    assert found.asymmetry == pytest.approx(np.abs(A - A.T).max() / np.abs(A).max(), abs=1e-7)
    smallest = np.linalg.eigvalsh(A + A.T).min() / 2
    assert found.smallest_eigenvalue == pytest.approx(smallest, abs=1e-7)


def test_ranknet_has_a_convex_cost() -> None:
    """λ_i = −Σ_j 1/(1 + exp(s_i − s_j)) over the pairs that should stand in this order."""

    def ranknet(s: Any) -> Any:
        push = np.triu(1 / (1 + np.exp(s[:, None] - s[None, :])), 1)
        return push.sum(axis=0) - push.sum(axis=1)

    found = check_lambdas(ranknet, SCORES)
    assert found.asymmetry < 1e-8
    assert found.smallest_eigenvalue > -1e-8


def test_one_sided_pushes_have_none() -> None:
    """Where only the better of two documents moves, forces are not equal and opposite."""

    def one_sided(s: Any) -> Any:
        return -np.triu(1 / (1 + np.exp(s[:, None] - s[None, :])), 1).sum(axis=1)

    assert check_lambdas(one_sided, SCORES).asymmetry > 0.1


def test_near_equality() -> None:
    """A rotation of one part in ten thousand is seen, one of none is not."""
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    for size in (0.0, 1e-4):
        matrix = np.eye(2) + size * turn
        found = check_lambdas(lambda s, A=matrix: A @ s, [1.0, 2.0])
        assert found.asymmetry == pytest.approx(2 * size, abs=1e-9)


def test_constant_lambdas() -> None:
    """The paper: both conditions hold trivially."""
    assert check_lambdas(lambda s: np.ones(4), SCORES) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: check_lambdas(lambda s: s[1:], SCORES), "lambdas must have 4 entries, got 3"),
        (lambda: check_lambdas(lambda s: s / 0 * 0, [0.0]), "lambdas must be finite, got nan"),
        (lambda: check_lambdas(np.negative, [np.inf]), "scores must be finite, got inf"),
        (lambda: check_lambdas(np.negative, SCORES, 0), "step must be a number above 0"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_bad_arguments(call: Any, message: str) -> None:
    """Errors name the argument, what it was and what it should be."""
    with pytest.raises(ValueError, match=message):
        call()
