"""How good predictions are: two models query by query."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from gbrank.common.arrays import Vector
from gbrank.common.checks import check_labels
from gbrank.data.queries import Queries
from gbrank.evaluation.statistics import common_queries, compared
from gbrank.measures.measure_registry import Metric, get_measure
from gbrank.plots.style import BLUE, GREY, axes_for, tidy


def per_query(
    y: ArrayLike,
    scores: ArrayLike,
    other: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    group: ArrayLike | None = None,
    measure: Metric = "ndcg@10",
    names: tuple[str, str] = ("scores", "other"),
    ax: Axes | None = None,
) -> Axes:
    """Draw what each query is worth with one model's scores, against another's.

    Queries above the diagonal are better with the first model. The title says the mean difference
    over queries, its 95% bootstrap interval, and the p-value of the paired randomisation test.

    Parameters
    ----------
    y : array-like, shape (n_documents,)
        Labels.
    scores, other : array-like, shape (n_documents,)
        Scores of the two models, upwards and across.
    qid, group
        The queries, as for `Queries.resolve`.
    measure : Measure or str
        Queries that it skips are left out.
    names : tuple of str
        What the two models are called.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there are no queries, or the measure skips them all.

    Examples
    --------
    >>> from gbrank import plots
    >>> ax = plots.per_query(
    ...     [1, 0, 0, 1], [2.0, 1.0, 2.0, 1.0], [1.0, 2.0, 1.0, 2.0], group=[2, 2], measure="wta"
    ... )
    >>> ax.get_title().splitlines()[0]
    '1 better, 0 equal, 1 worse'
    """
    if qid is None and group is None:
        raise ValueError("per_query needs qid= (one query id per row) or group= (query sizes).")
    labels = check_labels(y, "y")
    chosen = get_measure(measure)
    bound = chosen.bind(labels, Queries.resolve(len(labels), qid, group))
    both = common_queries(np.array([bound.per_query(scores), bound.per_query(other)]))
    if not both.size:
        raise ValueError(f"{chosen} is undefined on every query: none has what it needs.")
    tested = compared(both)
    means, p = tested.means, tested.p_randomisation[0]
    signs = np.sign(both[0] - both[1])
    counts = [int(np.sum(signs == sign)) for sign in (1, 0, -1)]
    low, high = means.difference_low[0], means.difference_high[0]
    ends = "" if np.isnan(low) else f" [{low:+.4f}, {high:+.4f}]"
    ax = axes_for(ax)
    draw_queries(ax, both[0], both[1], str(chosen), names)
    ax.set_title(
        "{} better, {} equal, {} worse\n".format(*counts)
        + f"mean difference {means.difference[0]:+.4f}{ends}, p = {p:.4f}",
        fontsize="medium",
    )
    return ax


def draw_queries(
    ax: Axes, ours: Vector, theirs: Vector, measure: str, names: tuple[str, str]
) -> None:
    """Draw what queries are worth with one model, upwards, and with another, across."""
    ends = [min(ours.min(), theirs.min()), max(ours.max(), theirs.max())]
    ax.plot(ends, ends, color=GREY, linestyle="--", linewidth=1)
    ax.plot(theirs, ours, "o", color=BLUE, alpha=0.4, markersize=4, markeredgewidth=0)
    tidy(ax, xlabel=f"{measure} of {names[1]}", ylabel=f"{measure} of {names[0]}")
    ax.set_aspect("equal")
