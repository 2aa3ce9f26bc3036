"""The papers' pictures, drawn from what was measured."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from benchmarks.papers.paper_rows import PaperRow
from gbrank.plots.style import BLUE, ORANGE, PALETTE, tidy

__all__ = [
    "draw_annealing",
    "draw_by_truncation",
    "draw_cumulative",
    "draw_errors",
    "draw_line",
    "draw_rows",
]

Vector = NDArray[np.float64]

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SIDES = {"> 0": "right", "< 0": "left"}  # of differences that a paper only describes


def draw_line(steps: Vector, values: Mapping[float, Vector]) -> Figure:
    """Draw the smooth NDCG along a line through the trained weights, a panel for each σ."""
    figure = Figure(figsize=(3 * len(values), 3), layout="constrained")
    panels = figure.subplots(1, len(values), squeeze=False)[0]
    for axes, (sigma, curve), colour in zip(panels, values.items(), PALETTE, strict=False):
        axes.plot(steps, curve, color=colour, linewidth=1.3)
        exponent = f"{np.log2(sigma):g}".translate(SUPERSCRIPTS)
        axes.set_title(f"σ = 2{exponent}")
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


def draw_errors(errors: Mapping[str, Vector], measure: str = "NDCG") -> Figure:
    """Draw the approximation error of training against the iteration, by parameter."""
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for (name, curve), colour in zip(errors.items(), PALETTE, strict=False):
        axes.plot(np.arange(1, len(curve) + 1), curve, color=colour, label=name)
    axes.set_title(f"Approximation error of smooth {measure} during training")
    axes.set_xlabel("iteration")
    axes.set_ylabel(f"|smooth {measure} − {measure}|, mean over training queries")
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


def draw_rows(rows: Sequence[PaperRow]) -> Figure:
    """Draw what was measured, with its interval, beside the paper's number or the side of 0."""
    figure = Figure(figsize=(11, 1 + 0.35 * len(rows)), layout="constrained")
    axes = figure.add_subplot()
    places = np.arange(len(rows))
    ours, low, high = (
        np.array([getattr(row, name) for row in rows], dtype=float)
        for name in ("ours", "ci_low", "ci_high")
    )
    error = [ours - low, high - ours]
    axes.errorbar(ours, places, xerr=error, fmt="o", color=BLUE, label="gbrank, 95% interval")
    if any(row.difference is not None for row in rows):
        numbers = [np.nan if row.difference is None else row.paper_value for row in rows]
        axes.plot(np.array(numbers, dtype=float), places, "D", color=ORANGE, label="the paper")
    sides = [SIDES.get(str(row.paper_value).partition(",")[0], "") for row in rows]
    if any(sides):
        axes.axvline(0, color="0.5", linewidth=0.8)
        ends = dict(zip(("", "left", "right"), (0.0, *axes.get_xlim()), strict=True))
        widths = [ends[side] for side in sides]
        axes.barh(places, widths, 1, color=ORANGE, alpha=0.15, label="the paper's side of 0")
        axes.set_xlim(ends["left"], ends["right"])
    axes.set_yticks(places, [row.figure for row in rows])
    axes.invert_yaxis()
    tidy(axes, "x")
    figure.legend(frameon=False, loc="outside upper right", ncols=3)
    return figure
