"""gbrank: gradient-boosted tree rankers trained on the measure that users are judged by.

The words used throughout: a *query* is one ranking problem, a list of *documents* (rows) with
*labels* (graded relevance, y ≥ 0); a *measure* says what a ranking is worth; a *relaxation* makes
a measure trainable; an *objective* is a relaxation applied to a measure, a loss with its gradient
and *curvature* by each document's *score*; *sigma* is the width of the relaxation, in score units,
by boosting round; a *hook* is the callable that LightGBM or XGBoost calls every round.

``GBRanker`` puts it together; `lightgbm_fobj` and `xgboost_obj` are for code that calls the
boosters itself; `gbrank --help` shows the command line.
"""

import lazy_loader

# What __init__.pyi names is imported on first use: numba and the boosters take seconds.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
