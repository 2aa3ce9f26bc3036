"""A comparison of rankers: means with intervals of the differences, and means by seconds."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gbrank.evaluation.comparison import Comparison
from gbrank.evaluation.summary import Row
from gbrank.plots import style

LEGEND = "dots: means over queries\nbars: 95% intervals of the difference from {}"
LINE, LETTER = 0.2, 0.075  # height and width in inches
ACROSS = 3  # more data sets go on below


def comparison_grid(comparison: Comparison, *, part: str = "test") -> Figure:
    """Draw the mean of each ranker, with the interval of its difference from the baseline.

    There is a panel for each measure (down) and data set (across).

    Parameters
    ----------
    comparison : Comparison
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
    blocks, baseline = comparison.blocks(part), comparison.baseline
    names = [row.ranker for row in blocks[0]]
    margin = 0.5 + LETTER * max(map(len, names))
    figure, panels = _grid(blocks, (3.2, 0.6 + 0.32 * len(names)), (margin, 1.0), sharey=True)
    for axes, rows in zip(panels, blocks, strict=True):
        _panel(axes, rows, baseline)
    style.name_rows(panels[0], names)
    figure.supxlabel(LEGEND.format(baseline), fontsize="small", parse_math=False)
    return figure


def quality_by_seconds(comparison: Comparison, *, part: str = "test") -> Figure:
    """Draw means by CPU seconds of a fit, a panel for each measure (down) and data set (across).

    Parameters
    ----------
    comparison, part
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
    blocks = comparison.blocks(part)
    height = max(2.8, LINE * len(blocks[0]))
    width = 4.4 + LETTER * max(len(row.ranker) for row in blocks[0])
    figure, panels = _grid(blocks, (width, height + 0.8), (0.0, 0.0), sharey=False)
    for axes, rows in zip(panels, blocks, strict=True):
        dots = []
        for place, row in enumerate(rows):
            colour, marker = style.colour_of(place), style.marker_of(place)
            dots += axes.plot(row.cpu_seconds, row.mean, marker, color=colour, label=row.ranker)
        axes.set_xscale("log")
        style.name_decades(axes.xaxis)
        ylabel = f"{rows[0].measure}, {part} queries"
        style.tidy(axes, xlabel="CPU seconds of a fit", ylabel=ylabel)
        style.legend(axes, dots, loc="center left", bbox_to_anchor=(1, 0.5), fontsize="small")
    return figure


def _grid(
    blocks: Sequence[Sequence[Row]],
    panel: tuple[float, float],
    margin: tuple[float, float],
    sharey: bool,
) -> tuple[Figure, list[Axes]]:
    """Return a figure, and the axes of each block: measures down, data sets across, in inches."""
    measures = list(dict.fromkeys(rows[0].measure for rows in blocks))
    datasets = list(dict.fromkeys(rows[0].data for rows in blocks))
    across, down = min(len(datasets), ACROSS), math.ceil(len(datasets) / ACROSS)
    size = (margin[0] + panel[0] * across, margin[1] + panel[1] * down * len(measures))
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(down * len(measures), across, sharey=sharey, squeeze=False)
    panels = []
    for rows in blocks:
        row, column = divmod(datasets.index(rows[0].data), ACROSS)
        panels.append(grid[measures.index(rows[0].measure) * down + row, column])
        style.write(panels[-1], title=rows[0].data)
    for axes in set(grid.flat).difference(panels):
        axes.remove()
    return figure, panels


def _panel(axes: Axes, rows: Sequence[Row], baseline: str) -> None:
    level = next(row.mean for row in rows if row.ranker == baseline)
    axes.axvline(level, color=style.GREY, linestyle="--", linewidth=1)
    for place, row in enumerate(rows):
        colour = style.GREY if row.ranker == baseline else style.BLUE
        ends = [level + row.difference_low, level + row.difference_high]
        axes.plot(ends, [place, place], color=colour, linewidth=2, solid_capstyle="butt")
        axes.plot(row.mean, place, "o", color=colour)
    style.tidy(axes, "x", xlabel=rows[0].measure)
    axes.set_ylim(-0.75, len(rows) - 0.25)
    axes.spines["left"].set_visible(False)
