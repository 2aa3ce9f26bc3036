"""The papers' pictures, drawn from what was measured."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gbrank.plots.style import BLUE, ORANGE, PALETTE, tidy

__all__ = [
    "draw_annealing",
    "draw_by_truncation",
    "draw_cumulative",
    "draw_errors",
    "draw_line",
]

Vector = NDArray[np.float64]


def draw_line(steps: Vector, values: Mapping[float, Vector]) -> Figure:
    """Draw the smooth NDCG along a line through the trained weights, a panel for each σ."""
    figure = Figure(figsize=(3 * len(values), 3), layout="constrained")
    panels = figure.subplots(1, len(values), squeeze=False)[0]
    for axes, (sigma, curve), colour in zip(panels, values.items(), PALETTE, strict=False):
        axes.plot(steps, curve, color=colour, linewidth=1.3)
        axes.set_title(rf"$\sigma = 2^{{{np.log2(sigma):g}}}$")
        tidy(axes)
    panels[0].set_ylabel("smooth NDCG@50")
    figure.supxlabel("distance from the trained weights, in lengths of the weights")
    return figure


def draw_annealing(sigmas: Vector, train: Vector, test: Vector) -> Figure:
    """Draw the measure of training and test queries against σ."""
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for name, curve, colour in (("training", train, BLUE), ("test", test, ORANGE)):
        axes.plot(sigmas, curve, "o-", color=colour, label=f"{name} queries", markersize=4)
    axes.set_xscale("log", base=2)
    axes.invert_xaxis()
    axes.set_title("What the rankings are worth while σ falls")
    axes.set_xlabel("σ, halved from step to step")
    axes.set_ylabel("NDCG@10")
    tidy(axes)
    axes.legend(frameon=False)
    return figure


def draw_errors(errors: Mapping[float, Vector]) -> Figure:
    """Draw the approximation error of training against the iteration, by α."""
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for (alpha, curve), colour in zip(errors.items(), PALETTE, strict=False):
        axes.plot(np.arange(1, len(curve) + 1), curve, color=colour, label=f"α = {alpha:g}")
    axes.set_title("The steeper the sigmoid, the closer the smooth NDCG is to NDCG")
    axes.set_xlabel("iteration")
    axes.set_ylabel("|smooth NDCG − NDCG|, mean over training queries")
    axes.set_ylim(bottom=0)
    tidy(axes)
    axes.legend(frameon=False)
    return figure


def draw_by_truncation(curves: Mapping[str, Sequence[float]]) -> Figure:
    """Draw NDCG@1, NDCG@2, ... of test queries, by ranker."""
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for (name, curve), colour in zip(curves.items(), PALETTE, strict=False):
        axes.plot(np.arange(1, len(curve) + 1), curve, "o-", color=colour, label=name, markersize=4)
    axes.set_xlabel("truncation k")
    axes.set_ylabel("NDCG@k of the test queries")
    tidy(axes)
    axes.legend(frameon=False)
    return figure


def draw_cumulative(losses: Mapping[str, Vector], bound: float) -> Figure:
    """Draw the loss that the perceptron has had after so many queries, below its bound."""
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for (name, curve), colour in zip(losses.items(), PALETTE, strict=False):
        axes.plot(np.arange(1, len(curve) + 1), curve, color=colour, label=f"1 − {name}")
    axes.axhline(bound, color="0.5", linestyle=":", label="the bound")
    axes.set_yscale("log")
    axes.set_xlabel("queries seen")
    axes.set_ylabel("sum of losses")
    tidy(axes)
    axes.legend(frameon=False)
    return figure
