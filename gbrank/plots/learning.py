"""Learning curves."""

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gbrank.common.checks import check_choice
from gbrank.plots.style import GREY, PALETTE, axes_for, tidy
from gbrank.ranker import GBRanker

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["learning_curves"]


def learning_curves(
    ranker: GBRanker, *, measure: str | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Draw a measure by round on each set, and sigma on a second axis.

    A vertical line is where early stopping cut the model. The second axis is
    ``ax.figure.axes[-1]``; there is none where sigma is the same in all rounds, or the objective
    is a booster's own, without a sigma.

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
    >>> from gbrank import GBRanker, geometric, make_cubic, plots
    >>> X, y, qid = make_cubic(40, n_documents=10, n_features=5, random_state=0)
    >>> ranker = GBRanker(
    ...     "approx:ndcg",
    ...     sigma=geometric(1.0, 0.1),
    ...     n_estimators=10,
    ...     validation_fraction=0.3,
    ...     random_state=0,
    ... )
    >>> ax = plots.learning_curves(ranker.fit(X, y, qid=qid))
    >>> ax.get_ylabel(), ax.figure.axes[-1].get_ylabel()
    ('ndcg@10', 'sigma')
    """
    check_is_fitted(ranker)
    results = ranker.evals_result_
    if not results:
        raise ValueError(
            "ranker must have been fitted with validation data, or with verbose=1, for there to be "
            "a learning curve."
        )
    measures = list(next(iter(results.values())))
    measure = measures[0] if measure is None else check_choice(measure, "measure", measures)
    ax = axes_for(ax)
    lines = []
    for place, (name, values) in enumerate(results.items()):
        curve = values[measure]
        rounds = np.arange(1, len(curve) + 1)
        lines += ax.plot(rounds, curve, color=PALETTE[place % len(PALETTE)], label=name)
    if ranker.early_stopping_rounds is not None:
        best = ranker.best_iteration_
        lines += [ax.axvline(best, color=GREY, linewidth=1, label=f"best round: {best}")]
    tidy(ax)
    if len(np.unique(ranker.sigmas_)) > 1:
        second = ax.twinx()
        rounds = np.arange(1, len(ranker.sigmas_) + 1)
        lines += second.plot(rounds, ranker.sigmas_, color=GREY, linestyle=":", label="sigma")
        second.set_ylabel("sigma")
        second.set_yscale("log")
        second.spines["top"].set_visible(False)
    ax.set_xlabel("round")
    ax.set_ylabel(measure)
    ax.legend(handles=lines, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4)
    return ax
