"""The nets of the LambdaRank paper: one or two layers, trained query by query."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from gbrank import NDCG, LambdaRank, Queries, RankNet, get_objective
from gbrank.measures.measure import Measure
from gbrank.objectives.objective import Objective

__all__ = [
    "JUDGED_BY",
    "NO_GAINS",
    "Compiled",
    "Layers",
    "Net",
    "bound_to",
    "derivative",
    "forward",
    "lambdas",
    "random_layers",
]

Array = NDArray[np.float64]
Layers = tuple[Array, ...]

GAINS = (0, 3, 7, 15, 31)  # the paper's
JUDGED_BY = NDCG(k=10, gain=GAINS)
NO_GAINS = np.empty(0)
DECAY = 0.8
PATIENCE = 50


@dataclass
class Net(BaseEstimator):
    """A net with a gradient step at each query, and the epoch that is best on validation queries.

    The learning rate is multiplied by 0.8 after an epoch in which the training cost has risen: the
    loss of RankNet, minus the measure for other objectives. Where the cost has not fallen for 50
    epochs, training begins anew with other random weights.

    Parameters
    ----------
    objective : str or Objective
        What gives the gradient by the scores.
    hidden : int
        Number of hidden nodes (tanh); 0 is a linear net.
    learning_rate : float
        The first one.
    n_epochs : int
        How often all queries are gone through.
    eval_metric : Measure
        What chooses the epoch.
    random_state : int
        Seed of weights and of the order of queries.

    References
    ----------
    Burges, Ragno & Le 2006, sections 5 and 6.3.
    """

    objective: str | Objective = "lambda:ndcg"
    hidden: int = 0
    learning_rate: float = 1e-3
    n_epochs: int = 300
    eval_metric: Measure = JUDGED_BY
    random_state: int = 0

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        qid: ArrayLike,
        eval_set: Sequence[tuple[Any, ArrayLike]],
        eval_qid: Sequence[ArrayLike],
    ) -> "Net":
        """Train on queries, judging every epoch on the first validation set."""
        random = np.random.default_rng(self.random_state)
        labels, queries = np.asarray(y, dtype=float), Queries.from_qid(qid)
        objective = get_objective(self.objective)
        steps = [
            (X[rows], bound_to(objective, labels[rows]))
            for rows in np.split(queries.order, queries.offsets[1:-1])
        ]
        whole = objective.bind(labels, queries, n_jobs=1)
        exact = self.eval_metric.bind(labels, queries, 1)
        (valid_X, valid_y), valid_qid = eval_set[0], eval_qid[0]
        judged = self.eval_metric.bind(valid_y, Queries.from_qid(valid_qid), 1)
        best, lowest, since, rate = -np.inf, np.inf, 0, self.learning_rate
        layers, before = random_layers(X.shape[1], self.hidden, random), np.inf
        for epoch in range(self.n_epochs):
            for query in random.permutation(len(steps)):
                rows, bound = steps[query]
                slopes = derivative(layers, rows, bound)
                for layer, slope in zip(layers, slopes, strict=True):
                    layer -= rate * slope
            scores = forward(layers, X)[-1]
            ranknet = objective == RankNet()
            cost = float(
                whole.loss(scores).sum() if ranknet else -np.nanmean(exact.per_query(scores))
            )
            if cost > before:
                rate *= DECAY
            since = 0 if cost < lowest else since + 1
            before, lowest = cost, min(cost, lowest)
            value = float(np.nanmean(judged.per_query(forward(layers, valid_X)[-1])))
            if value > best:
                best, self.best_iteration_ = value, epoch + 1
                self.layers_ = tuple(layer.copy() for layer in layers)
            if since == PATIENCE:
                layers, before = random_layers(X.shape[1], self.hidden, random), np.inf
                lowest, since, rate = np.inf, 0, self.learning_rate
        return self

    def predict(self, X: Any) -> Array:
        """Return the score of each row."""
        return forward(self.layers_, X)[-1]


class Compiled(NamedTuple):
    """RankNet or LambdaRank of a query, without the checks that take most of a short list's time.

    Parameters
    ----------
    labels : ndarray, shape (m,)
    gains : ndarray, shape (m,) or (0,)
        Gains over the ideal DCG, for LambdaRank by NDCG.
    """

    labels: Array
    gains: Array


def bound_to(objective: Objective, labels: Array) -> Any:
    """Return an objective bound to the labels of one query; the paper's two are compiled."""
    if objective == RankNet():
        return Compiled(labels, NO_GAINS)
    if objective == LambdaRank(NDCG(gain=GAINS)):
        gains = np.array(GAINS, dtype=float)[labels.astype(int)]
        ideal = np.sort(gains)[::-1] @ (1 / np.log2(2.0 + np.arange(len(gains))))
        return Compiled(labels, gains / (ideal or 1.0))
    return objective.bind(labels, Queries.from_sizes([len(labels)]), n_jobs=1)


@numba.njit
def lambdas(scores: Array, labels: Array, gains: Array) -> Array:
    """Return RankNet's λ of a query; with gains, pairs weigh what their swap changes in NDCG."""
    slope, discounts = np.zeros(scores.size), np.zeros(gains.size)
    if gains.size > 0:
        discounts[np.argsort(-scores)] = 1 / np.log2(2.0 + np.arange(scores.size))
    for i in range(scores.size):
        for j in range(scores.size):
            if labels[i] > labels[j]:
                force = 1 / (1 + np.exp(scores[i] - scores[j]))
                if gains.size > 0:
                    force *= abs((gains[i] - gains[j]) * (discounts[i] - discounts[j]))
                slope[i] -= force
                slope[j] += force
    return slope


def random_layers(n_features: int, hidden: int, random: np.random.Generator) -> Layers:
    """Return weights, and the hidden layer's biases, of variance 1 / inputs."""
    if hidden == 0:
        return (random.normal(size=n_features) / np.sqrt(n_features),)
    return (
        random.normal(size=(n_features, hidden)) / np.sqrt(n_features),
        np.zeros(hidden),
        random.normal(size=hidden) / np.sqrt(hidden),
    )


def forward(layers: Layers, X: Array) -> tuple[Array, Array]:
    """Return what enters the last layer, and the scores."""
    *hidden, last = layers
    inputs = np.tanh(X @ hidden[0] + hidden[1]) if hidden else X
    return inputs, inputs @ last


def derivative(layers: Layers, X: Array, bound: Any) -> Layers:
    """Return the derivative of a query's loss by the weights."""
    if isinstance(bound, Compiled):
        compiled: Any = _of_one_layer if len(layers) == 1 else _of_two_layers
        return cast(Layers, compiled(*layers, X, *bound))
    inputs, scores = forward(layers, X)
    gradient, _ = bound.gradients(scores, 1.0)
    by_last = inputs.T @ gradient
    if len(layers) == 1:
        return (by_last,)
    by_sum = np.outer(gradient, layers[-1]) * (1 - inputs**2)
    return X.T @ by_sum, by_sum.sum(axis=0), by_last


@numba.njit
def _of_one_layer(weights: Array, X: Array, labels: Array, gains: Array) -> tuple[Array]:
    """Return the derivative of the loss by the weights, document by document."""
    return (lambdas(X @ weights, labels, gains) @ X,)


@numba.njit
def _of_two_layers(
    first: Array, biases: Array, last: Array, X: Array, labels: Array, gains: Array
) -> tuple[Array, Array, Array]:
    """Return the same of two layers."""
    inputs = np.tanh(X @ first + biases)
    slopes = lambdas(inputs @ last, labels, gains)
    by_sum = np.outer(slopes, last) * (1 - inputs**2)
    return X.T @ by_sum, by_sum.sum(axis=0), slopes @ inputs
