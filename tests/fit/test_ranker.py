"""GBRanker: a scikit-learn estimator over both boosters."""

import warnings
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from plain_trees import PLAIN
from sklearn.base import clone

from gbrank import (
    AP,
    NDCG,
    GBRanker,
    LambdaRank,
    LinearRanker,
    Queries,
    SLAMPerceptron,
    get_measure,
    get_objective,
    lightgbm_fobj,
    make_cubic,
    xgboost_obj,
)
from gbrank.schedules import geometric

Vector = NDArray[np.float64]

X_ALL, Y_ALL, QID_ALL = make_cubic(60, n_documents=15, n_features=6, random_state=0)
TRAIN = QID_ALL < 40
X, Y, QID = X_ALL[TRAIN], Y_ALL[TRAIN], QID_ALL[TRAIN]
VALID = {"eval_set": [(X_ALL[~TRAIN], Y_ALL[~TRAIN])], "eval_qid": [QID_ALL[~TRAIN]]}
HELD_OUT = (X_ALL[~TRAIN], Y_ALL[~TRAIN], QID_ALL[~TRAIN])
SHUFFLED = np.random.default_rng(0).permutation(len(Y))
boosters = pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])


def make(booster: str = "lightgbm", objective: Any = "lambdarank", **params: Any) -> GBRanker:
    """Return a small ranker."""
    defaults = {"n_estimators": 10, "random_state": 0, "n_jobs": 1}
    return GBRanker(objective, booster=booster, **{**PLAIN, **defaults, **params})


def fit(booster: str = "lightgbm", objective: Any = "lambdarank", **params: Any) -> GBRanker:
    """Return a small ranker, fitted."""
    return make(booster, objective, **params).fit(X, Y, qid=QID)


def regression(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
    """Return the derivatives of half the squared error."""
    return 0.0, scores - labels, np.ones_like(scores)


# --- fit, predict, rank, score ----------------------------------------------------------------


@boosters
@pytest.mark.parametrize("objective", ["ranknet", "lambda:ndcg@5", LambdaRank(AP()), regression])
def test_learning(booster: str, objective: Any) -> None:
    """Unseen queries are ranked better than by chance; score is the first measure."""
    ranker = fit(booster, objective, n_estimators=40, eval_metric=["ndcg@5", "map"])
    scores = ranker.predict(HELD_OUT[0])
    assert ranker.score(*HELD_OUT) == NDCG(k=5)(HELD_OUT[1], scores, qid=HELD_OUT[2])
    assert ranker.score(*HELD_OUT) > 0.65 > 0.45 > NDCG(k=5)(*HELD_OUT[1:], qid=HELD_OUT[2] * 0)
    assert ranker.best_iteration_ == 40
    assert np.isnan(ranker.best_score_)
    assert ranker.evals_result_ == {}


def test_lightgbm_alone() -> None:
    """The ranker is lgb.train with the hook and the same parameters, bit for bit."""
    options = {"learning_rate": 0.2, "num_leaves": 8, "min_data_in_leaf": 5, "lambda_l2": 0.3,
               "max_depth": 4, "num_threads": 1, "deterministic": True, "force_col_wise": True,
               "verbosity": -1}  # fmt: skip
    hook = lightgbm_fobj("lambda:map", geometric(2, 1), rounds=10)
    booster = lgb.train({**options, "objective": hook}, lgb.Dataset(X, Y, group=[15] * 40), 10)
    ranker = fit("lightgbm", "lambda:map", learning_rate=0.2, num_leaves=8, min_child_samples=5,
                 reg_lambda=0.3, max_depth=4, sigma=geometric(2, 1))  # fmt: skip
    assert_array_equal(ranker.predict(X), booster.predict(X))
    assert ranker.sigmas_.tolist() == hook.sigmas.tolist()


def test_xgboost_alone() -> None:
    """The ranker is xgb.train with the hook and the same parameters, bit for bit."""
    options = {"eta": 0.2, "max_leaves": 8, "min_child_weight": 5, "lambda": 0.3, "max_depth": 4,
               "grow_policy": "lossguide", "base_score": 0, "nthread": 1}  # fmt: skip
    hook, data = xgboost_obj("lambda:map", geometric(2, 1), rounds=10), xgb.DMatrix(X, Y, qid=QID)
    booster = xgb.train(options, data, 10, obj=hook)
    ranker = fit("xgboost", "lambda:map", learning_rate=0.2, num_leaves=8, min_child_samples=5,
                 reg_lambda=0.3, max_depth=4, sigma=geometric(2, 1))  # fmt: skip
    assert_array_equal(ranker.predict(X), booster.predict(data))
    assert ranker.sigmas_.tolist() == hook.sigmas.tolist()


@boosters
@pytest.mark.parametrize("options", [{}, {"subsample": 0.5, "subsample_by": "query"}], ids=str)
def test_order_of_rows(booster: str, options: dict[str, Any]) -> None:
    """D8: shuffled rows, strings for ids: the same model."""
    ranker = fit(booster, **options)
    other = make(booster, **options).fit(X[SHUFFLED], Y[SHUFFLED], qid=QID[SHUFFLED])
    assert_array_equal(other.predict(X), ranker.predict(X))
    by_group = make(booster).fit(X, Y, group=[15] * 40)
    assert_array_equal(by_group.predict(X), fit(booster).predict(X))


def test_rank() -> None:
    """Positions from 1 within each query, wherever its rows stand; ties by row."""
    ranker = fit()
    rows, qid = X_ALL[SHUFFLED], np.array([f"q{i}" for i in QID_ALL[SHUFFLED]])
    rows[:2], qid[:2] = rows[0], qid[0]
    scores, ranks = ranker.predict(rows), ranker.rank(rows, qid)
    assert ranks[1] == ranks[0] + 1
    for item in np.unique(qid):
        own = np.flatnonzero(qid == item)
        assert ranks[own].tolist() == (1 + np.argsort(np.lexsort((own, -scores[own])))).tolist()
    assert sorted(ranker.rank(rows)) == list(range(1, len(rows) + 1))
    assert_array_equal(ranker.rank(X, group=[15] * 40), ranker.rank(X, QID))


@boosters
def test_float_labels_and_many_grades(booster: str) -> None:
    """D16, and more than 31 grades: labels are numbers."""
    objective = LambdaRank(NDCG(gain="linear"))
    measure = NDCG(gain="linear")
    ranker = make(booster, objective, eval_metric=measure).fit(X, Y * 20.5, qid=QID)
    assert_array_equal(ranker.predict(X), fit(booster, objective).predict(X))
    assert ranker.score(X, Y * 20.5, QID) == pytest.approx(measure(Y, ranker.predict(X), qid=QID))


def test_more_than_ten_thousand_documents_a_query() -> None:
    """D17: no limit."""
    features = np.random.default_rng(0).normal(size=(10_500, 2))
    labels, qid = features[:, 0] > 1, np.zeros(10_500)
    ranker = make(n_estimators=2).fit(features, labels, qid=qid)
    assert ranker.score(features, labels, qid) > 0.99


# --- Validation -------------------------------------------------------------------------------


@boosters
def test_early_stopping(booster: str) -> None:
    """The first measure on the first set decides; the model is cut to its best round."""
    ranker = make(booster, n_estimators=60, early_stopping_rounds=4, eval_metric=["ndcg@5", "map"])
    sets = {name: [*values, *values] for name, values in VALID.items()}
    sets["eval_set"][1] = (X, Y)
    sets["eval_qid"][1] = QID
    ranker.fit(X, Y, qid=QID, **sets)
    curve = ranker.evals_result_["valid_0"]["ndcg@5"]
    best = int(np.argmax(curve)) + 1
    assert (ranker.best_iteration_, ranker.best_score_) == (best, max(curve))
    assert len(curve) == best + 4 == len(ranker.sigmas_) < 60
    assert {name: len(values["map"]) for name, values in ranker.evals_result_.items()} == {
        "valid_0": len(curve), "valid_1": len(curve)
    }  # fmt: skip
    assert ranker.score(*HELD_OUT) == pytest.approx(max(curve), abs=1e-12)
    value = AP()(Y, ranker.predict(X), qid=QID)
    assert ranker.evals_result_["valid_1"]["map"][best - 1] == pytest.approx(value, abs=1e-12)
    whole = fit(booster, n_estimators=best, sigma=1.0)
    assert_array_equal(ranker.predict(X), whole.predict(X))


@boosters
@pytest.mark.parametrize("above", [False, True])
def test_the_first_trees_only(booster: str, above: bool) -> None:
    """They are those of a fit of so many rounds, on what it boosts from."""
    init = fit(booster, "listnet", n_estimators=3) if above else None
    ranker = fit(booster, init=init)
    for rounds in (1, 4, 10):
        assert_allclose(
            ranker.predict(X, num_iteration=rounds),
            fit(booster, init=init, n_estimators=rounds).predict(X),
            rtol=1e-6,
        )
    for wrong in (0, 11, 2.0, "all"):
        with pytest.raises((ValueError, TypeError), match="num_iteration must be"):
            ranker.predict(X, num_iteration=wrong)


@boosters
def test_without_early_stopping_all_rounds_are_kept(booster: str) -> None:
    """Measured, but not cut."""
    ranker = make(booster, n_estimators=12).fit(X, Y, qid=QID, **VALID)
    curve = ranker.evals_result_["valid_0"]["ndcg@10"]
    assert ranker.best_iteration_ == len(curve) == 12
    assert ranker.score(*HELD_OUT) == pytest.approx(curve[-1], abs=1e-12)


def test_validation_fraction() -> None:
    """Whole queries are set aside, with their weights, whatever the order of rows."""
    sizes = np.arange(5, 25)  # a query is known by its size
    rng, qid = np.random.default_rng(0), np.repeat(np.arange(20), sizes)
    features, labels, weights = rng.normal(size=(290, 3)), rng.integers(0, 3, 290), rng.random(290)
    seen: set[int] = set()

    def record(scores: Vector, y: Vector, sigma: float) -> tuple[float, Vector, Vector]:
        seen.add(len(scores))
        return regression(scores, y, sigma)

    def train(rows: Any, **params: Any) -> GBRanker:
        return make(objective=record, **params).fit(
            features[rows], labels[rows], qid=qid[rows], sample_weight=weights[rows],
            init_score=features[rows, 0], query_weight=1.0 + pd.unique(qid[rows]),
        )  # fmt: skip

    for rows in (np.arange(290), rng.permutation(290)):
        seen.clear()
        ranker = train(rows, validation_fraction=0.25)
        assert len(ranker.evals_result_["valid_0"]["ndcg@10"]) == 10
        kept = set(seen)
        assert len(kept) == 15
        alone = train(np.flatnonzero(np.isin(sizes, list(kept))[qid]))
        assert_allclose(ranker.predict(features), alone.predict(features), atol=1e-6)
    assert kept == seen


# --- Sampling, weights, initial scores --------------------------------------------------------


@boosters
def test_queries_out_of_the_bag_play_no_part(booster: str) -> None:
    """D4: half of the queries grow a real tree, and the labels of the others do not matter."""
    ranker = make(booster, n_estimators=1, subsample=0.5, subsample_by="query")
    expected, changed = ranker.fit(X, Y, qid=QID).predict(X), []
    assert len(set(expected)) > 5
    for query in range(40):
        labels = np.where(query == QID, 4 - Y, Y)
        scores = ranker.fit(X, labels, qid=QID).predict(X)
        changed.append((scores != expected).any())
    assert sum(changed) == 20


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


@boosters
@pytest.mark.parametrize("objective", ["ranknet", "lambda:ndcg", "approx:ndcg", "tie:ndcg"])
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


@boosters
def test_unit_curvature_in_the_hooks(booster: str) -> None:
    """As in the ranker."""
    ranker = fit(booster, "lambda:ndcg", curvature="unit")
    make_hook = {"lightgbm": lightgbm_fobj, "xgboost": xgboost_obj}[booster]
    hook = make_hook("lambda:ndcg", curvature="unit")
    group = np.bincount(QID)
    if booster == "lightgbm":
        data: Any = lgb.Dataset(X, Y, group=group, params={"verbose": -1}).construct()
    else:
        data = xgb.DMatrix(X, Y, group=group)
    gradient, curvature = hook.at_round(0, np.zeros(len(Y)), data)
    assert_array_equal(curvature, 1)
    assert_allclose(gradient, hook.objective.bind(Y, Queries.from_qid(QID)).gradients(0 * Y)[0])
    assert (ranker.predict(X) != fit(booster, "lambda:ndcg").predict(X)).any()


@boosters
@pytest.mark.parametrize("curvature", ["own", "unit"])
@pytest.mark.parametrize("objective", ["noisy:ndcg", "approx:ndcg", "ranknet+listnet"])
def test_the_scale_of_weights_does_not_matter(booster: str, curvature: str, objective: str) -> None:
    """Of documents or queries: ratios of weights do."""
    documents = np.random.default_rng(0).uniform(0.5, 2, len(Y))
    queries = np.random.default_rng(1).uniform(0.5, 2, len(np.unique(QID)))

    def scores(scale: float, of_queries: float) -> Vector:
        ranker = make(booster, objective, curvature=curvature)
        weights = {"sample_weight": documents * scale, "query_weight": queries * of_queries}
        return ranker.fit(X, Y, qid=QID, **weights).predict(X)

    expected = scores(1, 1)
    spread = expected.std()
    for scales in ((0.01, 1), (1, 100), (1e-6, 1e-3)):
        assert_allclose(scores(*scales), expected, rtol=0, atol=1e-3 * spread)
    assert abs(make(booster, objective, curvature=curvature).fit(X, Y, qid=QID).predict(X)
               - expected).max() > 0.01 * spread  # fmt: skip


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
def test_the_largest_seed(booster: str) -> None:
    fit(booster, random_state=2**31 - 1)
    with pytest.raises(
        ValueError, match=r"random_state must be .* at most 2147483647, got 2147483648"
    ):
        fit(booster, random_state=2**31)


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
    curves = [ranker.evals_result_["valid_0"]["ndcg@10"] for ranker in (second, whole)]
    assert_allclose(curves[0], curves[1][10:], atol=1e-2)


# --- The boosters' own parameters --------------------------------------------------------------


DART = {
    "lightgbm": {"boosting": "dart", "drop_rate": 0.5, "skip_drop": 0.0},
    "xgboost": {"booster": "dart", "rate_drop": 0.5, "skip_drop": 0.0},
}


@boosters
def test_dart(booster: str) -> None:
    """What is measured is the model; later rounds change earlier trees, so it cannot be cut."""
    ranker = make(booster, booster_params=DART[booster]).fit(X, Y, qid=QID, **VALID)
    value = ranker.score(*HELD_OUT)
    assert ranker.evals_result_["valid_0"]["ndcg@10"][-1] == pytest.approx(value, abs=1e-6)
    assert (ranker.predict(X) != fit(booster).predict(X)).any()
    with pytest.raises(ValueError, match="dart"):
        make(booster, booster_params=DART[booster], early_stopping_rounds=2).fit(
            X, Y, qid=QID, **VALID
        )


@boosters
def test_monotone_constraints(booster: str) -> None:
    """The booster's own parameter, in its own form."""
    constraint = [1, 0, 0, 0, 0, 0] if booster == "lightgbm" else "(1,0,0,0,0,0)"
    ranker = fit(booster, booster_params={"monotone_constraints": constraint}, n_estimators=30)
    line = np.zeros((50, 6))
    line[:, 0] = np.linspace(-1, 1, 50)
    assert (np.diff(ranker.predict(line)) >= 0).all()
    assert (np.diff(fit(booster, n_estimators=30).predict(line)) < 0).any()


@boosters
def test_constraints_by_name(booster: str) -> None:
    """A mapping of columns to signs, and groups of columns that may interact."""
    features = pd.DataFrame(X, columns=list("abcdef"))
    for name, by_place, by_name in (
        ("monotone_constraints", [1, 0, -1, 0, 0, 0], {"c": -1, "a": 1}),
        ("interaction_constraints", [[0, 1], [2]], [["a", "b"], ["c"]]),
    ):
        expected = make(booster, booster_params={name: by_place}).fit(X, Y, qid=QID)
        named = make(booster, booster_params={name: by_name}).fit(features, Y, qid=QID)
        assert_array_equal(named.predict(features), expected.predict(X))
        assert (expected.predict(X) != fit(booster).predict(X)).any()


@boosters
def test_feature_importances(booster: str) -> None:
    """Shares of the total gain, by column, for names that boosters cannot store too."""
    rng = np.random.default_rng(0)
    features = pd.DataFrame({"noise": rng.normal(size=600), "so: [good]": Y, "none": 0.0})
    ranker = make(booster).fit(features, Y, qid=QID)
    shares = ranker.feature_importances_
    assert shares.sum() == pytest.approx(1)
    assert shares[2] == 0 <= shares[0] < shares[1] > 0.9
    assert ranker.feature_names_in_.tolist() == list(features.columns)
    assert ranker.n_features_in_ == 3


# --- What happens around a fit ------------------------------------------------------------------


@boosters
def test_interruption_keeps_the_rounds(booster: str) -> None:
    """Ctrl-C in round 4: the model of 4 rounds, with a warning; in round 0, nothing."""
    limit = 4

    def interrupted(s: Vector, y: Vector, sigma: float) -> Any:
        if sigma > limit:
            raise KeyboardInterrupt
        return regression(s, y, sigma)

    rounds = {"sigma": lambda round, rounds: round + 1.0}
    with pytest.warns(UserWarning, match="4 of 10 rounds"):
        ranker = make(booster, interrupted, **rounds).fit(X, Y, qid=QID, **VALID)
    assert ranker.best_iteration_ == len(ranker.evals_result_["valid_0"]["ndcg@10"]) == 4
    assert_array_equal(ranker.predict(X), fit(booster, regression, n_estimators=4).predict(X))
    limit = 0
    with pytest.raises(KeyboardInterrupt):
        make(booster, interrupted, **rounds).fit(X, Y, qid=QID)


@boosters
def test_output(booster: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Nothing is printed unless asked for; then a bar on stderr, and training measures."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quiet = make(booster, early_stopping_rounds="auto").fit(X, Y, qid=QID, **VALID)
    assert capfd.readouterr() == ("", "")
    assert "train" not in quiet.evals_result_
    ranker = make(booster, verbose=1, sigma=geometric(1, 0.125)).fit(X, Y, qid=QID, **VALID)
    out, err = capfd.readouterr()
    assert out == ""
    for text in ("10/10", "sigma=0.125", "train ndcg@10=", "valid_0 ndcg@10="):
        assert text in err
    curve = ranker.evals_result_["train"]["ndcg@10"]
    assert len(curve) == 10
    assert curve[-1] == pytest.approx(ranker.score(X, Y, QID), abs=1e-12)


@boosters
@pytest.mark.parametrize(
    ("features", "least"), [(X[:15], 20), (X, 400), (np.full_like(X, np.nan), 20)]
)
def test_equal_scores_are_announced(booster: str, features: Any, least: int) -> None:
    """Nothing to split, for whatever reason."""
    ranker, n = make(booster, min_child_samples=least), len(features)
    with pytest.warns(UserWarning, match=f"no tree has a split.*min_child_samples={least}"):
        ranker.fit(features, Y[:n], qid=QID[:n])
    assert np.ptp(ranker.predict(features)) == 0


@boosters
@pytest.mark.parametrize("width", [2.0**-30, 2.0**-7, 2.0**20])
def test_the_unit_of_scores_plays_no_part(booster: str, width: float) -> None:
    """Scores in units of sigma are the same; XGBoost by itself finds no splits at 2^-30."""
    wide, narrow = (fit(booster, "ranknet", n_estimators=40, sigma=s) for s in (1.0, width))
    assert_allclose(narrow.predict(X) / width, wide.predict(X), rtol=1e-4, atol=1e-4)


@boosters
@pytest.mark.parametrize("objective", ["lambda:rr", "slam:ap", "lambda:precision@3"])
def test_nothing_left_to_learn(booster: str, objective: str) -> None:
    """Gradients underflow where the training data are in order; that is no error."""
    told = np.c_[Y, X]
    ranker = make(booster, objective, n_estimators=420, learning_rate=1.0, num_leaves=7)
    ranker.set_params(eval_metric=objective.partition(":")[2]).fit(told, Y, qid=QID)
    assert ranker.score(told, Y, qid=QID) == get_measure(ranker.eval_metric)(Y, Y, qid=QID)


@boosters
def test_fit_again_forgets(booster: str) -> None:
    """Nothing of an earlier fit stays; a fit that fails changes nothing."""
    ranker = make(booster).fit(pd.DataFrame({"a": X[:, 0]}), Y, qid=QID, **{
        "eval_set": [(pd.DataFrame({"a": X[:, 0]}), Y)], "eval_qid": [QID]})  # fmt: skip
    ranker.fit(X, Y, qid=QID)
    assert not hasattr(ranker, "feature_names_in_")
    assert ranker.evals_result_ == {}
    with pytest.raises(ValueError, match="y must be at least 0"):
        ranker.fit(X[:, :2], -Y, qid=QID)
    assert_array_equal(ranker.predict(X), fit(booster).predict(X))


@boosters
def test_a_round_without_a_tree_counts_as_a_round(booster: str) -> None:
    """LightGBM grows no tree where there is no gradient: the model ends with the best round."""

    def wanders(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
        return 0.0, (scores - labels) * np.sign(2 - sigma), np.ones_like(scores)

    widths = [1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0]  # 2 rests, 3 goes back
    ranker = make(
        booster, wanders, sigma=lambda round, _: widths[round], early_stopping_rounds=9
    ).fit(X, Y, qid=QID, **VALID)
    curve = ranker.evals_result_["valid_0"]["ndcg@10"]
    assert curve[2] == curve[1]
    assert 3 < ranker.best_iteration_ < len(curve) == 10
    assert ranker.score(*HELD_OUT) == pytest.approx(ranker.best_score_, abs=1e-12)


@pytest.mark.parametrize(
    "ranker",
    [
        GBRanker(n_estimators=3, random_state=0),
        LinearRanker("regression"),
        SLAMPerceptron(max_iter=2),
    ],
)
def test_queries_by_position(ranker: Any) -> None:
    """`fit` takes them third, as `score` and `cross_validate_rankers` do."""
    X, y, qid = make_cubic(20, n_documents=10, random_state=0)
    expected = clone(ranker).fit(X, y, qid=qid).predict(X)
    found = clone(ranker).fit(X, y, qid)
    np.testing.assert_array_equal(found.predict(X), expected)
    assert found.score(X, y, qid) == found.score(X, y, qid=qid)
