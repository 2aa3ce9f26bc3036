"""What a round learns from: samples, weights, initial scores, curvature, the unit of scores."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gbrank import NDCG, Queries, get_objective
from small_fits import HELD_OUT, QID, VALID, X, Y, boosters, fit, make, regression


@boosters
def test_queries_out_of_the_bag_play_no_part(booster: str) -> None:
    """D4: half of the queries grow a real tree, and the labels of the others do not matter."""
    some = QID < 16
    X_some, y, qid = X[some], Y[some], QID[some]
    ranker = make(booster, n_estimators=1, subsample=0.5, subsample_by="query")
    expected, changed = ranker.fit(X_some, y, qid=qid).predict(X_some), []
    assert len(set(expected)) > 3
    for query in range(16):
        scores = ranker.fit(X_some, np.where(query == qid, 4 - y, y), qid=qid).predict(X_some)
        changed.append((scores != expected).any())
    assert sum(changed) == 8


@boosters
@pytest.mark.parametrize("how", [{"subsample": 0.5}, {"colsample": 0.5},
                                 {"subsample": 0.5, "subsample_by": "query"}], ids=str)  # fmt: skip
def test_random_state(booster: str, how: dict[str, Any]) -> None:
    """The same seed makes the same bits, and each sampling does something."""
    scores = fit(booster, **how).predict(X)
    assert_array_equal(fit(booster, **how).predict(X), scores)
    one, other = (
        fit(booster, **how, random_state=np.random.RandomState(5)).predict(X) for _ in range(2)
    )
    assert_array_equal(one, other)
    assert (fit(booster, **how, random_state=1).predict(X) != scores).any()
    assert (fit(booster).predict(X) != scores).any()


@pytest.mark.parametrize("by", ["document", "query"])
def test_each_round_has_a_sample_of_its_own(by: str) -> None:
    """Exactly half of the documents, or of the queries; no two rounds have the same."""
    drawn: list[Any] = []
    make(n_estimators=4, subsample=0.5, subsample_by=by).fit(
        X, Y, qid=QID, callbacks=[lambda round: drawn.append(round.gradients.curvature > 0)]
    )
    assert len({mask.tobytes() for mask in drawn}) == 4
    assert [mask.mean() for mask in drawn] == [0.5] * 4


@boosters
@pytest.mark.parametrize("objective", ["ranknet", "approx:ndcg"])
def test_unit_curvature_is_a_step_along_the_gradient(booster: str, objective: str) -> None:
    """A leaf's value is minus the rate times the mean gradient of its documents, Friedman's way."""
    common: dict[str, Any] = {"n_estimators": 1, "learning_rate": 0.5, "curvature": "unit"}
    start = np.random.default_rng(0).normal(size=len(Y))
    ranker = make(booster, objective, sigma=0.7, **common)
    scores = ranker.fit(X, Y, qid=QID, init_score=start).predict(X)
    bound = get_objective(objective).bind(Y, Queries.from_qid(QID))
    gradient, _ = bound.gradients(start, sigma=0.7)
    leaves = np.unique(scores.round(12), return_inverse=True)[1]
    means = np.bincount(leaves, gradient) / np.bincount(leaves)
    assert len(means) > 3
    assert_allclose(scores, -0.5 * means[leaves], rtol=1e-4, atol=1e-9)


def test_extra_trees() -> None:
    """LightGBM's own, on by default; XGBoost has none."""
    by_default, plain = fit(extra_trees=None), fit()
    for ranker, flag in ((by_default, 1), (plain, 0)):
        assert f"[extra_trees: {flag}]" in ranker.booster_.model_to_string()
    assert (by_default.predict(X) != plain.predict(X)).any()
    assert_array_equal(fit(extra_trees=True).predict(X), by_default.predict(X))
    assert_array_equal(fit("xgboost", extra_trees=None).predict(X), fit("xgboost").predict(X))
    with pytest.raises(
        ValueError, match="extra_trees must be False or None with booster='xgboost'"
    ):
        fit("xgboost", extra_trees=True)


@boosters
def test_weights(booster: str) -> None:
    """Query weights are document weights that are constant in a query; both multiply."""
    rng = np.random.default_rng(0)
    queries, documents = rng.uniform(0.2, 5, 40), rng.uniform(0.2, 5, len(Y))
    by_query = make(booster).fit(X, Y, qid=QID, query_weight=queries)
    by_row = make(booster).fit(X, Y, qid=QID, sample_weight=queries[QID])
    assert_allclose(by_query.predict(X), by_row.predict(X), atol=1e-6)
    both = make(booster).fit(X, Y, qid=QID, query_weight=queries, sample_weight=documents)
    product = make(booster).fit(X, Y, qid=QID, sample_weight=documents * queries[QID])
    assert_allclose(both.predict(X), product.predict(X), atol=1e-6)
    assert (both.predict(X) != by_query.predict(X)).any()
    scaled = make(booster).fit(X, Y, qid=QID, query_weight=np.full(40, 1e-4))
    assert_allclose(scaled.predict(X), fit(booster).predict(X), atol=1e-4)


@boosters
@pytest.mark.parametrize("name", ["sample_weight", "query_weight"])
def test_weights_of_zero(booster: str, name: str) -> None:
    """Some may be: these rows change nothing."""
    out = np.arange(40) < 10
    weights = np.where(out if name == "query_weight" else out[QID], 0.0, 1.0)
    scores = [
        make(booster).fit(X, labels, qid=QID, **{name: weights}).predict(X)
        for labels in (Y, np.where(out[QID], Y.max() - Y, Y))
    ]
    assert_array_equal(*scores)
    assert np.ptp(scores[0]) > 0


@boosters
def test_initial_scores(booster: str) -> None:
    """Boosting goes on from given scores, also those of validation data."""
    first = fit(booster, regression)
    second = make(booster, regression).fit(
        X, Y, qid=QID, init_score=first.predict(X), **VALID,
        eval_init_score=[first.predict(HELD_OUT[0])],
    )  # fmt: skip
    whole = make(booster, regression, n_estimators=20).fit(X, Y, qid=QID, **VALID)
    assert_allclose(first.predict(X) + second.predict(X), whole.predict(X), atol=1e-4)
    scores = first.predict(HELD_OUT[0]) + second.predict(HELD_OUT[0])
    value = NDCG(k=10)(HELD_OUT[1], scores, qid=HELD_OUT[2])
    assert second.evals_result_["valid_0"]["ndcg@10"][-1] == pytest.approx(value, rel=1e-12)


@boosters
@pytest.mark.parametrize("width", [2.0**-30, 2.0**-7, 2.0**20])
def test_the_unit_of_scores_plays_no_part(booster: str, width: float) -> None:
    """Scores in units of sigma are the same; XGBoost by itself finds no splits at 2^-30."""
    wide, narrow = (fit(booster, "ranknet", n_estimators=40, sigma=s) for s in (1.0, width))
    assert_allclose(narrow.predict(X) / width, wide.predict(X), rtol=1e-4, atol=1e-4)
