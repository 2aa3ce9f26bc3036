"""The trade-off between two goals: what is measured, on which queries, and what can be chosen."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from gbrank import (
    GBRanker,
    get_measure,
    get_objective,
    make_cubic,
    pareto,
    plots,
)
from gbrank.data.sampling import query_keys, sampled
from gbrank.evaluation import Front, Point
from gbrank.evaluation.pareto import _rankers, _Split

X, Y, QID = make_cubic(80, n_documents=10, n_features=6, random_state=0)
MARGIN = np.searchsorted([0.2, 0.5, 0.8], X[:, 0]).astype(np.float64)
MARGIN[::11] = np.nan
RANKER = GBRanker(n_estimators=30, random_state=0, n_jobs=1)
MEASURE = "ndcg@10[margin]"
GOAL: dict[str, Any] = {"measure": MEASURE, "labels": {"margin": MARGIN}, "progress": False}


@pytest.fixture(scope="module")
def front() -> Any:
    return pareto(RANKER, X, Y, qid=QID, levels=[0.9, 0.97], n_jobs=1, **GOAL)


def test_the_values_are_those_of_queries_that_no_ranker_has_seen(front: Any) -> None:
    held_out = sampled(query_keys(np.arange(80)), 0.25, 0, 0)[QID]
    judged = held_out & ~np.isnan(MARGIN)
    plain = get_measure("ndcg@10")
    for point in front.points:
        scores = point.ranker.predict(X)
        expected = (
            plain(Y[held_out], scores[held_out], qid=QID[held_out]),
            plain(MARGIN[judged], scores[judged], qid=QID[judged]),
        )
        assert_allclose(point.means, expected)
        for mean, (low, high) in zip(point.means, point.intervals, strict=True):
            assert low < mean < high
    train = ~held_out
    alone = RANKER.fit(X[train], Y[train], qid=QID[train])
    assert_array_equal(front["first goal alone"].predict(X), alone.predict(X))


def test_the_points_lie_between_both_ends(front: Any) -> None:
    assert {point.name for point in front.points} == {
        "first goal alone", "second goal alone", "0.9 of best", "0.97 of best"
    }  # fmt: skip
    seconds = [point.means[1] for point in front.points]
    assert seconds == sorted(seconds)
    value = {point.name: point.means for point in front.points}
    assert value["first goal alone"][0] > value["0.97 of best"][0] > value["second goal alone"][0]


def test_what_is_efficient_and_what_is_chosen(front: Any) -> None:
    values = np.array([point.means for point in front.points])
    for point in front.points:
        better = (values >= point.means).all(axis=1) & (values > point.means).any(axis=1)
        assert front.is_efficient(point) == (not better.any())
    lowest = front.points[0].means[1]
    most = max(front.points, key=lambda point: point.means[0])
    assert front.best(at_least=lowest) is most.ranker
    with pytest.raises(ValueError, match="at_least must be at most"):
        front.best(at_least=2)
    with pytest.raises(KeyError, match="there are"):
        front["0.5 of best"]


def test_tables_and_a_picture(front: Any) -> None:
    frame = front.to_pandas()
    assert list(frame["ranker"]) == [point.name for point in front.points]
    assert_allclose(frame[MEASURE], [point.means[1] for point in front.points])
    assert front.to_markdown().count("\n") == 5
    assert front._repr_html_().count("<tr>") == 5
    axes = plots.front(front, ax=Figure().subplots())
    assert [text.get_text() for text in axes.texts] == [point.name for point in front.points]


def test_weights_stand_beside_those_of_the_objective() -> None:
    """Each term keeps its own."""
    ranker = GBRanker("0.5*ranknet+linear(1,0)*lambda:ap")
    rankers = _rankers(ranker, get_measure("map[m]"), None, [0.25, 3])
    own = "0.5*ranknet+linear(1,0)*lambda:ap"
    for weight in (0.25, 3):
        expected = get_objective(f"{own}+{weight}*lambda:ap[m]")
        found = rankers[f"weight {weight}"].objective
        assert str(found) == str(expected)
    assert rankers["first goal alone"].objective == own
    assert {ranker.constraints for ranker in rankers.values()} == {None}


def test_the_seed_chooses_the_queries_that_are_set_aside() -> None:
    """By the seed and the ids alone, whatever the order of rows."""
    found = []
    for seed in (0, 1):
        ((train, aside),) = _Split(0.25, seed).split(X, Y, QID)
        assert sorted([*train, *aside]) == list(range(len(Y)))
        expected = sampled(query_keys(np.arange(80)), 0.25, seed, 0)
        assert_array_equal(np.unique(QID[aside]), np.flatnonzero(expected))
        ((_, turned),) = _Split(0.25, seed).split(X, Y, QID[::-1])
        assert_array_equal(np.unique(QID[::-1][turned]), np.unique(QID[aside]))
        found.append(set(QID[aside]))
    assert found[0] != found[1]


@pytest.mark.slow
def test_weights_and_columns_of_a_frame_in_processes() -> None:
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(margin=MARGIN)
    options: dict[str, Any] = {"measure": MEASURE, "labels": ["margin"], "progress": False}
    front = pareto(RANKER, frame, Y, qid=QID, weights=[0.5], n_jobs=2, **options)
    assert str(front["weight 0.5"].objective) == "noisy:ndcg+0.5*noisy:ndcg[margin]"
    assert list(front["weight 0.5"].feature_names_in_) == list("abcdef")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"levels": [0.9], "weights": [1.0]}, "weights must be None where levels"),
        ({"levels": [1.2]}, "levels must be"),
        ({"weights": [0]}, "weights must be"),
        ({"measure": "ndcg[other]"}, "unknown label 'other'"),
        ({"measure": RANKER.eval_metric}, "measure must be another one than that of the ranker"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"labels": None}, "needs labels="),
    ],
)
def test_what_is_wrong_with_arguments(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pareto(RANKER, X, Y, qid=QID, n_jobs=1, **GOAL | changed)


def test_no_constraints_of_its_own() -> None:
    with pytest.raises(ValueError, match="ranker must have no constraints"):
        pareto(GBRanker(constraints=["ap >= 0.5"]), X, Y, qid=QID, **GOAL)


def trade_off(**changes: Any) -> Any:
    given = {"X": X, "y": Y, "qid": QID, "levels": [0.9], "n_jobs": 1, **GOAL, **changes}
    ranker = GBRanker("ranknet", n_estimators=2, random_state=0, n_jobs=1)
    return pareto(ranker, given.pop("X"), given.pop("y"), **given)


@pytest.mark.parametrize("name", ["levels", "weights"])
def test_numbers_may_be_in_an_array(name: str) -> None:
    found = trade_off(**{"levels": None, name: np.array([0.5, 0.9])})
    same = trade_off(**{"levels": None, name: [0.5, 0.9]})
    assert [(p.name, p.means) for p in found.points] == [(p.name, p.means) for p in same.points]
    assert len(found.points) == 4


@pytest.mark.parametrize("values", [[0.9, 0.9], [0.9, 0.9 + 1e-9], 0.9, ["0.9"], [0.9, None]])
@pytest.mark.parametrize("name", ["levels", "weights"])
def test_no_ranker_is_lost_by_its_name(name: str, values: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=f"^{name} must"):
        trade_off(**{"levels": None, name: values})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": np.vstack([X, X])}, "qid must have one entry per row, 1600, got 800"),
        ({"X": X[:-1]}, "qid must have one entry per row, 799, got 800"),
        ({"y": np.append(Y, Y)}, "y must have 800 entries, got 1600"),
        ({"y": None}, "y must hold one label per row"),
        ({"qid": None}, "needs qid="),
        ({"labels": {"margin": np.append(MARGIN, MARGIN)}}, r"labels\['margin'\] must have 800"),
        ({"labels": {"margin": MARGIN[:-1]}}, r"labels\['margin'\] must have 800"),
    ],
)
def test_data_of_other_lengths_are_refused(changes: dict[str, Any], message: str) -> None:
    """Rows that have no partner are not dropped."""
    with pytest.raises(ValueError, match=message):
        trade_off(**changes)


def test_a_goal_that_no_query_set_aside_has_is_refused() -> None:
    held_out = sampled(query_keys(np.arange(80)), 0.25, 0, 0)[QID]
    labels = {"margin": np.where(held_out, 0.0, MARGIN)}
    with pytest.raises(ValueError, match="set aside, ndcg@10 is undefined on every query"):
        trade_off(labels=labels)


def test_a_point_that_is_level_by_one_goal_is_beaten_by_the_other() -> None:
    """Points of the same means beat nobody."""
    means = [(0.5, 0.5), (0.5, 0.6), (0.4, 0.6), (0.6, 0.1), (0.6, 0.1)]
    points = [Point(f"{i}", RANKER, own, ((0, 1), (0, 1))) for i, own in enumerate(means)]
    front = Front(("a", "b"), points)
    assert [front.is_efficient(point) for point in points] == [False, True, False, True, True]
    assert front.to_pandas()["efficient"].tolist() == [False, True, False, True, True]


def test_all_columns_reach_every_ranker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Codes of categories, weights, first scores and positions: those of the rows trained on."""
    fit, calls = GBRanker.fit, []

    def recorded(self: GBRanker, X: Any, y: Any, **columns: Any) -> GBRanker:
        calls.append({"X": X, **columns})
        return fit(self, X, y, **columns)

    monkeypatch.setattr(GBRanker, "fit", recorded)
    codes = X.copy()
    codes[:, 2] = np.arange(800) % 5
    columns: dict[str, Any] = {
        "sample_weight": np.arange(800.0) + 1, "init_score": X[:, 1] / 10,
        "position": np.arange(800) % 10 + 1,
    }  # fmt: skip
    weights = {"query_weight": np.arange(80.0) + 1, "categorical_feature": [2]}
    trade_off(X=codes, **columns, **weights)
    train = ~sampled(query_keys(np.arange(80)), 0.25, 0, 0)[QID]
    assert len(calls) >= 3
    for call in calls[:3]:
        if len(call["X"]) != train.sum():  # a fit for the constraint alone
            continue
        assert call["categorical_feature"] == [2]
        assert_array_equal(call["X"], codes[train])
        assert_array_equal(call["query_weight"], weights["query_weight"][np.unique(QID[train])])
        for name, values in columns.items():
            assert_array_equal(call[name], values[train])


def test_data_that_are_sparse() -> None:
    """Give the same points."""
    expected, found = trade_off(), trade_off(X=sparse.csr_matrix(X))
    assert [point.name for point in found.points] == [point.name for point in expected.points]
