"""The expectation of a measure when scores have noise, and an unbiased estimate of its gradient.

Only values of the measure are needed: with x = s + σz, the derivative of E M(x) by s_i is
E[M(x) ψ_i]/σ, ψ_i the derivative of the log-likelihood of x by s_i/σ. The estimate replaces ψ by
its mean over all noise that the measure cannot tell apart, which sums to zero over the query.
"""

from typing import Any

import numpy as np

from gbrank.kernels.compiled import Matrix, Positions, Vector, inline
from gbrank.kernels.driver import find_ties
from gbrank.kernels.logistic import all_alike
from gbrank.kernels.newton_steps import to_score_units
from gbrank.kernels.noise import gumbel, normal

__all__ = ["SCRATCH", "expected_measure"]

SCRATCH = 7  # beside what the measure needs


def expected_measure(
    s: Vector, first: Positions, last: Positions, documents: Matrix, query: Vector,
    table: Vector, params: Vector, sigma: float, noise: int, prepare: Any, row: Any,
    work: Matrix, gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Return −1/K Σ_d M(s + σ z_d); the gradient is −Σ_d (M_d − mean of the others) ψ_d/(K σ).

    `prepare` is the measure's `value`; `params` are K and whether the noise is Gaussian.
    """
    m = s.size
    x = documents[0, :m]
    if all_alike(x):
        return 0.0
    draws = int(params[0])
    gaussian = params[1] > 0
    noises = work[0, :m]
    falling = work[1, :m]  # minus the noisy scores
    ordered = work[2, :m]
    worth = work[3, :m]
    score = work[4, :m]  # ψ, which statisticians call the score
    total = work[5, :m]
    out = work[6]
    begins = np.empty(m, np.int64)
    ends = np.empty(m, np.int64)
    total[:] = 0.0
    start = 0.0
    mean = 0.0  # of what a draw is worth beyond the first one
    for d in range(draws):
        for i in range(m):
            noises[i] = normal(noise, i * draws + d) if gaussian else gumbel(noise, i * draws + d)
            falling[i] = -(s[i] + sigma * noises[i])
        ranking = np.argsort(falling, kind="mergesort")
        for p in range(m):
            ordered[p] = falling[ranking[p]]
            worth[p] = x[ranking[p]]
        find_ties(ordered, begins, ends, True)
        prepare(-1, m, begins, ends, worth, query, table, work[SCRATCH:], out)
        if d == 0:
            start = out[0]
        value = out[0] - start
        mean += value / draws
        if gradient.size > 0:
            if gaussian:
                gaussian_score(noises, score)
            else:
                gumbel_score(s, sigma, ranking, worth, ordered, score)
            for i in range(m):
                total[i] += score[i]
                gradient[i] -= value * score[i]
    for i in range(gradient.size):
        gradient[i] = (gradient[i] + mean * total[i]) / (draws - 1)
        curvature[i] = 1.0
    to_score_units(sigma, gradient, curvature)
    return -(start + mean)


@inline
def gaussian_score(noises: Vector, out: Vector) -> None:
    """Write ψ given the differences of noisy scores: the noise less its mean."""
    mean = noises.sum() / noises.size
    for i in range(noises.size):
        out[i] = noises[i] - mean


@inline
def gumbel_score(
    s: Vector, sigma: float, ranking: Positions, best: Vector, total: Vector, out: Vector
) -> None:
    """Write ψ given the order of noisy scores: that of the Plackett-Luce model.

    The document at rank p has 1 − Σ_{l ≤ p} exp(s_p/σ)/Σ_{k ≥ l} exp(s_k/σ). Overwrites `best` and
    `total`: the largest score from each rank on, and that sum relative to it.
    """
    m = s.size
    best[m - 1] = s[ranking[m - 1]]
    total[m - 1] = 1.0
    for p in range(m - 2, -1, -1):
        own = s[ranking[p]]
        best[p] = max(own, best[p + 1])
        total[p] = np.exp((own - best[p]) / sigma)
        total[p] += total[p + 1] * np.exp((best[p + 1] - best[p]) / sigma)
    passed = 0.0
    for p in range(m):
        if p > 0:
            passed *= np.exp((best[p] - best[p - 1]) / sigma) * (total[p] / total[p - 1])
        passed += 1.0
        out[ranking[p]] = 1.0 - passed * np.exp((s[ranking[p]] - best[p]) / sigma) / total[p]
