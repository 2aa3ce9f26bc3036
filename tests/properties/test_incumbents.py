"""Where other rankers fail their users: D1 to D20, the defects, and gbrank at the same place.

`test_d7` is about gbrank. `test_d7_elsewhere`, marked `incumbent`, asserts that the other libraries
still err as docs/differences.md and the comments in gbrank say (seen on LightGBM 4.7, XGBoost 3.2,
CatBoost 1.2.10). If one of these fails, its defect has been mended: change the documents.
"""

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar

import lightgbm as lgb
import numpy as np
import pytest
import sklearn
import xgboost as xgb
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from one_list import PerceptronOfOneList
from plain_trees import PLAIN
from sklearn.model_selection import GroupKFold
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.fixes import parse_version

from gbrank import (
    NDCG,
    GBRanker,
    Queries,
    get_objective,
    lightgbm_feval,
    lightgbm_fobj,
    make_cubic,
    xgboost_feval,
    xgboost_obj,
)
from gbrank.schedules import geometric

Vector = NDArray[np.float64]

M = 15
X, Y, QID = make_cubic(8, n_documents=M, n_features=4, random_state=0)
N, SIZES = len(Y), [M] * 8
NO_RELEVANT = np.where(QID == 3, 0.0, Y)  # in one of the queries
WITH_NAN = np.where(np.arange(N) == 7, np.nan, Y)
FALLING = geometric(2.0, 0.5, rounds=5)
LIGHTGBM: dict[str, Any] = {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 5}
LAMBDARANK: dict[str, Any] = {**LIGHTGBM, "objective": "lambdarank"}
XGBOOST: dict[str, Any] = {"nthread": 1, "base_score": 0.0}
RANK_NDCG: dict[str, Any] = {"nthread": 1, "objective": "rank:ndcg"}

boosters = pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
incumbent = pytest.mark.incumbent


def make(booster: str = "lightgbm", objective: Any = "lambdarank", **params: Any) -> GBRanker:
    """Return a small ranker."""
    defaults = {
        "n_estimators": 5,
        "min_child_samples": 5,
        "random_state": 0,
        "n_jobs": 1,
    }
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


def squares(scores: Any, data: Any) -> tuple[Vector, Vector]:
    """Return the derivatives of half the squared error, as the boosters want them."""
    return scores - data.get_label(), np.ones(len(scores))


def regression(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
    """Return the same of one query, as gbrank wants it."""
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


@incumbent
def test_d1_elsewhere() -> None:
    """LightGBM: an NDCG of 2."""
    data, history = dataset(NO_RELEVANT, weight=np.full(N, 0.1)), {}
    record = lgb.record_evaluation(history)
    lgb.train({**LAMBDARANK, "eval_at": [5]}, data, 1, [data], callbacks=[record])
    assert history["training"]["ndcg@5"][-1] > 1.5


@incumbent
def test_d2_elsewhere() -> None:
    """XGBoost: it stops."""
    data = matrix(NO_RELEVANT, weight=np.full(8, 0.1))
    with pytest.raises(xgb.core.XGBoostError, match="score <= 1"):
        xgb.train(RANK_NDCG, data, 1, evals=[(data, "train")], verbose_eval=False)


# --- D3: global state ---------------------------------------------------------------------------


def test_d3() -> None:
    """D3: other gains in a second ranker and measure change nothing of the first."""
    first = fit()
    before, scores = first.score(X, Y, QID), first.predict(X)
    steep = NDCG(gain=(0, 100, 200, 300, 1000))
    fit(objective="lambda:ndcg(gain='linear')", eval_metric=steep).score(X, Y, QID)
    assert first.score(X, Y, QID) == before
    assert_array_equal(fit().predict(X), scores)


@incumbent
def test_d3_elsewhere() -> None:
    """LightGBM: the gains of one booster become those of all."""
    first = lgb.Booster({**LAMBDARANK, "metric": "ndcg", "eval_at": [5]}, dataset())
    ((_, _, before, _),) = first.eval_train()
    try:
        lgb.Booster({**LAMBDARANK, "label_gain": [0, 100, 200, 300, 1000]}, dataset())
        ((_, _, after, _),) = first.eval_train()
    finally:
        lgb.Booster(LAMBDARANK, dataset())  # so that other tests have the usual gains
    assert before <= 1 < 10 < after


# --- D4: sampling queries -----------------------------------------------------------------------


@boosters
def test_d4(booster: str) -> None:
    """D4: half of the queries grow real trees."""
    half = fit(booster, subsample=0.5, subsample_by="query")
    assert leaves(half.booster_) > 5 * 3
    assert (half.predict(X) != fit(booster).predict(X)).any()


def test_d4_refusals() -> None:
    """LightGBM's own way is refused, with the remedy, by the ranker and by the hook."""
    bagging = {"bagging_by_query": True, "bagging_fraction": 0.5, "bagging_freq": 1}
    with pytest.raises(ValueError, match=r"bagging_by_query.*subsample_by"):
        fit(booster_params={"bagging_by_query": True})
    with pytest.raises(ValueError, match=r"bagging_by_query.*subsample_by"):
        lgb.train({**LIGHTGBM, **bagging, "objective": lightgbm_fobj()}, dataset(), 5)


@incumbent
def test_d4_elsewhere() -> None:
    """LightGBM: one tree of one leaf, and no word."""
    bagging = {"bagging_by_query": True, "bagging_fraction": 0.5, "bagging_freq": 1}
    booster = lgb.train({**LIGHTGBM, **bagging, "objective": squares}, dataset(), 5)
    assert (booster.num_trees(), leaves(booster)) == (1, 1)


# --- D5, D6: what is averaged -------------------------------------------------------------------

UNEQUAL = {"y": np.eye(32)[1], "qid": np.repeat([0, 1], [2, 30])}  # 30 documents, none relevant


def test_d5() -> None:
    """D5: a mean over queries, whatever their size."""
    data = xgb.DMatrix(np.zeros((32, 1)), UNEQUAL["y"], qid=UNEQUAL["qid"])
    ((_, value),) = xgboost_feval("wta(no_relevant=0)")(UNEQUAL["y"], data)
    assert value == 0.5


@incumbent
def test_d5_elsewhere() -> None:
    """XGBRanker: the query of 30 documents counts 15 times as much as that of 2."""

    def short(y: Vector, scores: Vector) -> float:
        return float(len(y) == 2)

    features = np.arange(32.0)[:, None]
    ranker = xgb.XGBRanker(n_estimators=1, eval_metric=short, n_jobs=1)
    ranker.fit(features, **UNEQUAL, eval_set=[(features, UNEQUAL["y"])],
               eval_qid=[UNEQUAL["qid"]], verbose=False)  # fmt: skip
    assert ranker.evals_result()["validation_0"]["short"] == [2 / 32]


def test_d6() -> None:
    """D6: there is no score without queries."""
    ranker = fit()
    assert ranker.score(X, Y, QID) == NDCG(k=10)(Y, ranker.predict(X), qid=QID)
    with pytest.raises(ValueError, match=r"score needs qid=.*group="):
        ranker.score(X, Y)


@incumbent
@pytest.mark.skipif(
    parse_version(xgb.__version__) >= parse_version("3.4"), reason="it has been mended in 3.4"
)
def test_d6_elsewhere() -> None:
    """XGBRanker, up to 3.3: all rows are one query."""
    ranker = xgb.XGBRanker(n_estimators=3, n_jobs=1, eval_metric="ndcg@10").fit(X, Y, qid=QID)
    one, each = (NDCG(k=10, ties="order")(Y, ranker.predict(X), qid=qid) for qid in (QID * 0, QID))
    assert ranker.score(X, Y) == pytest.approx(one, rel=1e-6)
    assert abs(one - each) > 0.01


# --- D7, D8: the order of the rows --------------------------------------------------------------

GRADES = np.array([3.0, 2, 1, 0, 0, 0])


def test_d7() -> None:
    """D7: a constant scorer gets the mean over all orders, in any order of the file."""
    worth = NDCG(k=5, ties="order")
    every = [worth(y, np.zeros(6)) for y in itertools.permutations(GRADES)]
    for y in (GRADES, GRADES[::-1]):
        assert NDCG(k=5)(y, np.zeros(6)) == pytest.approx(np.mean(every), rel=1e-12)
        assert NDCG(k=5, ties="pessimistic")(y, np.zeros(6)) == pytest.approx(min(every))
        assert NDCG(k=5, ties="optimistic")(y, np.zeros(6)) == pytest.approx(max(every))
    assert (min(every), np.mean(every), max(every)) == pytest.approx((0.169, 0.575, 1), abs=1e-3)


@incumbent
def test_d7_elsewhere() -> None:
    """LightGBM and XGBoost: 1.0, or 0.17 with the rows the other way round."""
    one: dict[str, Any] = {"X": np.arange(6.0)[:, None], "group": [6]}
    for y, expected in ((GRADES, 1.0), (GRADES[::-1], 0.169)):
        booster = lgb.Booster({**LAMBDARANK, "metric": "ndcg", "eval_at": [5]}, dataset(y, **one))
        assert booster.eval_train()[0][2] == pytest.approx(expected, abs=1e-3)
        data = matrix(y, **one)
        report = xgb.Booster({**RANK_NDCG, "eval_metric": "ndcg@5"}, [data]).eval(data)
        assert float(report.split(":")[1]) == pytest.approx(expected, abs=1e-3)


INSIDE = np.concatenate([M * q + np.random.default_rng(q).permutation(M) for q in range(8)])


@boosters
def test_d8(booster: str) -> None:
    """D8: rows in another order: the same gradients in every bit, and the same model."""
    for objective in ("lambdarank", "approx:ndcg", "listnet"):
        for scores in (np.zeros(N), np.round(X[:, 0], 1)):
            plain, moved = (
                get_objective(objective)
                .bind(Y[rows], Queries.from_qid(QID[rows]))
                .gradients(scores[rows])
                for rows in (np.arange(N), INSIDE)
            )
            assert_array_equal(np.array(plain)[:, INSIDE], moved)
    model = make(booster).fit(X[INSIDE], Y[INSIDE], qid=QID[INSIDE])
    assert_array_equal(model.predict(X), fit(booster).predict(X))


@incumbent
def test_d8_elsewhere() -> None:
    """LightGBM and XGBoost: another model."""
    a, b = (lgb.train(LAMBDARANK, data, 10).predict(X) for data in (dataset(), dataset(Y[INSIDE],
            X[INSIDE])))  # fmt: skip
    assert np.abs(a - b).max() > 0.3
    a, b = (xgb.train(RANK_NDCG, data, 10).predict(matrix()) for data in (matrix(),
            matrix(Y[INSIDE], X[INSIDE])))  # fmt: skip
    assert np.abs(a - b).max() > 0.3


# --- D9, D10: derivatives that are no use -------------------------------------------------------

MIXED = np.random.default_rng(1).normal(0.1, 1, N)


@boosters
def test_d9(booster: str) -> None:
    """D9: where the true second derivative changes its sign, curvature is positive and finite."""
    bound = get_objective("approx:ndcg").bind(Y, Queries.from_qid(QID))
    scores, step = 2 * X[:, 0], np.zeros(N)
    step[0] = 1e-4
    slopes = [
        bound.gradients(scores + np.roll(step, i))[0][i]
        - bound.gradients(scores - np.roll(step, i))[0][i]
        for i in range(M)
    ]
    assert min(slopes) < 0 < max(slopes)
    curvature = bound.gradients(scores)[1]
    assert (curvature > 0).all()
    assert np.isfinite(curvature).all()
    assert np.abs(fit(booster, "approx:ndcg", n_estimators=30).predict(X)).max() < 100


@boosters
@pytest.mark.parametrize("curvature", [MIXED[:M], -np.ones(M)], ids=["mixed", "negative"])
def test_d9_functions(booster: str, curvature: Vector) -> None:
    """From a user's function, a negative curvature is an error."""

    def newton(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
        return 0.0, scores - labels, curvature

    with pytest.raises(RuntimeError, match=r"curvature of newton must be >= 0 .*: query 0 "):
        fit(booster, newton)


@incumbent
@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
def test_d9_elsewhere() -> None:
    """LightGBM and XGBoost: predictions without bound, or no tree at all, and no word."""

    def newton(scores: Any, data: Any, curvature: Vector) -> tuple[Vector, Vector]:
        return scores - data.get_label(), curvature

    for curvature, low, high in ((MIXED, 1e15, np.inf), (-np.ones(N), 0, 0)):
        hook = partial(newton, curvature=curvature)
        booster = lgb.train({**LIGHTGBM, "objective": hook}, dataset(), 30)
        assert low <= np.abs(booster.predict(X)).max() <= high
        scores = xgb.train(XGBOOST, matrix(), 30, obj=hook).predict(matrix())
        assert low <= np.abs(scores).max() <= high


@boosters
def test_d10(booster: str) -> None:
    """D10: the error names round, objective and query."""

    def breaking(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
        gradient = scores - labels
        gradient[sigma == 3] = np.nan
        return 0.0, gradient, np.ones_like(scores)

    expected = r"round 2 of breaking: gradient .* got nan in row .*query 'q0' \(15 documents\)"
    with pytest.raises(RuntimeError, match=expected):
        make(booster, breaking, sigma=lambda round, rounds: round + 1.0).fit(
            X, Y, qid=[f"q{q}" for q in QID]
        )


@incumbent
def test_d10_elsewhere() -> None:
    """LightGBM ends with an empty model, XGBoost goes on: both without a word."""

    def breaking(scores: Any, data: Any) -> tuple[Vector, Vector]:
        gradient, curvature = squares(scores, data)
        return np.where(np.arange(N) == 3, np.nan, gradient), curvature

    booster = lgb.train({**LIGHTGBM, "objective": breaking}, dataset(), 5)
    assert (booster.num_trees(), leaves(booster)) == (1, 1)
    assert xgb.train(XGBOOST, matrix(), 5, obj=breaking).num_boosted_rounds() == 5


# --- D11: the scale of the loss -----------------------------------------------------------------


@boosters
@pytest.mark.parametrize("scale", [1e-2, 1e-4, 1e-6])
def test_d11(booster: str, scale: float) -> None:
    """D11: the same trees, with the boosters' own limits on a leaf's curvature."""

    def scaled(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
        return 0.0, scale * (scores - labels), np.full(len(scores), scale)

    plain = fit(booster, regression)
    assert leaves(plain.booster_) > 5 * 5
    assert_allclose(fit(booster, scaled).predict(X), plain.predict(X), rtol=1e-5, atol=1e-5)


@incumbent
def test_d11_elsewhere() -> None:
    """XGBoost and LightGBM grow fewer leaves, then none."""

    def grown(train: Callable[[Any], Any], scale: float) -> int:
        return leaves(train(lambda s, d: tuple(scale * part for part in squares(s, d))))

    by_xgboost = partial(grown, lambda hook: xgb.train(XGBOOST, matrix(), 1, obj=hook))
    by_lightgbm = partial(
        grown, lambda hook: lgb.train({**LIGHTGBM, "objective": hook}, dataset(), 1)
    )
    assert by_xgboost(1.0) > 10 > by_xgboost(1e-2) == 1
    assert by_lightgbm(1.0) > by_lightgbm(1e-4) > by_lightgbm(1e-6) == 1


# --- D12: labels that are missing ---------------------------------------------------------------


@boosters
def test_d12(booster: str) -> None:
    """D12: an error with the row, from the ranker and from measures."""
    with pytest.raises(ValueError, match=r"y must be finite, got nan in row 7"):
        make(booster).fit(X, WITH_NAN, qid=QID)
    with pytest.raises(ValueError, match=r"y must be finite, got nan in row 7"):
        NDCG()(WITH_NAN, X[:, 0], qid=QID)


@incumbent
def test_d12_elsewhere() -> None:
    """LightGBM: NaN is 0, so that `lightgbm_fobj` never sees it either."""
    zero = np.nan_to_num(WITH_NAN)
    a, b = (lgb.train(LAMBDARANK, dataset(y), 5).predict(X) for y in (WITH_NAN, zero))
    assert_array_equal(a, b)
    assert dataset(WITH_NAN).construct().get_label()[7] == 0


# --- D13, D14: which round it is ----------------------------------------------------------------


def schedule_of(rounds: int) -> list[float]:
    """Return the sigmas that so many rounds must have."""
    return [FALLING(round) for round in range(rounds)]


def test_d13() -> None:
    """D13: the round is right in every fold, and in the training that follows."""
    seen: list[float] = []

    def record(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
        seen.append(sigma)
        return regression(scores, labels, sigma)

    hook = lightgbm_fobj(record, FALLING)
    folds = GroupKFold(4).split(X, groups=QID)
    lgb.cv({**LIGHTGBM, "objective": hook}, dataset(), 3, folds=folds)
    assert hook.sigmas.tolist() == schedule_of(3)
    assert seen == [FALLING(round) for round in range(3) for _ in range(4 * 6)]
    lgb.train({**LIGHTGBM, "objective": hook}, dataset(), 5)
    assert hook.sigmas.tolist() == schedule_of(5)


@incumbent
def test_d13_elsewhere() -> None:
    """LightGBM: 12 calls in 3 rounds of 4 folds; without `folds`, they split the queries too."""
    sizes: list[list[int]] = []

    def count(scores: Any, data: Any) -> tuple[Vector, Vector]:
        sizes.append(data.get_group().tolist())
        return squares(scores, data)

    lgb.cv({**LIGHTGBM, "objective": count}, dataset(), 3, nfold=4, stratified=False)
    assert len(sizes) == 12
    assert max(max(fold) for fold in sizes) < M


@boosters
def test_d14(booster: str) -> None:
    """D14: from a model of 3 rounds on, sigma goes on too."""
    if booster == "lightgbm":
        hook = lightgbm_fobj("lambdarank", FALLING)
        options = {**LIGHTGBM, "objective": hook}
        start = lgb.train(options, dataset(), 3)
        lgb.train(options, dataset(), 2, init_model=start)
    else:
        hook = xgboost_obj("lambdarank", FALLING)
        start = xgb.train(XGBOOST, matrix(), 3, obj=hook)
        xgb.train(XGBOOST, matrix(), 2, obj=hook, xgb_model=start)
    assert hook.sigmas.tolist() == schedule_of(5)


@incumbent
def test_d14_elsewhere() -> None:
    """XGBoost: its objectives that are told the round are told 0 again."""
    base = pytest.importorskip("xgboost.objective").Objective
    seen = []

    class Telling(base):
        def __call__(self, iteration: int, scores: Any, data: Any) -> tuple[Any, Any]:
            seen.append(iteration)
            return tuple(part[:, None] for part in squares(np.ravel(scores), data))

    start = xgb.train(XGBOOST, matrix(), 3, obj=Telling())
    xgb.train(XGBOOST, matrix(), 2, obj=Telling(), xgb_model=start)
    assert seen == [0, 1, 2, 0, 1]


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


@incumbent
def test_d15_elsewhere() -> None:
    """XGBoost starts at 0.5 in single precision, and refuses LightGBM's weights per document."""
    seen: list[Any] = []

    def record(scores: Any, data: Any) -> tuple[Vector, Vector]:
        seen.append(scores)
        return squares(scores, data)

    xgb.train({"nthread": 1}, matrix(), 1, obj=record)
    lgb.train({**LIGHTGBM, "objective": record}, dataset(), 1)
    assert [(float(scores[0]), scores.dtype.name) for scores in seen] == [
        (0.5, "float32"),
        (0.0, "float64"),
    ]
    with pytest.raises(xgb.core.XGBoostError, match="weight"):
        xgb.train(RANK_NDCG, matrix(weight=np.ones(N)), 1)


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


@incumbent
def test_d16_elsewhere() -> None:
    """LightGBM refuses them even where its own loss plays no part; XGBoost measures RMSE."""
    data = dataset(Y / 3)
    with pytest.raises(lgb.basic.LightGBMError, match="label should be int"):
        lgb.train({**LIGHTGBM, "objective": squares, "metric": "ndcg"}, data, 1, [data])
    history: dict[str, Any] = {}
    xgb.train(XGBOOST, matrix(), 1, evals=[(matrix(), "train")], obj=squares,
              evals_result=history, verbose_eval=False)  # fmt: skip
    assert list(history["train"]) == ["rmse"]


LONG = np.random.default_rng(0).normal(size=(12_000, 2))
LONG_LABELS = (LONG[:, 0] > 1).astype(float)


@boosters
def test_d17(booster: str) -> None:
    """D17: one query of 12,000 documents."""
    ranker = make(booster, n_estimators=2).fit(LONG, LONG_LABELS, group=[12_000])
    assert ranker.score(LONG, LONG_LABELS, group=[12_000]) > 0.99


@incumbent
def test_d17_elsewhere() -> None:
    """LightGBM: 10,000 at most."""
    with pytest.raises(lgb.basic.LightGBMError, match="upper limit of 10000"):
        lgb.train(LAMBDARANK, dataset(LONG_LABELS, LONG, group=[12_000]), 1)


# --- D18: scikit-learn's checks -----------------------------------------------------------------


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.6"), reason="returns no results"
)
def test_d18() -> None:
    """D18: all pass; test_estimator_checks.py has the other rankers, and two that cannot apply."""
    results = check_estimator(PerceptronOfOneList(), on_fail=None, on_skip=None)
    assert [item["check_name"] for item in results if item["status"] == "failed"] == []
    assert sum(item["status"] == "passed" for item in results) > 36


@incumbent
def test_d18_elsewhere() -> None:
    """LGBMRanker cannot say how well it ranks."""
    assert not hasattr(lgb.LGBMRanker(), "score")
    assert callable(GBRanker().score)


# --- D19, D20: objectives that are refused ------------------------------------------------------


@boosters
def test_d19(booster: str) -> None:
    """D19: a function is an objective."""
    ranker = fit(booster, regression)
    assert ranker.score(X, Y, QID) > NDCG(k=10)(Y, np.zeros(N), qid=QID) + 0.2


@incumbent
def test_d19_elsewhere() -> None:
    """XGBRanker refuses functions."""
    with pytest.raises(ValueError, match="custom objective function not supported"):
        xgb.XGBRanker(objective=lambda y, scores: (scores - y, np.ones(len(y)))).fit(X, Y, qid=QID)


@incumbent
def test_d19_elsewhere_too() -> None:
    """CatBoostRanker refuses objects with derivatives."""
    catboost = pytest.importorskip("catboost")

    class Squares:
        def calc_ders_range(self, scores: Any, labels: Any, weights: Any) -> Any:
            return [(y - s, -1.0) for s, y in zip(scores, labels, strict=True)]

    options: ClassVar = {"iterations": 1, "verbose": 0, "allow_writing_files": False}
    ranker = catboost.CatBoostRanker(loss_function=Squares(), eval_metric="NDCG", **options)
    with pytest.raises(catboost.CatBoostError, match="Invalid loss_function"):
        ranker.fit(X, Y, group_id=QID)


def test_d20() -> None:
    """D20: an error that names the remedy; XGBoost's forests work."""
    with pytest.raises(ValueError, match=r"booster_params.*'rf'.*Use 'gbdt' or 'dart'"):
        fit(booster_params={"boosting": "rf"}, subsample=0.5)
    forest = fit("xgboost", booster_params={"num_parallel_tree": 3}, n_estimators=2, subsample=0.5)
    assert len(forest.booster_.get_dump()) == 2 * 3
    assert forest.score(X, Y, QID) > NDCG(k=10)(Y, np.zeros(N), qid=QID)


@incumbent
def test_d20_elsewhere() -> None:
    """LightGBM: no forests with custom objectives."""
    options = {**LIGHTGBM, "boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}
    with pytest.raises(lgb.basic.LightGBMError, match="RF mode"):
        lgb.train({**options, "objective": squares}, dataset(), 1)


def test_every_row_is_here() -> None:
    """D1 to D20 have a test each; D2 is D1 on the other booster."""

    def numbers() -> Iterator[int]:
        for name in globals():
            if name.startswith("test_d"):
                yield int(name.removeprefix("test_d").split("_")[0])

    assert set(numbers()) == set(range(1, 21))
