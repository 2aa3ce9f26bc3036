"""Comparisons of rankers: means and differences with intervals, seconds, query by query."""

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike
from sklearn.isotonic import isotonic_regression

from gbrank.common.checks import Matrix, check_choice
from gbrank.evaluation.comparing import compare_scores
from gbrank.evaluation.comparison import Comparison, Row
from gbrank.evaluation.statistics import common_queries
from gbrank.measures.measure_registry import Metric

from . import style

LEGEND = "dots: means over queries\nbars: 95% intervals of the difference from {}"
LINE = 0.17  # height in inches
LETTER = 0.075  # width in inches
BINS = 20  # of a histogram
ACROSS = 3  # more data sets go on below
Inches: TypeAlias = tuple[float, float]


def comparison(
    comparison: Comparison, *, metric: str | None = None, part: str = "test", ax: Axes | None = None
) -> Axes:
    """Draw the mean of each ranker, with the interval of its difference from the baseline.

    `comparison_grid` draws all measures, and several comparisons, at once.

    Parameters
    ----------
    comparison : Comparison
    metric : str, optional
        The first by default.
    part : {"test", "valid"}
        As for `Comparison.summary`.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there is no such measure.

    Examples
    --------
    >>> from gbrank import GBRanker, cross_validate_rankers, make_cubic, plots
    >>> rankers = {name: GBRanker(name, n_estimators=10) for name in ("ranknet", "lambdarank")}
    >>> result = cross_validate_rankers(rankers, *make_cubic(9, random_state=0), folds=3, n_jobs=1)
    >>> plots.comparison(result).get_xlabel().splitlines()[0]
    'ndcg@10'
    """
    metrics = comparison.metrics
    metric = metrics[0] if metric is None else check_choice(metric, "metric", metrics)
    ax = style.axes_for(ax)
    _panel(ax, comparison.blocks(part)[metrics.index(metric)], comparison.baseline)
    style.name_rows(ax, comparison.rankers)
    legend = LEGEND.format(comparison.baseline)
    style.write(ax, title=comparison.data, xlabel=f"{metric}\n\n{legend}")
    return ax


def comparison_grid(*comparisons: Comparison, part: str = "test") -> Figure:
    """Draw a panel for each measure (down) and comparison (across).

    Parameters
    ----------
    *comparisons : Comparison
        Of the same rankers and measures on one data set or several.
    part : {"test", "valid"}
        As for `Comparison.summary`.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from gbrank import GBRanker, cross_validate_rankers, make_cubic, plots
    >>> rankers = {name: GBRanker(name, n_estimators=10) for name in ("ranknet", "lambdarank")}
    >>> result = cross_validate_rankers(rankers, *make_cubic(9, random_state=0), folds=3, n_jobs=1)
    >>> len(plots.comparison_grid(result).axes)
    1
    """
    baseline = comparisons[0].baseline
    names = comparisons[0].rankers
    margin = 0.5 + LETTER * max(map(len, names)), 1.0
    figure, panels = _grid(comparisons, part, (3.2, 0.6 + 0.32 * len(names)), margin, sharey=True)
    for axes, rows in panels:
        _panel(axes, rows, baseline)
    style.name_rows(panels[0][0], names)
    figure.supxlabel(LEGEND.format(baseline), fontsize="small", parse_math=False)
    return figure


def differences(comparison: Comparison, *, part: str = "test") -> Figure:
    """Draw differences from the baseline, a panel for each measure, and CPU seconds beside them.

    Parameters
    ----------
    comparison, part
        As for `comparison`; of one data set.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from gbrank import GBRanker, cross_validate_rankers, make_cubic, plots
    >>> rankers = {name: GBRanker(name, n_estimators=10) for name in ("ranknet", "lambdarank")}
    >>> result = cross_validate_rankers(rankers, *make_cubic(9, random_state=0), folds=3, n_jobs=1)
    >>> [axes.get_title() for axes in plots.differences(result).axes]
    ['ndcg@10', 'CPU seconds of a fit']
    """
    blocks = comparison.blocks(part)
    baseline = comparison.baseline
    names = comparison.rankers
    colours = {name: style.GREY if name == baseline else style.BLUE for name in names}
    size = 0.5 + LETTER * max(map(len, names)) + 2.7 * (len(blocks) + 1), 1.5 + 0.5 * len(names)
    figure = style.new_figure(size)
    *panels, beside = figure.subplots(1, len(blocks) + 1)
    for axes, rows in zip(panels, blocks, strict=True):
        axes.axvline(0, color=style.GREY, linewidth=1)
        for y, row in enumerate(rows):
            colour = colours[row.ranker]
            ends = [row.difference_low, row.difference_high]
            axes.plot(ends, [y, y], color=colour, linewidth=3, solid_capstyle="butt")
            axes.plot(row.difference, y, "o", color=colour, markersize=8)
            text = f"mean {row.mean:.3f}" if row.ranker == baseline else f"{row.difference:+.3f}"
            _write_at(axes, (row.difference, y), text, colour, (0, 8), ha="center")
        axes.sharex(panels[0])
        axes.margins(x=0.15)
        axes.spines["left"].set_visible(False)
        style.tidy(axes, "x", title=rows[0].metric, xlabel=f"minus {baseline}")
    for y, row in enumerate(blocks[0]):
        seconds = row.cpu_seconds
        beside.barh(y, seconds, 0.4, color=colours[row.ranker])
        _write_at(beside, (seconds, y), f"{seconds:.1f}", colours[row.ranker], (4, 0), va="center")
    beside.margins(x=0.2)
    style.tidy(beside, "x", title="CPU seconds of a fit")
    for axes in figure.axes:
        style.name_rows(axes, names if axes is panels[0] else [])
        axes.set_ylim(len(names) - 0.5, -0.7)
    text = f"dots: means over {blocks[0][0].n_queries:,} queries, bars: 95% intervals"
    figure.supxlabel(text, fontsize="small", color=style.GREY)
    return figure


def _write_at(
    axes: Axes, point: tuple[float, float], text: str, colour: str, offset: Any, **options: Any
) -> None:
    """Write a text at an offset from a point."""
    axes.annotate(
        text.replace("-", "\N{MINUS SIGN}"),
        point,
        offset,
        textcoords="offset points",
        color=colour,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
        **options,
    )


def quality_by_seconds(*comparisons: Comparison, part: str = "test") -> Figure:
    """Draw means by CPU seconds of a fit, a panel for each measure (down) and comparison (across).

    Parameters
    ----------
    *comparisons, part
        As for `comparison_grid`.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from gbrank import GBRanker, cross_validate_rankers, make_cubic, plots
    >>> rankers = {name: GBRanker(name, n_estimators=10) for name in ("ranknet", "lambdarank")}
    >>> result = cross_validate_rankers(rankers, *make_cubic(9, random_state=0), folds=3, n_jobs=1)
    >>> plots.quality_by_seconds(result).axes[0].get_xlabel()
    'CPU seconds of a fit'
    """
    names = comparisons[0].rankers
    height = max(2.8, LINE * len(names))
    width = 4.4 + LETTER * max(map(len, names))
    figure, panels = _grid(comparisons, part, (width, height + 0.8), (0.0, 0.0), sharey=False)
    for axes, rows in panels:
        for number, row in enumerate(rows):
            axes.plot(row.cpu_seconds, row.mean, "o", color=style.colour_of(number))
        axes.set_xscale("log")
        style.name_decades(axes.xaxis)
        ylabel = f"{rows[0].metric}, {part} queries"
        style.tidy(axes, xlabel="CPU seconds of a fit", ylabel=ylabel)
        _name_dots(axes, rows, LINE / height)
    return figure


def _name_dots(axes: Axes, rows: Sequence[Row], line: float) -> None:
    """Write each name on the right, as near to the height of its dot as the other names allow."""
    means = np.array([row.mean for row in rows])
    low, high = axes.get_ylim()
    offsets = line * (high - low) * np.arange(len(rows))
    order = np.argsort(means, kind="stable")
    heights = np.empty(len(rows))
    heights[order] = isotonic_regression(means[order] - offsets) + offsets
    axes.set_ylim(min(low, heights.min()), max(high, heights.max()))
    leader = {"arrowstyle": "-", "alpha": 0.4, "linewidth": 0.7, "relpos": (0.0, 0.5)}
    for number, row in enumerate(rows):
        colour = style.colour_of(number)
        axes.annotate(
            style.drawable(row.ranker),
            (row.cpu_seconds, row.mean),
            (1.04, heights[number]),
            textcoords=axes.get_yaxis_transform(),
            arrowprops=leader | {"color": colour},
            color=colour,
            fontsize="small",
            va="center",
            annotation_clip=False,
            parse_math=False,
        )


def _grid(
    comparisons: Sequence[Comparison], part: str, panel: Inches, margin: Inches, sharey: bool
) -> tuple[Figure, list[tuple[Axes, list[Row]]]]:
    """Make a figure, and the axes of each block: measures down, data sets across."""
    across = min(len(comparisons), ACROSS)
    down = math.ceil(len(comparisons) / ACROSS)
    n_rows = down * len(comparisons[0].blocks(part))
    size = (margin[0] + panel[0] * across, margin[1] + panel[1] * n_rows)
    figure = style.new_figure(size)
    grid = figure.subplots(n_rows, across, sharey=sharey, squeeze=False)
    panels = []
    for number, comparison in enumerate(comparisons):
        row, column = divmod(number, ACROSS)
        for metric, rows in enumerate(comparison.blocks(part)):
            axes = grid[metric * down + row, column]
            style.write(axes, title=comparison.data)
            panels.append((axes, rows))
    for axes in set(grid.flat).difference(axes for axes, _ in panels):
        axes.remove()
    return figure, panels


def _panel(axes: Axes, rows: Sequence[Row], baseline: str) -> None:
    level = next(row.mean for row in rows if row.ranker == baseline)
    axes.axvline(level, color=style.GREY, linestyle="--", linewidth=1)
    for y, row in enumerate(rows):
        colour = style.GREY if row.ranker == baseline else style.BLUE
        ends = [level + row.difference_low, level + row.difference_high]
        axes.plot(ends, [y, y], color=colour, linewidth=2, solid_capstyle="butt")
        axes.plot(row.mean, y, "o", color=colour)
    style.tidy(axes, "x", xlabel=rows[0].metric)
    axes.set_ylim(-0.75, len(rows) - 0.25)
    axes.spines["left"].set_visible(False)


def per_query(
    y: ArrayLike,
    scores: ArrayLike,
    other: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    group: ArrayLike | None = None,
    metric: Metric = "ndcg@10",
    names: tuple[str, str] = ("scores", "other"),
    ax: Axes | None = None,
) -> Axes:
    """Draw what each query is worth with one model's scores, against another's.

    Queries above the diagonal are better with the first model. The title says the mean difference
    over queries, its 95% bootstrap interval, and the p-value of the paired randomization test.

    Parameters
    ----------
    y : array-like, shape (n_documents,)
        Labels.
    scores, other : array-like, shape (n_documents,)
        Scores of the two models, upwards and across.
    qid, group
        The queries, as for `Queries.resolve`.
    metric : str, Measure or callable
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
    ...     [1, 0, 0, 1], [2.0, 1.0, 2.0, 1.0], [1.0, 2.0, 1.0, 2.0], group=[2, 2], metric="wta"
    ... )
    >>> ax.get_title().splitlines()[0]
    '1 better, 0 equal, 1 worse'
    """
    if qid is None and group is None:
        raise ValueError("per_query needs qid= (one query id per row) or group= (query sizes).")
    both = {"scores": scores, "other": other}
    compared = compare_scores(both, y, qid, group=group, metric=metric, baseline="other")
    row = compared.summary()[0]
    ends = ""
    if row.n_queries > 1:
        ends = f" [{row.difference_low:+.4f}, {row.difference_high:+.4f}]"
    ax = style.axes_for(ax)
    values = compared.parts["test"].values[row.metric][:, 0]
    draw_queries(ax, common_queries(values), row.metric, names)
    ax.set_title(
        f"{row.wins} better, {row.ties} equal, {row.losses} worse\n"
        f"mean difference {row.difference:+.4f}{ends}, p = {row.p_randomization:.4f}",
        fontsize="medium",
    )
    return ax


def draw_queries(ax: Axes, values: Matrix, measure: str, names: Sequence[str]) -> None:
    """Draw what queries are worth with one model, upwards, and with another, across."""
    ours, theirs = values
    ends = [values.min(), values.max()]
    ax.plot(ends, ends, color=style.GREY, linestyle="--", linewidth=1)
    ax.plot(theirs, ours, "o", color=style.BLUE, alpha=0.4, markersize=4, markeredgewidth=0)
    style.tidy(ax, xlabel=f"{measure} of {names[1]}", ylabel=f"{measure} of {names[0]}")
    ax.set_aspect("equal")


def draw_histogram(ax: Axes, values: Matrix, measure: str, names: Sequence[str]) -> None:
    """Draw how many queries have which value with one model, or with each of two."""
    edges = np.linspace(min(0.0, values.min()), max(1.0, values.max()), BINS + 1).tolist()
    ax.hist(values[0], edges, color=style.BLUE, alpha=0.75)
    for other in values[1:]:
        ax.hist(other, edges, color=style.ORANGE, histtype="step")
        colors = zip((style.BLUE, style.ORANGE), names, strict=True)
        style.legend(ax, [Patch(color=color, label=name) for color, name in colors])
    style.tidy(ax, "y", xlabel=f"{measure} of a query", ylabel="queries")
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
