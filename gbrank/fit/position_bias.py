"""Position bias: what the position at which a document was shown adds to its score.

Scores and biases explain clicks together, so that scores need not explain effects of position.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from gbrank.clicks import PositionReport, Slots, position_report
from gbrank.common.checks import Vector, canonical, warn_user
from gbrank.common.collective import all_gather
from gbrank.data.documents import Documents
from gbrank.data.feature_matrix import dense_blocks
from gbrank.data.sums import order_free_sums

from .interrupted import is_part

PRIOR = 20.0  # strength of the prior of no bias at each position, in average documents


@dataclass
class PositionBiases:
    r"""The biases of positions in a training on clicks, together with its trees.

    The objective sees :math:`s_i + b_{p(i)}`. Its derivatives by this sum, g and h, serve both the
    tree of a round and one Newton step of each bias:

    .. math:: b_p \leftarrow b_p - \eta\,
              \frac{\sum_{i: p(i) = p} g_i + \lambda_p b_p}{\sum_{i: p(i) = p} h_i + \lambda_p}

    with the learning rate η of the trees, and λ the curvature of 20 average documents, plus
    :math:`(1 - t) / t` of that of the position's own documents where the log tells a share t of its
    effect: a bias is shrunk to t times what it would be, and to 0 where the log says nothing.
    Scores and model are those of the trees, without biases.

    References
    ----------
    L. Yan et al. Revisiting two-tower models for unbiased learning to rank. SIGIR 2022 (the
    additive model). LightGBM's parameter lambdarank_position_bias_regularization (the steps).
    """

    slots: Slots
    trust: Vector  # the share of each position's effect that the log tells
    learning_rate: float
    rounds: list[list[float]]  # the biases after each round, to which those to come are added

    def __post_init__(self) -> None:
        if not self.rounds:
            self.rounds.append([0.0] * len(self.trust))

    def add_to(self, scores: Vector) -> Vector:
        """Return what the objective sees."""
        return scores + np.array(self.rounds[-1])[self.slots.index]

    def improve(self, gradient: Vector, curvature: Vector) -> None:
        """Take a step of each bias."""
        bias = np.array(self.rounds[-1])
        slope, weight = (
            order_free_sums(values, self.slots.index, len(bias)) for values in (gradient, curvature)
        )
        prior = PRIOR * weight.sum() / len(gradient)
        trust = self.trust
        rest = (1 - trust) * weight
        step = trust * (slope + prior * bias) + rest * bias
        scale = trust * (weight + prior) + rest
        step[scale > 0] /= scale[scale > 0]  # 0 where no document has a curvature
        self.rounds.append((bias - self.learning_rate * step).tolist())

    def after(self, rounds: int) -> dict[Any, float]:
        """Return the bias of each slot, less that of the first of its context."""
        biases = np.array(self.rounds[rounds])
        relative = (biases - biases[self.slots.first]).tolist()
        return dict(zip(self.slots.names, relative, strict=True))


def report_of_positions(rows: Documents, regularization: str | None) -> PositionReport | None:
    """Return what the rows of all workers tell of positions; warn where it is too little."""
    if rows.position is None:
        return None
    # A number for each row: rows with equal features are one document.
    digests = (
        blake2b(row, digest_size=8).digest()
        for block in dense_blocks(rows.X)
        for row in canonical(block)
    )
    keys = np.frombuffer(b"".join(digests), dtype=np.uint64)
    weights = np.ones(len(keys)) if rows.weights is None else rows.weights
    parts = all_gather((keys, rows.position, rows.y, weights))
    report = position_report(*map(np.concatenate, zip(*parts, strict=True)))
    if regularization and not report.connected and not is_part():
        sizes = np.bincount(report.group)
        warn_user(
            "these clicks do not identify the effect of all positions: at most "
            f"{sizes.max()} of {len(report.positions)} positions are connected by documents that "
            f"were shown at several ({report.shared_fraction:.1%} of documents were). The biases "
            "of the other positions shrink to 0. Show some rankings with neighbors swapped or "
            "partly random, or set position_regularization=None, which relies on features alone to "
            "separate position from relevance."
        )
    return report
