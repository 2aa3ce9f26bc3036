"""Pictures. Each function draws on a Matplotlib `Axes`, `ax` or a new one, and returns it."""

from gbrank.plots.comparisons import comparison
from gbrank.plots.features import importance
from gbrank.plots.learning import learning_curves
from gbrank.plots.objectives import objective
from gbrank.plots.queries import per_query
from gbrank.plots.ranks import soft_ranks

__all__ = [
    "comparison",
    "importance",
    "learning_curves",
    "objective",
    "per_query",
    "soft_ranks",
]
