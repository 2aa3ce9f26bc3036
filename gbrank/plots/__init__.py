"""Pictures. Each function draws on a Matplotlib `Axes`, `ax` or a new one, and returns it.

`comparison_grid`, `differences` and `quality_by_seconds` draw several panels, on a figure that they
return.
"""

from .comparison_panels import (
    comparison,
    comparison_grid,
    differences,
    per_query,
    quality_by_seconds,
)
from .fitted_ranker import explanation, gradients, importance, learning_curves

__all__ = [
    "comparison",
    "comparison_grid",
    "differences",
    "explanation",
    "gradients",
    "importance",
    "learning_curves",
    "per_query",
    "quality_by_seconds",
]
