"""How linear rankers are trained: conjugate gradient under annealing, and stochastic gradient."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from scipy.optimize import minimize

from gbrank.common.checks import ArgumentError, Vector, quoted, warn_user
from gbrank.data.documents import Documents
from gbrank.data.sampling import query_noise
from gbrank.measures.measure import mean_weights
from gbrank.measures.per_query import labels_differ
from gbrank.objectives.objective import Objective

# Functions of (weights, sigma, round).
Loss: TypeAlias = Callable[[Vector, float, int], tuple[float, Vector]]
Move: TypeAlias = Callable[[Vector, float, int], Vector]


def regression_on_gains(rows: Documents, gains: Vector, ridge: float, balanced: bool) -> Vector:
    """Return argmin Σ_i v_i (w·x_i − G_i)² / Σ_i v_i + ridge ‖w‖²."""
    from sklearn.linear_model import Ridge  # takes long to import, and who predicts needs none

    weights = np.ones(len(rows.y)) if rows.weights is None else rows.weights
    relevant = gains > 0
    total = weights.sum()
    share = weights[relevant].sum()
    if balanced and 0 < share < total:
        weights = weights * np.where(relevant, total / share, total / (total - share)) / 2
    model = Ridge(alpha=ridge * total, fit_intercept=False, tol=1e-10)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RuntimeWarning)
        coef: Vector = model.fit(rows.X, gains, sample_weight=weights).coef_
    if caught:
        warn_user(
            "the regression is inaccurate, since the features of X have very different scales. "
            f"Standardize them, or raise ridge (scikit-learn: {quoted(str(caught[0].message))})."
        )
    return coef


def linear_loss(
    objective: Objective, rows: Documents, center: Vector, reg_lambda: float, n_jobs: int | None
) -> Loss:
    """Return the mean over queries of the loss of scores X·w, plus λ ‖w − w0‖², with its slope."""
    weights = mean_weights(rows)
    total = rows.queries.n_queries if weights is None else weights.sum()
    by_query = replace(rows, sample_weight=None, query_weight=weights)
    bound = objective.bind_documents(by_query, n_jobs=n_jobs)

    def loss(coef: Vector, sigma: float, round: int) -> tuple[float, Vector]:
        scores = rows.X @ coef
        offset = coef - center
        mean = bound.loss(scores, sigma, round).sum() / total
        slope = rows.X.T @ bound.gradients(scores, sigma, round)[0] / total
        return mean + reg_lambda * (offset @ offset), slope + 2 * reg_lambda * offset

    return loss


def conjugate_gradient(
    objective: Objective, rows: Documents, center: Vector, n_steps: int, params: dict[str, Any]
) -> Move:
    """Return a move to the minimum of the loss at one sigma: conjugate gradient (Polak-Ribière).

    `params` are those of the ranker, checked. A regression is at its minimum already.
    """
    if objective.facts.closed_form:
        return lambda coef, sigma, round: coef
    if rows.sample_weight is not None and labels_differ(rows.sample_weight, rows.queries).any():
        raise ArgumentError(
            "sample_weight",
            "must be the same for all documents of a query with solver='cg', which minimizes one "
            "loss per query",
            hint=" Use solver='sgd'.",
        )
    loss = linear_loss(objective, rows, center, params["reg_lambda"], params["n_jobs"])
    options = {"jac": True, "options": {"maxiter": params["max_iter"], "gtol": params["tol"]}}
    return lambda coef, sigma, round: minimize(loss, coef, (sigma, round), "CG", **options).x


def stochastic_gradient(
    objective: Objective, rows: Documents, center: Vector, n_steps: int, params: dict[str, Any]
) -> Move:
    """Return a move that goes once through the shuffled queries, with a gradient step for each."""
    parts = []
    for part in rows.each_query():
        unweighted = replace(part, sample_weight=None, query_weight=None)
        parts.append((part, objective.bind_documents(unweighted, n_jobs=1, rounds=n_steps)))
    keys = rows.queries.id_keys
    mean = 1.0 if rows.weights is None else rows.weights.mean()

    def move(coef: Vector, sigma: float, round: int) -> Vector:
        for query in np.argsort(query_noise(keys, params["seed"], round)):
            part, bound = parts[query]
            gradient, _ = bound.gradients(part.X @ coef, sigma, round)
            if part.weights is not None:
                gradient *= part.weights / mean
            slope = part.X.T @ gradient + 2 * params["reg_lambda"] * (coef - center)
            coef = coef - params["learning_rate"] * slope
        return coef

    return move


SOLVERS = {"cg": conjugate_gradient, "sgd": stochastic_gradient}
