"""Sums over all documents up to a grade, in O(m): ListMLE and SLAM.

A document's first constant is its grade: how many distinct smaller labels the query has. For each
grade, `softmax_up_to` finds the largest score among the documents of at most that grade, and the
sum of exponentials relative to it; no sum can overflow, and none is zero. `spread` then takes
what is due to "the documents up to grade g, by softmax" to all of them at once.
"""

from typing import Any

import numpy as np

from gbrank.kernels.compiled import Matrix, Positions, Vector, inline
from gbrank.kernels.newton_steps import bound_steps, to_score_units

__all__ = ["list_likelihood", "slam_hinges", "slam_smooth"]


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
    push: Vector, square: Vector, gradient: Vector, curvature: Vector,
) -> None:  # fmt: skip
    """Add Σ push π to gradient and Σ (push π − square π²) to curvature.

    The sums are over the grades g from the document's own upwards; π is the document's share in
    the softmax of all documents up to g. Overwrites `push` and `square`.
    """
    for g in range(n):
        push[g] /= total[g]
        square[g] /= total[g] * total[g]
    for g in range(n - 2, -1, -1):
        fall = np.exp((top[g] - top[g + 1]) / sigma)
        push[g] += push[g + 1] * fall
        square[g] += square[g + 1] * fall * fall
    for i in range(gradient.size):
        g = int(grade[i])
        e = np.exp((s[i] - top[g]) / sigma)
        gradient[i] += push[g] * e
        curvature[i] += max(push[g] * e - square[g] * e * e, 0.0)


def list_likelihood(
    s: Vector, first: Positions, last: Positions, documents: Matrix, query: Vector,
    table: Vector, params: Vector, sigma: float, noise: int, prepare: Any, row: Any,
    work: Matrix, gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Sum log Σ_{y_j ≤ y_i} exp((s_j − s_i)/σ) over the documents above the lowest grade."""
    grade = documents[0, : s.size]
    top = work[0]
    total = work[1]
    push = work[2]
    square = work[3]
    n = softmax_up_to(s, grade, sigma, top, total)
    push[:n] = 0.0
    loss = 0.0
    for i in range(s.size):
        g = int(grade[i])
        if g > 0:
            loss += np.log(total[g]) + (top[g] - s[i]) / sigma
            push[g] += 1.0
            if gradient.size > 0:
                gradient[i] = -1.0
    square[:n] = push[:n]
    spread(s, grade, sigma, n, top, total, push, square, gradient, curvature)
    bound_steps(1.0, gradient, curvature)
    to_score_units(sigma, gradient, curvature)
    return loss


def slam_smooth(
    s: Vector, first: Positions, last: Positions, documents: Matrix, query: Vector,
    table: Vector, params: Vector, sigma: float, noise: int, prepare: Any, row: Any,
    work: Matrix, gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Sum v σ log(1 + Σ_{lower j} exp((margin + s_j − s_i)/σ)); v is the second constant."""
    margin = params[0]
    grade = documents[0, : s.size]
    v = documents[1, : s.size]
    top = work[0]
    total = work[1]
    push = work[2]
    square = work[3]
    n = softmax_up_to(s, grade, sigma, top, total)
    push[:n] = 0.0
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
        push[g] += v[i] * q
        square[g] += v[i] * q * q
        if gradient.size > 0:
            gradient[i] = -v[i] * q
            curvature[i] = v[i] * q * (1.0 - q)
    spread(s, grade, sigma, n, top, total, push, square, gradient, curvature)
    bound_steps(1.0, gradient, curvature)
    for i in range(curvature.size):
        curvature[i] /= sigma
    return loss


def slam_hinges(
    s: Vector, first: Positions, last: Positions, documents: Matrix, query: Vector,
    table: Vector, params: Vector, sigma: float, noise: int, prepare: Any, row: Any,
    work: Matrix, gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Sum v max(0, margin + max_{lower j} s_j − s_i); v is the second constant.

    At the kink a hinge counts half: the mean of the slopes on both sides.
    """
    margin = params[0]
    grade = documents[0, : s.size]
    v = documents[1, : s.size]
    best = work[0]  # for each grade, the first document of a lower one
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
