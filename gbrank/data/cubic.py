"""Artificial data: random cubic polynomials."""

import math
from collections.abc import Sequence

import numpy as np

from gbrank.common.checks import (
    ArgumentError,
    Matrix,
    Positions,
    Vector,
    check_finite,
    check_integer,
)

_BLOCK = 1024  # documents that are evaluated together


def make_cubic(
    n_queries: int,
    *,
    n_documents: int = 50,
    n_features: int = 50,
    distribution: Sequence[float] = (0.52, 0.32, 0.13, 0.02, 0.01),
    random_state: int | np.random.Generator | None = None,
) -> tuple[Matrix, Vector, Positions]:
    r"""Generate queries whose labels are quantiles of one random polynomial of degree three.

    Features x are uniform in [-1, 1]. The relevance of a document is

    .. math:: f(x) = \frac{1}{s_1} \sum_i a_i x_i
                   + \frac{1}{s_2} \sum_{j \le i} b_{ij} x_i x_j
                   + \frac{1}{s_3} \sum_{k \le j \le i} c_{ijk} x_i x_j x_k

    with all coefficients a, b, c uniform in [-1, 1], and s1, s2, s3 the standard deviations of the
    three sums over all documents. The documents of ALL queries, sorted by f, get the grades 0, 1,
    ... in the requested shares: labels are a function of the features, without noise, and queries
    differ in their number of relevant documents.

    Parameters
    ----------
    n_queries : int
        Number of queries. They share the polynomial: split one data set by query into training and
        test queries.
    n_documents, n_features : int, default 50
        Documents per query, at least 2, and features per document.
    distribution : sequence of float, default (0.52, 0.32, 0.13, 0.02, 0.01)
        Share of each grade, from grade 0 on; they sum to 1. The default is that of the web search
        data MSLR-WEB10K, rounded.
    random_state : int or numpy.random.Generator, optional
        Seed; the same seed gives the same bits. By default every call differs.

    Returns
    -------
    X : ndarray of float64, shape (n_queries * n_documents, n_features)
    y : ndarray of float64, shape (n_queries * n_documents,)
        Labels; the shares are exact to one document.
    qid : ndarray of int64, shape (n_queries * n_documents,)
        Query ids, 0 to n_queries - 1, in this order.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid.

    References
    ----------
    C. J. C. Burges, R. Ragno, Q. V. Le. Learning to rank with nonsmooth cost functions. NIPS
    2006, section 6.3.1, which does not print the polynomial or the distribution of grades: those
    here are this function's own.

    Examples
    --------
    >>> import numpy as np
    >>> from gbrank import make_cubic
    >>> X, y, qid = make_cubic(20, random_state=0)
    >>> X.shape, qid[[0, 49, 50, -1]], np.bincount(y.astype(int))
    ((1000, 50), array([ 0,  0,  1, 19]), array([520, 320, 130,  20,  10]))
    """
    check_integer(n_queries, "n_queries", 1)
    check_integer(n_documents, "n_documents", 2)
    check_integer(n_features, "n_features", 1)
    shares = check_finite(distribution, "distribution")
    if shares.size == 0 or shares.min() < 0 or not math.isclose(shares.sum(), 1, abs_tol=1e-9):
        raise ArgumentError(
            "distribution", "must hold shares of at least 0 that sum to 1", repr(distribution)
        )
    if not isinstance(random_state, np.random.Generator):
        check_integer(random_state, "random_state", 0, optional=True)
    generator = np.random.default_rng(random_state)
    X = generator.uniform(-1, 1, (n_queries * n_documents, n_features))
    linear, quadratic, cubic = (
        generator.uniform(-1, 1, math.comb(n_features + order - 1, order)) for order in (1, 2, 3)
    )
    orders = np.zeros((3, len(X)))  # the three homogeneous parts of the polynomial
    i, j = np.tril_indices(n_features)  # the pairs of features whose products are of order two
    factors = np.zeros((len(i), n_features))  # of each pair's products with a third feature
    factors[np.arange(n_features) <= j[:, np.newaxis]] = cubic
    for start in range(0, len(X), _BLOCK):
        block = X[start : start + _BLOCK]
        pairs = block[:, i] * block[:, j]
        parts = block @ linear, pairs @ quadratic, ((pairs @ factors) * block).sum(axis=1)
        orders[:, start : start + _BLOCK] = parts
    relevance = (orders / orders.std(axis=1, keepdims=True)).sum(axis=0)
    qid = np.repeat(np.arange(n_queries, dtype=np.int64), n_documents)
    cuts = np.rint(np.cumsum(shares[:-1]) * len(X)).astype(np.int64)
    sizes = np.diff(cuts, prepend=0, append=len(X))
    y = np.empty(len(X))
    y[np.argsort(relevance, kind="stable")] = np.repeat(np.arange(len(shares)), sizes)
    return X, y, qid
