"""The kinds of λ functions that the LambdaRank paper names in section 6.2, and one of each.

A function takes the scores and labels of a query, and returns the derivative of its implicit cost,
the paper's −λ. Pairs with y_i > y_j are forced apart by |ΔNDCG| times a function of s_i − s_j.
"""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gbrank.extend import custom_objective
from gbrank.objectives.objective import Objective

__all__ = ["LAMBDA_FUNCTIONS", "as_objective"]

Vector = NDArray[np.float64]
Lambdas = Callable[[Vector, Vector], Vector]

PAPERS_GAINS = np.array([0.0, 3.0, 7.0, 15.0, 31.0])
MARGIN = 1.0  # in score units


def of_pairs(
    force: Callable[[Vector, Vector], Vector], scores: Vector, labels: Vector, reach: float = np.inf
) -> Vector:
    """Return the sum of a force over pairs of different labels, at most `reach` ranks apart."""
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
    gains, discounts = of_labels(labels)
    worth = discounts[ranks.astype(int)]
    delta = np.abs(np.subtract.outer(gains, gains) * np.subtract.outer(worth, worth))
    pairs = np.greater.outer(labels, labels) & (np.abs(np.subtract.outer(ranks, ranks)) <= reach)
    forces = np.where(pairs, force(np.subtract.outer(scores, scores), delta), 0.0)
    return np.asarray(forces.sum(axis=0) - forces.sum(axis=1))


def by_differences(scores: Vector, labels: Vector) -> Vector:
    """Return minus the slope of NDCG between scores half a margin up and down, one by one."""
    moved = scores + MARGIN / 2 * np.concatenate([np.eye(len(scores)), -np.eye(len(scores))])
    gains, discounts = of_labels(labels)
    up, down = np.split(gains[np.argsort(-moved, axis=1)] @ discounts, 2)
    return np.asarray((down - up) / MARGIN)


def of_labels(labels: Vector) -> tuple[Vector, Vector]:
    """Return the gain of each document, and the discount of each rank over the ideal DCG."""
    gains, discounts = PAPERS_GAINS[labels.astype(int)], 1 / np.log2(2.0 + np.arange(len(labels)))
    return gains, discounts / max(np.sort(gains)[::-1] @ discounts, 1e-300)


def steps(gap: Vector, delta: Vector) -> Vector:
    """Return |ΔNDCG| up to the margin."""
    return delta * (gap < MARGIN)


def springs(gap: Vector, delta: Vector) -> Vector:
    """Return |ΔNDCG| times the length to the margin."""
    return delta * np.maximum(MARGIN - gap, 0.0)


def ranknet(gap: Vector, delta: Vector) -> Vector:
    """Return |ΔNDCG| times the derivative of RankNet's cost: the λ function that was chosen."""
    return delta / (1 + np.exp(gap))


LAMBDA_FUNCTIONS: Mapping[str, Lambdas] = {
    "steps": partial(of_pairs, steps),
    "springs": partial(of_pairs, springs),
    "steps between neighbours": partial(of_pairs, steps, reach=1),
    "springs between neighbours": partial(of_pairs, springs, reach=1),
    "differences of NDCG": by_differences,
    "RankNet's cost, scaled": partial(of_pairs, ranknet),
}


def as_objective(name: str) -> Objective:
    """Return an objective with these lambdas, for steps along the gradient."""

    def derivatives(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
        return 0.0, LAMBDA_FUNCTIONS[name](scores, labels), np.ones_like(scores)

    return custom_objective(derivatives)
