"""Why documents are ranked as they are: what features add to a gap between scores."""

from __future__ import annotations

from matplotlib.axes import Axes

from gbrank.common.checks import check_number
from gbrank.fit.explanations import Explanation
from gbrank.plots.style import BLUE, GREY, ORANGE, axes_for, name_rows, tidy


def explanation(why: Explanation, *, largest: int = 10, ax: Axes | None = None) -> Axes:
    """Draw what each feature adds to the gap between two scores.

    Parameters
    ----------
    why : Explanation
        What `GBRanker.explain_pair` or `explain_document` returned.
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
    >>> ax = plots.explanation(ranker.explain_pair(X, 3, 7, qid=qid), largest=2)
    >>> len(ax.patches)
    3
    """
    check_number(largest, "largest", 1, integer=True)
    chosen, rest = why.largest[:largest], why.largest[largest:]
    names = [f"{why.features[i]}:  {' | '.join(why.values(i))}" for i in chosen]
    shares = why.shares[chosen].tolist()
    if rest:
        names.append(f"{len(rest)} others")
        shares.append(float(why.shares[rest].sum()))
    ax = axes_for(ax)
    colors = [BLUE if share >= 0 else ORANGE for share in shares]
    ax.barh(range(len(names)), shares, color=colors)
    name_rows(ax, names)
    ax.axvline(0, color=GREY, linewidth=1)
    tidy(ax, "x", title=f"Scores: {why}", xlabel="share of the gap between the scores")
    return ax
