"""The driver: threads, custom objectives, and what the boosters are given."""

import copy
import gc
import itertools
import pickle
import signal
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import lightgbm as lgb
import numba
import numpy as np
import pytest
import xgboost as xgb
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from plain_trees import PLAIN

import reference
from cases import loop
from gbrank import (
    AP,
    NDCG,
    ApproxRank,
    GBRanker,
    LambdaRank,
    Queries,
    RankNet,
    custom_objective,
    get_measure,
    get_objective,
    lightgbm_fobj,
    list_measures,
    list_objectives,
    make_cubic,
    xgboost_obj,
)
from gbrank.boosters.gradient_hook import GradientHook, rescale_to_unit_mean
from gbrank.kernels import driver
from gbrank.kernels.pools import Pool
from gbrank.objectives.objective_registry import OBJECTIVES

Vector = NDArray[np.float64]


def listnet(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
    """Cross entropy of the softmax of the labels and that of the scores."""
    p = np.exp((scores - scores.max()) / sigma)
    p /= p.sum()
    target = np.exp(labels - labels.max())
    target /= target.sum()
    return -(target * np.log(p)).sum(), (p - target) / sigma, p * (1 - p) / sigma**2


listnet_compiled = numba.njit(listnet)
either = pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])


def custom(function: Callable[..., Any], compiled: bool) -> Any:
    """Make an objective of a function, compiled or not."""
    return custom_objective(numba.njit(function) if compiled else function)


@pytest.fixture
def many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small data use as many threads as they may."""
    monkeypatch.setattr(driver, "PAIRS_PER_THREAD", 1)


@pytest.fixture
def registry() -> Iterator[None]:
    """Forget what a test registers."""
    with patch.dict(OBJECTIVES):
        yield


# --- Threads ----------------------------------------------------------------------------------


def test_two_threads_on_data_that_need_them() -> None:
    """Enough pairs for two threads: the same bits of gradients, losses and measures."""
    rng, sizes = np.random.default_rng(0), np.full(30, 100)
    assert (sizes**2).sum() > driver.PAIRS_PER_THREAD
    labels, scores = rng.integers(0, 5, 3000).astype(float), rng.integers(0, 500, 3000) / 50
    queries = Queries.from_sizes(sizes)
    for name in ("ranknet", "lambda:ndcg@10", "lambda:map", "lambda:err"):
        one, two = (get_objective(name).bind(labels, queries, n_jobs=jobs) for jobs in (1, 2))
        for alone, shared in zip(one.gradients(scores), two.gradients(scores), strict=True):
            assert_array_equal(alone, shared)
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
    for one, other in zip(
        RankNet().bind(labels, queries, n_jobs=jobs).gradients(scores), expected, strict=True
    ):
        assert_array_equal(one, other)


def test_callers_on_several_threads() -> None:
    """One bound objective, called from four threads at once, as Dask or a notebook may do."""
    data = reference.Data(5)
    bound = LambdaRank(AP()).bind(data.y, Queries.from_qid(data.qid))
    expected, results = bound.gradients(data.scores), []
    threads = [
        threading.Thread(target=lambda: results.append(bound.gradients(data.scores)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for gradient, curvature in results:
        assert_array_equal(gradient, expected[0])
        assert_array_equal(curvature, expected[1])


def test_work_arrays_are_kept() -> None:
    """From the second call on, only results are new memory; it all goes with the objective."""
    m = 50_000
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


def test_what_is_lent() -> None:
    """No two borrowers share; what is given back, even by an error, is lent again."""
    pool = Pool(list)
    with pool.borrow() as one, pool.borrow() as other:
        assert one is not other
        one.append("kept")
    with pytest.raises(ValueError, match="stop"), pool.borrow():
        raise ValueError("stop")
    with pool.borrow() as again, pool.borrow() as second:
        assert {id(again), id(second)} == {id(one), id(other)}
    for copied in (pickle.loads(pickle.dumps(pool)), copy.deepcopy(pool)):
        with copied.borrow() as lent:
            assert lent == []


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
        for actual, expected in zip(bound.gradients(scores), alone.gradients(scores), strict=True):
            assert_array_equal(actual, expected)
        assert_array_equal(bound.loss(scores), alone.loss(scores))
        scores = np.round(scores + 10.0**exponent * rng.normal(size=n), 2)


def fail_at_three(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
    """Raise an error on queries of three documents."""
    if scores.size == 3:
        raise ValueError("three documents")
    return 0.0, scores - labels, np.ones_like(scores)


@pytest.mark.usefixtures("many_threads")
@either
@pytest.mark.parametrize("sizes", [[3, 2, 2, 2], [2, 2, 2, 3]], ids=["first", "last"])
def test_errors_in_any_thread_are_raised(compiled: bool, sizes: list[int]) -> None:
    """What a function raises comes out, whichever thread it is in."""
    objective = custom(fail_at_three, compiled)
    bound = objective.bind(np.ones(9), Queries.from_sizes(sizes), n_jobs=4)
    with pytest.raises(ValueError, match="three documents"):
        bound.gradients(np.zeros(9))


@pytest.mark.parametrize(("jobs", "threads"), [(1, 1), (3, 3)])
def test_usable_threads(jobs: int, threads: int) -> None:
    """A number is itself; None and -1 are all processors."""
    assert driver.usable_threads(jobs) == threads
    assert driver.usable_threads(None) == driver.usable_threads(-1) >= 1


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


def test_ctrl_c_in_numba_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes while functions are passed to compiled code, where numba drops exceptions."""
    bound = RankNet().bind([1, 0], Queries.from_sizes([2]))
    expected = bound.gradients([0.0, 1.0])
    dispatcher = type(numba.njit(listnet))
    numba_type = dispatcher._numba_type_.fget
    calls = itertools.count()

    def interrupted(function: Any) -> Any:
        if next(calls) == 0:
            signal.raise_signal(signal.SIGINT)
        return numba_type(function)

    with monkeypatch.context() as patch:
        patch.setattr(dispatcher, "_numba_type_", property(interrupted))
        with pytest.raises(KeyboardInterrupt):
            bound.gradients([0.0, 1.0])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
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


def test_numbers_of_parameters_have_their_types() -> None:
    """Compiled code would take an integer for a float as another type."""
    program = ApproxRank(beta=3).program(np.array([1.0, 0.0]), Queries.from_sizes([2]))
    assert [type(value) for value in program.parameters] == [float, float]
    assert program.parameters.beta == 3


def test_tables_of_another_length_are_refused() -> None:
    """They are read by position, unchecked."""
    labels, queries = np.array([1.0, 0.0, 2.0]), Queries.from_sizes([3])
    program = replace(RankNet().program(labels, queries), table=np.ones(2))
    with pytest.raises(ValueError, match="table must have one entry per document, 3, or none, got"):
        driver.Runner(program, queries)


# --- Custom objectives ------------------------------------------------------------------------


def test_plain_and_compiled_agree() -> None:
    """The same numbers from Python and from numba, on any number of threads, with weights."""
    data, rng = reference.Data(6, tied=True), np.random.default_rng(0)
    weights = {"sample_weight": rng.random(len(data.y)), "query_weight": rng.random(25)}
    bounds = [
        custom_objective(function).bind(data.y, Queries.from_qid(data.qid), **weights)
        for function in (listnet, listnet_compiled)
    ]
    plain, compiled = (bound.gradients(data.scores, 0.7) for bound in bounds)
    assert_allclose(compiled, plain, rtol=1e-10, atol=1e-15)
    plain, compiled = (bound.loss(data.scores, 0.7) for bound in bounds)
    assert_allclose(compiled, plain, rtol=1e-12)


@either
def test_against_the_function_itself(compiled: bool) -> None:
    """Query by query, by hand, with weights; rows of a query need not be neighbours."""
    data, weights = reference.Data(7), np.random.default_rng(0).random(25)
    rows = np.random.default_rng(1).permutation(len(data.y))
    y, scores, qid = data.y[rows], data.scores[rows], data.qid[rows]
    queries = Queries.from_qid(qid)
    bound = custom_objective(listnet_compiled if compiled else listnet).bind(
        y, queries, query_weight=weights
    )
    gradient, curvature = bound.gradients(scores, 2.0)
    for query, item in enumerate(queries.ids):
        own = qid == item
        loss, g, h = listnet(scores[own], y[own], 2.0)
        assert_allclose(gradient[own], g * weights[query], rtol=1e-9, atol=1e-15)
        assert_allclose(curvature[own], h * weights[query], rtol=1e-9, atol=1e-15)
        assert bound.loss(scores, 2.0)[query] == pytest.approx(loss * weights[query])


@either
@given(reference.queries(8))
@settings(max_examples=25, deadline=None)
def test_documents_come_best_first(compiled: bool, query: reference.Query) -> None:
    """By falling score, then by falling label; equal documents share the mean of their places."""
    labels, scores = query
    bound = custom_objective(PLACES if compiled else PLACES.py_func).bind(
        labels, Queries.from_sizes([len(labels)])
    )
    gradient, curvature = bound.gradients(scores)
    best_first = sorted(range(len(labels)), key=lambda row: (-scores[row], -labels[row]))
    for row, (label, score) in enumerate(zip(labels, scores, strict=True)):
        places = [
            place
            for place, other in enumerate(best_first)
            if (labels[other], scores[other]) == (label, score)
        ]
        assert gradient[row] == pytest.approx(np.mean(places), rel=1e-15)
        assert curvature[row] == pytest.approx(1 + label)


@numba.njit
def PLACES(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
    """Give each document its place as gradient, and its label plus 1 as curvature."""
    return 0.0, np.arange(scores.size) * 1.0, 1 + labels


@either
def test_functions_may_change_their_arguments(compiled: bool) -> None:
    """`scores -= scores.max()` is a usual first line."""

    def careless(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
        gradient = scores - labels
        scores[:] = 0.0
        labels[:] = 0.0
        return 0.0, gradient, np.ones_like(gradient)

    scores = np.array([3.0, 2.0, 1.0, 5.0])
    bound = custom(careless, compiled).bind([0, 0, 1, 2], Queries.from_sizes([3, 1]))
    for _ in range(2):
        assert bound.gradients(scores)[0].tolist() == [3, 2, 0, 3]
    assert scores.tolist() == [3, 2, 1, 5]


@pytest.mark.usefixtures("registry")
def test_names() -> None:
    """A named objective is known to strings; names are taken once."""
    objective = custom_objective(listnet, name="listnet_test")
    assert get_objective("listnet_test") == objective
    assert custom_objective(listnet, name="listnet_test") == objective  # once more: no other
    assert "listnet_test" in [item.name for item in list_objectives()]
    for taken in ("listnet_test", "ranknet", "lambda", "lambdarank"):
        with pytest.raises(ValueError, match=taken):
            custom_objective(fail_at_three, name=taken)
    with pytest.raises(ValueError, match="takes no measure"):
        get_objective("listnet_test:ndcg")


def test_a_function_is_an_objective_everywhere() -> None:
    """GBRanker, both hooks, by function, by object and compiled: the same trees."""
    X, y, qid = make_cubic(20, n_documents=10, n_features=5, random_state=0)
    scores = []
    for objective in (listnet, custom_objective(listnet), listnet_compiled):
        ranker = GBRanker(objective, n_estimators=5, n_jobs=1, random_state=0, **PLAIN)
        scores.append(ranker.fit(X, y, qid=qid).predict(X))
    options = {"verbose": -1, "num_threads": 1, "deterministic": True, "num_leaves": 31,
               "force_col_wise": True}  # fmt: skip
    data = lgb.Dataset(X, y, group=[10] * 20)
    booster = lgb.train({**options, "objective": lightgbm_fobj(listnet)}, data, 5)
    scores.append(booster.predict(X))
    for other in scores[1:]:
        assert_allclose(other, scores[0], atol=1e-6)
    matrix = xgb.DMatrix(X, y, qid=qid, nthread=1)
    booster = xgb.train({"nthread": 1, "base_score": 0}, matrix, 5, obj=xgboost_obj(listnet))
    assert NDCG()(y, booster.predict(matrix), qid=qid) > 0.8


WRONG: dict[str, tuple[Callable[..., Any], str]] = {
    "gradient too short": (lambda s, y, sigma: (0.0, s[1:], s * s), "one entry per document"),
    "curvature too long": (
        lambda s, y, sigma: (0.0, s, np.ones(s.size + 1)),
        "one entry per document",
    ),
    "negative curvature": (lambda s, y, sigma: (0.0, s, -1 - s * s), "query 'b'.*negative"),
    "NaN gradient": (lambda s, y, sigma: (0.0, s * np.nan, s * s), "query 'b'.*not finite"),
    "infinite curvature": (lambda s, y, sigma: (0.0, s, s * s + np.inf), "query 'b'.*finite"),
}


@either
@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_returns(compiled: bool, wrong: str) -> None:
    """The message says what is wrong, and with which query."""
    function, message = WRONG[wrong]
    bound = custom(function, compiled).bind([1, 0, 2], Queries.from_qid(["b", "b", "b"]))
    with pytest.raises((ValueError, RuntimeError), match=message):
        bound.gradients([1.0, 2.0, 3.0])


@pytest.mark.parametrize("result", [None, (1.0,), (0.0, np.ones(2)), 3.0])
def test_wrong_returns_of_other_kinds(result: Any) -> None:
    """The message says what is expected."""
    bound = custom_objective(lambda s, y, sigma: result).bind([1, 0], Queries.from_sizes([2]))
    with pytest.raises((ValueError, TypeError), match=r"loss, gradient, curvature"):
        bound.gradients([1.0, 2.0])


def test_a_loss_of_nan_is_treated_alike() -> None:
    """Plain or compiled, with gradients that are fine: both go on, or both refuse."""

    def lossless(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
        return np.nan, scores - labels, np.ones_like(scores)

    refused = []
    for compiled in (False, True):
        bound = custom(lossless, compiled).bind([1, 0], Queries.from_sizes([2]))
        with pytest.raises(RuntimeError, match="not finite"):
            bound.loss([1.0, 2.0])
        try:
            refused.append(not np.isfinite(bound.gradients([1.0, 2.0])).all())
        except RuntimeError:
            refused.append(True)
    assert refused[0] == refused[1]


# --- What the boosters are given --------------------------------------------------------------


def derivatives(objective: Any, data: reference.Data, scores: Vector, sigma: float = 1.0) -> Any:
    """Return what a hook returns."""
    hook = GradientHook(objective, sigma)
    return hook.derivatives(hook.bind(data.y, Queries.from_qid(data.qid)), scores, None)


@pytest.mark.parametrize("objective", ["ranknet", "lambda:ndcg", "lambda:map"])
@loop("sigma", [1e-300, 1e-30, 1.0, 1e12, 1e300])
@loop("spread", [0.0, 5e-324, 1.0, 1e30, 1e300])
def test_positive_finite_single_precision(objective: str, sigma: float, spread: float) -> None:
    """Whatever sigma and the scores: boosters keep single precision."""
    data = reference.Data(8)
    scores = spread * np.random.default_rng(0).uniform(-1, 1, len(data.y))
    gradient, curvature = (
        array.astype(np.float32) for array in derivatives(objective, data, scores, sigma)
    )
    assert np.isfinite(gradient).all()
    assert np.isfinite(curvature).all()
    assert (curvature > 0).all()


@pytest.mark.parametrize("objective", ["ranknet", "lambda:ndcg", "lambda:map"])
@loop("spread", [0.0, 5e-324, 1.0, 1e30, 1e300])
def test_steps_that_boosters_cannot_take(objective: str, spread: float) -> None:
    """Gradients that single precision holds, but not the square of their sum, are refused."""
    data = reference.Data(8)
    scores = spread * np.random.default_rng(0).uniform(-1, 1, len(data.y))
    with pytest.raises(ValueError, match=r"gradients must sum to .*far below 1e\+30"):
        derivatives(objective, data, scores, 1e30)


@pytest.mark.parametrize("scale", [1e-30, 1e-4, 1.0, 1e30, 1e280])
def test_scale_is_that_of_squared_loss(scale: float) -> None:
    """D11: the mean curvature is 1, and Newton steps are kept, whatever the factor on the loss."""
    data = reference.Data(9)
    factor = np.random.default_rng(0).uniform(0.01, 100, len(data.y))

    def scaled(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
        bend = scale * (1 + labels)
        return 0.0, scores * bend, bend

    gradient, curvature = derivatives(scaled, data, factor)
    assert curvature.mean() == pytest.approx(1, rel=1e-9)
    assert_allclose(gradient / curvature, factor, rtol=1e-9)


@given(st.lists(st.floats(1e-37, 1e37), min_size=1, max_size=50), st.randoms())
def test_rescaling_does_not_depend_on_order(values: list[float], random: Any) -> None:
    """D8: not by one bit, though the sum of a thousand numbers does."""
    shuffled = list(range(len(values)))
    random.shuffle(shuffled)
    curvature = np.array(values)
    gradient = np.sqrt(curvature)
    one = [gradient.copy(), curvature.copy()]
    other = [gradient[shuffled], curvature[shuffled]]
    rescale_to_unit_mean(*one, len(values))
    rescale_to_unit_mean(*other, len(values))
    for before, after in zip(one, other, strict=True):
        assert_array_equal(before[shuffled], after)
    assert one[1].mean() == pytest.approx(1, rel=1e-6)


def test_no_curvature_at_all_is_refused() -> None:
    """Zeros mean that there is no curvature, not that steps are infinite."""

    def first_order(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
        return 0.0, 10 * (scores - labels), np.zeros_like(scores)

    data = reference.Data(10)
    with pytest.raises((ValueError, RuntimeError), match="curvature"):
        derivatives(first_order, data, data.scores)
