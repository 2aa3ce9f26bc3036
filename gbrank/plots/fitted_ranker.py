"""A fit: its curves and gradients by round, what features are worth, why documents rank so."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from gbrank.boosters.gradient_watch import GradientWatch
from gbrank.common.checks import check_choice, check_integer
from gbrank.fit.explanations import Explanation
from gbrank.ranker import GBRanker

from . import style

SHARES = {"gain": "share of the gain", "split": "share of the splits"}


def learning_curves(ranker: GBRanker, *, metric: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw a measure by round on each set, and sigma on a second axis.

    A vertical line is where early stopping cut the model. The second axis is
    ``ax.figure.axes[-1]``; there is none where sigma is the same in all rounds.

    Parameters
    ----------
    ranker : GBRanker
        Fitted with validation data; with ``verbose=1`` there is a curve of the training data too.
    metric : str, optional
        One of its `eval_metric`; the first by default.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If nothing was measured in training, or not this.

    Examples
    --------
    >>> from gbrank import GBRanker, make_cubic, plots
    >>> from gbrank.schedules import geometric
    >>> X, y, qid = make_cubic(40, n_documents=10, n_features=5, random_state=0)
    >>> ranker = GBRanker(sigma=geometric(1.0, 0.1), n_estimators=10, validation_fraction=0.3)
    >>> ax = plots.learning_curves(ranker.fit(X, y, qid=qid))
    >>> ax.get_ylabel(), ax.figure.axes[-1].get_ylabel()
    ('ndcg@10', 'sigma')
    """
    if not (results := ranker.evals_result_):
        raise ValueError("ranker must have been fitted with validation data, or with verbose=1.")
    metrics = list(next(iter(results.values())))
    metric = metrics[0] if metric is None else check_choice(metric, "metric", metrics)
    ax = style.axes_for(ax)
    lines = []
    rounds = np.arange(1, len(ranker.sigmas_) + 1)
    for number, (name, curves) in enumerate(results.items()):
        lines += ax.plot(rounds, curves[metric], color=style.colour_of(number), label=name)
    if ranker.early_stopping_rounds is not None:
        best = ranker.best_iteration_
        lines += [ax.axvline(best, color=style.GREY, linewidth=1, label=f"best round: {best}")]
    style.tidy(ax, xlabel="round", ylabel=metric)
    if len(np.unique(ranker.sigmas_)) > 1:
        second = ax.twinx()
        lines += second.plot(rounds, ranker.sigmas_, color=style.GREY, linestyle=":", label="sigma")
        second.set(ylabel="sigma", yscale="log")
        style.name_decades(second.yaxis)
        second.spines["top"].set_visible(False)
    style.legend(ax, lines, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4)
    return ax


def gradients(watch: GradientWatch, *, ranks: int = 20) -> Figure:
    """Draw the gradients that a `GradientWatch` has recorded, by round.

    From above: the share of the sum of |gradient| at each of the first ranks; the mean of
    |gradient| and its spread, in the booster's scale; the shares of documents without a gradient,
    and with the longest step. Vertical lines are where the objective changes.

    Parameters
    ----------
    watch : GradientWatch
    ranks : int
        How many ranks to show.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If nothing was recorded.

    Examples
    --------
    >>> from gbrank import GBRanker, make_cubic, plots
    >>> from gbrank.extend import GradientWatch
    >>> X, y, qid = make_cubic(20, n_documents=10, n_features=5, random_state=0)
    >>> watch = GradientWatch()
    >>> _ = GBRanker("approx:ndcg", n_estimators=20).fit(X, y, qid=qid, callbacks=[watch])
    >>> [panel.get_ylabel() for panel in plots.gradients(watch, ranks=10).axes[:3]]
    ['rank', 'gradient', 'share of documents']
    """
    check_integer(ranks, "ranks", 1)
    if not watch.rows:
        raise ValueError(
            "watch has recorded no round: pass it to fit(callbacks=[watch]) or to a hook."
        )
    ranks = min(ranks, max(map(len, watch.by_rank)))
    columns = {name: [row[name] for row in watch.rows] for name in watch.rows[0]}
    names = columns["objective"]
    figure = style.new_figure((7.0, 6.0))
    top, middle, bottom = figure.subplots(3, sharex=True, height_ratios=(2, 1, 1))
    image = top.imshow(
        watch.shares_by_rank(ranks).T,
        aspect="auto",
        interpolation="nearest",
        cmap="viridis",
        extent=(0.5, len(names) + 0.5, ranks + 0.5, 0.5),
        vmin=0.0,
    )
    figure.colorbar(image, ax=top, label="share of the sum of |gradient|")
    sizes = {"mean of |gradient|": columns["mean |gradient|"], "spread": columns["spread"]}
    _draw_curves(middle, sizes, "gradient")
    shares = {"no gradient": columns["zero"], "longest step": columns["at longest step"]}
    _draw_curves(bottom, shares, "share of documents")
    for number, (before, now) in enumerate(pairwise(names), 1):
        if now != before:
            for axes in (top, middle, bottom):
                axes.axvline(number + 0.5, color=style.GREY, linewidth=1, linestyle=":")
    top.yaxis.set_major_locator(MaxNLocator(integer=True))
    top.set(ylabel="rank", title=" → ".join(style.drawable(name) for name in dict.fromkeys(names)))
    bottom.set(xlabel="round", ylim=(0, None))
    return figure


def _draw_curves(axes: Axes, curves: Mapping[str, Sequence[float]], ylabel: str) -> None:
    """Draw values by round, and name them."""
    lines = []
    for (label, values), color in zip(curves.items(), (style.BLUE, style.ORANGE), strict=True):
        lines += axes.plot(range(1, len(values) + 1), values, color=color, label=label)
    style.tidy(axes, ylabel=ylabel)
    style.legend(axes, lines, loc="best")


def importance(
    ranker: GBRanker,
    X: Any = None,
    *,
    kind: str = "gain",
    largest: int = 20,
    ax: Axes | None = None,
) -> Axes:
    """Draw what features are worth: their share of the gain or splits, or their mean SHAP value.

    Parameters
    ----------
    ranker : GBRanker
        A fitted ranker.
    X : array-like, sparse matrix or data frame, shape (n_documents, n_features), optional
        Documents whose scores are explained (see `GBRanker.explain`): a feature's importance is
        then the mean, over these, of how far it moves a score.
    kind : {"gain", "split"}
        Without X: the share of the gain or of the splits in training.
    largest : int
        How many features to show.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from gbrank import GBRanker, make_cubic, plots
    >>> X, y, qid = make_cubic(40, n_documents=10, n_features=5, random_state=0)
    >>> ranker = GBRanker(n_estimators=10).fit(X, y, qid=qid)
    >>> len(plots.importance(ranker, largest=3).patches)
    3
    """
    check_integer(largest, "largest", 1)
    if X is None:
        values = ranker.importances(kind)
        label = SHARES[kind]
    else:
        values = np.abs(ranker.explain(X)[:, :-1]).mean(axis=0)
        label = "mean |SHAP value|"
    names = ranker._schema.feature_names
    chosen = np.argsort(-values, kind="stable")[:largest]
    ax = style.axes_for(ax)
    ax.barh(range(len(chosen)), values[chosen], color=style.BLUE)
    style.name_rows(ax, [names[feature] for feature in chosen])
    style.tidy(ax, "x", xlabel=label)
    return ax


def explanation(why: Explanation, *, largest: int = 10, ax: Axes | None = None) -> Axes:
    """Draw what each feature adds to the gap between two scores.

    Parameters
    ----------
    why : Explanation
        What `GBRanker.explain_pair` or `explain_document` returned.
    largest : int
        How many features to show; the rest are summed up.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from gbrank import GBRanker, make_cubic, plots
    >>> X, y, qid = make_cubic(20, n_documents=10, n_features=4, random_state=0)
    >>> ranker = GBRanker(n_estimators=5, n_jobs=1).fit(X, y, qid=qid)
    >>> ax = plots.explanation(ranker.explain_pair(X, 3, 7, qid=qid), largest=2)
    >>> len(ax.patches)
    3
    """
    check_integer(largest, "largest", 1)
    chosen = why.largest[:largest]
    rest = why.largest[largest:]
    names = [f"{why.features[i]}:  {' | '.join(why.values(i))}" for i in chosen]
    shares = why.shares[chosen].tolist()
    if rest:
        names.append(f"{len(rest)} others")
        shares.append(float(why.shares[rest].sum()))
    ax = style.axes_for(ax)
    colors = [style.BLUE if share >= 0 else style.ORANGE for share in shares]
    ax.barh(range(len(names)), shares, color=colors)
    style.name_rows(ax, names)
    ax.axvline(0, color=style.GREY, linewidth=1)
    style.tidy(ax, "x", title=f"Scores: {why}", xlabel="share of the gap between the scores")
    return ax
