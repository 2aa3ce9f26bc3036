"""Position bias: what the position at which a document was shown adds to its score.

Scores and biases explain clicks together, so that scores need not explain effects of position.
"""

import numpy as np

from gbrank.boosters import Trainer
from gbrank.boosters.interface import GradientFunction, State
from gbrank.common.arrays import Vector
from gbrank.parallel.sums import order_free_sums

PRIOR = 20.0  # strength of the prior of no bias at each position, in average documents


class DebiasedTrainer:
    r"""A booster in training on clicks, together with the bias of each position.

    The objective sees :math:`s_i + b_{p(i)}`. Its derivatives by this sum, g and h, serve both the
    tree of a round and one Newton step of each bias:

    .. math:: b_p \leftarrow b_p - \eta\,
              \frac{\sum_{i: p(i) = p} g_i + \lambda b_p}{\sum_{i: p(i) = p} h_i + \lambda}

    with the learning rate η of the trees, and λ the curvature of 20 average documents. Scores and
    model are those of the trees, without biases.

    References
    ----------
    L. Yan et al. Revisiting two-tower models for unbiased learning to rank. SIGIR 2022 (the
    additive model). LightGBM's parameter lambdarank_position_bias_regularization (the steps).
    """

    def __init__(
        self, trainer: Trainer, positions: Vector, learning_rate: float, state: State | None
    ) -> None:
        self._trainer = trainer
        self.train_scores, self.valid_scores = trainer.train_scores, trainer.valid_scores
        self.finish, self.close = trainer.finish, trainer.close
        self._learning_rate = learning_rate
        self._positions, self._index = np.unique(positions, return_inverse=True)
        self._biases = [np.zeros(len(self._positions))]  # after each round
        if state is not None:
            biases = np.frombuffer(state["biases"])
            self._biases = list(biases.reshape(-1, len(self._positions)))

    def step(self, derivatives: GradientFunction | None) -> None:
        """Grow one tree, and improve the biases, on the derivatives at the biased scores."""
        assert derivatives is not None  # positions are refused with a booster's own objective
        bias = self._biases[-1]

        def biased(scores: Vector) -> tuple[Vector, Vector]:
            gradient, curvature = derivatives(scores + bias[self._index])
            weight = self._sums(curvature)
            prior = PRIOR * weight.sum() / len(scores)
            step = (self._sums(gradient) + prior * bias) / (weight + prior)
            self._biases.append(bias - self._learning_rate * step)
            return gradient, curvature

        self._trainer.step(biased)

    def _sums(self, values: Vector) -> Vector:
        return order_free_sums(values, self._index, len(self._positions))

    @property
    def done(self) -> int:
        """How many rounds have been trained."""
        return self._trainer.done

    def state(self) -> State:
        """Return the state of the trees, and the biases after each round."""
        return {**self._trainer.state(), "biases": np.array(self._biases).tobytes()}

    def bias(self, rounds: int) -> dict[int, float]:
        """Return the bias of each position after `rounds` rounds, relative to the first one's."""
        biases = self._biases[rounds]
        pairs = zip(self._positions.tolist(), (biases - biases[0]).tolist(), strict=True)
        return {int(position): bias for position, bias in pairs}
