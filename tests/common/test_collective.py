"""What workers tell each other: on several of them, the numbers of one."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from gbrank import NDCG, GBRanker, Queries, make_cubic
from gbrank.boosters.staged_objective import LARGEST_SUM, StagedObjective
from gbrank.common.collective import all_any, all_gather, all_max, all_sum, n_workers
from gbrank.data.documents import Documents
from gbrank.data.sampling import nth_smallest
from gbrank.data.schema import Schema
from gbrank.data.spread import spread_within_queries
from gbrank.data.sums import order_free_mean
from gbrank.fit.checkpoints import Checkpoint
from threads_as_workers import on_workers

X, Y, QID = make_cubic(30, n_documents=12, n_features=5, random_state=0)
# Two workers of unlike shares; queries are whole.
OWNER = (QID % 3 == 0).astype(int)


def data_of(rank: int) -> dict[str, Any]:
    """Return the data of one of two workers."""
    rows = rank == OWNER
    return {"X": X[rows], "y": Y[rows], "qid": QID[rows]}


def test_together() -> None:
    assert on_workers(lambda rank: n_workers(), 3) == [3, 3, 3]
    assert on_workers(lambda rank: all_gather(rank), 3) == [[0, 1, 2]] * 3
    assert on_workers(lambda rank: all_any(rank == 1), 2) == [True, True]


def test_checkpoints_of_different_rounds(tmp_path: Path) -> None:
    """A worker was lost while it wrote: all begin anew. Otherwise all go on."""

    def rounds(folder: str) -> int | None:
        content = (tmp_path / "0" / "checkpoint.gbrank").read_bytes().split(b"\n")[1]
        earlier = Checkpoint(tmp_path / folder, 2, json.loads(content)["hashes"]).read()
        return None if earlier is None else earlier[0].done

    GBRanker(n_estimators=4, random_state=0).fit(X, Y, qid=QID, checkpoint=tmp_path / "0")
    assert on_workers(lambda rank: rounds(str(rank)), 2) == [None, None]
    assert on_workers(lambda rank: rounds("0"), 2) == [4, 4]


def fails(rank: int, error: Exception) -> int:
    """Fail on the second worker."""
    if rank == 1:
        raise error
    return rank


@pytest.mark.parametrize("ask", [all_sum, all_max, all_gather, all_any])
def test_an_error_ends_the_others_with_the_same_error(ask: Any) -> None:
    """Whatever they are asking for, of whatever shape."""
    error = ZeroDivisionError("on the second")
    assert on_workers(lambda rank: ask(fails(rank, error)), 3) == [error] * 3
    assert error.__cause__ is None  # nor itself, which Dask would follow for ever


def test_an_error_after_the_last_question() -> None:
    """Nobody ends well then; and an error that all have is the first one's."""
    late = ValueError("late")
    assert on_workers(lambda rank: fails(all_sum(rank) * 0 + rank, late), 2) == [late] * 2
    errors = [ValueError("0"), KeyError("1")]

    def both_fail(rank: int) -> None:
        raise errors[rank]

    assert on_workers(both_fail, 2) == [errors[0]] * 2


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"y": -1 * np.ones(120)}, "y must be at least 0"),
        ({"eval_set": [(X, Y)]}, "eval_set needs eval_qid"),
        ({"X": X[:120, :4]}, "same columns in all partitions"),
    ],
)
def test_a_fit_of_which_one_worker_has_bad_data(changed: dict[str, Any], message: str) -> None:
    """All of them end with what is wrong there."""

    def fit(rank: int) -> Any:
        data = data_of(rank) | (changed if rank == 1 else {})
        return GBRanker(booster="xgboost", n_estimators=2, n_jobs=1).fit(**data)

    found = on_workers(fit, 2)
    assert all(isinstance(error, ValueError) and message in str(error) for error in found)


def test_a_fit_that_fails_in_a_later_round_on_one_worker() -> None:
    """As a user's function may."""

    def fit(rank: int) -> Any:
        def broken(scores: Any, labels: Any, sigma: float) -> Any:
            if rank == 1 and scores.any():
                raise ZeroDivisionError("in the second round")
            return 0.0, scores - labels, np.ones(len(labels))

        return GBRanker(broken, booster="xgboost", n_estimators=3, n_jobs=1).fit(**data_of(rank))

    assert [str(error) for error in on_workers(fit, 2)] == ["in the second round"] * 2


@pytest.mark.parametrize("name", ["sample_weight", "query_weight"])
def test_weights_of_which_all_are_zero(name: str) -> None:
    """On all workers that is an error, and on one of them none."""

    def fit(rank: int, zero: list[bool]) -> Any:
        data = data_of(rank)
        size = len(data["y"]) if name == "sample_weight" else len(np.unique(data["qid"]))
        weights = np.zeros(size) if zero[rank] else np.ones(size)
        ranker = GBRanker(
            "listnet", booster="xgboost", n_estimators=2, min_child_samples=1, n_jobs=1
        )
        return ranker.fit(**data, **{name: weights}).best_iteration_

    assert on_workers(lambda rank: fit(rank, [True, False]), 2) == [2, 2]
    for error in on_workers(lambda rank: fit(rank, [True, True]), 2):
        assert "query_weight: all weights are zero; one must be positive." in str(error)


values = st.lists(st.floats(0, 1e300), min_size=2, max_size=30)


@settings(deadline=None, max_examples=40)
@given(values)
def test_means_to_the_last_bit(numbers: list[float]) -> None:
    everything = np.array(numbers)
    parts = [everything[:1], everything[1:]]
    expected = order_free_mean(everything, len(everything))
    found = on_workers(lambda rank: order_free_mean(parts[rank], len(parts[rank])), 2)
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


SCORES = np.random.default_rng(1).normal(size=len(Y)) * 3


@pytest.mark.parametrize(
    ("objective", "sigma"),
    [
        ("lambdarank", None),
        ("approx:ndcg", "geometric(1,0.1,unit='spread')"),
        ("lambda:ndcg+listmle", None),
        ("noisy:ndcg", None),
    ],
)
def test_gradients_to_the_last_bit(objective: str, sigma: str | None) -> None:
    weight = np.random.default_rng(2).uniform(0.5, 2, len(Y))

    def derivatives(rows: Any) -> Any:
        hook = StagedObjective(objective, sigma, rounds=10, n_jobs=1)
        queries = Queries.from_qid(QID[rows])
        part = Documents.checked(None, Y[rows], queries, sample_weight=weight[rows])
        return np.array(hook.derivatives(hook.bind(part), SCORES[rows], 7)[:2])

    expected = derivatives(np.arange(len(Y)))
    found = np.empty_like(expected)
    parts = on_workers(lambda rank: derivatives(rank == OWNER), 2)
    for rank, part in enumerate(parts):
        found[:, rank == OWNER] = part
    assert_array_equal(found, expected)


def test_a_worker_without_a_gradient_is_no_error() -> None:
    def derivatives(rank: int) -> Any:
        hook = StagedObjective("lambdarank")
        bound = hook.bind(Documents.checked(None, [[1, 0], [1, 1]][rank], Queries.from_sizes([2])))
        return hook.derivatives(bound, np.zeros(2), 0)[:2]

    assert [bool(gradient.any()) for gradient, _ in on_workers(derivatives, 2)] == [True, False]


def test_gradients_that_are_too_large_together() -> None:
    """Each worker's own would do for the booster; their sum is refused, by all of them."""

    def large(scores: Any, labels: Any, sigma: float) -> Any:
        size = 0.6 * LARGEST_SUM / len(labels)
        return 0.0, np.full(len(labels), size), np.ones(len(labels))

    def derivatives(rank: int) -> Any:
        hook = StagedObjective(large)
        bound = hook.bind(Documents.checked(None, [1, 0], Queries.from_sizes([2])))
        return hook.derivatives(bound, np.zeros(2), 0)[:2]

    (alone,) = on_workers(derivatives, 1)
    assert len(alone) == 2
    for error in on_workers(derivatives, 2):
        assert "gradients must sum to" in str(error)


def test_measures() -> None:
    weights = np.random.default_rng(3).uniform(0, 5, 30)

    def mean(rows: Any) -> float:
        queries = Queries.from_qid(QID[rows])
        bound = NDCG(10).bind(Y[rows], queries, 1)
        return replace(bound, weights=weights[queries.ids]).mean(SCORES[rows])

    expected = mean(np.arange(len(Y)))
    assert_allclose(on_workers(lambda rank: mean(rank == OWNER), 2), expected, rtol=1e-14)


def test_spread() -> None:
    def spread(rows: Any) -> float:
        return spread_within_queries(SCORES[rows], Queries.from_qid(QID[rows]))

    expected = spread(np.arange(len(Y)))
    assert on_workers(lambda rank: spread(rank == OWNER), 2) == [expected] * 2


def test_spread_where_one_worker_has_ties_only() -> None:
    """It takes part in the sums all the same, in the units of all."""
    scores, queries = np.array([0.0, 0.0, -8.0, 8.0]), Queries.from_sizes([2])
    found = on_workers(
        lambda rank: spread_within_queries(scores[2 * rank : 2 * rank + 2], queries), 2
    )
    assert found == [spread_within_queries(scores, Queries.from_sizes([2, 2]))] * 2 == [32**0.5] * 2


def test_schemas() -> None:
    parts = [Schema(2, ["a", "b"], [1], {1: ["x", "z"]}), Schema(2, ["a", "b"], [1], {1: ["y"]})]
    assert Schema.union(parts).categories == {1: ["x", "y", "z"]}
    with pytest.raises(ValueError, match="same columns in all partitions"):
        Schema.union([parts[0], Schema(2, ["a", "c"], [1], {1: ["y"]})])
