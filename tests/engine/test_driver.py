"""The driver: threads, and the programs that it runs."""

import gc
import signal
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import reference
from functions import custom, either, fail_at_three, listnet
from gbrank import NDCG, LambdaRank, Queries, RankNet, get_measure, get_objective, list_measures
from gbrank.engine import driver
from gbrank.engine.contract import Terms
from gbrank.extend import custom_objective
from gbrank.measures import measure


@pytest.fixture
def many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small data use as many threads as they may."""
    monkeypatch.setattr(driver, "PAIRS_PER_THREAD", 1)


# --- Threads ----------------------------------------------------------------------------------


def test_two_threads_on_data_that_need_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough pairs for two threads: the same bits of gradients, losses and measures."""
    rng, sizes = np.random.default_rng(0), np.full(24, 300)
    n = sizes.sum()
    assert (sizes**2).sum() > driver.PAIRS_PER_THREAD
    monkeypatch.setattr(measure, "DOCUMENTS_PER_THREAD", n // 2)
    labels, scores = rng.integers(0, 5, n).astype(float), rng.integers(0, 500, n) / 50
    queries = Queries.from_sizes(sizes)
    for name in ("ranknet", "lambda:ndcg@10", "lambda:map", "lambda:err"):
        one, two = (get_objective(name).bind(labels, queries, n_jobs=jobs) for jobs in (1, 2))
        assert_array_equal(one.gradients(scores), two.gradients(scores))
        assert_array_equal(one.loss(scores), two.loss(scores))
    for item in list_measures():
        one, two = (get_measure(item.name).bind(labels, queries, jobs) for jobs in (1, 2))
        assert_array_equal(one.per_query(scores), two.per_query(scores))


@pytest.mark.usefixtures("many_threads")
@given(st.lists(reference.queries(6), min_size=1, max_size=9), st.integers(1, 12))
@settings(max_examples=50, deadline=None)
def test_any_number_of_threads(parts: list[reference.Query], jobs: int) -> None:
    """More threads than queries, queries of very different sizes."""
    labels, scores = (np.concatenate(column) for column in zip(*parts, strict=True))
    queries = Queries.from_sizes([len(part[0]) for part in parts])
    expected = RankNet().bind(labels, queries, n_jobs=1).gradients(scores)
    found = RankNet().bind(labels, queries, n_jobs=jobs).gradients(scores)
    assert_array_equal(found, expected)


def test_work_arrays_are_kept() -> None:
    """From the second call on, only results are new memory; it all goes with the objective."""
    m = 200_000
    scores, queries = np.random.default_rng(0).normal(size=m), Queries.from_sizes([m])
    bound = get_objective("listnet").bind(np.arange(m) % 5, queries, n_jobs=1)
    get_objective("listnet").bind([0, 1], Queries.from_sizes([2])).gradients([0.0, 1.0])  # compiles
    tracemalloc.start()
    try:
        bound.gradients(scores)
        held = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        bound.gradients(scores)
        assert tracemalloc.get_traced_memory()[1] - held < 2.5 * scores.nbytes
        assert held > 5 * scores.nbytes
        del bound
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] < 0.1 * scores.nbytes
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["lambda:ndcg", "approx:ap"])
@given(st.integers(0, 99), st.floats(-3, 1))
@settings(max_examples=20, deadline=None)
def test_earlier_calls_change_nothing(name: str, seed: int, exponent: float) -> None:
    """Scores that move a little or a lot, with ties: the same bits as of a new objective."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 400, 6)
    queries, n = Queries.from_sizes(sizes), int(sizes.sum())
    labels, scores = rng.integers(0, 5, n).astype(float), np.round(rng.normal(size=n), 1)
    bound = get_objective(name).bind(labels, queries, n_jobs=1)
    for _ in range(4):
        alone = get_objective(name).bind(labels, queries, n_jobs=1)
        assert_array_equal(bound.gradients(scores), alone.gradients(scores))
        assert_array_equal(bound.loss(scores), alone.loss(scores))
        scores = np.round(scores + 10.0**exponent * rng.normal(size=n), 2)


@pytest.mark.usefixtures("many_threads")
@either
@pytest.mark.parametrize("sizes", [[3, 2, 2, 2], [2, 2, 2, 3]], ids=["first", "last"])
def test_errors_in_any_thread_are_raised(compiled: bool, sizes: list[int]) -> None:
    """What a function raises comes out, whichever thread it is in."""
    objective = custom(fail_at_three, compiled)
    bound = objective.bind(np.ones(9), Queries.from_sizes(sizes), n_jobs=4)
    with pytest.raises(ValueError, match="three documents"):
        bound.gradients(np.zeros(9))


def test_read_only_arrays() -> None:
    """Columns of data frames are read-only; nothing writes to what a user passes."""
    arrays = [np.array(values) for values in ([2.0, 0.0, 1.0], [0.5, 0.5, 1.0], [1.0, 3.0, 2.0])]
    for array in arrays:
        array.flags.writeable = False
    labels, scores, weights = arrays
    queries = Queries.from_sizes([3])
    for objective in (RankNet(), LambdaRank(), custom_objective(listnet)):
        bound = objective.bind(labels, queries, sample_weight=weights)
        assert np.isfinite(bound.gradients(scores)).all()
        assert np.isfinite(bound.loss(scores)).all()
    assert 0 < NDCG()(labels, scores, sample_weight=weights) < 1


def test_ctrl_c_in_compiled_code_is_not_lost() -> None:
    """It waits for the loop to end, since numba drops exceptions while it passes arguments."""
    bound = RankNet().bind([1, 0], Queries.from_sizes([2]))
    expected = bound.gradients([0.0, 1.0])
    shares, ends = bound.runner._gradient_shares, []

    def interrupted(*arguments: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        ends.append(shares[0].loop(*arguments))
        return ends[-1]

    vars(bound.runner)["_gradient_shares"] = [shares[0]._replace(loop=interrupted)]
    with pytest.raises(KeyboardInterrupt):
        bound.gradients([0.0, 1.0])
    assert ends == [-1]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    vars(bound.runner)["_gradient_shares"] = shares
    assert_array_equal(bound.gradients([0.0, 1.0]), expected)


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.SIG_DFL])
def test_who_handles_ctrl_c_is_left_as_it_was(handler: Any) -> None:
    """Also in a thread, which cannot set handlers."""
    bound = RankNet().bind([1, 0], Queries.from_sizes([2]))
    previous = signal.signal(signal.SIGINT, handler)
    try:
        bound.gradients([0.0, 1.0])
        with ThreadPoolExecutor(1) as pool:
            pool.submit(bound.gradients, [0.0, 1.0]).result()
        assert signal.getsignal(signal.SIGINT) == handler
    finally:
        signal.signal(signal.SIGINT, previous)


# --- Programs ---------------------------------------------------------------------------------


def test_discounts_of_another_length_are_refused() -> None:
    """They are read by position, unchecked."""
    labels, queries = np.array([1.0, 0.0, 2.0]), Queries.from_sizes([3])
    terms = Terms(labels, discounts=np.ones(2))
    program = replace(RankNet().program(labels, queries), terms=terms)
    with pytest.raises(ValueError, match="discounts must have one entry per document, 3, or none"):
        driver.Runner(program, queries)
