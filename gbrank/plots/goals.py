"""Several goals: constraints by round, and the trade-off between two goals."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from sklearn.utils.validation import check_is_fitted

from gbrank.evaluation.pareto import Front
from gbrank.fit.constraints import get_constraint
from gbrank.fit.rounds import MULTIPLIERS
from gbrank.plots.style import BLUE, GREY, axes_for, colour_of, legend, tidy
from gbrank.ranker import GBRanker


def constraints(ranker: GBRanker, *, ax: Axes | None = None) -> Axes:
    """Draw the measures of constraints by round, their targets, and their weights.

    The weights are on a second axis, ``ax.figure.axes[-1]``, as dotted lines.

    Parameters
    ----------
    ranker : GBRanker
        Fitted with constraints.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the ranker has no constraints.

    Examples
    --------
    >>> from gbrank import GBRanker, make_cubic, plots
    >>> X, y, qid = make_cubic(40, n_documents=10, random_state=0)
    >>> ranker = GBRanker(n_estimators=10, constraints=["ndcg[margin] >= 0.9 of best"])
    >>> ranker = ranker.fit(X, y, qid=qid, labels={"margin": abs(X[:, 0])})
    >>> plots.constraints(ranker).figure.axes[-1].get_ylabel()
    'weight'
    """
    check_is_fitted(ranker)
    if not ranker.constraints_:
        raise ValueError("ranker must have been fitted with constraints, got none.")
    results = ranker.evals_result_
    measured = results.get("valid_0") or results["train"]
    ax = axes_for(ax)
    second, lines = ax.twinx(), []
    for place, end in enumerate(ranker.constraints_):
        color = colour_of(place)
        measure = str(get_constraint(end.constraint).measure)
        curve, weights = measured[measure], results[MULTIPLIERS][end.constraint]
        rounds = np.arange(1, len(curve) + 1)
        lines += ax.plot(rounds, curve, color=color, label=measure)
        ax.axhline(end.target, color=color, linewidth=1, linestyle="--")
        second.plot(rounds, weights, color=color, linestyle=":")
    tidy(ax, xlabel="round", ylabel="measure (dashed: what it must reach)")
    second.set(ylabel="weight")
    second.set_ylim(bottom=0)
    second.spines["top"].set_visible(False)
    legend(ax, lines, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return ax


def front(tradeoff: Front, *, ax: Axes | None = None) -> Axes:
    """Draw the trade-off between two goals, with 95% intervals.

    A line joins the rankers that no other one beats by both goals.

    Parameters
    ----------
    tradeoff : Front
        What `pareto` returned.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from gbrank import GBRanker, make_cubic, pareto, plots
    >>> X, y, qid = make_cubic(40, n_documents=10, random_state=0)
    >>> goal = {"measure": "ndcg@10[margin]", "labels": {"margin": abs(X[:, 0])}}
    >>> ranker = GBRanker(n_estimators=10, random_state=0)
    >>> found = pareto(ranker, X, y, qid=qid, **goal, levels=[0.9], n_jobs=1, progress=False)
    >>> plots.front(found).get_xlabel()
    'ndcg@10[margin]'
    """
    ax = axes_for(ax)
    first, second = tradeoff.measures
    efficient = [point.means for point in tradeoff.points if tradeoff.is_efficient(point)]
    ax.plot([b for _, b in efficient], [a for a, _ in efficient], color=BLUE, linewidth=1)
    for point in tradeoff.points:
        color = BLUE if tradeoff.is_efficient(point) else GREY
        spans = [
            [[mean - low], [high - mean]]
            for mean, (low, high) in zip(point.means, point.intervals, strict=True)
        ]
        y, x = point.means
        ax.errorbar(x, y, yerr=spans[0], xerr=spans[1], fmt="o", color=color, elinewidth=0.5)
        ax.annotate(
            point.name, (x, y), xytext=(6, 6), textcoords="offset points", fontsize=8,
            parse_math=False,
        )  # fmt: skip
    tidy(ax, xlabel=second, ylabel=first)
    return ax
