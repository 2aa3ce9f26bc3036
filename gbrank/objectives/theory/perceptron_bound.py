"""How much SLAM's perceptron may lose where a perfect ranker exists."""

from gbrank.common.checks import check_number


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
