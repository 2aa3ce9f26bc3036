"""Scores as probabilities: Platt scaling."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit

from gbrank.common.arrays import Vector
from gbrank.parallel.collective import all_max, all_sum

PRECISE = 1e-8  # largest derivative of the mean cross entropy at what counts as its minimum


@dataclass(frozen=True)
class Calibration:
    """The map from scores to probabilities, p = 1/(1 + exp(−a s − b)).

    The target that p estimates is t = y / largest label: for binary labels the probability that
    a document is relevant, for grades the expected grade as a share of the largest.
    """

    slope: float  # a, at least 0, so that probabilities keep the order of scores
    intercept: float  # b
    largest_label: float  # the label whose target is 1

    def probabilities(self, scores: Vector) -> Vector:
        """Return the probability that each score stands for."""
        return expit(self.slope * scores + self.intercept)

    def targets(self, labels: Vector) -> Vector:
        """Return what the probabilities of documents with these labels estimate."""
        return labels / self.largest_label


def fit_calibration(
    scores: Vector, labels: Vector, weights: Vector | None, largest_label: float
) -> Calibration:
    """Return the slope and intercept of least cross entropy, over all workers' documents.

    Platt's smoothing keeps targets between 0 and 1, and so slope and intercept finite, whatever
    the labels are. Where labels do not rise with scores, the slope is 0.
    """
    # Sums of doubles depend on the order of rows, so that has to be one of their own.
    own = np.lexsort((labels, scores) if weights is None else (weights, labels, scores))
    scores, labels = scores[own], labels[own]
    w = np.ones(len(scores)) if weights is None else weights[own] / _mean(weights[own])
    t = labels / (largest_label or 1.0)
    ones, zeros = all_sum(np.array([(w * t).sum(), (w * (1 - t)).sum()]))
    t = t * (ones + 1) / (ones + 2) + (1 - t) / (zeros + 2)
    a, b = 0.0, float(logit(_mean(w * t) / _mean(w)))
    centre = _mean(scores)
    scale = np.sqrt(_mean((scores - centre) ** 2))
    if all_max(scores.max()) > -all_max(-scores.min()) and scale > 0:
        z = (scores - centre) / scale
        if _mean(w * (t - expit(b)) * z) > 0:
            a, b = _minimum(z, t, w, np.array([a, b]))
            a /= scale
            b -= a * centre
    return Calibration(float(a), float(b), float(largest_label or 1.0))


def _mean(values: Vector) -> float:
    return float(all_sum(values.sum()) / all_sum(len(values)))


def _minimum(z: Vector, t: Vector, w: Vector, start: Vector) -> Vector:
    """Return the (a, b) of least mean cross entropy between t and sigmoid(a z + b)."""

    def loss(ab: Vector) -> tuple[float, Vector]:
        x = ab[0] * z + ab[1]
        error = w * (expit(x) - t)
        value = _mean(w * (np.logaddexp(0, x) - t * x))
        return value, np.array([_mean(error * z), _mean(error)])

    def curvature(ab: Vector) -> NDArray[np.float64]:
        p = expit(ab[0] * z + ab[1])
        v = w * p * (1 - p)
        mixed = _mean(v * z)
        return np.array([[_mean(v * z * z), mixed], [mixed, _mean(v)]])

    found = minimize(
        loss, start, jac=True, hess=curvature, method="trust-exact", options={"gtol": PRECISE}
    )
    return found.x
