"""Soft ranks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from scipy.stats import rankdata

from gbrank.common.checks import check_finite, check_vector
from gbrank.plots.style import GREY, axes_for, check_sigmas, shades, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["soft_ranks"]


def soft_ranks(
    scores: ArrayLike,
    *,
    sigmas: Sequence[float] = (1.0, 0.3, 0.1, 0.03),
    ax: "Axes | None" = None,
) -> "Axes":
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
    >>> from gbrank import plots
    >>> ax = plots.soft_ranks([4.20074, 3.12378, 4.40918, 1.55258, 4.13330], sigmas=[0.01])
    >>> ax.lines[1].get_ydata().round(5)  # table 1 of the paper
    array([1.     , 2.00118, 2.99882, 4.     , 5.     ])
    """
    values = check_finite(check_vector(scores, "scores"), "scores")
    widths = check_sigmas(sigmas)
    ordered = np.sort(values)[::-1]
    ranks = rankdata(-ordered)
    ax = axes_for(ax)
    ax.plot(ranks, ranks, color=GREY, linestyle="--", linewidth=1)
    for sigma, colour in zip(widths, shades(len(widths)), strict=True):
        soft = [0.5 + expit((ordered - score) / sigma).sum() for score in ordered]
        ax.plot(ranks, soft, ".-", color=colour, label=f"σ = {sigma:g}")
    tidy(ax)
    ax.locator_params(integer=True)
    ax.set_xlabel("rank")
    ax.set_ylabel("soft rank")
    ax.legend(frameon=False)
    return ax
