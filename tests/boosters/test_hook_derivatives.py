"""Derivatives and measures that hooks give boosters: weights, labels, units, lists of measures."""

from typing import Any, ClassVar

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from numpy.testing import assert_allclose, assert_array_equal

from gbrank import (
    NDCG,
    Queries,
    get_measure,
    lightgbm_feval,
    lightgbm_fobj,
    xgboost_feval,
    xgboost_obj,
)
from gbrank.boosters.staged_objective import StagedObjective
from gbrank.data.documents import Documents
from gbrank.schedules import constant
from plain_trees import lightgbm_valid
from training_kits import (
    N_QUERIES,
    QID,
    SCORES,
    SIZES,
    WEIGHTS,
    LightGBM,
    Vector,
    X,
    XGBoost,
    Y,
    both,
    constructed,
)


@both
def test_query_weights_multiply(kit: Any) -> None:
    """Gradient and curvature of a query, times its weight, up to one factor for all."""
    plain = kit.hook("ranknet")(SCORES, constructed(kit.data()))
    weighted = kit.hook("ranknet")(SCORES, constructed(kit.data(weight=WEIGHTS)))
    for before, after in zip(plain, weighted, strict=True):
        expected = before * np.repeat(WEIGHTS.astype(float), SIZES)
        assert_allclose(after / np.abs(after).sum(), expected / np.abs(expected).sum(), rtol=1e-9)


@both
def test_scores_do_not_run_away(kit: Any) -> None:
    """A width of many spreads multiplies the spread in every round, but not without end."""
    hook = kit.hook("tie:ndcg", constant(1000, unit="spread"), start=False)
    scores = kit.scores(kit.train(hook, kit.data(), 60))
    assert 1e9 < scores.std() < 1e15
    assert hook.sigmas[59] == 1e12
    trees = [kit.scores(kit.train(hook, kit.data(), rounds)) for rounds in (58, 59)]
    assert np.ptp(trees[1] - trees[0]) > 1e9


@both
@pytest.mark.parametrize("what", ["label", "weight"])
def test_changed_data_are_noticed(kit: Any, what: str) -> None:
    """The same data set with other labels or weights is other data."""
    hook, data = kit.hook(), kit.data()
    kit.train(hook, data, 3)
    if what == "label":
        data.set_label(4 - Y)
    else:
        data.set_weight(WEIGHTS if kit is XGBoost else np.repeat(WEIGHTS, SIZES))
    fresh = kit.train(kit.hook(), data, 3)
    assert_array_equal(kit.scores(kit.train(hook, data, 3)), kit.scores(fresh))


MEASURES = ("ndcg@5", "map", "ndcg(ties='pessimistic', no_relevant=0)")


@both
@pytest.mark.parametrize("weight", [None, WEIGHTS, np.full(N_QUERIES, np.float32(0.1))])
def test_evaluation_is_the_measure(kit: Any, weight: Any) -> None:
    """In each round, the measure of the predictions. D1, D2, D5: means stay below 1."""
    y = np.where(QID == 3, 0.0, Y)  # one query without a relevant document
    data, history = kit.data(y, weight=weight), {}
    if kit is LightGBM:
        options: ClassVar = {**LightGBM.options, "objective": lightgbm_fobj(), "metric": "none"}
        booster = lgb.train(options, data, 4, [data], feval=lightgbm_feval(*MEASURES),
                            callbacks=[lgb.record_evaluation(history)])  # fmt: skip
    else:
        booster = xgb.train(XGBoost.options, data, 4, evals=[(data, "train")], obj=xgboost_obj(),
                            custom_metric=xgboost_feval(*MEASURES), evals_result=history,
                            verbose_eval=False)  # fmt: skip
    (curves,) = history.values()
    assert len(curves) == len(MEASURES)
    for name, curve in curves.items():
        value = get_measure(name)(y, kit.scores(booster), qid=QID, query_weight=weight)
        assert len(curve) == 4
        assert 0 < curve[-1] < 1
        assert curve[-1] == pytest.approx(value, abs=1e-5)


def test_lgbm_ranker_evaluation() -> None:
    """The same metrics in LGBMRanker, with document weights, deciding early stopping."""
    weights = np.random.default_rng(5).uniform(0.1, 3, len(Y))
    ranker = lgb.LGBMRanker(
        objective=lightgbm_fobj(), n_estimators=60, n_jobs=1, verbose=-1, metric="none"
    )
    ranker.fit(
        X, Y, group=SIZES, **lightgbm_valid(X[:, ::-1], Y), eval_group=[SIZES],
        eval_sample_weight=[weights],
        eval_metric=lightgbm_feval("ndcg@5", "map"),
        callbacks=[lgb.early_stopping(3, first_metric_only=True, verbose=False)],
    )  # fmt: skip
    curve = ranker.evals_result_["valid_0"]["ndcg@5"]
    assert ranker.best_iteration_ == int(np.argmax(curve)) + 1 < 60
    scores = ranker.predict(X[:, ::-1])
    assert max(curve) == pytest.approx(NDCG(k=5)(Y, scores, qid=QID, sample_weight=weights))


@both
@pytest.mark.parametrize("curvature", ["own", "unit"])
def test_the_scale_of_weights_does_not_matter(kit: Any, curvature: str) -> None:
    """It would be a factor on the learning rate."""
    hook = kit.hook("lambda:ndcg", curvature=curvature)
    one, small, plain = (
        hook.at_round(0, SCORES, constructed(kit.data(weight=weight)))
        for weight in (WEIGHTS, WEIGHTS * np.float32(2.0**-7), None)
    )
    assert_array_equal(one, small)
    assert (one[0] != plain[0]).any()


@pytest.mark.parametrize("changed", ["labels", "weights", "sizes"])
def test_arrays_that_change_in_place(changed: str) -> None:
    """The gradient is that of what they hold now, though they are the same objects."""
    arrays = {"labels": Y.copy(), "weights": np.linspace(0.5, 2, len(Y)), "sizes": SIZES.copy()}

    def now(hook: Any) -> Vector:
        return hook.at_round(0, arrays["labels"], SCORES, arrays["weights"], arrays["sizes"])[0]

    hook = lightgbm_fobj("ranknet")
    before = now(hook)
    assert_array_equal(now(hook), before)
    if changed == "sizes":
        arrays["sizes"][:2] += [1, -1]
    else:
        arrays[changed][:] = arrays[changed][::-1].copy()
    after = now(hook)
    assert (after != before).any()
    assert_array_equal(after, now(lightgbm_fobj("ranknet")))


def test_documents_that_are_left_out_count_for_nothing() -> None:
    """The mean curvature of 1 is that of the others, so that leaves count documents."""
    hook = StagedObjective("lambdarank")
    queries = Queries.from_sizes(SIZES)
    bound = hook.bind(Documents.checked(None, Y, queries))
    left_out = QID % 4 != 0
    gradient, curvature, _ = hook.derivatives(bound, SCORES, 0, left_out=left_out)
    assert curvature[~left_out].mean() == pytest.approx(1, rel=1e-9)
    assert not gradient[left_out].any()
    assert curvature[left_out].max() < 1e-37
    kept = np.flatnonzero(~left_out)
    alone = hook.bind(Documents.checked(None, Y[kept], Queries.from_qid(QID[kept])))
    # But for what gradients are rounded to, which depends on their number.
    expected = hook.derivatives(alone, SCORES[kept], 0)[0]
    assert_allclose(gradient[kept], expected, rtol=0, atol=1e-12 * np.abs(expected).max())
