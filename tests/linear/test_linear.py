"""LinearRanker: SmoothRank's and ApproxRank's learners as one scikit-learn estimator."""

import json
import pickle
import warnings
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import GridSearchCV, GroupKFold, PredefinedSplit
from sklearn.pipeline import make_pipeline

from gbrank import (
    AP,
    NDCG,
    ApproxRank,
    GBRanker,
    LinearRanker,
    Queries,
    RankNet,
    SLAMPerceptron,
    SmoothRank,
    custom_objective,
    get_objective,
    list_objectives,
    load_ranker,
    make_cubic,
)
from gbrank.data.documents import Documents
from gbrank.fit.interrupted import FitInterrupted
from gbrank.linear.solvers import linear_loss, regression_on_gains
from gbrank.schedules import geometric

Vector = NDArray[np.float64]

X_ALL, Y_ALL, QID_ALL = make_cubic(50, n_documents=12, n_features=5, random_state=0)
TRAIN = QID_ALL < 30
X, Y, QID = X_ALL[TRAIN], Y_ALL[TRAIN], QID_ALL[TRAIN]
HELD_OUT = (X_ALL[~TRAIN], Y_ALL[~TRAIN], QID_ALL[~TRAIN])
VALID = {"eval_set": [HELD_OUT[:2]], "eval_qid": [HELD_OUT[2]]}
GAINS = 2**Y - 1
WEIGHTS = np.random.default_rng(0).uniform(0.5, 2, len(Y))
SHUFFLED = np.random.default_rng(1).permutation(len(Y))


def make(objective: Any = "smooth:ndcg", **params: Any) -> LinearRanker:
    """Return a ranker of one thread."""
    return LinearRanker(objective, **{"random_state": 0, "n_jobs": 1, **params})


def fit(objective: Any = "smooth:ndcg", **params: Any) -> LinearRanker:
    """Return a ranker, fitted."""
    return make(objective, **params).fit(X, Y, qid=QID)


def squared(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
    """Return half the squared error and its derivatives."""
    error = scores - labels
    return 0.5 * (error @ error), error, np.ones_like(error)


# --- The start --------------------------------------------------------------------------------


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("weights", [np.ones(len(Y)), WEIGHTS])
def test_regression_by_the_normal_equations(balanced: bool, weights: Vector) -> None:
    """Of the gains, with relevant and irrelevant documents of equal total weight or not."""
    v = weights.copy()
    if balanced:
        v[Y > 0] /= weights[Y > 0].sum()
        v[Y == 0] /= weights[Y == 0].sum()
    v /= v.sum()
    expected = np.linalg.solve(X.T @ (v[:, None] * X) + 0.1 * np.eye(5), X.T @ (v * GAINS))
    for rows in (X, sp.csr_matrix(X)):
        ranker = make("regression", ridge=0.1, balanced=balanced)
        ranker.fit(rows, Y, qid=QID, sample_weight=weights)
        assert_allclose(ranker.coef_, expected, rtol=1e-7)
        assert_array_equal(ranker.init_coef_, ranker.coef_)


def test_regression_on_features_of_other_scales() -> None:
    """Where the normal equations cannot be solved accurately, gbrank says so, in its own words."""
    X, y, qid = make_cubic(20, n_documents=5, n_features=3, random_state=0)
    X[:, 1] = X[:, 0] * 1e20
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.warns(UserWarning, match="X must have features of similar scales") as caught:
            LinearRanker("ranknet").fit(X, y, qid=qid)
    assert [Path(warning.filename) for warning in caught] == [Path(__file__)]


def test_query_weights_of_the_regression() -> None:
    """A query of weight 2 is a query that is there twice."""
    twice = np.append(np.arange(len(Y)), np.flatnonzero(QID == 3))
    again = Documents(X[twice], Y[twice], Queries.from_qid(np.append(QID, np.full(12, 99))))
    weighed = Documents(X, Y, Queries.from_qid(QID), query_weight=1.0 + (np.arange(30) == 3))
    assert_allclose(
        regression_on_gains(weighed, GAINS, 0.1, False),
        regression_on_gains(again, GAINS[twice], 0.1, False),
    )


@pytest.mark.parametrize(
    ("objective", "worth"),
    [
        ("smooth:ndcg(gain='linear')", Y),
        ("approx:ap(threshold=2)", (Y >= 2).astype(float)),
        ("regression(gain='linear')", Y),
        ("ranknet", GAINS),
    ],
)
def test_gains_are_those_of_the_measure(objective: str, worth: Vector) -> None:
    """What a document is worth to it; exponential gains where there is no measure."""
    rows = Documents(X, Y, Queries.from_qid(QID))
    start = fit(objective, n_steps=1, max_iter=1).init_coef_
    assert_array_equal(start, regression_on_gains(rows, worth, 0.01, False))


def test_other_starts() -> None:
    """Nothing, or weights of one's own, such as RankSVM's."""
    assert not fit("approx:ndcg", init="zero").init_coef_.any()
    svm = fit("ranksvm", init="zero").coef_
    ranker = fit(init=svm, reg_lambda=1e6)
    assert_array_equal(ranker.init_coef_, svm)
    assert_allclose(ranker.coef_, svm, atol=1e-5)


@pytest.mark.slow
def test_center_of_the_penalty() -> None:
    """The first weights unless another is named; a strong penalty pulls to it, by both solvers."""
    svm = fit("ranksvm", init="zero").coef_
    assert_array_equal(fit(center="init").coef_, fit().coef_)
    for center, expected in (("zero", np.zeros(5)), (svm, svm)):
        ranker = fit(center=center, reg_lambda=1e6, n_steps=1)
        assert_array_equal(ranker.init_coef_, fit("regression").coef_)
        assert_allclose(ranker.coef_, expected, atol=1e-5)
        ranker = fit("approx:ndcg", solver="sgd", center=center, reg_lambda=10.0, n_steps=5)
        assert np.linalg.norm(ranker.coef_ - expected) < 0.01
        assert np.linalg.norm(ranker.init_coef_ - expected) > 0.1


@pytest.mark.parametrize("c", [0.25, 3.0])
def test_lemma_1(c: float) -> None:
    """Section 5.4: with w0 = 0 the minimum at c λ and σ/c is that at λ and σ, divided by √c."""
    start = fit("regression").coef_
    params = {"center": "zero", "n_steps": 1, "tol": 1e-9}
    wide = fit(init=start, reg_lambda=0.002, sigma=4.0, **params).coef_
    narrow = fit(init=start / np.sqrt(c), reg_lambda=0.002 * c, sigma=4.0 / c, **params).coef_
    assert np.linalg.norm(wide) > 0.1
    assert_allclose(np.sqrt(c) * narrow, wide, atol=1e-6)
    apart = {"reg_lambda": 0.002 * c, "sigma": 4.0 / c, "n_steps": 1, "tol": 1e-9}
    assert not np.allclose(np.sqrt(c) * fit(init=start / np.sqrt(c), **apart).coef_, wide, atol=0.1)


# --- The loss ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [item.name for item in list_objectives() if item.facts.differentiable]
)
def test_derivative_of_the_linear_loss(name: str) -> None:
    """By finite differences, for every objective that has one, with weights and the penalty."""
    rows = Documents(X[:60], Y[:60], Queries.from_qid(QID[:60]), query_weight=np.arange(1.0, 6.0))
    start, coef = np.random.default_rng(3).normal(size=(2, 5))
    objective = get_objective(name)
    loss = linear_loss(objective, rows, start, 0.3, n_jobs=1)
    value, gradient = loss(coef, 0.8, 2)
    bound = objective.bind(rows.y, rows.queries)
    mean = np.average(bound.loss(rows.X @ coef, 0.8, 2), weights=np.arange(1.0, 6.0))
    assert value == pytest.approx(mean + 0.3 * np.sum((coef - start) ** 2))
    for i, unit in enumerate(1e-6 * np.eye(5)):
        slope = (loss(coef + unit, 0.8, 2)[0] - loss(coef - unit, 0.8, 2)[0]) / 2e-6
        assert gradient[i] == pytest.approx(slope, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("reg_lambda", [0.0, 0.5])
def test_conjugate_gradient_by_the_normal_equations(reg_lambda: float) -> None:
    """A quadratic loss has its minimum in closed form; w0 is in the penalty."""
    w0 = np.arange(5.0)
    ranker = fit(
        custom_objective(squared), init=w0, reg_lambda=reg_lambda, n_steps=1, tol=1e-10
    )  # the mean is over 30 queries
    A = X.T @ X / 30 + 2 * reg_lambda * np.eye(5)
    assert_allclose(ranker.coef_, np.linalg.solve(A, X.T @ Y / 30 + 2 * reg_lambda * w0), rtol=1e-7)


# --- Annealing --------------------------------------------------------------------------------


@pytest.mark.slow
def test_annealing_by_the_paper() -> None:
    """σ from 2⁶ to 2⁻⁶; at each, the loss falls from where the last σ ended."""
    rows = Documents(X, Y, Queries.from_qid(QID))
    whole = fit()
    assert_array_equal(whole.sigmas_, 2.0 ** np.arange(6, -7, -1))
    loss = linear_loss(SmoothRank(), rows, whole.init_coef_, 0.001, 1)
    coefs = [whole.init_coef_, *(fit(n_steps=n).coef_ for n in range(1, 14))]
    for step, sigma in enumerate(whole.sigmas_):
        before, after = (loss(coef, sigma, step) for coef in coefs[step : step + 2])
        assert after[0] < before[0]
        if sigma > 0.1:  # below it is hardly smooth
            assert np.abs(after[1]).max() <= 1e-5
    assert_array_equal(coefs[-1], whole.coef_)
    values = [NDCG(k=10)(Y, X @ coef, qid=QID) for coef in coefs]
    assert whole.evals_result_ == {"train": {"ndcg@10": values[1:]}}
    assert values[-1] > values[0] + 0.005
    assert np.isnan(whole.best_score_)
    assert whole.best_iteration_ == 13


def test_wide_sigma_and_strong_penalty_stay_at_the_start() -> None:
    """Section 5.3: the measure is constant then, and w0 the minimum."""
    for params in ({"sigma": 1e9, "reg_lambda": 1.0}, {"reg_lambda": 1e8}):
        ranker = fit(**params)
        assert_allclose(ranker.coef_, ranker.init_coef_, atol=1e-6)


def test_which_weights_are_kept() -> None:
    """The last with "cg", the best on validation data with "sgd"; the best if that is asked."""
    last = make().fit(X, Y, qid=QID, **VALID)
    curve = last.evals_result_["valid_0"]["ndcg@10"]
    assert last.best_iteration_ == len(curve) == 13
    assert last.best_score_ == curve[-1] == last.score(*HELD_OUT)
    assert max(curve) > curve[-1]
    sgd = make("approx:ndcg", solver="sgd", n_steps=20, sigma=0.1, learning_rate=5)
    for ranker in (make(early_stopping_rounds=13), sgd):
        ranker.fit(X, Y, qid=QID, **VALID)
        curve = ranker.evals_result_["valid_0"]["ndcg@10"]
        assert ranker.best_iteration_ == 1 + int(np.argmax(curve)) < len(curve)
        assert ranker.best_score_ == max(curve) == ranker.score(*HELD_OUT)
    assert len(curve) == 20
    stopped = make(early_stopping_rounds=1).fit(X, Y, qid=QID, **VALID)
    assert len(stopped.sigmas_) == stopped.best_iteration_ + 1 < 13
    assert sgd.fit(X, Y, qid=QID).best_iteration_ == 20


def test_sigma_relative_to_the_spread() -> None:
    """Of the scores at the beginning of each step; squared for SmoothRank."""
    ranker = fit(sigma=geometric(2, 0.5, unit="spread"), n_steps=3)
    scores = (X @ ranker.init_coef_).reshape(30, 12)
    spread = (scores - scores.mean(axis=1, keepdims=True)).std()
    assert ranker.sigmas_[0] == pytest.approx(2 * spread**2)
    assert len(set(ranker.sigmas_ / [2, 1, 0.5])) == 3


# --- Stochastic gradient ----------------------------------------------------------------------


def test_two_queries_by_hand() -> None:
    """RankNet on two pairs: query after query, in either order; weights are 1.25 on the mean."""
    pairs = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [1.0, -1.0]])
    weights = [1.0, 3.0, 0.5, 0.5]
    eta, sigma, reg, w0 = 0.3, 0.7, 0.05, np.array([0.2, -0.1])

    def after(orders: list[list[int]]) -> list[float]:
        w = w0
        for query in (query for order in orders for query in order):
            better, worse = pairs[2 * query], pairs[2 * query + 1]
            push = 1 / (sigma * (1 + exp(((better - worse) @ w) / sigma)))
            slope = -push * (weights[2 * query] * better - weights[2 * query + 1] * worse) / 1.25
            w = w - eta * (slope + 2 * reg * (w - w0))
        return [round(float(value), 12) for value in w]

    expected = {
        str(after([first, second])): (first, second)
        for first in ([0, 1], [1, 0])
        for second in ([0, 1], [1, 0])
    }
    assert len(expected) == 4
    seen = set()
    for seed in range(30):
        ranker = make(RankNet(), solver="sgd", n_steps=2, learning_rate=eta, sigma=sigma,
                      reg_lambda=reg, init=w0, random_state=seed)  # fmt: skip
        ranker.fit(pairs, [1, 0, 1, 0], qid=["a", "a", "b", "b"], sample_weight=weights)
        seen.add(str([round(float(value), 12) for value in ranker.coef_]))
    assert seen == set(expected)


@pytest.mark.parametrize("objective", ["approx:ndcg", "lambda:map", "ranknet+listmle", squared])
def test_any_objective_learns_by_stochastic_gradient(objective: Any) -> None:
    """Gradients are all it needs."""
    ranker = make(objective, solver="sgd", init="zero", n_steps=30)
    assert ranker.fit(X, Y, qid=QID).score(*HELD_OUT) > 0.5
    assert not ranker.init_coef_.any()


# --- Data -------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["cg", "sgd"])
def test_forms_of_data(solver: str) -> None:
    """Sparse or dense, shuffled or not, by qid or group, in a frame: the same model."""
    ranker = make(solver=solver, n_steps=4)
    coef = ranker.fit(X, Y, qid=QID).coef_
    for rows in (sp.csr_matrix(X), sp.csc_matrix(X), pd.DataFrame(X)):
        assert_allclose(clone(ranker).fit(rows, Y, qid=QID).coef_, coef, rtol=1e-4)
        assert_allclose(ranker.predict(rows), X @ coef)
    other = clone(ranker).fit(X[SHUFFLED], Y[SHUFFLED], qid=QID[SHUFFLED])
    assert_allclose(other.coef_, coef, rtol=1e-4)
    assert_array_equal(clone(ranker).fit(X, Y, group=[12] * 30).coef_, coef)
    named = clone(ranker).fit(pd.DataFrame(X, columns=list("abcde")), Y, qid=QID)
    assert named.feature_names_in_.tolist() == list("abcde")


def test_threads_change_nothing() -> None:
    """Nor does a second fit: the same bits."""
    rows, labels, qid = make_cubic(8, n_documents=300, n_features=4, random_state=0)
    fits = [
        LinearRanker("approx:ndcg", sigma=0.1, n_steps=2, n_jobs=jobs).fit(rows, labels, qid=qid)
        for jobs in (1, 2, 2)
    ]
    for ranker in fits:
        assert_array_equal(ranker.coef_, fits[0].coef_)


def test_weights() -> None:
    """A query of weight 2 is a query that is there twice; document weights are not averaged."""
    double = 1.0 + (np.arange(30) == 3)
    twice = np.append(np.arange(len(Y)), np.flatnonzero(QID == 3))
    expected = make(n_steps=6).fit(X[twice], Y[twice], qid=np.append(QID, np.full(12, 99))).coef_
    weighed = make(n_steps=6).fit(X, Y, qid=QID, query_weight=double)
    assert_allclose(weighed.coef_, expected, rtol=1e-3)
    by_document = make(n_steps=6).fit(X, Y, qid=QID, sample_weight=double[QID])
    assert_array_equal(by_document.coef_, weighed.coef_)
    with pytest.raises(ValueError, match=r"sample_weight.*solver='cg'.*query 0.*sgd"):
        make().fit(X, Y, qid=QID, sample_weight=WEIGHTS)
    make(solver="sgd", n_steps=2).fit(X, Y, qid=QID, sample_weight=WEIGHTS)


@pytest.mark.parametrize("sparse", [False, True])
def test_missing_values_are_refused(sparse: bool) -> None:
    """In fit, in validation data, and in predict; the message says where."""
    holes = np.abs(X) + 1
    holes[7, 2] = np.nan
    holes = sp.csr_matrix(holes) if sparse else holes
    with pytest.raises(ValueError, match=r"^X must not hold NaN.*row 7, column 2"):
        make().fit(holes, Y, qid=QID)
    with pytest.raises(ValueError, match=r"^eval_set\[0\]: X must not hold NaN.*row 7"):
        make().fit(X, Y, qid=QID, eval_set=[(holes, Y)], eval_qid=[QID])
    with pytest.raises(ValueError, match=r"^X must not hold NaN.*row 7"):
        fit(n_steps=1).predict(holes)


def test_categories_are_refused() -> None:
    """They have no weight."""
    frame = pd.DataFrame({"a": X[:, 0], "word": pd.Categorical(np.where(Y > 0, "x", "y"))})
    with pytest.raises(ValueError, match=r"'word' holds categories"):
        make().fit(frame, Y, qid=QID)


# --- Bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"solver": "newton"}, r"solver must be one of \['cg', 'sgd'\], got 'newton'"),
        ({"reg_lambda": -1}, r"reg_lambda.*at least 0, got -1"),
        ({"ridge": 0}, r"ridge.*above 0, got 0"),
        ({"balanced": 1}, r"balanced must be one of \[True, False\], got 1"),
        ({"max_iter": 0}, r"max_iter.*at least 1, got 0"),
        ({"tol": -1}, r"tol.*at least 0, got -1"),
        ({"learning_rate": 0}, r"learning_rate.*above 0, got 0"),
        ({"n_steps": 0}, r"n_steps.*at least 1.*got 0"),
        ({"sigma": 0}, r"sigma.*at least 1e-300, got 0"),
        ({"init": "one"}, r"init must be one of \['regression', 'zero'\], got 'one'"),
        ({"init": [1, 2]}, r"init must have 5 entries, got 2"),
        ({"init": [1, 2, 3, 4, np.nan]}, r"init must be finite, got nan"),
        ({"center": "one"}, r"center must be one of \['init', 'zero'\], got 'one'"),
        ({"center": [1, 2]}, r"center must have 5 entries, got 2"),
        ({"center": [1, 2, 3, 4, np.inf]}, r"center must be finite, got inf"),
        ({"init": "zero"}, r"init must not be zero with smooth:ndcg"),
        ({"early_stopping_rounds": 3}, r"early_stopping_rounds needs validation data"),
        ({"eval_metric": []}, r"eval_metric must be a measure, or a list of at least one"),
        ({"n_jobs": 0}, r"n_jobs must be"),
        ({"solver": "sgd", "random_state": "x"}, r"random_state must be"),
        ({"objective": "lambdarank"}, r"objective.*derivative.*'cg', got lambda.*sgd"),
    ],
)
def test_bad_parameters(params: dict[str, Any], message: str) -> None:
    """Named, before training."""
    ranker = make(**params)
    with pytest.raises((ValueError, TypeError), match=message):
        ranker.fit(X, Y, qid=QID)
    with pytest.raises(NotFittedError):
        ranker.predict(X)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"qid": QID[1:]}, r"qid must have one entry per row"),
        ({"y": Y[1:]}, r"y must have 360 entries, got 359"),
        ({"y": QID * 1.0}, r"nothing to learn.*equal within each query"),
        ({"eval_qid": [QID]}, r"eval_qid needs eval_set"),
    ],
)
def test_bad_data(changed: dict[str, Any], message: str) -> None:
    """As with GBRanker."""
    arguments = {"X": X, "y": Y, "qid": QID, **changed}
    with pytest.raises(ValueError, match=message):
        make().fit(arguments.pop("X"), arguments.pop("y"), **arguments)


def test_interruption_keeps_the_steps() -> None:
    """Ctrl-C in step 4: the weights of 4 steps, with a warning; in step 0, nothing."""
    limit = 4

    def interrupted(scores: Vector, labels: Vector, sigma: float) -> Any:
        if sigma > limit:
            raise KeyboardInterrupt
        return squared(scores, labels, sigma)

    ranker = make(interrupted, sigma=lambda step, steps: step + 1.0)
    with pytest.warns(FitInterrupted, match="4 of 13 rounds: the model keeps 4"):
        ranker.fit(X, Y, qid=QID)
    assert len(ranker.evals_result_["train"]["ndcg@10"]) == 4
    limit = 0
    with pytest.raises(KeyboardInterrupt):
        clone(ranker).fit(X, Y, qid=QID)


def test_progress(capfd: pytest.CaptureFixture[str]) -> None:
    """A bar with sigma and measures, or not a word."""
    make(verbose=1).fit(X, Y, qid=QID, **VALID)
    shown = capfd.readouterr().err
    assert "13/13" in shown
    assert "valid_0 ndcg@10" in shown
    fit()
    assert capfd.readouterr() == ("", "")


# --- scikit-learn's tools ---------------------------------------------------------------------


@pytest.mark.slow
def test_penalty_by_grid_search() -> None:
    """On the papers' validation set, which GridSearchCV takes as a split; qid is routed."""
    fold = np.where(TRAIN, -1, 0)
    grid = {"reg_lambda": [1e-4, 1e-2, 1.0]}
    with config_context(enable_metadata_routing=True):
        ranker = make(n_steps=7).set_fit_request(qid=True).set_score_request(qid=True)
        search = GridSearchCV(ranker, grid, cv=PredefinedSplit(fold), refit=False)
        search.fit(X_ALL, Y_ALL, qid=QID_ALL)
        by_query = GridSearchCV(ranker, grid, cv=GroupKFold(3))
        by_query.fit(X, Y, qid=QID, groups=QID)
    expected = [fit(n_steps=7, reg_lambda=value).score(*HELD_OUT) for value in grid["reg_lambda"]]
    assert search.cv_results_["mean_test_score"].tolist() == expected
    assert search.best_score_ == max(expected)
    best = fit(n_steps=7, **by_query.best_params_)
    assert_array_equal(by_query.best_estimator_.coef_, best.coef_)


@pytest.mark.slow
def test_alpha_and_beta_by_grid_search() -> None:
    """ApproxRank's: α is 1/σ, β a parameter of the objective; the same on all splits by query."""
    grid = {
        "sigma": [1 / 10, 1 / 100],
        "objective": [ApproxRank(AP(threshold=2, k=5), beta=beta) for beta in (1.0, 50.0)],
    }
    with config_context(enable_metadata_routing=True):
        ranker = make("approx:ndcg", solver="sgd", n_steps=5, learning_rate=1.0)
        ranker.set_fit_request(qid=True).set_score_request(qid=True)
        search = GridSearchCV(ranker, grid, cv=GroupKFold(3), refit=False)
        search.fit(X, Y, qid=QID, groups=QID)
    expected = []
    for params in search.cv_results_["params"]:
        scores = []
        for train, test in GroupKFold(3).split(X, Y, QID):
            assert not set(QID[train]) & set(QID[test])
            own = make(**params, solver="sgd", n_steps=5, learning_rate=1.0)
            own.fit(X[train], Y[train], qid=QID[train])
            scores.append(own.score(X[test], Y[test], QID[test]))
        expected.append(np.mean(scores))
    assert_allclose(search.cv_results_["mean_test_score"], expected)
    assert len(set(expected)) == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "kernel",
    [
        Nystroem(gamma=0.3, n_components=60, random_state=0),
        KernelPCA(60, kernel="rbf", gamma=0.3),
    ],
)
def test_kernel_map(kernel: Any) -> None:
    """Section 6: a map of the kernel's in front makes the ranker non-linear."""
    ranker = make_pipeline(kernel, make("smooth:ndcg", reg_lambda=1e-3))
    ranker.fit(X, Y, linearranker__qid=QID)
    value = NDCG(k=10)(HELD_OUT[1], ranker.predict(HELD_OUT[0]), qid=HELD_OUT[2])
    assert value > fit().score(*HELD_OUT) + 0.05


def test_estimator() -> None:
    """Parameters, clones, pickles, ranks."""
    ranker = make(SmoothRank(AP()), sigma=geometric(1, 0.1), eval_metric=["map", NDCG()], n_steps=2)
    before = ranker.get_params()
    ranker.fit(X, Y, qid=QID)
    assert ranker.get_params() == before
    assert set(ranker.evals_result_["train"]) == {"map", "ndcg"}
    assert ranker.score(X, Y, QID) == AP()(Y, ranker.predict(X), qid=QID)
    assert_array_equal(pickle.loads(pickle.dumps(ranker)).coef_, ranker.coef_)
    assert not hasattr(clone(ranker), "coef_")
    assert sorted(ranker.rank(X[:5])) == [1, 2, 3, 4, 5]


# --- Saved models -----------------------------------------------------------------------------


def test_the_same_ranker(tmp_path: Path) -> None:
    """Bits of the weights, and everything else; one file, of JSON."""
    frame = pd.DataFrame(X, columns=list("abcde"))
    ranker = make(SmoothRank(AP()), sigma=geometric(1, 0.1), n_steps=2, init=np.ones(5))
    ranker.fit(frame, Y, qid=QID)
    ranker.save(tmp_path / "deep" / "model")
    (file,) = (tmp_path / "deep" / "model").iterdir()
    assert json.loads(file.read_text())["fitted"]["coef"] == ranker.coef_.tolist()
    for loaded in (LinearRanker.load(file.parent), load_ranker(file.parent)):
        assert isinstance(loaded, LinearRanker)
        assert_array_equal(loaded.predict(frame), ranker.predict(frame))
        assert_array_equal(loaded.sigmas_, ranker.sigmas_)
        assert loaded.evals_result_ == ranker.evals_result_
        assert loaded.evals_result_.to_markdown() == ranker.evals_result_.to_markdown()
        assert loaded.score(frame, Y, QID) == ranker.score(frame, Y, QID)
        assert loaded.feature_names_in_.tolist() == list("abcde")
        assert_array_equal(loaded.fit(frame, Y, qid=QID).coef_, ranker.coef_)


@pytest.mark.slow
def test_models_of_another_class(tmp_path: Path) -> None:
    """Each class names the other."""
    rankers = [GBRanker(n_estimators=2, n_jobs=1), make("regression"), SLAMPerceptron()]
    for ranker in rankers:
        name = type(ranker).__name__
        ranker.fit(X, Y, qid=QID).save(tmp_path / name)
        assert type(load_ranker(tmp_path / name)) is type(ranker)
        for other in {*map(type, rankers)} - {type(ranker)}:
            message = rf"gbrank\.json holds a {name}: load it by {name}\.load, not {other.__name__}"
            with pytest.raises(ValueError, match=message):
                other.load(tmp_path / name)


class Mine(LinearRanker):
    """A ranker of the user's."""


def test_a_class_of_the_users(tmp_path: Path) -> None:
    """It loads its own models; gbrank does not know it."""
    ranker = Mine("regression").fit(X, Y, qid=QID)
    ranker.save(tmp_path)
    assert type(Mine.load(tmp_path)) is Mine
    with pytest.raises(ValueError, match=r"one of GBRanker.*got a Mine: load it by Mine\.load"):
        load_ranker(tmp_path)


def test_damage(tmp_path: Path) -> None:
    """Any missing or changed byte; nothing there."""
    make("regression").fit(X, Y, qid=QID).save(tmp_path)
    file = tmp_path / "gbrank.json"
    content = file.read_bytes()
    for length in range(0, len(content) - 1, 37):
        file.write_bytes(content[:length])
        with pytest.raises(ValueError, match="damaged"):
            LinearRanker.load(tmp_path)
    file.write_bytes(content.replace(b"0.01", b"0.02", 1))
    with pytest.raises(ValueError, match="damaged"):
        LinearRanker.load(tmp_path)
    for load in (LinearRanker.load, load_ranker):
        with pytest.raises(FileNotFoundError, match=r"absent.*gbrank\.json"):
            load(tmp_path / "absent")
    with pytest.raises(NotFittedError):
        make().save(tmp_path / "unfitted")
    assert not (tmp_path / "unfitted").exists()


def test_sgd_knows_the_number_of_its_steps() -> None:
    """The weights of a mixture are schedules over them: first one objective, then the other."""
    X, y, qid = make_cubic(8, n_documents=6, n_features=3, random_state=0)
    found = []
    for first, second in (("listnet", "ranknet"), ("ranknet", "listnet")):
        mixture = f"linear(1,0)*{first}+linear(0,1)*{second}"
        made = LinearRanker(mixture, solver="sgd", n_steps=2, init="zero", random_state=0)
        found.append(made.fit(X, y, qid=qid).coef_)
    assert np.isfinite(found).all()
    assert (found[0] != found[1]).any()


@pytest.mark.parametrize("solver", ["cg", "sgd"])
def test_the_scale_of_weights_does_not_matter(solver: str) -> None:
    """It is no factor on the length of steps."""
    queries = np.random.default_rng(0).uniform(0.5, 2, 30)
    plain, one, small = (
        make(solver=solver).fit(X, Y, qid=QID, query_weight=weights).coef_
        for weights in (None, queries, queries / 128)
    )
    assert_allclose(small, one, rtol=1e-3)
    assert (one != plain).any()
