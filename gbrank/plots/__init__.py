"""Pictures. Each function draws on a Matplotlib `Axes`, `ax` or a new one, and returns it."""

from gbrank.plots.comparison_panels import comparison, comparison_grid
from gbrank.plots.feature_importance import importance
from gbrank.plots.learning import learning_curves
from gbrank.plots.objective_curves import objective
from gbrank.plots.query_values import per_query
from gbrank.plots.rank_curves import soft_ranks

__all__ = [
    "comparison",
    "comparison_grid",
    "importance",
    "learning_curves",
    "objective",
    "per_query",
    "soft_ranks",
]
