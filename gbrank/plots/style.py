"""What all pictures share: colours, and axes to draw on."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import LogLocator, NullFormatter

from gbrank.common.checks import quoted

BLUE, ORANGE, GREEN, PINK, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#666666"
PALETTE = (BLUE, ORANGE, GREEN, PINK)


def axes_for(ax: Axes | None) -> Axes:
    """Return the axes, or those of a new figure."""
    if isinstance(ax, Axes):
        return ax
    if ax is not None:
        raise TypeError(f"ax must be a matplotlib Axes or None, got {quoted(ax)}.")
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


def tidy(ax: Axes, grid: Any = "both", **texts: Any) -> None:
    """Draw a faint grid, and no box; set the title and the names of the axes."""
    ax.set(axisbelow=True, **texts)
    ax.grid(axis=grid, alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)


def plain_decades(axis: Axis) -> None:
    """Name the ticks of a logarithmic axis as plain numbers."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())
