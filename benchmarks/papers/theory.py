"""What papers prove: errors of smooth measures, and when lambdas are the derivative of a cost."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.checks import Vector, check_finite, check_integer, check_number

__all__ = [
    "LambdaCondition",
    "ap_error_bound",
    "check_lambdas",
    "ndcg_error_bound",
    "rank_error_bound",
    "smooth_ndcg_error_bound",
]


def rank_error_bound(scores: ArrayLike, sigma: float) -> Vector:
    """Return by how much ApproxRank's soft rank of each document of a query may miss its rank.

    |r̂_i − r_i| ≤ (m − 1)/(1 + exp(δ_i/σ)), where δ_i is the distance of score i to the nearest
    other one. For documents of equal score it holds in any order.

    An argument that is not usable is a ValueError or a TypeError that names it.

    Parameters
    ----------
    scores : array-like, shape (m,)
        Scores of the documents of one query.
    sigma : float
        Width σ of the logistic function, in score units; 1/α in the paper.

    Returns
    -------
    ndarray, shape (m,)
        In ranks. The largest of them is the bound of corollary 4.

    References
    ----------
    Qin, Liu & Li 2010, "A general approximation framework for direct optimization of information
    retrieval measures", theorem 3 and corollary 4.

    Examples
    --------
    >>> from benchmarks.papers.theory import rank_error_bound
    >>> scores = [4.20074, 3.12378, 4.40918, 1.55258, 4.13330]  # the paper's, table 1
    >>> float(rank_error_bound(scores, sigma=0.01).max().round(5))
    0.00471
    """
    values = check_finite(scores, "scores")
    check_number(sigma, "sigma", above=0)
    order = np.argsort(values)
    with np.errstate(over="ignore"):  # an infinite gap is no error
        gaps = np.diff(values[order], prepend=-np.inf, append=np.inf) / sigma
        bounds = np.empty(len(values))
        bounds[order] = (len(values) - 1) / (1 + np.exp(np.minimum(gaps[:-1], gaps[1:])))
    return bounds


def ndcg_error_bound(rank_error: float) -> float:
    """Return by how much NDCG of soft ranks may miss NDCG: ε/(2 ln 2).

    It holds for NDCG without a cut, with the discount 1/log2(1 + r) and any gains.

    An argument that is not usable is a ValueError or a TypeError that names it.

    Parameters
    ----------
    rank_error : float
        ε, the largest error of a rank, such as the maximum of `rank_error_bound`.

    Returns
    -------
    float

    References
    ----------
    Qin, Liu & Li 2010, as for `rank_error_bound`, theorem 6.

    Examples
    --------
    >>> from benchmarks.papers.theory import ndcg_error_bound
    >>> round(ndcg_error_bound(0.00118), 5)  # as in the paper
    0.00085
    """
    check_number(rank_error, "rank_error", 0)
    return rank_error / (2 * log(2))


def smooth_ndcg_error_bound(scores: ArrayLike, sigma: float) -> float:
    """Return by how much SmoothRank's NDCG may miss NDCG: (m − 1) exp(−μ/σ).

    μ is the smallest squared gap between two scores. For position j, h_ij ≤ exp(−μ/σ) where i is
    not the document there, and the m − 1 ways to move every document on by as many positions are
    each worth at most 1. It holds at any cut, for any gains.

    An argument that is not usable is a ValueError or a TypeError that names it.

    Parameters
    ----------
    scores : array-like, shape (m,)
        Scores of the documents of one query.
    sigma : float
        Width σ of the smoothing, in squared score units.

    Returns
    -------
    float

    References
    ----------
    Chapelle & Wu 2010, "Gradient descent optimization of smoothed information retrieval
    metrics", section 5.1: O(exp(−μ/σ)).

    Examples
    --------
    >>> from benchmarks.papers.theory import smooth_ndcg_error_bound
    >>> round(smooth_ndcg_error_bound([3.0, 2.0, 0.5], sigma=0.2), 5)
    0.01348
    """
    values = check_finite(scores, "scores")
    check_number(sigma, "sigma", above=0)
    with np.errstate(over="ignore"):  # an infinite gap is no error
        gaps = np.diff(np.sort(values)) ** 2 / sigma
    return float((len(values) - 1) * np.exp(-gaps.min(initial=np.inf)))


def ap_error_bound(rank_error: float, n_relevant: int, beta: float = 10.0) -> float:
    """Return by how much average precision of soft ranks may miss average precision.

    1/(1 + exp(β (1 − 2ε))) Σ_{i ≤ R} 1/(i − ε) + 2ε Σ_{i ≤ R} 1/(i (i − ε)), for ε of at most ½.

    An argument that is not usable is a ValueError or a TypeError that names it.

    Parameters
    ----------
    rank_error : float
        ε as for `ndcg_error_bound`, at most ½.
    n_relevant : int
        R, the number of relevant documents.
    beta : float
        Steepness β of the truncation, per rank, as in `ApproxRank`.

    Returns
    -------
    float

    References
    ----------
    Qin, Liu & Li 2010, as for `rank_error_bound`, theorem 5.

    Examples
    --------
    >>> from benchmarks.papers.theory import ap_error_bound
    >>> round(ap_error_bound(0.00118, n_relevant=1, beta=100), 4)  # as in the paper
    0.0024
    """
    check_number(rank_error, "rank_error", 0, 0.5)
    check_integer(n_relevant, "n_relevant", 1)
    check_number(beta, "beta", above=0)
    places = np.arange(1, n_relevant + 1)
    wrong = exp(-beta * (1 - 2 * rank_error))
    share = (1 / (places - rank_error)).sum()
    return float(
        wrong / (1 + wrong) * share + 2 * rank_error * (1 / places / (places - rank_error)).sum()
    )


class LambdaCondition(NamedTuple):
    """What the Jacobian of lambdas says of their cost.

    Parameters
    ----------
    asymmetry : float
        The largest |J_jk − J_kj| over the largest |J_jk|: 0, up to the error of differences, if
        there is a cost; 0 if J is zero.
    smallest_eigenvalue : float
        Of (J + Jᵀ)/2: at least 0, up to the error of differences, if the cost is convex there.

    Examples
    --------
    >>> from benchmarks.papers.theory import LambdaCondition
    >>> LambdaCondition(asymmetry=0.0, smallest_eigenvalue=1.0).asymmetry
    0.0
    """

    asymmetry: float
    smallest_eigenvalue: float


def check_lambdas(
    lambdas: Callable[[Vector], Any], scores: ArrayLike, step: float = 1e-5
) -> LambdaCondition:
    """Check, near some scores, whether a function of lambdas is the derivative of a cost.

    It is if and only if the Jacobian J_jk = ∂λ_j/∂s_k is symmetric everywhere; the cost is convex
    if and only if J has no negative eigenvalue anywhere. J is taken by central differences, so try
    several scores; where lambdas jump, as `LambdaRank`'s do when documents swap ranks, a symmetric
    Jacobian on both sides of the jump does not suffice.

    An argument that is not usable is a ValueError or a TypeError that names it.

    Parameters
    ----------
    lambdas : callable
        Takes the scores of a query, shape (m,), and returns as many lambdas: ∂cost/∂s_j, as an
        objective's gradient. (The paper's have the opposite sign, and so have the eigenvalues.)
    scores : array-like, shape (m,)
        Where to check.
    step : float
        Half the distance of the differences, in score units.

    Returns
    -------
    LambdaCondition
        The asymmetry and the smallest eigenvalue of J.

    References
    ----------
    Burges, Ragno & Le 2006, "Learning to rank with nonsmooth cost functions", equation 5.

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks.papers.theory import check_lambdas
    >>> springs = check_lambdas(lambda s: s - s.mean(), [3.0, 1.0, 2.0])
    >>> springs.asymmetry < 1e-6, springs.smallest_eigenvalue > -1e-6
    (True, True)
    >>> bool(check_lambdas(lambda s: s * s.sum(), [3.0, 1.0, 2.0]).asymmetry > 0.1)
    True
    """
    point = check_finite(scores, "scores")
    check_number(step, "step", above=0)
    columns = [
        (_values(lambdas, point + away) - _values(lambdas, point - away)) / (2 * step)
        for away in step * np.eye(len(point))
    ]
    jacobian = np.array(columns).reshape(len(point), len(point)).T
    largest = np.abs(jacobian).max(initial=0.0)
    return LambdaCondition(
        float(np.abs(jacobian - jacobian.T).max(initial=0.0) / largest) if largest else 0.0,
        float(np.linalg.eigvalsh((jacobian + jacobian.T) / 2).min(initial=np.inf)),
    )


def _values(lambdas: Callable[[Vector], Any], scores: Vector) -> Vector:
    """Return the lambdas of some scores, checked."""
    return check_finite(lambdas(scores), "lambdas", len(scores))
