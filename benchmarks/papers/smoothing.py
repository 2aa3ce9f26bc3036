"""What sigma does: objectives as functions of scores, and soft ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from numpy.typing import ArrayLike
from scipy.special import expit
from scipy.stats import rankdata

from gbrank.common.checks import check_finite, check_integer, check_labels, check_number
from gbrank.common.table import number_names
from gbrank.data.queries import Queries
from gbrank.fit.estimator import draw_seed
from gbrank.measures.measure import Measure
from gbrank.measures.measure_registry import get_measure
from gbrank.objectives.objective import Objective
from gbrank.objectives.objective_registry import get_objective
from gbrank.plots.style import GREY, axes_for, legend, tidy

POINTS = 401


def draw_objective(
    objective: str | Objective | Callable[..., Any],
    y: ArrayLike,
    scores: ArrayLike,
    *,
    sigmas: Sequence[float] = (1.0, 0.3, 0.1, 0.03),
    document: int | None = None,
    reach: float | None = None,
    metric: str | Measure | None = None,
    random_state: int | np.random.RandomState | None = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw the loss of one query by the score of one document, or along a random direction.

    There is a curve for each sigma: small ones follow the steps of the measure, wide ones are
    smooth, and may have their minimum elsewhere.

    Parameters
    ----------
    objective : str, Objective or callable
    y, scores : array-like, shape (n_documents,)
        Labels of the documents of one query, and the scores to start from.
    sigmas : sequence of float
        Widths of the smoothing.
    document : int, optional
        The document whose score varies. By default all do, along a random direction in which they
        vary by 1 on average (root mean square).
    reach : float, optional
        How far to go to either side; by default a little more than the range of the scores, or 1.
    metric : str or Measure, optional
        Draw minus this measure too, as the loss of many objectives is minus a smoothed one.
    random_state : int, RandomState or None
        Seed of the direction.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError, TypeError
        If an argument is not usable.

    References
    ----------
    O. Chapelle, M. Wu. Gradient descent optimization of smoothed information retrieval metrics.
    Information Retrieval 13, 2010 (figure 1).

    Examples
    --------
    >>> from benchmarks.papers.smoothing import draw_objective
    >>> ax = draw_objective(
    ...     "approx:ndcg", [2, 0, 1], [0.0, 1.0, 2.0], document=0, sigmas=[1, 0.1], metric="ndcg"
    ... )
    >>> [line.get_label() for line in ax.lines]
    ['σ = 1', 'σ = 0.1', '−ndcg']
    """
    chosen = get_objective(objective)
    labels = check_labels(y, "y")
    start = check_finite(scores, "scores", len(labels))
    check_integer(document, "document", 0, len(labels) - 1, optional=True)
    check_number(reach, "reach", above=0, optional=True)
    curves = _curves(sigmas)
    if document is None:
        direction = np.random.default_rng(draw_seed(random_state)).normal(size=len(start))
        direction /= np.sqrt(np.mean(direction**2))
        centre, label = 0.0, "step along a random direction"
    else:
        direction = (np.arange(len(start)) == document).astype(np.float64)
        centre, label = float(start[document]), f"score of document {document}"
    reach = reach or 1.25 * float(np.ptp(start)) or 1.0
    steps = np.linspace(-reach, reach, POINTS)
    copies = Queries.from_sizes([len(start)] * POINTS)
    queries = replace(copies, ids=np.zeros(POINTS, dtype=np.int64))  # equal ids: equal noise
    moved, repeated = (start + steps[:, None] * direction).ravel(), np.tile(labels, POINTS)
    bound = chosen.bind(repeated, queries, rounds=1)
    ax = axes_for(ax)
    lines = []
    for sigma, style in curves:
        lines += ax.plot(centre + steps, bound.loss(moved, sigma), **style)
    if metric is not None:
        exact = get_measure(metric)
        losses = -exact.bind(repeated, queries).per_query(moved)
        lines += ax.plot(centre + steps, losses, color="black", linewidth=1, label=f"−{exact}")
    tidy(ax, title=str(chosen), xlabel=label, ylabel="loss")
    legend(ax, lines)
    return ax


def draw_soft_ranks(
    scores: ArrayLike, *, sigmas: Sequence[float] = (1.0, 0.3, 0.1, 0.03), ax: Axes | None = None
) -> Axes:
    r"""Draw the soft ranks of ApproxRank against ranks, for several sigmas.

    .. math:: \hat r_i = 1 + \sum_{j \ne i} \frac{1}{1 + e^{(s_i - s_j)/\sigma}}

    Parameters
    ----------
    scores : array-like, shape (n_documents,)
        Scores of the documents of one query. Equal ones share the mean of their ranks.
    sigmas : sequence of float
        Widths of the smoothing.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError, TypeError
        If a score is not finite, or a sigma not above 0.

    References
    ----------
    T. Qin, T.-Y. Liu, H. Li. A general approximation framework for direct optimization of
    information retrieval measures. Information Retrieval 13, 2010.

    Examples
    --------
    >>> from benchmarks.papers.smoothing import draw_soft_ranks
    >>> ax = draw_soft_ranks([4.20074, 3.12378, 4.40918, 1.55258, 4.13330], sigmas=[0.01])
    >>> ax.lines[1].get_ydata().round(5)  # table 1 of the paper
    array([1.     , 2.00118, 2.99882, 4.     , 5.     ])
    """
    values = check_finite(scores, "scores")
    curves = _curves(sigmas)
    ordered = np.sort(values)[::-1]
    ranks = rankdata(-ordered)
    ax = axes_for(ax)
    lines = []
    ax.plot(ranks, ranks, color=GREY, linestyle="--", linewidth=1)
    for sigma, style in curves:
        soft = [0.5 + expit((ordered - score) / sigma).sum() for score in ordered]
        lines += ax.plot(ranks, soft, ".-", **style)
    tidy(ax, xlabel="rank", ylabel="soft rank")
    ax.locator_params(integer=True)
    legend(ax, lines)
    return ax


def _curves(sigmas: Sequence[float]) -> list[tuple[float, dict[str, Any]]]:
    """Return each sigma with the colour and label of its curve; colours go from dark to light."""
    if not len(sigmas):
        raise ValueError("sigmas must have at least one entry, got none.")
    widths = [check_number(sigma, "sigmas", above=0) for sigma in sigmas]
    shades = [colormaps["viridis"](0.9 * i / max(1, len(widths) - 1)) for i in range(len(widths))]
    curves = zip(widths, shades, number_names(widths), strict=True)
    return [(width, {"color": shade, "label": f"σ = {name}"}) for width, shade, name in curves]
