"""Bounds on losses: of new queries, and of all rounds of SLAM's perceptron."""

from math import log, sqrt

from gbrank.common.checks import check_integer, check_number


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
    >>> from benchmarks.papers.loss_bounds import generalization_bound
    >>> round(generalization_bound(0.1, 1, 1, 100, 10_000, delta=0.05), 4)
    0.0843
    """
    _check_sizes(lipschitz=lipschitz, norm=norm, radius=radius)
    check_integer(n_queries, "n_queries", 1)
    check_integer(n_documents, "n_documents", 1)
    check_number(delta, "delta", above=0, high=1)
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
    >>> from benchmarks.papers.loss_bounds import smooth_ndcg_lipschitz
    >>> smooth_ndcg_lipschitz(sigma=2.0, norm=1.0, radius=1.0, n_documents=4)
    32.0
    """
    check_number(sigma, "sigma", above=0)
    _check_sizes(norm=norm, radius=radius)
    check_integer(n_documents, "n_documents", 1)
    return float(8 * norm * radius * n_documents**1.5 / sigma)


def selection_excess_bound(
    n_queries: int, n_rankers: int, delta: float, approximation_error: float = 0.0
) -> float:
    """Return how far the ranker that is best in training may be below the best on new queries.

    2 √(log(2N/δ)/(2n)) + 2ε, with probability at least 1 − δ: twice the largest difference between
    training and expected measure of N rankers, by Hoeffding's inequality, and twice that between
    the measure and what is maximised in its place. It vanishes as n grows if ε does.

    An argument that is not usable is a ValueError or a TypeError that names it.

    Parameters
    ----------
    n_queries : int
        n, training queries, drawn independently.
    n_rankers : int
        N, among which one chooses.
    delta : float
        δ, the chance that the bound does not hold.
    approximation_error : float
        ε, by how much what is maximised may miss the measure, a mean over queries with values from
        0 to 1, such as `ndcg_error_bound`; 0 where it is the measure itself.

    Returns
    -------
    float

    References
    ----------
    Qin, Liu & Li 2010, "A general approximation framework for direct optimization of information
    retrieval measures", theorems 1, 2 and 7, for finitely many rankers.

    Examples
    --------
    >>> from benchmarks.papers.loss_bounds import selection_excess_bound
    >>> round(selection_excess_bound(10_000, 100, delta=0.05, approximation_error=0.01), 4)
    0.0607
    """
    check_integer(n_queries, "n_queries", 1)
    check_integer(n_rankers, "n_rankers", 1)
    check_number(delta, "delta", above=0, high=1)
    check_number(approximation_error, "approximation_error", 0)
    return 2 * sqrt(log(2 * n_rankers / delta) / (2 * n_queries)) + 2 * approximation_error


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
    >>> from benchmarks.papers.loss_bounds import convex_excess_bound
    >>> convex_excess_bound(lipschitz=2.0, norm=1.0, radius=1.0, n_queries=3200)
    0.1
    """
    _check_sizes(lipschitz=lipschitz, norm=norm, radius=radius)
    check_integer(n_queries, "n_queries", 1)
    return lipschitz * norm * radius * sqrt(8 / n_queries)


def perceptron_loss_bound(
    radius: float, gap: float, learning_rate: float = 1.0, margin: float = 1.0
) -> float:
    """Return what SLAMPerceptron may lose over all rounds, however many: (4R² + 2Δ/η)/γ².

    It holds where some weights u of norm 1 put every document at least γ above each of smaller
    label in its query: `perceptron_regret_bound` with the weights uΔ/γ, which lose nothing.

    The paper's constant, `papers_regret_bound`, grows with the number of documents; this one does
    not.

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
        A bound on ``cumulative_loss_[-1]``, for NDCG and AP, cut or not (corollary 7).

    References
    ----------
    Chaudhuri & Tewari 2014, "Perceptron-like algorithms and generalization bounds for learning to
    rank", corollaries 6 and 7.

    Examples
    --------
    >>> from benchmarks.papers.loss_bounds import perceptron_loss_bound
    >>> from gbrank import SLAMPerceptron
    >>> X, y, qid = [[1, 0], [0, 1], [1, 1], [0, 1]], [1, 0, 1, 0], [0, 0, 1, 1]
    >>> perceptron = SLAMPerceptron().fit(X, y, qid=qid)  # u = (1, 0) has a gap of 1
    >>> bool(perceptron.cumulative_loss_[-1] < perceptron_loss_bound(2**0.5, 1))
    True
    """
    check_number(gap, "gap", above=0)
    check_number(margin, "margin", above=0)
    return perceptron_regret_bound(radius, margin / gap, 0.0, learning_rate, margin)


def perceptron_regret_bound(
    radius: float, norm: float, loss: float, learning_rate: float = 1.0, margin: float = 1.0
) -> float:
    """Return what SLAMPerceptron may lose, beside any weights u: ((c + √(c² + 4ΔF))/(2Δ))².

    c is ‖u‖ √(4R² + 2Δ/η), and F what u itself loses by SLAM over the rounds with an error; no
    weights need rank the queries correctly. Proof: in such a round let a be the sum of v_i over the
    documents whose hinge is active, and f the loss of u. u·w grows by at least η(Δa − f), and ‖w‖²
    by at most 2ηΔa + 4η²R²a². Since a ≤ 1, ΔA − F ≤ c √A for A = Σ a; and a is at least the
    round's loss, 1 − measure.

    An argument that is not usable is a ValueError or a TypeError that names it.

    Parameters
    ----------
    radius : float
        R, the largest Euclidean norm of a document's features.
    norm : float
        ‖u‖, the Euclidean norm of the weights that are compared with.
    loss : float
        F, the sum over rounds with an error of `SLAM` at u, ``smooth=False`` and the same margin.
    learning_rate, margin
        η and Δ, as for `perceptron_loss_bound`.

    Returns
    -------
    float
        A bound on ``cumulative_loss_[-1]``, for NDCG and AP, cut or not.

    References
    ----------
    Chaudhuri & Tewari 2014, as for `perceptron_loss_bound`, theorem 5.

    Examples
    --------
    >>> from benchmarks.papers.loss_bounds import perceptron_regret_bound
    >>> round(perceptron_regret_bound(radius=1.0, norm=2.0, loss=10.0), 4)
    41.5959
    """
    _check_sizes(radius=radius, norm=norm, loss=loss)
    check_number(learning_rate, "learning_rate", above=0)
    check_number(margin, "margin", above=0)
    step = norm * sqrt(4 * radius**2 + 2 * margin / learning_rate)
    return ((step + sqrt(step**2 + 4 * margin * loss)) / (2 * margin)) ** 2


def papers_regret_bound(
    radius: float, norm: float, loss: float, n_documents: int, ratio: float
) -> float:
    """Return the paper's own bound in the place of `perceptron_regret_bound`: F + c √F + c².

    c is 2 R ‖u‖ √(m ρ). The formulas are lost in our copy, which leaves the factor m and the
    "finite quantity" ρ. It follows from ‖∇‖² ≤ 4R² Σ v_i over active hinges, Σ v_i ≤ 1, which are
    at most m ρ times the weight of a document whose hinge is at least 1, as there is one in each
    round with an error.

    Parameters
    ----------
    radius, norm, loss
        R, ‖u‖ and F, as for `perceptron_regret_bound`, with a margin of 1.
    n_documents : int
        m, the largest number of documents of a query.
    ratio : float
        ρ, the largest ratio of two positive weights v_i of a query: 1 for AP.

    Returns
    -------
    float

    References
    ----------
    Chaudhuri & Tewari 2014, as for `perceptron_loss_bound`, proposition 4 and theorem 5.

    Examples
    --------
    >>> from benchmarks.papers.loss_bounds import papers_regret_bound
    >>> papers_regret_bound(radius=1.0, norm=2.0, loss=0.0, n_documents=10, ratio=3.0)
    480.0
    """
    _check_sizes(radius=radius, norm=norm, loss=loss, ratio=ratio)
    check_integer(n_documents, "n_documents", 1)
    square = 4 * radius**2 * norm**2 * n_documents * ratio
    return loss + sqrt(square * loss) + square


def _check_sizes(**sizes: float) -> None:
    """Refuse negative sizes."""
    for name, value in sizes.items():
        check_number(value, name, 0)
