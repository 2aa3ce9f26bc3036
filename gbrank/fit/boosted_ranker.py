"""The parameters of GBRanker, their checks, and those that follow from the size of the data."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gbrank.boosters import BOOSTERS, Model, TreeSettings
from gbrank.boosters.booster import LARGEST_INT32
from gbrank.common.checks import (
    ArgumentError,
    ArgumentTypeError,
    Function,
    check_jobs,
    plain,
    quoted,
)
from gbrank.common.collective import all_gather, all_sum
from gbrank.common.fields import Choice, Integer, Parameter, Real, checked_fields
from gbrank.common.runtime import usable_threads
from gbrank.data.queries import Queries
from gbrank.schedules import Sigma

from .estimator import BaseRanker, check_seed, check_verbose, draw_seed
from .fitted import FittedTrees, Published
from .rounds import check_patience

if TYPE_CHECKING:  # compiled code: who only loads a ranker need not wait for numba
    from gbrank.measures.measure_registry import Metric
    from gbrank.objectives.objective import Objective

# Chosen on validation queries: docs/defaults.md.
SUM_OF_RATES = 15.0
DOCUMENTS = 70_000
LOWEST_RATE = 0.01
HIGHEST_RATE = 0.2
ALIKE = 70  # documents of one query are not independent: so many of them count
LARGE = 100_000  # documents from which trees see all features and thresholds


def check_params(params: object, name: str) -> dict[str, Any]:
    """Return the booster's own parameters as a dict."""
    if not isinstance(params, Mapping | None):
        raise ArgumentTypeError(name, "must be a dict", quoted(params))
    return dict(plain(dict(params or {})))


@dataclass(eq=False, repr=False)
class BoostedRanker(BaseRanker[FittedTrees]):
    """A ranker with the parameters of GBRanker, where they are described."""

    init_ = Published[Any]()
    _model = Published[Model]()

    objective: "str | Objective | Function" = "noisy:ndcg"
    _: KW_ONLY
    booster: str = Choice("lightgbm", BOOSTERS)
    n_estimators: int = Integer(150, low=1)
    learning_rate: float | None = Real(None, above=0)
    num_leaves: int = Integer(31, low=2, high=LARGEST_INT32)
    max_depth: int | None = Integer(None, low=1, high=LARGEST_INT32)
    min_child_samples: int = Integer(20, low=0, high=LARGEST_INT32)
    subsample: float = Real(1.0, above=0, high=1)
    subsample_by: str = Choice("document", ["document", "query"])
    colsample: float | None = Real(None, above=0, high=1)
    extra_trees: bool | None = Choice(None, [True, False, None])
    reg_lambda: float = Real(0.0, 0)
    position_regularization: str | None = Choice("auto", ["auto", None])
    sigma: Sigma | None = None
    curvature: str = "own"
    init: str | Any = None
    eval_metric: "Metric | Sequence[Metric]" = "ndcg@10"
    early_stopping_rounds: int | str | None = Parameter(None, check_patience)
    validation_fraction: float | None = Real(None, above=0, below=1)
    baseline: str | int | None = None
    random_state: int | np.random.RandomState | None = Parameter(None, check_seed)
    n_jobs: int | None = Parameter(None, check_jobs)
    verbose: int = Parameter(0, check_verbose)
    booster_params: dict[str, Any] | None = Parameter(None, check_params)


def is_start_name(init: object) -> bool:
    """Return whether an `init` is one of the words that it may be, or None."""
    return init is None or (isinstance(init, str) and init in ("regression", "zero"))


def tree_settings(ranker: BoostedRanker, resumable: bool = False) -> TreeSettings:
    """Check the parameters of a ranker, and return those of its trees; draw the seed of a fit.

    What follows from the size of the data, where it is not given, is replaced when this is known.
    """
    params = checked_fields(ranker)
    random_thresholds = BOOSTERS[ranker.booster].random_thresholds
    if ranker.extra_trees and not random_thresholds:
        raise ArgumentError(
            "extra_trees",
            f"must be False or None with booster={ranker.booster!r}, which lacks random thresholds",
        )
    names = ("num_leaves", "max_depth", "min_child_samples", "reg_lambda")
    return TreeSettings(
        **{name: params[name] for name in names},
        learning_rate=params["learning_rate"] or 1.0,
        colsample=params["colsample"] or 1.0,
        subsample=params["subsample"] if ranker.subsample_by == "document" else 1.0,
        extra_trees=random_thresholds and ranker.extra_trees is not False,
        seed=all_gather(draw_seed(ranker.random_state))[0],
        n_jobs=usable_threads(params["n_jobs"]),
        params=params["booster_params"],
        early_stopping=ranker.early_stopping_rounds is not None,
        resumable=resumable,
    )


def chosen_trees(ranker: BoostedRanker, queries: Queries, start: Any = None) -> dict[str, Any]:
    """Return the parameters that follow from the queries of all workers, unless they are given.

    The rate is 15 √(N / 70,000) / T, from 0.01 to 0.2: N counts at most 70 documents of a query, T
    the rounds of a ranker that `init` gave, too.
    """
    large = all_sum(queries.n_documents) >= LARGE
    counted = all_sum(int(np.minimum(queries.sizes, ALIKE).sum()))
    rounds = ranker.n_estimators
    while isinstance(start, BoostedRanker) and not isinstance(ranker.init, str | None):
        rounds += start._fitted.best_iteration
        start = start._fitted.init
    rate = SUM_OF_RATES * math.sqrt(counted / DOCUMENTS) / rounds
    chosen = {
        "learning_rate": min(max(rate, LOWEST_RATE), HIGHEST_RATE),
        "colsample": 1.0 if large else 0.5,
        "extra_trees": BOOSTERS[ranker.booster].random_thresholds and not large,
    }
    return {
        name: value if getattr(ranker, name) is None else type(value)(getattr(ranker, name))
        for name, value in chosen.items()
    }
