"""LinearRanker: SmoothRank's and ApproxRank's learners as one scikit-learn estimator."""

import warnings
from math import exp
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from gbrank import (
    NDCG,
    LinearRanker,
    Queries,
    RankNet,
    SmoothRank,
    get_objective,
    list_objectives,
    make_cubic,
)
from gbrank.data.documents import Documents
from gbrank.extend import custom_objective
from gbrank.linear.solvers import linear_loss, regression_on_gains
from gbrank.schedules import geometric
from linear_fits import HELD_OUT, QID, VALID, WEIGHTS, Vector, X, Y, fit, make, squared

GAINS = 2**Y - 1


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
        with pytest.warns(UserWarning, match="features of X have very different scales") as caught:
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
