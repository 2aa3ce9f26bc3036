"""How linear rankers are trained: conjugate gradient under annealing, and stochastic gradient."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from scipy.optimize import minimize
from sklearn.linear_model import Ridge

from gbrank.common.quoting import quoted
from gbrank.common.warnings import warn_user
from gbrank.data.checking import each_query
from gbrank.data.rows import Rows
from gbrank.data.sampling import query_keys, query_noise
from gbrank.data.spread import unit_width
from gbrank.kernels.compiled import Vector
from gbrank.measures.measure import query_weights
from gbrank.objectives.objective import Objective
from gbrank.schedules import sigma_at, unit_of

Move: TypeAlias = Callable[[Vector, float, int], Vector]


def regression_on_gains(rows: Rows, gains: Vector, ridge: float, balanced: bool) -> Vector:
    """Return argmin Σ_i v_i (w·x_i − G_i)² / Σ_i v_i + ridge ‖w‖²."""
    weights = np.ones(len(rows.labels)) if rows.weights is None else rows.weights
    relevant = gains > 0
    total, share = weights.sum(), weights[relevant].sum()
    if balanced and 0 < share < total:
        weights = weights * np.where(relevant, total / share, total / (total - share)) / 2
    model = Ridge(alpha=ridge * total, fit_intercept=False, tol=1e-10)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RuntimeWarning)
        coef: Vector = model.fit(rows.X, gains, sample_weight=weights).coef_
    if caught:
        warn_user(
            "X must have features of similar scales for a regression that is accurate: "
            "standardise them, or raise ridge (scikit-learn says: "
            f"{quoted(str(caught[0].message))})."
        )
    return coef


class LinearLoss:
    """The mean over queries of the loss of scores X·w, plus λ ‖w − w0‖²."""

    def __init__(
        self, objective: Objective, rows: Rows, center: Vector, reg_lambda: float, n_jobs: int
    ) -> None:
        weights = query_weights(rows.queries, rows.sample_weight, rows.query_weight)
        self._total = rows.queries.n_queries if weights is None else weights.sum()
        self._bound = objective.bind(rows.labels, rows.queries, query_weight=weights, n_jobs=n_jobs)
        self._X = rows.X
        self._center = center
        self._lambda = reg_lambda

    def __call__(self, coef: Vector, sigma: float, round: int) -> tuple[float, Vector]:
        """Return the loss, and its derivative by each weight."""
        scores, away = self._X @ coef, coef - self._center
        loss = self._bound.loss(scores, sigma, round).sum() / self._total
        slope = self._X.T @ self._bound.gradients(scores, sigma, round)[0] / self._total
        return loss + self._lambda * (away @ away), slope + 2 * self._lambda * away


def conjugate_gradient(loss: LinearLoss, max_iter: int, tol: float) -> Move:
    """Return what goes to the minimum of a loss at one sigma (Polak-Ribière)."""
    options = {"jac": True, "options": {"maxiter": max_iter, "gtol": tol}}
    return lambda coef, sigma, round: minimize(loss, coef, (sigma, round), "CG", **options).x


class StochasticGradient:
    """Goes once through the queries, shuffled, with a gradient step at each."""

    def __init__(
        self, objective: Objective, rows: Rows, center: Vector, reg_lambda: float,
        learning_rate: float, seed: int, rounds: int,
    ) -> None:  # fmt: skip
        self._parts = [
            (part, objective.bind(part.labels, part.queries, n_jobs=1, rounds=rounds))
            for part in each_query(rows)
        ]
        self._keys = query_keys(rows.queries.ids)
        self._center = center
        self._lambda = reg_lambda
        self._learning_rate = learning_rate
        self._seed = seed

    def __call__(self, coef: Vector, sigma: float, round: int) -> Vector:
        """Return the weights after all queries."""
        for query in np.argsort(query_noise(self._keys, self._seed, round)):
            part, bound = self._parts[query]
            gradient, _ = bound.gradients(part.X @ coef, sigma, round)
            if part.weights is not None:
                gradient *= part.weights
            slope = part.X.T @ gradient + 2 * self._lambda * (coef - self._center)
            coef = coef - self._learning_rate * slope
        return coef


@dataclass(eq=False)
class Descent:
    """Weights that move on step by step, each with its sigma."""

    move: Move
    rows: Rows
    valid: list[Rows]
    coefs: list[Vector]  # the first weights, then those after each step
    schedule: Callable[[int, int | None], float]
    sigma_unit: str
    n_steps: int
    sigmas: dict[int, float] = field(default_factory=dict)

    def step(self, derivatives: Any = None) -> None:
        """Move on from the last weights."""
        round = len(self.coefs) - 1
        sigma = sigma_at(self.schedule, round, self.n_steps)
        if unit_of(self.schedule) == "spread":
            sigma *= unit_width(self.train_scores(), self.rows.queries, self.sigma_unit)
        self.sigmas[round] = sigma
        self.coefs.append(self.move(self.coefs[-1], sigma, round))

    def train_scores(self) -> Vector:
        """Return the current scores of the training rows."""
        scores: Vector = self.rows.X @ self.coefs[-1]
        return scores

    def valid_scores(self) -> list[Vector]:
        """Return the current scores of each validation set."""
        return [part.X @ self.coefs[-1] for part in self.valid]
