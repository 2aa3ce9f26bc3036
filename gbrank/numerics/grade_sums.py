"""Sums over all documents up to a grade, in O(m): ListMLE and SLAM.

A document's label is its grade here: how many distinct smaller labels the query has. For each
grade, `softmax_up_to` finds the largest score among the documents of at most that grade, and the
sum of exponentials relative to it; no sum can overflow, and none is zero. `spread` then divides
what is due to all documents up to a grade among them, by their softmax.
"""

from typing import NamedTuple

import numpy as np

from gbrank.common.checks import Vector
from gbrank.engine.compiling import inline
from gbrank.engine.contract import Derivatives


class GradeSums(NamedTuple):
    """For each grade g: the largest score up to it, Σ exp((s − largest)/σ), and what is due."""

    top: Vector
    total: Vector
    mass: Vector
    square: Vector


@inline
def softmax_up_to(s: Vector, grade: Vector, sigma: float, sums: GradeSums) -> int:
    """Fill `top` and `total`, let nothing be due, and return the number of grades."""
    top = sums.top
    total = sums.total
    n = 0
    for i in range(s.size):
        n = max(n, int(grade[i]) + 1)
    for g in range(n):
        top[g] = -np.inf
        total[g] = sums.mass[g] = sums.square[g] = 0.0
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
    s: Vector, grade: Vector, sigma: float, n: int, sums: GradeSums, out: Derivatives
) -> None:
    """Add Σ mass π to gradient and Σ (mass π − square π²) to curvature.

    The sums are over the grades g from the document's own upwards; π is the document's share in
    the softmax of all documents up to g. Overwrites `mass` and `square`.
    """
    top, total, mass, square = sums
    for g in range(n):
        mass[g] /= total[g]
        square[g] /= total[g] * total[g]
    for g in range(n - 2, -1, -1):
        fall = np.exp((top[g] - top[g + 1]) / sigma)
        mass[g] += mass[g + 1] * fall
        square[g] += square[g + 1] * fall * fall
    for i in range(out.gradient.size):
        g = int(grade[i])
        e = np.exp((s[i] - top[g]) / sigma)
        out.gradient[i] += mass[g] * e
        out.curvature[i] += max(mass[g] * e - square[g] * e * e, 0.0)
