"""The nets of the LambdaRank paper: one or two layers, trained query by query."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from gbrank import NDCG, Queries, get_objective
from gbrank.objectives.objective import Objective

__all__ = ["Net"]

Array = NDArray[np.float64]
Layers = tuple[Array, ...]

JUDGED_BY = NDCG(k=10, gain=(0, 3, 7, 15, 31))  # the paper's gains
DECAY = 0.8
PATIENCE = 50


@dataclass
class Net(BaseEstimator):
    """A net with a gradient step at each query, and the epoch of the best validation NDCG@10.

    The learning rate is multiplied by 0.8 after an epoch in which the training cost has risen: the
    loss of RankNet, minus NDCG@10 for other objectives. Where the cost has not fallen for 50
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
            (X[rows], objective.bind(labels[rows], Queries.from_sizes([len(rows)]), n_jobs=1))
            for rows in np.split(queries.order, queries.offsets[1:-1])
        ]
        whole = objective.bind(labels, queries, n_jobs=1)
        exact = JUDGED_BY.bind(labels, queries, 1)
        (valid_X, valid_y), valid_qid = eval_set[0], eval_qid[0]
        judged = JUDGED_BY.bind(valid_y, Queries.from_qid(valid_qid), 1)
        best, lowest, since, rate = -np.inf, np.inf, 0, self.learning_rate
        layers, before = self._random_layers(X.shape[1], random), np.inf
        for epoch in range(self.n_epochs):
            for query in random.permutation(len(steps)):
                rows, bound = steps[query]
                _step(layers, rows, bound, rate)
            scores = _forward(layers, X)[-1]
            ranknet = self.objective == "ranknet"
            cost = float(
                whole.loss(scores).sum() if ranknet else -np.nanmean(exact.per_query(scores))
            )
            if cost > before:
                rate *= DECAY
            since = 0 if cost < lowest else since + 1
            before, lowest = cost, min(cost, lowest)
            value = float(np.nanmean(judged.per_query(_forward(layers, valid_X)[-1])))
            if value > best:
                best, self.best_iteration_ = value, epoch + 1
                self.layers_ = tuple(layer.copy() for layer in layers)
            if since == PATIENCE:
                layers, before = self._random_layers(X.shape[1], random), np.inf
                lowest, since, rate = np.inf, 0, self.learning_rate
        return self

    def predict(self, X: Any) -> Array:
        """Return the score of each row."""
        return _forward(self.layers_, X)[-1]

    def _random_layers(self, n_features: int, random: np.random.Generator) -> Layers:
        """Return weights, and the hidden layer's biases, of variance 1 / inputs."""
        if self.hidden == 0:
            return (random.normal(size=n_features) / np.sqrt(n_features),)
        return (
            random.normal(size=(n_features, self.hidden)) / np.sqrt(n_features),
            np.zeros(self.hidden),
            random.normal(size=self.hidden) / np.sqrt(self.hidden),
        )


def _forward(layers: Layers, X: Array) -> tuple[Array, Array]:
    """Return what enters the last layer, and the scores."""
    *hidden, last = layers
    inputs = np.tanh(X @ hidden[0] + hidden[1]) if hidden else X
    return inputs, inputs @ last


def _step(layers: Layers, X: Array, bound: Any, rate: float) -> None:
    """Move the weights, in place, against the gradient of one query."""
    inputs, scores = _forward(layers, X)
    gradient, _ = bound.gradients(scores, 1.0)
    *hidden, last = layers
    if hidden:
        by_sum = np.outer(gradient, last) * (1 - inputs**2)
        hidden[0] -= rate * (X.T @ by_sum)
        hidden[1] -= rate * by_sum.sum(axis=0)
    last -= rate * (inputs.T @ gradient)
