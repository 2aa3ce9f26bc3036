"""Bounds on losses: of new queries, and of all rounds of SLAM's perceptron."""

from math import log, sqrt

from gbrank.common.checks import check_number


def generalization_bound(
    lipschitz: float, norm: float, radius: float, n_documents: int, n_queries: int, delta: float
) -> float:
    """Return how far the expected loss of a linear ranker may be above its training loss.

    3 L B R √(m/n) + √(8 log(2/δ)/n), for all weights of norm at most B at once, with probability
    at least 1 − δ, for a loss with values from 0 to 1 that changes by at most L ‖s − s'‖₂.

    An argument that is not usable is a ValueError or a TypeError that names it.

    Parameters
    ----------
    lipschitz : float
        L, the loss's Lipschitz constant by the scores in the Euclidean norm.
    norm : float
        B, the largest Euclidean norm of the weights.
    radius : float
        R, the largest Euclidean norm of a document's features.
    n_documents : int
        m, documents of each query.
    n_queries : int
        n, training queries, drawn independently.
    delta : float
        δ, the chance that the bound does not hold.

    Returns
    -------
    float

    References
    ----------
    Chapelle & Wu 2010, "Gradient descent optimization of smoothed information retrieval
    metrics", theorem 1.

    Examples
    --------
    >>> from gbrank import generalization_bound
    >>> round(generalization_bound(0.1, 1, 1, 100, 10_000, delta=0.05), 4)
    0.0843
    """
    _check_sizes(lipschitz=lipschitz, norm=norm, radius=radius)
    check_number(n_queries, "n_queries", 1, integer=True)
    check_number(n_documents, "n_documents", 1, integer=True)
    check_number(delta, "delta", 0, 1, open_low=True)
    complexity = 3 * lipschitz * norm * radius * sqrt(n_documents / n_queries)
    return complexity + sqrt(8 * log(2 / delta) / n_queries)


def smooth_ndcg_lipschitz(sigma: float, norm: float, radius: float, n_documents: int) -> float:
    """Return a Lipschitz constant of SmoothRank's NDCG: 8 B R m^1.5/σ.

    It is with respect to scores of at most B R, in the Euclidean norm. The paper concludes from its
    1/σ: the narrower the smoothing, the larger the danger of overfitting.

    An argument that is not usable is a ValueError or a TypeError that names it.

    Parameters
    ----------
    sigma : float
        Width σ of the smoothing, in squared score units.
    norm, radius, n_documents
        B, R and m, as for `generalization_bound`.

    Returns
    -------
    float

    References
    ----------
    Chapelle & Wu 2010, as for `generalization_bound`, section 5.2.

    Examples
    --------
    >>> from gbrank import smooth_ndcg_lipschitz
    >>> smooth_ndcg_lipschitz(sigma=2.0, norm=1.0, radius=1.0, n_documents=4)
    32.0
    """
    check_number(sigma, "sigma", 0, open_low=True)
    _check_sizes(norm=norm, radius=radius)
    check_number(n_documents, "n_documents", 1, integer=True)
    return float(8 * norm * radius * n_documents**1.5 / sigma)


def convex_excess_bound(lipschitz: float, norm: float, radius: float, n_queries: int) -> float:
    """Return how far the expected loss of a regularised linear ranker may be above the best one's.

    G B R √(8/n), on average over training sets, for a convex loss and the weights that minimise the
    mean training loss plus λ ‖w‖² with λ = G R √(2/n)/B; the best weights are of norm at most B.
    It does not depend on the number of documents if G does not: G is 2 for `SLAM`, whose weights
    v sum to at most 1. In `LinearRanker`, λ is ``reg_lambda``, with ``center="zero"``.

    An argument that is not usable is a ValueError or a TypeError that names it.

    Parameters
    ----------
    lipschitz : float
        G, the loss's Lipschitz constant by the scores in the maximum norm: the largest
        Σ_i |∂loss/∂s_i|.
    norm : float
        B, the Euclidean norm of the weights that are compared with.
    radius, n_queries
        R and n, as for `generalization_bound`.

    Returns
    -------
    float

    References
    ----------
    Chaudhuri & Tewari 2014, "Perceptron-like algorithms and generalization bounds for learning to
    rank", theorem 8, which leaves the bound's shape to stochastic convex optimisation; the
    constants are those of Shalev-Shwartz & Ben-David 2014, "Understanding machine learning",
    corollary 13.8.

    Examples
    --------
    >>> from gbrank import convex_excess_bound
    >>> convex_excess_bound(lipschitz=2.0, norm=1.0, radius=1.0, n_queries=3200)
    0.1
    """
    _check_sizes(lipschitz=lipschitz, norm=norm, radius=radius)
    check_number(n_queries, "n_queries", 1, integer=True)
    return lipschitz * norm * radius * sqrt(8 / n_queries)


def perceptron_loss_bound(
    radius: float, gap: float, learning_rate: float = 1.0, margin: float = 1.0
) -> float:
    """Return what SLAMPerceptron may lose over all rounds, however many: (4R² + 2Δ/η)/γ².

    It holds where some weights u of norm 1 put every document at least γ above each of smaller
    label in its query. Proof: in a round with an error let a be the sum of v_i over the documents
    whose hinge is active. u·w grows by at least η γ a, and ‖w‖² by at most 2ηΔa + 4η²R²a². Since
    a ≤ 1, γ² Σ a ≤ 4R² + 2Δ/η; and a is at least the round's loss, 1 − measure.

    The paper's constant grows with the number of documents; this one does not.

    An argument that is not usable is a ValueError or a TypeError that names it.

    Parameters
    ----------
    radius : float
        R, the largest Euclidean norm of a document's features.
    gap : float
        γ, in score units of the unit vector u.
    learning_rate : float
        η, as in `SLAMPerceptron`.
    margin : float
        Δ, as in `SLAMPerceptron`.

    Returns
    -------
    float
        A bound on ``cumulative_loss_[-1]``, for NDCG and AP.

    References
    ----------
    Chaudhuri & Tewari 2014, "Perceptron-like algorithms and generalization bounds for learning to
    rank", corollary 6.

    Examples
    --------
    >>> from gbrank import SLAMPerceptron, perceptron_loss_bound
    >>> X, y, qid = [[1, 0], [0, 1], [1, 1], [0, 1]], [1, 0, 1, 0], [0, 0, 1, 1]
    >>> perceptron = SLAMPerceptron().fit(X, y, qid=qid)  # u = (1, 0) has a gap of 1
    >>> bool(perceptron.cumulative_loss_[-1] < perceptron_loss_bound(2**0.5, 1))
    True
    """
    check_number(radius, "radius", 0)
    check_number(gap, "gap", 0, open_low=True)
    check_number(learning_rate, "learning_rate", 0, open_low=True)
    check_number(margin, "margin", 0, open_low=True)
    return (4 * radius**2 + 2 * margin / learning_rate) / gap**2


def _check_sizes(**sizes: float) -> None:
    """Refuse negative sizes."""
    for name, value in sizes.items():
        check_number(value, name, 0)
