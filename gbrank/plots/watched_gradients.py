"""Gradients of a training by round: where they are, how large, how many are zero or bounded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from gbrank.boosters.gradient_watch import HEAD, GradientWatch
from gbrank.common.checks import check_number
from gbrank.plots import style


def gradients(watch: GradientWatch, *, ranks: int = 20) -> Figure:
    """Draw the gradients that a `GradientWatch` has recorded, by round.

    From above: the share of the sum of |gradient| at each of the first ranks; the mean of
    |gradient| and its spread, in the booster's scale; the shares of documents without a gradient,
    and with the longest step. Vertical lines are where the objective changes.

    Parameters
    ----------
    watch : GradientWatch
    ranks : int
        How many ranks to show.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If nothing was recorded.

    Examples
    --------
    >>> from gbrank import GBRanker, make_cubic, plots
    >>> from gbrank.extend import GradientWatch
    >>> X, y, qid = make_cubic(20, n_documents=10, n_features=5, random_state=0)
    >>> watch = GradientWatch()
    >>> _ = GBRanker("approx:ndcg", n_estimators=20).fit(X, y, qid=qid, callbacks=[watch])
    >>> [panel.get_ylabel() for panel in plots.gradients(watch, ranks=10).axes[:3]]
    ['rank', 'gradient', 'share of documents']
    """
    check_number(ranks, "ranks", 1, integer=True)
    if not watch.rows:
        raise ValueError(
            "watch must have seen a round: pass it to fit(callbacks=[watch]) or to a hook."
        )
    from matplotlib import pyplot

    ranks = min(ranks, max(map(len, watch.by_rank)))
    columns = dict(zip(HEAD, zip(*watch.rows, strict=True), strict=True))
    names = columns["objective"]
    rounds = range(1, len(names) + 1)
    figure, (top, middle, bottom) = pyplot.subplots(
        3, sharex=True, figsize=(7.0, 6.0), height_ratios=(2, 1, 1), layout="constrained"
    )
    image = top.imshow(
        watch.shares_by_rank(ranks).T,
        aspect="auto",
        interpolation="nearest",
        cmap="viridis",
        extent=(0.5, len(names) + 0.5, ranks + 0.5, 0.5),
        vmin=0.0,
    )
    figure.colorbar(image, ax=top, label="share of the sum of |gradient|")
    sizes = {"mean of |gradient|": columns["mean |gradient|"], "spread": columns["spread"]}
    _draw_curves(middle, sizes, "gradient")
    shares = {"no gradient": columns["zero"], "longest step": columns["at longest step"]}
    _draw_curves(bottom, shares, "share of documents")
    for place in (place for place in rounds[1:] if names[place - 1] != names[place - 2]):
        for axes in (top, middle, bottom):
            axes.axvline(place - 0.5, color=style.GREY, linewidth=1, linestyle=":")
    top.yaxis.set_major_locator(MaxNLocator(integer=True))
    top.set(ylabel="rank", title=" → ".join(style.drawable(name) for name in dict.fromkeys(names)))
    bottom.set(xlabel="round", ylim=(0, None))
    return figure


def _draw_curves(axes: Axes, curves: Mapping[str, Sequence[float]], ylabel: str) -> None:
    """Draw values by round, and name them."""
    lines = []
    for (label, values), color in zip(curves.items(), (style.BLUE, style.ORANGE), strict=True):
        lines += axes.plot(range(1, len(values) + 1), values, color=color, label=label)
    style.tidy(axes, ylabel=ylabel)
    style.legend(axes, lines, loc="best")
