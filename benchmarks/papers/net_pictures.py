"""LambdaRank's figures 1 and 2, drawn from what was measured."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from benchmarks.papers.trainings import Estimate
from gbrank.plots.style import BLUE, ORANGE, PALETTE, tidy

__all__ = ["draw_nets", "draw_speed", "draw_times"]


def draw_nets(curves: Mapping[str, Sequence[Estimate]]) -> Figure:
    """Draw mean NDCG@k against k with 95% intervals, a panel for each net.

    Means are by "ranker, net", from k = 1.
    """
    nets = list(dict.fromkeys(name.partition(", ")[2] for name in curves))
    figure = Figure(figsize=(5 * len(nets), 4), layout="constrained")
    for axes, net in zip(figure.subplots(1, len(nets), squeeze=False)[0], nets, strict=True):
        own = {name: curve for name, curve in curves.items() if name.endswith(net)}
        for (name, curve), colour in zip(own.items(), (ORANGE, BLUE), strict=True):
            mean, low, high, _ = np.transpose(curve)
            k, error = np.arange(1, len(mean) + 1), (mean - low, high - mean)
            label = name.partition(", ")[0]
            axes.errorbar(k, mean, error, color=colour, label=label, capsize=2)
        axes.set_title(net)
        axes.set_xlabel("truncation k")
        tidy(axes)
        axes.legend(frameon=False)
    figure.supylabel("NDCG@k of the test queries")
    return figure


def draw_speed(
    lengths: Sequence[int], by_pair: Sequence[float], by_document: Sequence[float]
) -> Figure:
    """Draw the seconds of a step against the length of the list."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot()
    axes.loglog(lengths, by_pair, "o-", color=ORANGE, label="a sum over pairs")
    axes.loglog(lengths, by_document, "o-", color=BLUE, label="a sum over documents")
    axes.set_xlabel("documents a query")
    axes.set_ylabel("seconds of a step")
    tidy(axes)
    axes.legend(frameon=False)
    return figure


def draw_times(curves: Mapping[str, Sequence[tuple[float, float]]]) -> Figure:
    """Draw validation NDCG@10 against CPU seconds, a point for each epoch."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot()
    for (name, curve), colour in zip(curves.items(), PALETTE, strict=False):
        axes.plot(*np.transpose(curve), "o-", color=colour, label=name, markersize=3)
    axes.set_xscale("log")
    axes.set_xlabel("CPU seconds")
    axes.set_ylabel("best validation NDCG@10")
    tidy(axes)
    axes.legend(frameon=False)
    return figure
