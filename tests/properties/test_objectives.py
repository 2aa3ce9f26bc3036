"""The battery: what every objective must do, on every measure, whoever wrote it."""

import pickle
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import reference
from battery import ALL, FACTS, NAMES, battery, kind, possible
from cases import loop
from exports import exported
from gbrank import (
    AP,
    LambdaRank,
    Queries,
    get_measure,
    get_objective,
    list_measures,
    list_objectives,
)
from gbrank.engine import driver
from lists import runner

Vector = NDArray[np.float64]
Pair = tuple[Vector, Vector]


def where(condition: Any) -> list[str]:
    """Return the names whose objective's facts meet a condition."""
    return [name for name in NAMES if condition(FACTS[kind(name)])]


def bind(name: str, data: reference.Data, **weights: Any) -> Any:
    """Bind an objective to data."""
    return get_objective(name).bind(data.y, Queries.from_qid(data.qid), **weights)


def assert_same(actual: Pair, expected: Pair) -> None:
    """Both arrays of both pairs have the same bits."""
    for one, other in zip(actual, expected, strict=True):
        assert_array_equal(one, other)


def assert_close(actual: Vector, expected: Vector) -> None:
    """Equal to 1e-9 of the largest entry."""
    assert_allclose(actual, expected, rtol=0, atol=1e-9 * np.abs(expected).max(initial=1e-300))


def assert_usable(pair: Pair) -> None:
    """Gradients are finite, curvatures positive and finite."""
    gradient, curvature = pair
    assert np.isfinite(gradient).all()
    assert np.isfinite(curvature).all()
    assert (curvature > 0).all()


def test_the_battery_is_complete() -> None:
    """Every objective takes part; what takes no measure says so in words."""
    assert {kind(name) for name in ALL} == set(FACTS)
    cut = [item.name for item in list_measures() if item.truncated]
    swapped = [name for name in cut if get_measure(name).swaps is not None]
    assert {f"lambda:{name}@3" for name in swapped} <= set(ALL)
    for item in list_objectives():
        assert item.summary
        assert item.facts.formula
        for measure in list_measures():
            if item.facts.takes_measure and not possible(f"{item.name}:{measure.name}"):
                with pytest.raises(ValueError, match=rf"measure must .*{measure.name}"):
                    get_objective(f"{item.name}:{measure.name}")


# --- The gradient -----------------------------------------------------------------------------


@battery(NAMES, slow=["soft"])
@loop("sigma", [0.47, 2.9])
def test_gradient_is_the_slope_of_the_loss(name: str, sigma: float) -> None:
    """Central differences, a place of all queries at once; no two documents swap ranks."""
    data, step = reference.Data(11), 1e-5
    objective, scores = get_objective(name), 1.0137 * data.scores  # not on the edge of a hinge
    if hasattr(objective, "tolerance"):  # the slope of a rounded loss is not the gradient
        objective = replace(objective, tolerance=1e-10)
    bound = objective.bind(data.y, Queries.from_qid(data.qid))
    gradient, _ = bound.gradients(scores, sigma)
    places = np.concatenate([np.arange(size) for size in data.sizes])
    for place in range(max(data.sizes)):
        rows = np.flatnonzero(places == place)
        shift = step * (places == place)
        slope = (bound.loss(scores + shift, sigma) - bound.loss(scores - shift, sigma)) / (2 * step)
        tolerance = 1e-5 * np.abs(gradient).max() + 1e-7
        assert_allclose(slope[data.qid[rows]], gradient[rows], rtol=1e-4, atol=tolerance)


@battery(where(lambda facts: facts.second_derivative))
@loop("sigma", [0.47, 2.9])
def test_curvature_is_the_second_derivative(name: str, sigma: float) -> None:
    """Where it is declared to be, by central differences of the gradient, or else above it."""
    data, step = reference.Data(11), 1e-5
    bound, scores = bind(name, data), data.scores / 16
    gradient, curvature = bound.gradients(scores, sigma)
    places = np.concatenate([np.arange(size) for size in data.sizes])
    second = np.empty(len(scores))
    for place in range(max(data.sizes)):
        rows = places == place
        above, below = (bound.gradients(scores + s * step * rows, sigma)[0] for s in (1, -1))
        second[rows] = (above - below)[rows] / (2 * step)
    tolerance = 1e-5 * np.abs(curvature).max()
    assert (curvature > second - tolerance).all()
    bounded = curvature * sigma <= 1.000001 * np.abs(gradient)  # steps of a width
    assert_allclose(curvature[~bounded], second[~bounded], rtol=1e-4, atol=tolerance)
    assert (~bounded).sum() > 20


@battery(where(lambda facts: facts.shift_invariant))
@loop("tied", [False, True])
def test_shifts_do_not_matter(name: str, tied: bool) -> None:
    """Gradients sum to zero over each query; a constant on all of its scores changes nothing."""
    data = reference.Data(12, tied=tied)
    bound = bind(name, data)
    gradient, curvature = bound.gradients(data.scores)
    largest = np.abs(gradient).max()
    assert largest > 0
    assert_allclose(np.bincount(data.qid, gradient), 0, atol=1e-13 * largest * len(gradient))
    shifted = data.scores + (data.qid % 7) * 16.0  # eighths: no rounding
    assert_close(bound.gradients(shifted)[0], gradient)
    assert_close(bound.gradients(shifted)[1], curvature)
    assert_close(bound.loss(shifted), bound.loss(data.scores))


@battery(where(lambda facts: "/σ" in facts.formula and "²/σ" not in facts.formula))
def test_sigma_is_in_units_of_scores(name: str) -> None:
    """Scores and sigma four times as large: the same loss, a quarter of the slope."""
    data = reference.Data(13)
    bound = bind(name, data)
    assert_close(bound.gradients(4 * data.scores, 2.0)[0], bound.gradients(data.scores, 0.5)[0] / 4)
    assert_close(bound.loss(4 * data.scores, 2.0), bound.loss(data.scores, 0.5))


@battery(NAMES)
def test_sigma_plays_a_part_or_is_declared_not_to(name: str) -> None:
    """By the gradient."""
    data = reference.Data(13)
    one, other = (bind(name, data).gradients(data.scores, sigma)[0] for sigma in (0.5, 2.0))
    assert (one == other).all() == (FACTS[kind(name)].sigma_unit == "none")


@battery(where(lambda facts: facts.convex and not facts.stochastic))  # draws go by rank
@given(query=reference.queries(8), seed=st.integers(0, 9))
@settings(max_examples=30)
def test_convex_losses(name: str, query: reference.Query, seed: int) -> None:
    """The middle of a segment is at most the mean of its ends."""
    labels, scores = query
    other = np.random.default_rng(seed).normal(size=len(scores))
    bound = get_objective(name).bind(labels, Queries.from_sizes([len(labels)]))
    ends = bound.loss(scores) + bound.loss(other)
    assert bound.loss((np.array(scores) + other) / 2) <= ends / 2 + 1e-12 * (1 + np.abs(ends))


@battery(NAMES)
def test_only_stochastic_objectives_depend_on_the_round(name: str) -> None:
    """By their gradient."""
    data = reference.Data(14)
    one, other = (bind(name, data).gradients(data.scores, 1.0, round)[0] for round in (0, 1))
    assert (one != other).any() == FACTS[kind(name)].stochastic


# --- Order, weights, threads ------------------------------------------------------------------


@battery(NAMES)
@loop("tied", [False, True])
def test_order_of_rows_and_queries_changes_no_bit(name: str, tied: bool) -> None:
    """D8: rows of all queries shuffled together, in a later round."""
    data = reference.Data(16, tied=tied)
    rows = np.random.default_rng(0).permutation(len(data.y))
    bound = bind(name, data)
    shuffled = get_objective(name).bind(data.y[rows], Queries.from_qid(data.qid[rows]))
    gradient, curvature = bound.gradients(data.scores, 0.6, 3)
    assert_same(shuffled.gradients(data.scores[rows], 0.6, 3), (gradient[rows], curvature[rows]))
    losses = shuffled.loss(data.scores[rows])
    assert_array_equal(losses, bound.loss(data.scores)[shuffled.queries.ids])


@battery(NAMES)
def test_weights_multiply(name: str) -> None:
    """Document weights, query weights and both; losses take the query's."""
    data, rng = reference.Data(17), np.random.default_rng(0)
    documents, queries = rng.uniform(0.1, 9, len(data.y)), rng.uniform(0.1, 9, 25)
    bound = bind(name, data, sample_weight=documents, query_weight=queries)
    plain = bind(name, data)
    factor = documents * queries[data.qid]
    gradient, curvature = bound.gradients(data.scores)
    alone = plain.gradients(data.scores)
    assert_allclose(gradient, alone[0] * factor, rtol=1e-14)
    assert_allclose(curvature, alone[1] * factor, rtol=1e-14, atol=1e-300)
    assert_allclose(bound.loss(data.scores), plain.loss(data.scores) * queries, rtol=1e-14)


@battery(NAMES)
def test_threads_change_no_bit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One to seven threads."""
    monkeypatch.setattr(driver, "PAIRS_PER_THREAD", 1)
    data = reference.Data(18)
    results = [bind(name, data, n_jobs=jobs).gradients(data.scores) for jobs in (1, 2, 3, 7)]
    for result in results[1:]:
        assert_same(result, results[0])


@battery([name for name in NAMES if kind(name) == "lambda"])
@loop("tied", [False, True])
def test_sums_over_sorted_scores(name: str, tied: bool) -> None:
    """As pair by pair, where long lists have such sums."""
    sizes, rng = [5, 30, 64], np.random.default_rng(27)
    labels, scores = rng.integers(0, 3, sum(sizes)).astype(float), rng.normal(size=sum(sizes))
    if tied:
        scores = np.round(2 * scores)
    program = get_objective(name).program(np.arange(5000) % 3.0, Queries.from_sizes([5000]))
    if not program.others.all():  # there are none
        return
    ways = [runner(name, labels, way, sizes) for way in (False, True)]
    results = [way.gradients(scores, 0.7, 0, np.empty(0)) for way in ways]
    for found, expected in zip(*results, strict=True):
        assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


# --- Hard cases -------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def bound_to_hard_cases(name: str) -> tuple[Any, int]:
    """Return a bound objective, once for all scores and sigmas, and the number of documents."""
    data = reference.Data(19)
    return bind(name, data), len(data.y)


@battery(NAMES)
@loop("spread", [0.0, 5e-324, 1.0, 1e300])
@loop("sigma", [1e-300, 1.0, 1e300])
def test_extreme_scores_and_sigmas(name: str, spread: float, sigma: float) -> None:
    """Nothing overflows: finite gradients, positive finite curvature."""
    bound, n = bound_to_hard_cases(name)
    places = np.random.default_rng(0).permutation(n) - n // 2
    assert_usable(bound.gradients(spread * np.clip(places, -150, 150), sigma))
    assert_usable(bound.gradients(spread * np.sign(places), sigma))


@battery(NAMES)
@loop(
    "query",
    [([2], [0.5]), ([0], [0.5]), ([0, 0, 0], [3, 1, 1]), ([2, 2, 2], [3, 1, 1]), ([3, 3], [0, 0])],
)
def test_queries_that_teach_nothing(name: str, query: tuple[list[float], list[float]]) -> None:
    """Beside a query that does teach: no gradient where there is no pair to be ranked.

    One document, relevant or not; none relevant; all equally so, the scores apart or tied.
    """
    labels, scores = query
    other = [3.0, 0, 0, 0, 0, 0]
    bound = get_objective(name).bind([*labels, *other], Queries.from_sizes([len(labels), 6]))
    scores = [*scores, *np.arange(6) / 7]
    gradient, curvature = bound.gradients(scores)
    assert_usable((gradient, curvature))
    assert gradient[-6] < 0
    pairs = kind(name) in ("ranknet", "lambda", "ranksvm", "squared_hinge", "slam", "listmle")
    if pairs or (len(labels) == 1 and FACTS[kind(name)].shift_invariant):
        assert_array_equal(gradient[: len(labels)], 0)


@battery(name for name in NAMES if kind(name) != "smooth")
def test_all_tied_scores_move(name: str) -> None:
    """Round 0: a relevant document rises, the others sink. (SmoothRank says that it cannot.)"""
    bound = get_objective(name).bind([0, 1, 0, 0, 1, 0], Queries.from_sizes([6]))
    gradient, curvature = bound.gradients(np.full(6, 0.3))
    assert_usable((gradient, curvature))
    assert (gradient[[1, 4]] < 0).all()
    assert gradient[[0, 2, 3, 5]].sum() > 0
    assert len(set(gradient)) == len(set(gradient[[0, 1]])) or FACTS[kind(name)].stochastic


@battery(NAMES)
def test_types_of_labels_and_scores(name: str) -> None:
    """Single precision, integers, lists and series are numbers like others."""
    data = reference.Data(20, tied=True)
    objective, queries = get_objective(name), Queries.from_qid(data.qid)
    expected = bind(name, data).gradients(data.scores)
    for labels in (data.y.astype(np.float32), data.y.astype(np.uint8), data.y.tolist()):
        bound = objective.bind(labels, queries)
        for scores in (data.scores.astype(np.float32), pd.Series(data.scores)):
            assert_same(bound.gradients(scores), expected)


@battery(NAMES)
def test_objectives_are_values(name: str) -> None:
    """Pickled, printed and read back, they are equal and do the same."""
    objective, data = get_objective(name), reference.Data(21)
    users = {item.cls.__name__: item.cls for item in [*list_objectives(), *list_measures()]}
    copies = [
        pickle.loads(pickle.dumps(objective)),
        get_objective(str(objective)),
        eval(repr(objective), exported() | users),
    ]
    for again in copies:
        assert again == objective
        assert hash(again) == hash(objective)
        bound = again.bind(data.y, Queries.from_qid(data.qid))
        assert_same(bound.gradients(data.scores), bind(name, data).gradients(data.scores))
    assert objective != LambdaRank(AP(k=77))


@battery(name for name in NAMES if kind(name) == "lambda")
@loop("preset", ["lightgbm", "xgboost"])
def test_presets_take_every_measure(preset: str, name: str) -> None:
    """An expected swap delta of zero that rounds to less is no negative curvature."""
    data = reference.Data(11)
    objective = replace(get_objective(name), normalize=preset)  # type: ignore[type-var]
    bound = objective.bind(data.y, Queries.from_qid(data.qid))
    assert_usable(bound.gradients(data.scores, 0.7))
    assert_usable(bound.gradients(np.zeros(len(data.y)), 0.7))
