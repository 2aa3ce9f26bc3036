"""What workers tell each other: on several of them, the numbers of one."""

import threading
from collections.abc import Callable
from contextvars import Context
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from gbrank import NDCG, Queries, make_cubic
from gbrank.boosters.gradient_hook import GradientHook
from gbrank.data.sampling import nth_smallest
from gbrank.data.schema import Schema
from gbrank.data.spread import spread_within_queries
from gbrank.fit.calibration import fit_calibration
from gbrank.parallel.collective import anywhere, gather, joined, largest, n_workers, total
from gbrank.parallel.sums import mean_of_any_order

X, Y, QID = make_cubic(30, n_documents=12, n_features=5, random_state=0)


class Thread:
    """A worker that is a thread."""

    def __init__(self, rank: int, board: list[Any], barrier: threading.Barrier) -> None:
        self.rank, self.size = rank, len(board)
        self._board, self._barrier = board, barrier

    def gather(self, value: Any) -> list[Any]:
        self._board[self.rank] = value
        self._barrier.wait(60)
        values = list(self._board)
        self._barrier.wait(60)
        return values

    def total(self, values: Any) -> Any:
        return sum(self.gather(values))

    def largest(self, values: Any) -> Any:
        return np.max(self.gather(values), axis=0)


def on_workers(task: Callable[[int], Any], n: int) -> list[Any]:
    """Return what a function of the rank gives on each of several workers."""
    board, results = [None] * n, [None] * n
    barrier = threading.Barrier(n)

    def work(rank: int) -> None:
        with joined(Thread(rank, board, barrier)):
            results[rank] = task(rank)

    threads = [threading.Thread(target=Context().run, args=(work, rank)) for rank in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_alone() -> None:
    assert (n_workers(), total(3), largest(2.5), gather("a")) == (1, 3, 2.5, ["a"])
    assert anywhere(True)
    assert not anywhere(False)


def test_together() -> None:
    assert on_workers(lambda rank: n_workers(), 3) == [3, 3, 3]
    assert on_workers(lambda rank: gather(rank), 3) == [[0, 1, 2]] * 3
    assert on_workers(lambda rank: anywhere(rank == 1), 2) == [True, True]


values = st.lists(st.floats(0, 1e300), min_size=2, max_size=30)


@settings(deadline=None, max_examples=40)
@given(values)
def test_means_to_the_last_bit(numbers: list[float]) -> None:
    everything = np.array(numbers)
    parts = [everything[:1], everything[1:]]
    expected = mean_of_any_order(everything, len(everything))
    found = on_workers(lambda rank: mean_of_any_order(parts[rank], len(parts[rank])), 2)
    assert found == [expected, expected]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 2**64 - 1), min_size=2, max_size=30), st.data())
def test_the_nth_smallest(numbers: list[int], data: st.DataObject) -> None:
    everything = np.array(numbers, dtype=np.uint64)
    n = data.draw(st.integers(1, len(numbers)))
    parts = [everything[:1], everything[1:]]
    assert nth_smallest(everything, n) == sorted(numbers)[n - 1]
    found = on_workers(lambda rank: int(nth_smallest(parts[rank], n)), 2)
    assert found == [sorted(numbers)[n - 1]] * 2


# Two workers of unlike shares; queries are whole.
OWNER = (QID % 3 == 0).astype(int)
SCORES = np.random.default_rng(1).normal(size=len(Y)) * 3


@pytest.mark.parametrize(
    ("objective", "sigma"),
    [
        ("lambdarank", None),
        ("approx:ndcg", "geometric(1,0.1,unit='spread')"),
        ("smooth:ndcg", None),
        ("tie:ndcg", None),
        ("lambda:ndcg+pointwise", None),
        ("listnet+linear(0,1)*lambda:map", None),
        ("perturbed:ndcg", None),
        ("regression", None),
    ],
)
def test_gradients_to_the_last_bit(objective: str, sigma: str | None) -> None:
    weight = np.random.default_rng(2).uniform(0.5, 2, len(Y))

    def derivatives(rows: Any) -> Any:
        hook = GradientHook(objective, sigma, rounds=10)
        queries = Queries.from_qid(QID[rows])
        bound = hook.objective.bind(
            Y[rows], queries, sample_weight=weight[rows], rounds=10, n_jobs=1
        )
        return np.array(hook.derivatives(bound, SCORES[rows], 4))

    expected = derivatives(np.arange(len(Y)))
    found = np.empty_like(expected)
    parts = on_workers(lambda rank: derivatives(rank == OWNER), 2)
    for rank, part in enumerate(parts):
        found[:, rank == OWNER] = part
    assert_array_equal(found, expected)


def test_a_worker_without_a_gradient_is_no_error() -> None:
    def derivatives(rank: int) -> Any:
        hook = GradientHook("lambdarank")
        bound = hook.objective.bind([[1, 0], [1, 1]][rank], Queries.from_sizes([2]), n_jobs=1)
        return hook.derivatives(bound, np.zeros(2), 0)

    assert [bool(gradient.any()) for gradient, _ in on_workers(derivatives, 2)] == [True, False]


def test_measures() -> None:
    weights = np.random.default_rng(3).uniform(0, 5, 30)

    def mean(rows: Any) -> float:
        queries = Queries.from_qid(QID[rows])
        return NDCG(10).bind(Y[rows], queries, 1).mean(SCORES[rows], weights[queries.ids])

    expected = mean(np.arange(len(Y)))
    assert_allclose(on_workers(lambda rank: mean(rank == OWNER), 2), expected, rtol=1e-14)


def test_a_measure_that_one_worker_cannot_take() -> None:
    labels = [np.array([0.0, 1.0]), np.zeros(2)]

    def mean(rank: int) -> float:
        return NDCG().bind(labels[rank], Queries.from_sizes([2]), 1).mean(np.array([0.0, 1.0]))

    assert on_workers(mean, 2) == [1.0, 1.0]


def test_spread() -> None:
    def spread(rows: Any) -> float:
        return spread_within_queries(SCORES[rows], Queries.from_qid(QID[rows]))

    expected = spread(np.arange(len(Y)))
    assert on_workers(lambda rank: spread(rank == OWNER), 2) == [expected] * 2


def test_calibration() -> None:
    def fit(rows: Any) -> Any:
        found = fit_calibration(SCORES[rows] + Y[rows], Y[rows], None, 4.0)
        return found.slope, found.intercept

    expected = fit(np.arange(len(Y)))
    assert_allclose(on_workers(lambda rank: fit(rank == OWNER), 2), [expected] * 2, rtol=1e-6)


def test_schemas() -> None:
    parts = [Schema(2, ["a", "b"], [1], {1: ["x", "z"]}), Schema(2, ["a", "b"], [1], {1: ["y"]})]
    assert Schema.union(parts).categories == {1: ["x", "y", "z"]}
    with pytest.raises(ValueError, match="same columns in all partitions"):
        Schema.union([parts[0], Schema(2, ["a", "c"], [1], {1: ["y"]})])
