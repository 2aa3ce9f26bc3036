"""gbrank: gradient-boosted tree rankers trained on the measure that users are judged by.

The words used throughout: a *query* is one ranking problem, a list of *documents* (rows) with
*labels* (graded relevance, y ≥ 0); a *measure* says what a ranking is worth; a *relaxation* makes
a measure trainable; an *objective* is a relaxation applied to a measure, a loss with its gradient
and *curvature* by each document's *score*; *sigma* is the width of the relaxation, in score units,
by boosting round; a *hook* is the callable that LightGBM or XGBoost calls every round.

``GBRanker`` puts it together; `lightgbm_fobj` and `xgboost_obj` are for code that calls the
boosters itself; `gbrank --help` shows the command line.
"""

import typing

import lazy_loader

# Modules are imported on first use: numba and the boosters take seconds.
_load, __dir__, _ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> typing.Any:
    """Return what __init__.pyi names, or a class of gbrank that registers itself."""
    if name in __dir__() or (name.startswith("_") and name != "__all__"):
        return _load(name)
    from .measures.measure_registry import MEASURES
    from .objectives.objective_registry import OBJECTIVES

    registered = {
        cls.__name__: cls
        for cls in (*MEASURES.values(), *OBJECTIVES.values())
        if isinstance(cls, type) and cls.__module__.startswith("gbrank.")
    }
    if name == "__all__":
        return sorted({*__dir__(), *registered} - {"__version__"})
    return registered[name] if name in registered else _load(name)
