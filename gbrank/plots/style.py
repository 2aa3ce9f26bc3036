"""Colours, and axes to draw on, which all pictures share."""

from collections.abc import Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

BLUE, ORANGE, GREEN, PINK, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#666666"
PALETTE = (BLUE, ORANGE, GREEN, PINK)


def colour_of(number: int) -> str:
    """Choose the colour of a curve by its number."""
    return PALETTE[number % len(PALETTE)]


def new_figure(size: tuple[float, float] | None = None) -> Figure:
    """Make a figure of this size in inches, which a notebook shows."""
    from matplotlib import pyplot

    return pyplot.figure(figsize=size, layout="constrained")


def axes_for(ax: Axes | None) -> Axes:
    """Use the axes, or those of a new figure."""
    return new_figure().subplots() if ax is None else ax


def drawable(text: str) -> str:
    """Make a text drawable: a lone surrogate, which has no code, is shown by its number."""
    return text.encode(errors="backslashreplace").decode()


def tidy(ax: Axes, grid: Any = "both", **texts: str) -> None:
    """Draw a faint grid, and no box; set the title and the names of the axes."""
    ax.set_axisbelow(True)
    ax.grid(axis=grid, alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    write(ax, **texts)


def write(ax: Axes, **texts: str) -> None:
    """Set the title and the names of the axes; a `$` of the user's starts no mathematics."""
    ax.set(**{name: drawable(text) for name, text in texts.items()})
    for text in (ax.title, ax.xaxis.label, ax.yaxis.label):
        if "$" in text.get_text():
            text.set_parse_math(False)


def legend(ax: Axes, handles: Sequence[Artist], **options: Any) -> None:
    """Name the handles by their labels, whatever these begin with, and as they are written."""
    names = [drawable(str(handle.get_label())) for handle in handles]
    numbers = list(map(str, range(len(names))))
    shown = ax.legend(handles, numbers, frameon=False, **options)
    for text, name in zip(shown.get_texts(), names, strict=True):
        text.set(text=name, parse_math=False)


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Name the rows of a picture, from above."""
    ax.set_yticks(range(len(names)), list(map(drawable, names)), parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.invert_yaxis()


def name_decades(axis: Axis) -> None:
    """Name the ticks of a logarithmic axis as plain numbers."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())
