"""A comparison as a picture."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gbrank.evaluation.summary import Row

__all__ = ["draw"]

BLUE, GREY = "#0072B2", "#666666"


def draw(blocks: Sequence[Sequence[Row]], baseline: str) -> Figure:
    """Draw a panel for each measure (down) and data set (across).

    Parameters
    ----------
    blocks : sequence of sequence of Row
        The rows of each data set and measure, data set by data set.
    baseline : str

    Returns
    -------
    matplotlib.figure.Figure
    """
    names = [row.ranker for row in blocks[0]]
    measures = list(dict.fromkeys(rows[0].measure for rows in blocks))
    datasets = list(dict.fromkeys(rows[0].data for rows in blocks))
    margin = 0.5 + 0.075 * max(map(len, names))
    size = (margin + 3.2 * len(datasets), 1.0 + len(measures) * (0.6 + 0.32 * len(names)))
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(len(measures), len(datasets), sharey=True, squeeze=False)
    for rows in blocks:
        axes = grid[measures.index(rows[0].measure), datasets.index(rows[0].data)]
        _panel(axes, rows, baseline)
    for axes, data in zip(grid[0], datasets, strict=True):
        axes.set_title(data)
    grid[0, 0].set_yticks(range(len(names)), names)
    grid[0, 0].invert_yaxis()
    figure.supxlabel(
        f"dots: means over queries; bars: 95% intervals of the difference from {baseline}",
        fontsize="small",
    )
    return figure


def _panel(axes: Axes, rows: Sequence[Row], baseline: str) -> None:
    level = next(row.mean for row in rows if row.ranker == baseline)
    axes.axvline(level, color=GREY, linestyle="--", linewidth=1)
    for place, row in enumerate(rows):
        colour = GREY if row.ranker == baseline else BLUE
        ends = [level + row.difference_low, level + row.difference_high]
        axes.plot(ends, [place, place], color=colour, linewidth=2, solid_capstyle="butt")
        axes.plot(row.mean, place, "o", color=colour)
    axes.set_xlabel(rows[0].measure)
    axes.grid(axis="x", alpha=0.3)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.margins(y=0.15)
