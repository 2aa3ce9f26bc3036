"""SmoothRank's figures 1 and 2, and ApproxRank's figure 3, drawn from what was measured."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

__all__ = ["draw_annealing", "draw_errors", "draw_line"]

Vector = NDArray[np.float64]

COLOURS = ("#0072B2", "#009E73", "#E69F00", "#D55E00")  # Okabe and Ito's


def draw_line(steps: Vector, values: Mapping[float, Vector]) -> Figure:
    """Draw the smooth NDCG along a line, a panel for each σ.

    Parameters
    ----------
    steps : ndarray, shape (n_points,)
        Places on the line, the trained weights being at 0.
    values : mapping of float to ndarray, shape (n_points,)
        By σ, up to four.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = Figure(figsize=(3 * len(values), 3), layout="constrained")
    panels = figure.subplots(1, len(values), squeeze=False)[0]
    for axes, (sigma, curve), colour in zip(panels, values.items(), COLOURS, strict=False):
        axes.plot(steps, curve, color=colour, linewidth=1.3)
        axes.set_title(rf"$\sigma = 2^{{{np.log2(sigma):g}}}$")
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("smooth NDCG@50")
    figure.supxlabel("distance from the trained weights, in lengths of the weights")
    return figure


def draw_annealing(sigmas: Vector, train: Vector, test: Vector) -> Figure:
    """Draw the measure of training and test queries against σ.

    Parameters
    ----------
    sigmas, train, test : ndarray, shape (n_steps,)

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for name, curve, colour in (("training", train, COLOURS[0]), ("test", test, COLOURS[3])):
        axes.plot(sigmas, curve, "o-", color=colour, label=f"{name} queries", markersize=4)
    axes.set_xscale("log", base=2)
    axes.invert_xaxis()
    axes.set_title("What the rankings are worth while σ falls")
    axes.set_xlabel("σ, halved from step to step")
    axes.set_ylabel("NDCG@10")
    _finish(axes)
    return figure


def draw_errors(errors: Mapping[float, Vector]) -> Figure:
    """Draw the approximation error of training against the iteration, by α.

    Parameters
    ----------
    errors : mapping of float to ndarray, shape (n_iterations,)

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for (alpha, curve), colour in zip(errors.items(), COLOURS, strict=False):
        axes.plot(np.arange(1, len(curve) + 1), curve, color=colour, label=f"α = {alpha:g}")
    axes.set_title("The steeper the sigmoid, the closer the smooth NDCG is to NDCG")
    axes.set_xlabel("iteration")
    axes.set_ylabel("|smooth NDCG − NDCG|, mean over training queries")
    axes.set_ylim(bottom=0)
    _finish(axes)
    return figure


def _finish(axes: Axes) -> None:
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
