"""What features are worth to a model."""

from typing import TYPE_CHECKING, Any

import numpy as np

from gbrank.common.checks import check_number
from gbrank.export.forest import names_of
from gbrank.plots.style import BLUE, axes_for, tidy
from gbrank.ranker import GBRanker

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["importance"]


def importance(
    ranker: GBRanker, X: Any = None, *, largest: int = 20, ax: "Axes | None" = None
) -> "Axes":
    """Draw the importance of the features: their share of the gain, or their mean SHAP value.

    Parameters
    ----------
    ranker : GBRanker
        A fitted ranker.
    X : array-like, sparse matrix or data frame, shape (n_documents, n_features), optional
        Documents whose scores are explained (see `GBRanker.explain`): a feature's importance is
        then the mean, over these, of how far it moves a score. Without them it is the feature's
        share of the gain in training.
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
        values, label = ranker.feature_importances_, "share of the gain"
    else:
        values, label = np.abs(ranker.explain(X)[:, :-1]).mean(axis=0), "mean |SHAP value|"
    names = names_of(ranker, None)
    chosen = np.argsort(-values, kind="stable")[:largest]
    ax = axes_for(ax)
    ax.barh(range(len(chosen)), values[chosen], color=BLUE)
    ax.set_yticks(range(len(chosen)), [names[feature] for feature in chosen])
    ax.invert_yaxis()
    ax.set_xlabel(label)
    tidy(ax, "x")
    ax.tick_params(axis="y", length=0)
    return ax
