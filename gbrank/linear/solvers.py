"""How linear rankers are trained: conjugate gradient under annealing, and stochastic gradient."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.linear_model import Ridge

from gbrank.data.checking import each_query
from gbrank.data.rows import Rows
from gbrank.data.sampling import query_keys, query_noise
from gbrank.data.spread import unit_width
from gbrank.measures.measure import query_weights
from gbrank.objectives.objective import Objective
from gbrank.schedules import sigma_at, unit_of

__all__ = [
    "ConjugateGradient",
    "Descent",
    "LinearLoss",
    "Move",
    "StochasticGradient",
    "regression_on_gains",
]

Vector = NDArray[np.float64]
Move: TypeAlias = Callable[[Vector, float, int], Vector]


def regression_on_gains(rows: Rows, gains: Vector, ridge: float, balanced: bool) -> Vector:
    """Return argmin Σ_i v_i (w·x_i − G_i)² / Σ_i v_i + ridge ‖w‖².

    Parameters
    ----------
    rows : Rows
        Documents; v is the product of their and their queries' weights.
    gains : ndarray, shape (n_documents,)
        What each document is worth.
    ridge : float
        Strength of the penalty, above 0.
    balanced : bool
        Whether documents that are worth something get the same total weight as those that are
        not.

    Returns
    -------
    ndarray, shape (n_features,)

    References
    ----------
    Chapelle & Wu 2010, sections 4.4.1 and 7.
    """
    weights = _document_weights(rows)
    relevant = gains > 0
    total, share = weights.sum(), weights[relevant].sum()
    if balanced and 0 < share < total:
        weights = weights * np.where(relevant, total / share, total / (total - share)) / 2
    model = Ridge(alpha=ridge * total, fit_intercept=False, tol=1e-10)
    coef: Vector = model.fit(rows.X, gains, sample_weight=weights).coef_
    return coef


def _document_weights(rows: Rows) -> Vector:
    weights = np.ones(len(rows.labels)) if rows.sample_weight is None else rows.sample_weight
    return weights if rows.query_weight is None else weights * rows.query_weight[rows.queries.index]


class LinearLoss:
    """The mean over queries of the loss of scores X·w, plus λ ‖w − w0‖².

    Parameters
    ----------
    objective : Objective
        A loss with its derivative.
    rows : Rows
        Training data. A query weighs the mean of its documents' weights.
    start : ndarray, shape (n_features,)
        w0.
    reg_lambda : float
        λ.
    n_jobs : int
        Threads.
    """

    def __init__(
        self, objective: Objective, rows: Rows, start: Vector, reg_lambda: float, n_jobs: int
    ) -> None:
        weights = query_weights(rows.queries, rows.sample_weight, rows.query_weight)
        self._total = rows.queries.n_queries if weights is None else weights.sum()
        self._bound = objective.bind(rows.labels, rows.queries, query_weight=weights, n_jobs=n_jobs)
        self._X = rows.X
        self._start = start
        self._lambda = reg_lambda

    def __call__(self, coef: Vector, sigma: float, round: int) -> tuple[float, Vector]:
        """Return the loss, and its derivative by each weight.

        Parameters
        ----------
        coef : ndarray, shape (n_features,)
            w.
        sigma : float
            Width of the smoothing.
        round : int
            What the draws of a stochastic objective depend on.

        Returns
        -------
        loss : float
        gradient : ndarray, shape (n_features,)
        """
        scores, away = self._X @ coef, coef - self._start
        loss = self._bound.loss(scores, sigma, round).sum() / self._total
        slope = self._X.T @ self._bound.gradients(scores, sigma, round)[0] / self._total
        return loss + self._lambda * (away @ away), slope + 2 * self._lambda * away


@dataclass(frozen=True, eq=False)
class ConjugateGradient:
    """Minimises a loss at one sigma (Polak-Ribière).

    Parameters
    ----------
    loss : LinearLoss
    max_iter : int
        Largest number of iterations.
    tol : float
        Stop where no derivative is larger.

    References
    ----------
    Chapelle & Wu 2010, algorithm 1, line 3.
    """

    loss: LinearLoss
    max_iter: int
    tol: float

    def __call__(self, coef: Vector, sigma: float, round: int) -> Vector:
        """Return the weights at the minimum that is reached from some weights.

        Parameters
        ----------
        coef : ndarray, shape (n_features,)
        sigma : float
        round : int

        Returns
        -------
        ndarray, shape (n_features,)
        """
        options = {"maxiter": self.max_iter, "gtol": self.tol}
        found = minimize(self.loss, coef, (sigma, round), "CG", jac=True, options=options)
        best: Vector = found.x
        return best


class StochasticGradient:
    """Goes once through the queries, shuffled, with a gradient step at each.

    Parameters
    ----------
    objective : Objective
    rows : Rows
        Training data.
    start : ndarray, shape (n_features,)
        w0.
    reg_lambda : float
        λ: a step also follows λ ‖w − w0‖².
    learning_rate : float
        Length of a step.
    seed : int
        What the shuffling depends on, besides round and query.
    rounds : int
        How many rounds there will be.

    References
    ----------
    Qin, Liu & Li 2010, algorithm 1, lines 7 to 12.
    """

    def __init__(
        self, objective: Objective, rows: Rows, start: Vector, reg_lambda: float,
        learning_rate: float, seed: int, rounds: int,
    ) -> None:  # fmt: skip
        self._parts = [
            (
                part.X,
                objective.bind(part.labels, part.queries, n_jobs=1, rounds=rounds),
                _document_weights(part),
            )
            for part in each_query(rows)
        ]
        self._keys = query_keys(rows.queries.ids)
        self._start = start
        self._lambda = reg_lambda
        self._learning_rate = learning_rate
        self._seed = seed

    def __call__(self, coef: Vector, sigma: float, round: int) -> Vector:
        """Return the weights after all queries.

        Parameters
        ----------
        coef : ndarray, shape (n_features,)
        sigma : float
        round : int

        Returns
        -------
        ndarray, shape (n_features,)
        """
        for query in np.argsort(query_noise(self._keys, self._seed, round)):
            X, bound, weights = self._parts[query]
            gradient, _ = bound.gradients(X @ coef, sigma, round)
            slope = X.T @ (weights * gradient) + 2 * self._lambda * (coef - self._start)
            coef = coef - self._learning_rate * slope
        return coef


class Descent:
    """Weights that move on step by step, each with its sigma.

    Parameters
    ----------
    move : callable
        From weights, sigma and the step's number to better weights.
    rows : Rows
        Training data.
    valid : list of Rows
        Validation sets.
    start : ndarray, shape (n_features,)
        The first weights.
    schedule : callable
        Sigma by step.
    sigma_unit : str
        What the objective measures sigma in.
    n_steps : int
        How many steps there will be.

    Attributes
    ----------
    coefs : list of ndarray
        The weights before the first step, and after each.
    sigmas : dict of int to float
        The sigma used in each step.
    """

    def __init__(
        self, move: Move, rows: Rows, valid: list[Rows], start: Vector,
        schedule: Callable[[int, int | None], float], sigma_unit: str, n_steps: int,
    ) -> None:  # fmt: skip
        self._move = move
        self._rows = rows
        self._valid = valid
        self._schedule = schedule
        self._unit = sigma_unit
        self._n_steps = n_steps
        self.coefs = [start]
        self.sigmas: dict[int, float] = {}

    def step(self, derivatives: Any = None) -> None:
        """Move on from the last weights."""
        round = len(self.coefs) - 1
        sigma = sigma_at(self._schedule, round, self._n_steps)
        if unit_of(self._schedule) == "spread":
            sigma *= unit_width(self.train_scores(), self._rows.queries, self._unit)
        self.sigmas[round] = sigma
        self.coefs.append(self._move(self.coefs[-1], sigma, round))

    def train_scores(self) -> Vector:
        """Return the current scores of the training rows."""
        scores: Vector = self._rows.X @ self.coefs[-1]
        return scores

    def valid_scores(self) -> list[Vector]:
        """Return the current scores of each validation set."""
        return [part.X @ self.coefs[-1] for part in self._valid]
