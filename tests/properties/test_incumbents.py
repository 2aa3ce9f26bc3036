"""Where other rankers fail their users, D1 to D20 of docs/differences.md: gbrank in their place.

The defects were seen on LightGBM 4.7, XGBoost 3.2 and CatBoost 1.2.10.
"""

from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from gbrank import NDCG, GBRanker, lightgbm_feval, make_cubic, xgboost_feval
from plain_trees import PLAIN

Vector = NDArray[np.float64]

M = 15
X, Y, QID = make_cubic(8, n_documents=M, n_features=4, random_state=0)
N, SIZES = len(Y), [M] * 8
NO_RELEVANT = np.where(QID == 3, 0.0, Y)  # in one of the queries
LIGHTGBM: dict[str, Any] = {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 5}

boosters = pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])


def make(booster: str = "lightgbm", objective: Any = "lambdarank", **params: Any) -> GBRanker:
    """Return a small ranker."""
    defaults = {"n_estimators": 5, "min_child_samples": 5, "random_state": 0, "n_jobs": 1}
    return GBRanker(objective, booster=booster, **{**PLAIN, **defaults, **params})


def fit(booster: str = "lightgbm", objective: Any = "lambdarank", **params: Any) -> GBRanker:
    """Return a small ranker, fitted."""
    return make(booster, objective, **params).fit(X, Y, qid=QID)


def dataset(y: Any = Y, X: Any = X, **more: Any) -> lgb.Dataset:
    """Return data for LightGBM."""
    return lgb.Dataset(X, y, params=LIGHTGBM, **{"group": SIZES, **more})


def matrix(y: Any = Y, X: Any = X, **more: Any) -> xgb.DMatrix:
    """Return data for XGBoost."""
    return xgb.DMatrix(X, y, nthread=1, **{"group": SIZES, **more})


def regression(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
    """Return the derivatives of half the squared error."""
    return 0.0, scores - labels, np.ones_like(scores)


def leaves(booster: lgb.Booster | xgb.Booster) -> int:
    """Return how many leaves all trees have."""
    if isinstance(booster, lgb.Booster):
        return sum(tree["num_leaves"] for tree in booster.dump_model()["tree_info"])
    return sum(text.count("leaf=") for text in booster.get_dump())


# --- D1, D2: weighted means of a measure --------------------------------------------------------


@boosters
@pytest.mark.parametrize("weight", [0.1, 10.0])
def test_d1(booster: str, weight: float) -> None:
    """D1, D2: with constant weights the mean is the one without, between 0 and 1."""
    weights = np.full(N, weight)
    ranker = make(booster, verbose=1).fit(X, NO_RELEVANT, qid=QID, sample_weight=weights)
    plain = NDCG(k=10)(NO_RELEVANT, ranker.predict(X), qid=QID)
    assert 0 < plain < 1
    assert ranker.evals_result_["train"]["ndcg@10"][-1] == pytest.approx(plain)
    if booster == "lightgbm":
        data = dataset(NO_RELEVANT, weight=weights).construct()
        reported = lightgbm_feval("ndcg@10")(ranker.predict(X), data)
    else:
        by_query = matrix(NO_RELEVANT, weight=np.full(8, weight))
        reported = xgboost_feval("ndcg@10")(ranker.predict(X), by_query)
    assert reported[0][1] == pytest.approx(plain)


# --- D3: global state ---------------------------------------------------------------------------


def test_d3() -> None:
    """D3: other gains in a second ranker and measure change nothing of the first."""
    first = fit()
    before, scores = first.score(X, Y, QID), first.predict(X)
    steep = NDCG(gain=(0, 100, 200, 300, 1000))
    fit(objective="lambda:ndcg(gain='linear')", eval_metric=steep).score(X, Y, QID)
    assert first.score(X, Y, QID) == before
    assert_array_equal(fit().predict(X), scores)


# --- D4: sampling queries -----------------------------------------------------------------------


@boosters
def test_d4(booster: str) -> None:
    """D4: half of the queries grow real trees."""
    half = fit(booster, subsample=0.5, subsample_by="query")
    assert leaves(half.booster_) > 5 * 3
    assert (half.predict(X) != fit(booster).predict(X)).any()


# --- D5, D6: what is averaged -------------------------------------------------------------------

UNEQUAL = {"y": np.eye(32)[1], "qid": np.repeat([0, 1], [2, 30])}  # 30 documents, none relevant


def test_d5() -> None:
    """D5: a mean over queries, whatever their size."""
    data = xgb.DMatrix(np.zeros((32, 1)), UNEQUAL["y"], qid=UNEQUAL["qid"])
    ((_, value),) = xgboost_feval("wta(no_relevant=0)")(UNEQUAL["y"], data)
    assert value == 0.5


# --- D9, D10: derivatives that are no use -------------------------------------------------------


@boosters
def test_d10(booster: str) -> None:
    """D10: the error names round, objective and query."""

    def breaking(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
        gradient = scores - labels
        gradient[sigma == 3] = np.nan
        return 0.0, gradient, np.ones_like(scores)

    expected = r"round 2 of breaking: .*query 'q0' \(15 documents\)"
    with pytest.raises(RuntimeError, match=expected):
        make(booster, breaking, sigma=lambda round, rounds: round + 1.0).fit(
            X, Y, qid=[f"q{q}" for q in QID]
        )


# --- D15: where boosting starts, and weights ----------------------------------------------------


def test_d15() -> None:
    """D15: both boosters start at 0 in double precision, and take both kinds of weights."""
    document, query = np.linspace(0.2, 5, N), np.linspace(3, 0.5, 8)
    for booster in ("lightgbm", "xgboost"):
        seen: list[Vector] = []

        def record(
            scores: Vector, labels: Vector, sigma: float, seen: list[Vector] = seen
        ) -> tuple[float, Vector, Vector]:
            seen.append(scores.copy())
            return regression(scores, labels, sigma)

        fit(booster, record, n_estimators=1)
        assert {array.dtype for array in seen} == {np.dtype(np.float64)}
        assert_array_equal(np.concatenate(seen), np.zeros(N))
        by_query = make(booster).fit(X, Y, qid=QID, query_weight=query).predict(X)
        spread = make(booster).fit(X, Y, qid=QID, sample_weight=query[QID]).predict(X)
        assert_allclose(by_query, spread, atol=1e-6)
        by_row = make(booster).fit(X, Y, qid=QID, sample_weight=document).predict(X)
        assert len({tuple(scores) for scores in (by_query, by_row, fit(booster).predict(X))}) == 3


# --- D16, D17: labels and lists that are refused ------------------------------------------------


@boosters
def test_d16(booster: str) -> None:
    """D16: labels are real numbers, in objectives and measures, and nothing else is measured."""
    valid = {"eval_set": [(X, Y / 3)], "eval_qid": [QID]}
    ranker = make(booster, "lambda:ndcg", eval_metric="ndcg").fit(X, Y / 3, qid=QID, **valid)
    assert list(ranker.evals_result_["valid_0"]) == ["ndcg"]
    assert ranker.evals_result_["valid_0"]["ndcg"][-1] == pytest.approx(
        NDCG()(Y / 3, ranker.predict(X), qid=QID)
    )


# --- D19, D20: objectives that are refused ------------------------------------------------------


def test_d20() -> None:
    """D20: LightGBM's random forests are refused before training; XGBoost's have trees."""
    with pytest.raises(ValueError, match="boosting in booster_params must be one of"):
        fit(booster_params={"boosting": "rf"})
    forest = fit("xgboost", booster_params={"num_parallel_tree": 3}).booster_
    assert isinstance(forest, xgb.Booster)
    assert len(forest.get_dump()) == 3 * 5


ELSEWHERE = {
    2: "properties/test_incumbents.py::test_d1",  # on XGBoost
    12: "properties/test_refusals.py::test_columns",
    6: "properties/test_estimator_checks.py::test_without_queries",
    7: "measures/test_measures.py::test_all_orders_of_tied_documents",
    8: "properties/test_determinism.py::test_predictions_do_not_depend_on_the_order",
    9: "properties/test_objectives.py::test_extreme_scores_and_sigmas",
    11: "boosters/test_hook_derivatives.py::test_the_scale_of_weights_does_not_matter",
    13: "boosters/test_hooks.py::test_round_in_cross_validation",
    14: "properties/test_canaries.py::test_a_booster_is_found_above_its_callback",
    17: "numerics/test_fast_kernels.py::test_a_long_list_in_a_fit",
    18: "properties/test_estimator_checks.py::test_checks",
    19: "objectives/test_custom_objectives.py::test_a_function_is_an_objective_everywhere",
}


def test_every_row_is_tested() -> None:
    """D1 to D20 have a test each, here or where it belongs."""
    here = {name.removeprefix("test_d").split("_")[0] for name in globals() if "test_d" in name}
    assert {*map(int, here), *ELSEWHERE} == set(range(1, 21))
    for path, _, name in (test.partition("::") for test in ELSEWHERE.values()):
        file = Path(__file__).parents[1] / path
        assert f"def {name}(" in file.read_text(encoding="utf-8")
