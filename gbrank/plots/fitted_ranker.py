"""A fitted ranker: its learning curves, what features are worth, and why documents rank so."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from gbrank.common.arrays import Vector
from gbrank.common.checks import check_choice, check_number
from gbrank.export.forest import names_of
from gbrank.fit.explanations import Explanation
from gbrank.plots import style
from gbrank.ranker import GBRanker

SHARES = {"gain": "share of the gain", "split": "share of the splits"}


def learning_curves(
    ranker: GBRanker, *, measure: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a measure by round on each set, and sigma on a second axis.

    A vertical line is where early stopping cut the model. The second axis is
    ``ax.figure.axes[-1]``; there is none where sigma is the same in all rounds.

    Parameters
    ----------
    ranker : GBRanker
        Fitted with validation data; with ``verbose=1`` there is a curve of the training data too.
    measure : str, optional
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
    results = ranker.evals_result_
    if not results:
        raise ValueError("ranker must have been fitted with validation data, or with verbose=1.")
    measures = list(next(iter(results.values())))
    measure = measures[0] if measure is None else check_choice(measure, "measure", measures)
    ax = style.axes_for(ax)
    lines = []
    sets = [(name, values[measure]) for name, values in results.items() if measure in values]
    for place, (name, curve) in enumerate(sets):
        rounds = np.arange(1, len(curve) + 1)
        lines += ax.plot(rounds, curve, color=style.colour_of(place), label=name)
    if ranker.early_stopping_rounds is not None:
        best = ranker.best_iteration_
        lines += [ax.axvline(best, color=style.GREY, linewidth=1, label=f"best round: {best}")]
    lines += _sigmas_beside(ax, 1 + np.arange(len(ranker.sigmas_)), ranker.sigmas_)
    style.write(ax, xlabel="round", ylabel=measure)
    style.legend(ax, lines, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4)
    return ax


def _sigmas_beside(ax: Axes, rounds: NDArray[np.integer], sigmas: Vector) -> list[Line2D]:
    """Draw sigma on a second axis if it changes; return its line."""
    style.tidy(ax)
    if len(np.unique(sigmas)) <= 1:
        return []
    second = ax.twinx()
    line = second.plot(rounds, sigmas, color=style.GREY, linestyle=":", label="sigma")
    second.set(ylabel="sigma", yscale="log")
    style.name_decades(second.yaxis)
    second.spines["top"].set_visible(False)
    return line


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
    check_number(largest, "largest", 1, integer=True)
    if X is None:
        values, label = ranker.importances(kind), SHARES[kind]
    else:
        values = np.abs(ranker.explain(X)[:, :-1]).mean(axis=0)
        label = "mean |SHAP value|"
    names = names_of(ranker, None)
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
    check_number(largest, "largest", 1, integer=True)
    chosen, rest = why.largest[:largest], why.largest[largest:]
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
