"""Why documents are ranked as they are: what features add to a gap, and to the scores of a list."""

from __future__ import annotations

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes

from gbrank.common.checks import check_number, shortened
from gbrank.common.table import number_names
from gbrank.fit.explanations import PairExplanation, QueryExplanation, short
from gbrank.plots.style import BLUE, GREY, ORANGE, axes_for, drawable, legend, name_rows, tidy

NAMED = 10  # documents whose names a picture shows


def pair(explanation: PairExplanation, *, largest: int = 10, ax: Axes | None = None) -> Axes:
    """Draw what each feature adds to the gap between the scores of two documents.

    Parameters
    ----------
    explanation : PairExplanation
        What `GBRanker.explain_pair` returned.
    largest : int
        How many features to show; the rest are summed up.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from gbrank import GBRanker, make_cubic, plots
    >>> X, y, qid = make_cubic(20, n_documents=10, n_features=4, random_state=0)
    >>> ranker = GBRanker(n_estimators=5, n_jobs=1).fit(X, y, qid=qid)
    >>> ax = plots.pair(ranker.explain_pair(X, 3, 7, qid=qid), largest=2)
    >>> len(ax.patches)
    3
    """
    check_number(largest, "largest", 1, integer=True)
    chosen, rest = explanation.largest[:largest], explanation.largest[largest:]
    names = [
        f"{explanation.features[i]}:  {short(explanation.first[i])} | "
        f"{short(explanation.second[i])}"
        for i in chosen
    ]
    shares = explanation.shares[chosen].tolist()
    if rest:
        names.append(f"{len(rest)} others")
        shares.append(float(explanation.shares[rest].sum()))
    ax = axes_for(ax)
    colors = [BLUE if share >= 0 else ORANGE for share in shares]
    ax.barh(range(len(names)), shares, color=colors)
    name_rows(ax, names)
    ax.axvline(0, color=GREY, linewidth=1)
    tidy(ax, "x", title=f"Scores: {explanation}", xlabel="share of the gap between the scores")
    return ax


def query(explanation: QueryExplanation, *, ax: Axes | None = None) -> Axes:
    """Draw the scores of a query's documents by rank, with their names, coloured by their labels.

    A line joins the two documents whose swap would raise the measure most.

    Parameters
    ----------
    explanation : QueryExplanation
        What `GBRanker.explain_query` returned.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from gbrank import GBRanker, make_cubic, plots
    >>> X, y, qid = make_cubic(20, n_documents=10, n_features=4, random_state=0)
    >>> ranker = GBRanker(n_estimators=5, n_jobs=1).fit(X, y, qid=qid)
    >>> plots.query(ranker.explain_query(X, y, qid=qid, query=3)).get_xlabel()
    'rank'
    """
    ax = axes_for(ax)
    ranks = np.arange(1, len(explanation.rows) + 1)
    if explanation.labels is None:
        ax.plot(ranks, explanation.scores, "o", color=BLUE)
    else:
        grades = np.unique(explanation.labels).tolist()
        shades = colormaps["viridis"](np.linspace(0.25, 0.9, len(grades)))
        for grade, called, shade in zip(grades, number_names(grades), shades, strict=True):
            own = np.equal(explanation.labels, grade)
            scores = np.array(explanation.scores)[own]
            ax.scatter(ranks[own], scores, color=shade, zorder=3, label=f"label {called}")
        legend(ax, ax.collections, loc="upper right")
        best = int(np.nanargmax([0.0, *(gain for _, gain in explanation.swaps)]))
        if best:
            other, gain = explanation.swaps[best - 1]
            places = sorted((best, other or best))
            ax.plot(places, [explanation.scores[rank - 1] for rank in places], color=ORANGE)
            text = "ranks {} and {} swapped: {:+.3f}".format(*places, gain)
            ax.text(0.02, 0.03, text, color=ORANGE, transform=ax.transAxes)  # no score is there
    for rank, score, name in zip(ranks, explanation.scores, explanation.names or (), strict=False):
        if rank <= NAMED:
            ax.annotate(
                drawable(shortened(str(name), 24)), (rank, score), xytext=(5, 3),
                textcoords="offset points", fontsize=7, rotation=20, parse_math=False,
            )  # fmt: skip
    ax.locator_params(axis="x", integer=True)
    tidy(ax, title=str(explanation), xlabel="rank", ylabel="score")
    return ax
