"""What all pictures share: colours, axes to draw on, and checked sigmas."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gbrank.common.checks import check_number

if TYPE_CHECKING:  # takes long to import
    from matplotlib.axes import Axes

__all__ = ["BLUE", "GREY", "ORANGE", "PALETTE", "axes_for", "check_sigmas", "shades", "tidy"]

BLUE, ORANGE, GREEN, PINK, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#666666"
PALETTE = (BLUE, ORANGE, GREEN, PINK)


def axes_for(ax: "Axes | None") -> "Axes":
    """Return the axes, or those of a new figure."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


def shades(count: int) -> list[tuple[float, float, float, float]]:
    """Return colours from dark to light, for what has an order."""
    from matplotlib import colormaps

    return [colormaps["viridis"](0.9 * place / max(1, count - 1)) for place in range(count)]


def tidy(ax: "Axes", grid: str = "both") -> None:
    """Draw a faint grid, and no box."""
    ax.set_axisbelow(True)
    ax.grid(axis=grid, alpha=0.3)  # type: ignore[arg-type]
    ax.spines[["top", "right"]].set_visible(False)


def check_sigmas(sigmas: Sequence[float]) -> list[float]:
    """Return widths of the smoothing, all above 0, at least one."""
    if not len(sigmas):
        raise ValueError("sigmas must have at least one entry, got none.")
    return [check_number(sigma, "sigmas", 0, open_low=True) for sigma in sigmas]
