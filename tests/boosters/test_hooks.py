"""Hooks: gbrank's objectives and measures inside LightGBM's and XGBoost's own training calls."""

import copy
import itertools
import pickle
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from plain_trees import lightgbm_valid
from sklearn.model_selection import GroupKFold

from gbrank import (
    AP,
    NDCG,
    Queries,
    get_measure,
    lightgbm_feval,
    lightgbm_fobj,
    make_cubic,
    xgboost_feval,
    xgboost_obj,
)
from gbrank.boosters.gradient_hook import GradientHook
from gbrank.boosters.lightgbm.parameters import known_names
from gbrank.schedules import constant, geometric

Vector = NDArray[np.float64]

N_QUERIES, M = 40, 15
X, Y, QID = make_cubic(N_QUERIES, n_documents=M, n_features=6, random_state=0)
SIZES = np.full(N_QUERIES, M)
SCORES = np.random.default_rng(1).normal(size=len(Y))
WEIGHTS = np.random.default_rng(2).uniform(0.5, 2, N_QUERIES).astype(np.float32)
ROUNDS = 6
FALLING = geometric(2.0, 0.5, rounds=ROUNDS)


class LightGBM:
    """LightGBM's names for what the tests do."""

    options: ClassVar = {"verbose": -1, "num_threads": 1}
    hook = staticmethod(lightgbm_fobj)
    feval = staticmethod(lightgbm_feval)

    @classmethod
    def data(cls, y: Any = Y, weight: Any = None, X: Any = X, sizes: Any = SIZES) -> lgb.Dataset:
        """Return training data, with one weight per query."""
        weight = None if weight is None else np.repeat(weight, sizes)
        data = lgb.Dataset(X, y, group=sizes, weight=weight, params=cls.options)
        data.free_raw_data = False
        return data

    @classmethod
    def train(cls, hook: Any, data: Any, rounds: int = ROUNDS, start: Any = None,
              **more: Any) -> lgb.Booster:  # fmt: skip
        """Return a booster."""
        return lgb.train({**cls.options, "objective": hook, **more}, data, rounds, init_model=start)

    @classmethod
    def loop(cls, hook: Any) -> Iterator[lgb.Booster]:
        """Call `update`, round by round."""
        booster = lgb.Booster({**cls.options, "objective": "none"}, cls.data())
        while not booster.update(fobj=hook):
            yield booster

    @classmethod
    def cross_validate(cls, hook: Any, feval: Any) -> dict[str, Any]:
        """Return the history of three folds."""
        options: ClassVar = {**cls.options, "objective": hook, "metric": "none"}
        folds = GroupKFold(3).split(X, groups=QID)
        return lgb.cv(options, cls.data(), ROUNDS, folds=folds, feval=feval)

    @staticmethod
    def scores(booster: lgb.Booster, X: Any = X) -> Vector:
        """Return predictions."""
        return booster.predict(X, num_threads=1)


class XGBoost:
    """XGBoost's names for the same."""

    options: ClassVar = {"nthread": 1, "base_score": 0.0, "disable_default_eval_metric": True}
    hook = staticmethod(xgboost_obj)
    feval = staticmethod(xgboost_feval)

    @staticmethod
    def data(y: Any = Y, weight: Any = None, X: Any = X, sizes: Any = SIZES) -> xgb.DMatrix:
        """Return training data, with one weight per query."""
        return xgb.DMatrix(X, y, group=sizes, weight=weight, nthread=1)

    @classmethod
    def train(cls, hook: Any, data: Any, rounds: int = ROUNDS, start: Any = None,
              **more: Any) -> xgb.Booster:  # fmt: skip
        """Return a booster."""
        return xgb.train({**cls.options, **more}, data, rounds, obj=hook, xgb_model=start)

    @classmethod
    def loop(cls, hook: Any) -> Iterator[xgb.Booster]:
        """Call `update`, round by round."""
        data = cls.data()
        booster = xgb.Booster(cls.options, [data])
        for round in itertools.count():
            booster.update(data, round, fobj=hook)
            yield booster

    @classmethod
    def cross_validate(cls, hook: Any, feval: Any) -> dict[str, Any]:
        """Return the history of three folds."""
        return xgb.cv(cls.options, cls.data(), ROUNDS, nfold=3, obj=hook, custom_metric=feval,
                      as_pandas=False)  # fmt: skip

    @staticmethod
    def scores(booster: xgb.Booster, X: Any = X) -> Vector:
        """Return predictions."""
        return booster.predict(xgb.DMatrix(X, nthread=1), output_margin=True)


both = pytest.mark.parametrize("kit", [LightGBM, XGBoost], ids=["lightgbm", "xgboost"])


def constructed(data: Any) -> Any:
    """Return data that a hook can be called with by hand."""
    return data.construct() if isinstance(data, lgb.Dataset) else data


def schedule_of(rounds: range) -> Vector:
    """Return the sigmas that these rounds must have, and NaN for those before."""
    return np.array([np.nan] * rounds.start + [FALLING(round) for round in rounds])


def recording(into: list[float]) -> Callable[..., Any]:
    """Return a regression to the labels that writes down the sigma of each query."""

    def objective(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
        into.append(sigma)
        return 0.0, scores - labels, np.ones_like(scores)

    return objective


# --- The round --------------------------------------------------------------------------------


@both
def test_training_ranks(kit: Any) -> None:
    """The training data are ranked far better than by chance, and sigma plays a part."""
    scores = kit.scores(kit.train(kit.hook("lambda:ndcg@5"), kit.data(), 30))
    assert NDCG(k=5)(Y, scores, qid=QID) > 0.85
    assert NDCG(k=5)(Y, np.zeros(len(Y)), qid=QID) < 0.5
    other = kit.scores(kit.train(kit.hook("lambda:ndcg@5", FALLING), kit.data(), 30))
    assert np.abs(scores - other).max() > 0.01


@both
def test_round_in_training(kit: Any) -> None:
    """Each round once, from 0; again from 0 when the same data and hook are used again."""
    hook, data = kit.hook("lambdarank", FALLING), kit.data()
    first = kit.scores(kit.train(hook, data))
    assert_array_equal(hook.sigmas, schedule_of(range(ROUNDS)))
    kit.train(hook, data, 3, learning_rate=0.7)
    assert_array_equal(hook.sigmas, schedule_of(range(3)))
    assert_array_equal(kit.scores(kit.train(hook, data)), first)


@both
@pytest.mark.parametrize("again", [False, True], ids=["new data", "same data"])
def test_round_on_continuation(kit: Any, again: bool) -> None:
    """From a model of 4 rounds on: sigma goes on too, and the model is that of 6 rounds."""
    hook, data = kit.hook("lambdarank", FALLING), kit.data()
    start = kit.train(hook, data, 4)
    rest = kit.hook("lambdarank", FALLING)
    booster = kit.train(rest, data if again else kit.data(), 2, start)
    assert_array_equal(rest.sigmas, schedule_of(range(4, 6)))
    whole = kit.train(hook, kit.data())
    assert_allclose(kit.scores(booster), kit.scores(whole), atol=1e-5)


@both
def test_round_in_cross_validation(kit: Any) -> None:
    """One callable serves three folds: every fold has the sigma of its round."""
    calls: list[float] = []
    hook = kit.hook(recording(calls), FALLING)
    history = kit.cross_validate(hook, kit.feval("ndcg@5"))
    assert_array_equal(hook.sigmas, schedule_of(range(ROUNDS)))
    per_round = 2 * N_QUERIES  # three folds of two thirds of the queries
    assert calls == [sigma for sigma in hook.sigmas for _ in range(per_round)]
    (name,) = [name for name in history if name.endswith("ndcg@5-mean") and "train" not in name]
    assert len(history[name]) == ROUNDS
    assert 0.3 < min(history[name]) < max(history[name]) <= 1


@both
def test_custom_loops_that_take_turns(kit: Any) -> None:
    """`booster.update(fobj=hook)` is the same training, for two boosters with one hook."""
    calls: list[float] = []
    hook = kit.hook(recording(calls), FALLING)
    loops = [kit.loop(hook), kit.loop(hook)]
    boosters = [next(loop) for _ in range(ROUNDS) for loop in loops][-2:]
    assert calls == [sigma for sigma in hook.sigmas for _ in range(2 * N_QUERIES)]
    whole = kit.scores(kit.train(hook, kit.data()))
    for booster in boosters:
        assert_allclose(kit.scores(booster), whole, rtol=1e-6)


@both
def test_outside_training(kit: Any) -> None:
    """Called by hand, a hook needs the round only if sigma depends on it."""
    data, hook = constructed(kit.data()), kit.hook("lambdarank", FALLING)
    kit.hook("lambdarank", 2.0)(SCORES, data)
    with pytest.raises(ValueError, match=r"round.*at_round"):
        hook(SCORES, data)
    hook.at_round(3, SCORES, data)
    assert_array_equal(hook.sigmas, schedule_of(range(3, 4)))


@pytest.mark.parametrize("sigma", [0.5, constant(0.5, unit="spread")], ids=str)
def test_scores_are_checked_before_their_spread(sigma: Any) -> None:
    """Whoever calls a hook may give anything."""
    hook = lightgbm_fobj("lambda:ndcg", sigma)
    for scores, message in (
        ([0.0, np.nan], "scores must be finite"), ([0.0], "scores must have 2 entries"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            hook(np.array([1.0, 0.0]), np.array(scores), None, np.array([2]))


def test_lgbm_ranker_round_and_continuation() -> None:
    """LGBMRanker calls objectives with other arguments; init_model continues."""
    hook = lightgbm_fobj("lambdarank", FALLING)
    options: ClassVar = {"objective": hook, "n_jobs": 1, "verbose": -1}
    start = lgb.LGBMRanker(**options, n_estimators=4).fit(X, Y, group=SIZES)
    assert_array_equal(hook.sigmas, schedule_of(range(4)))
    rest = lgb.LGBMRanker(**options, n_estimators=2).fit(X, Y, group=SIZES, init_model=start)
    assert_array_equal(hook.sigmas, schedule_of(range(6)))
    whole = LightGBM.train(hook, LightGBM.data())
    assert_allclose(rest.predict(X), whole.predict(X), atol=1e-6)


@both
def test_hooks_are_copied_and_pickled(kit: Any) -> None:
    """A copy of parameters keeps the record; a pickle makes an equal hook."""
    hook = kit.hook("lambda:err", FALLING, rounds=ROUNDS, n_jobs=1)
    assert copy.deepcopy({"objective": hook})["objective"] is hook
    expected = kit.scores(kit.train(hook, kit.data()))
    again = pickle.loads(pickle.dumps(hook))
    assert_array_equal(kit.scores(kit.train(again, kit.data())), expected)
    assert_array_equal(again.sigmas, schedule_of(range(ROUNDS)))


# --- Weights and labels -----------------------------------------------------------------------


@both
def test_query_weights_multiply(kit: Any) -> None:
    """Gradient and curvature of a query, times its weight, up to one factor for all."""
    plain = kit.hook("ranknet")(SCORES, constructed(kit.data()))
    weighted = kit.hook("ranknet")(SCORES, constructed(kit.data(weight=WEIGHTS)))
    for before, after in zip(plain, weighted, strict=True):
        expected = before * np.repeat(WEIGHTS.astype(float), SIZES)
        assert_allclose(after / np.abs(after).sum(), expected / np.abs(expected).sum(), rtol=1e-9)


def test_lightgbm_document_weights_multiply() -> None:
    """LightGBM's weights are one per document."""
    weights = np.random.default_rng(3).uniform(0.5, 2, len(Y)).astype(np.float32)
    data = lgb.Dataset(X, Y, group=SIZES, weight=weights).construct()
    plain, _ = lightgbm_fobj("ranknet")(SCORES, constructed(LightGBM.data()))
    weighted, _ = lightgbm_fobj("ranknet")(SCORES, data)
    ratio = weighted / plain / weights
    assert_allclose(ratio, np.median(ratio), rtol=1e-9)


@both
def test_weight_two_is_the_query_twice(kit: Any) -> None:
    """The same trees, where nothing but the gradients can tell the difference."""
    rough = np.round(X * 4)  # few values: the same histogram bins
    weight = np.where(np.arange(N_QUERIES) < 10, 2.0, 1.0)
    rows = np.concatenate([np.arange(len(Y)), np.flatnonzero(QID < 10)])
    free = (
        {"min_data_in_leaf": 0, "min_sum_hessian_in_leaf": 0, "num_leaves": 8}
        if kit is LightGBM
        else {"min_child_weight": 0, "lambda": 0, "tree_method": "exact", "max_depth": 3}
    )
    once = kit.train(kit.hook("lambdarank"), kit.data(X=rough, weight=weight), 5, **free)
    doubled = kit.data(Y[rows], X=rough[rows], sizes=np.append(SIZES, SIZES[:10]))
    twice = kit.train(kit.hook("lambdarank"), doubled, 5, **free)
    assert_allclose(kit.scores(once, rough), kit.scores(twice, rough), atol=1e-4)


@both
@pytest.mark.parametrize("scale", [1e-4, 0.7, 1e4])
def test_scale_of_the_loss_does_not_matter(kit: Any, scale: float) -> None:
    """D11: with the boosters' default regularisation, the same trees."""
    plain = kit.scores(kit.train(kit.hook(), kit.data(), 20))
    scaled = kit.scores(kit.train(kit.hook(), kit.data(weight=np.full(N_QUERIES, scale)), 20))
    assert_allclose(scaled, plain, atol=1e-3 * plain.std())


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
def test_sigma_beyond_the_boosters(kit: Any) -> None:
    """XGBoost squares sums of gradients in single precision: a stump would be all there is."""
    with pytest.raises(ValueError, match=r"round 0 of tie:ndcg: gradients must sum .*sigma"):
        kit.train(kit.hook("tie:ndcg", 1e30, start=False), kit.data())


def test_base_score_shifts_only() -> None:
    """XGBoost starts at 0.5; no shift-invariant objective notices."""
    plain, shifted = (
        XGBoost.scores(XGBoost.train(xgboost_obj("lambdarank"), XGBoost.data(), base_score=start))
        for start in (0.0, 0.5)
    )
    assert_allclose(shifted - 0.5, plain, atol=1e-4)


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


# --- Measures ---------------------------------------------------------------------------------

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


def test_xgboost_early_stopping() -> None:
    """As documented: maximize=True."""
    data, other, history = XGBoost.data(), XGBoost.data(X=X[:, ::-1]), {}
    stop = xgb.callback.EarlyStopping(rounds=3, maximize=True, metric_name="map")
    booster = xgb.train(
        XGBoost.options, data, 60, evals=[(other, "valid")], obj=xgboost_obj(), callbacks=[stop],
        custom_metric=xgboost_feval("map"), evals_result=history, verbose_eval=False,
    )  # fmt: skip
    curve = history["valid"]["map"]
    assert booster.best_iteration == int(np.argmax(curve)) < 59
    scores = booster.predict(other, iteration_range=(0, booster.best_iteration + 1))
    assert max(curve) == pytest.approx(AP()(Y, scores, qid=QID), abs=1e-5)


@pytest.mark.skipif("bagging_by_query" not in known_names(), reason="it came with LightGBM 4.6")
@pytest.mark.parametrize("value", [True, "true", "+"])
def test_bagging_by_query(value: Any) -> None:
    """D4: refused in each of LightGBM's spellings; False is not."""
    with pytest.raises(ValueError, match=r"bagging_by_query must not be set.*subsample_by='query'"):
        LightGBM.train(lightgbm_fobj("ranknet"), LightGBM.data(), 2, bagging_by_query=value)
    off = LightGBM.train(lightgbm_fobj("ranknet"), LightGBM.data(), 2, bagging_by_query=False)
    assert off.num_trees() == 2


def test_steps_are_lengthened_with_the_own_curvature_only() -> None:
    """Plain gradient steps are in the gradient's units, whatever the schedule is in."""
    queries, found = Queries.from_sizes(SIZES), {}
    for curvature in ("own", "unit"):
        hook = GradientHook("approx:ndcg", start=False, rounds=4, curvature=curvature)
        bound = hook.bind(Y, queries)
        g, h = hook.derivatives(bound, SCORES, 0)
        plain_g, plain_h = bound[0].gradients(SCORES, hook.sigmas[0], 0)
        found[curvature] = g, h, plain_g, plain_h
    g, h, plain_g, _ = found["unit"]
    assert_allclose(g, plain_g, rtol=0, atol=1e-12 * np.abs(plain_g).max())
    assert_array_equal(h, 1.0)
    g, h, plain_g, plain_h = found["own"]
    scale = plain_h.mean() / h.mean()
    factor = scale * np.linalg.norm(g) / np.linalg.norm(plain_g)
    assert_allclose(scale * h, plain_h, rtol=0, atol=1e-12 * plain_h.max())
    assert_allclose(scale * g, factor * plain_g, rtol=0, atol=1e-12 * np.abs(plain_g).max())
    assert abs(factor - 1) > 0.01


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
    hook = GradientHook("lambdarank")
    queries = Queries.from_sizes(SIZES)
    bound = hook.bind(Y, queries)
    left_out = QID % 4 != 0
    gradient, curvature = hook.derivatives(bound, SCORES, 0, left_out)
    assert curvature[~left_out].mean() == pytest.approx(1, rel=1e-9)
    assert not gradient[left_out].any()
    assert curvature[left_out].max() < 1e-37
    kept = np.flatnonzero(~left_out)
    alone = hook.bind(Y[kept], Queries.from_qid(QID[kept]))
    # But for what gradients are rounded to, which depends on their number.
    expected = hook.derivatives(alone, SCORES[kept], 0)[0]
    assert_allclose(gradient[kept], expected, rtol=0, atol=1e-12 * np.abs(expected).max())
