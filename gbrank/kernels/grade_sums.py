"""Sums over all documents up to a grade, in O(m): ListMLE and SLAM.

A document's label is its grade here: how many distinct smaller labels the query has. For each
grade, `softmax_up_to` finds the largest score among the documents of at most that grade, and the
sum of exponentials relative to it; no sum can overflow, and none is zero. `spread` then divides
what is due to all documents up to a grade among them, by their softmax.
"""

from typing import NamedTuple

import numpy as np

from gbrank.common.arrays import Vector
from gbrank.kernels.compiled import inline
from gbrank.kernels.contract import MeasureFunctions, NoParameters, Query
from gbrank.kernels.newton_steps import bound_steps, to_score_units

SCRATCH = 4


class SLAMParameters(NamedTuple):
    """The parameter of SLAM's kernels.

    Parameters
    ----------
    margin : float
        By how much a document should stand above all of smaller label, in score units.
    """

    margin: float


@inline
def softmax_up_to(s: Vector, grade: Vector, sigma: float, top: Vector, total: Vector) -> int:
    """Fill, for each grade g, the largest score up to it and Σ exp((s − largest)/σ).

    Return the number of grades.
    """
    n = 0
    for i in range(s.size):
        n = max(n, int(grade[i]) + 1)
    top[:n] = -np.inf
    total[:n] = 0.0
    for i in range(s.size):
        g = int(grade[i])
        top[g] = max(top[g], s[i])
    for g in range(1, n):
        top[g] = max(top[g], top[g - 1])
    for i in range(s.size):
        g = int(grade[i])
        total[g] += np.exp((s[i] - top[g]) / sigma)
    for g in range(1, n):
        total[g] += total[g - 1] * np.exp((top[g - 1] - top[g]) / sigma)
    return n


@inline
def spread(
    s: Vector, grade: Vector, sigma: float, n: int, top: Vector, total: Vector,
    mass: Vector, square: Vector, gradient: Vector, curvature: Vector,
) -> None:  # fmt: skip
    """Add Σ mass π to gradient and Σ (mass π − square π²) to curvature.

    The sums are over the grades g from the document's own upwards; π is the document's share in
    the softmax of all documents up to g. Overwrites `mass` and `square`.
    """
    for g in range(n):
        mass[g] /= total[g]
        square[g] /= total[g] * total[g]
    for g in range(n - 2, -1, -1):
        fall = np.exp((top[g] - top[g + 1]) / sigma)
        mass[g] += mass[g + 1] * fall
        square[g] += square[g + 1] * fall * fall
    for i in range(gradient.size):
        g = int(grade[i])
        e = np.exp((s[i] - top[g]) / sigma)
        gradient[i] += mass[g] * e
        curvature[i] += max(mass[g] * e - square[g] * e * e, 0.0)


def list_likelihood(
    query: Query,
    measure: MeasureFunctions,
    parameters: NoParameters,
    gradient: Vector,
    curvature: Vector,
) -> float:
    """Sum log Σ_{y_j ≤ y_i} exp((s_j − s_i)/σ) over the documents above the lowest grade."""
    s, grade, sigma, scratch = query.scores, query.labels, query.sigma, query.scratch
    top, total, mass, square = scratch[0], scratch[1], scratch[2], scratch[3]
    n = softmax_up_to(s, grade, sigma, top, total)
    mass[:n] = 0.0
    loss = 0.0
    for i in range(s.size):
        g = int(grade[i])
        if g > 0:
            loss += np.log(total[g]) + (top[g] - s[i]) / sigma
            mass[g] += 1.0
            if gradient.size > 0:
                gradient[i] = -1.0
    square[:n] = mass[:n]
    spread(s, grade, sigma, n, top, total, mass, square, gradient, curvature)
    bound_steps(1.0, gradient, curvature)
    to_score_units(sigma, gradient, curvature)
    return loss


def slam_smooth(
    query: Query,
    measure: MeasureFunctions,
    parameters: SLAMParameters,
    gradient: Vector,
    curvature: Vector,
) -> float:
    """Sum v σ log(1 + Σ_{lower j} exp((margin + s_j − s_i)/σ)), v being x."""
    s, grade, v, sigma = query.scores, query.labels, query.ranking.x, query.sigma
    scratch, margin = query.scratch, parameters.margin
    top, total, mass, square = scratch[0], scratch[1], scratch[2], scratch[3]
    n = softmax_up_to(s, grade, sigma, top, total)
    mass[:n] = 0.0
    square[:n] = 0.0
    loss = 0.0
    for i in range(s.size):
        g = int(grade[i]) - 1
        if g < 0 or v[i] == 0.0:
            continue
        largest = (margin + (top[g] - s[i])) / sigma
        x = largest + np.log(total[g])
        u = np.exp(-abs(x))
        q = (1.0 if x > 0 else u) / (1.0 + u)  # how much of the margin is violated
        # σ log(1 + exp(x)), short of overflow where x is huge
        loss += v[i] * (max(margin + (top[g] - s[i]) + sigma * np.log(total[g]), 0.0)
                        + sigma * np.log1p(u))  # fmt: skip
        mass[g] += v[i] * q
        square[g] += v[i] * q * q
        if gradient.size > 0:
            gradient[i] = -v[i] * q
            curvature[i] = v[i] * q * (1.0 - q)
    spread(s, grade, sigma, n, top, total, mass, square, gradient, curvature)
    bound_steps(1.0, gradient, curvature)
    for i in range(curvature.size):
        curvature[i] /= sigma
    return loss


def slam_hinges(
    query: Query,
    measure: MeasureFunctions,
    parameters: SLAMParameters,
    gradient: Vector,
    curvature: Vector,
) -> float:
    """Sum v max(0, margin + max_{lower j} s_j − s_i), v being x.

    At the kink a hinge counts half: the mean of the slopes on both sides.
    """
    s, grade, v = query.scores, query.labels, query.ranking.x
    margin = parameters.margin
    best = query.scratch[0]  # for each grade, the first document of a lower one
    best[: s.size] = -1.0
    lowest = s.size
    for j in range(s.size):
        g = int(grade[j])
        if g < lowest:
            for higher in range(g + 1, s.size):
                if best[higher] >= 0:
                    break
                best[higher] = j
            lowest = g
    loss = 0.0
    for i in range(s.size):
        j = int(best[int(grade[i])])
        if j < 0 or v[i] == 0.0:
            continue
        short = margin + (s[j] - s[i])
        active = v[i] * (1.0 if short > 0 else (0.5 if short == 0 else 0.0))
        loss += active * short
        if gradient.size > 0:
            gradient[i] -= active
            gradient[j] += active
            curvature[i] += active
            curvature[j] += active
    return loss
