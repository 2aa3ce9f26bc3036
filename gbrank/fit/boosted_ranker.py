"""The parameters of GBRanker, and their checks."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from gbrank.boosters import TRAINERS, TreeSettings
from gbrank.common.checks import check_choice, check_jobs, check_number, quoted
from gbrank.common.threads import usable_threads
from gbrank.fit.constraints import Constraint
from gbrank.fit.context import Kinds
from gbrank.fit.estimator import BaseRanker, check_seed, check_verbose
from gbrank.fit.fitted import FittedTrees
from gbrank.fit.stopping import check_patience
from gbrank.measures.measure_registry import Metric
from gbrank.objectives.objective import Objective
from gbrank.objectives.objective_registry import DEFAULT_OBJECTIVE
from gbrank.parallel.collective import all_gather
from gbrank.schedules import Sigma

# Chosen on validation queries: docs/defaults.md.
SUM_OF_RATES, DOCUMENTS = 15.0, 70_000
LOWEST_RATE, HIGHEST_RATE = 0.01, 0.2
# What `init` may be, besides a model.
START_NAMES = (None, "regression", "zero")


@dataclass(eq=False, repr=False)
class BoostedRanker(BaseRanker[FittedTrees]):
    """A ranker with the parameters of GBRanker, where they are described."""

    objective: str | Objective | Callable[..., Any] = DEFAULT_OBJECTIVE
    _: KW_ONLY
    booster: str = "lightgbm"
    n_estimators: int = 150
    learning_rate: float | None = None
    num_leaves: int = 63
    max_depth: int | None = None
    min_child_samples: int = 20
    subsample: float = 1.0
    subsample_by: str = "document"
    colsample: float = 0.5
    extra_trees: bool | None = None
    reg_lambda: float = 0.0
    sigma: Sigma | None = None
    curvature: str = "own"
    init: str | Any = None
    context: Kinds | None = None
    constraints: Sequence[str | Constraint] | None = None
    eval_metric: Metric | Sequence[Metric] = "ndcg@10"
    early_stopping_rounds: int | str | None = None
    validation_fraction: float | None = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int = 0
    booster_params: dict[str, Any] | None = None


def is_start_name(init: object) -> bool:
    """Say whether an `init` is one of the words that it may be, or None."""
    return isinstance(init, str | None) and init in START_NAMES


def tree_settings(ranker: BoostedRanker, resumable: bool = False) -> TreeSettings:
    """Check the parameters of a ranker, and return those of its trees."""
    _check_all_but_trees(ranker)
    subsample = check_number(ranker.subsample, "subsample", 0, 1, open_low=True)
    params = ranker.booster_params
    if not isinstance(params, Mapping | None):
        raise TypeError(f"booster_params must be a dict, got {quoted(params)}.")
    if not all(isinstance(name, str) for name in params or ()):
        raise TypeError(f"booster_params must have texts as names, got {quoted(params)}.")
    return TreeSettings(
        learning_rate=learning_rate_of(ranker, 0),  # replaced when the documents are counted
        num_leaves=check_number(ranker.num_leaves, "num_leaves", 2, integer=True),
        max_depth=check_number(ranker.max_depth, "max_depth", 1, integer=True, optional=True),
        min_child_samples=check_number(
            ranker.min_child_samples, "min_child_samples", 0, integer=True
        ),
        subsample=subsample if ranker.subsample_by == "document" else 1.0,
        colsample=check_number(ranker.colsample, "colsample", 0, 1, open_low=True),
        extra_trees=ranker.booster == "lightgbm" and ranker.extra_trees is not False,
        reg_lambda=check_number(ranker.reg_lambda, "reg_lambda", 0),
        seed=all_gather(check_seed(ranker.random_state))[0],
        n_jobs=usable_threads(check_jobs(ranker.n_jobs)),
        params=dict(params or {}),
        built_in=built_in_of(ranker),
        early_stopping=ranker.early_stopping_rounds is not None,
        resumable=resumable,
    )


def _check_all_but_trees(ranker: BoostedRanker) -> None:
    check_choice(ranker.booster, "booster", TRAINERS)
    check_choice(ranker.subsample_by, "subsample_by", ["document", "query"])
    check_number(ranker.n_estimators, "n_estimators", 1, integer=True)
    check_patience(ranker.early_stopping_rounds)
    fraction = ranker.validation_fraction
    check_number(fraction, "validation_fraction", 0, 1, open_low=True, optional=True)
    check_verbose(ranker.verbose)
    if fraction == 1:
        raise ValueError("validation_fraction must be below 1, got 1.")
    check_choice(ranker.extra_trees, "extra_trees", [True, False, None])
    if ranker.extra_trees and ranker.booster != "lightgbm":
        raise ValueError(
            f"extra_trees must be False or None with booster={ranker.booster!r}, which has none."
        )


def learning_rate_of(ranker: BoostedRanker, n_documents: float) -> float:
    """Return the given rate, else 15 √(N / 70,000) / n_estimators, from 0.01 to 0.2."""
    given = check_number(ranker.learning_rate, "learning_rate", 0, open_low=True, optional=True)
    if given is not None:
        return float(given)
    rate = SUM_OF_RATES * math.sqrt(n_documents / DOCUMENTS) / ranker.n_estimators
    return min(max(rate, LOWEST_RATE), HIGHEST_RATE)


def built_in_of(ranker: BoostedRanker) -> str | None:
    """Return the booster's own objective that a ranker asks for, or None."""
    if not isinstance(ranker.objective, str):
        return None
    kind, colon, name = ranker.objective.partition(":")
    if kind not in TRAINERS or not colon:
        return None
    if kind != ranker.booster:
        raise ValueError(
            f"objective {ranker.objective!r} needs booster={kind!r}, got {ranker.booster!r}."
        )
    where = f"with the booster's own {ranker.objective!r}"
    if ranker.subsample_by == "query" and ranker.subsample < 1:
        raise ValueError(f"subsample_by must be 'document' {where}, got 'query'.")
    if ranker.curvature != "own":
        raise ValueError(f"curvature must be 'own' {where}, got {ranker.curvature!r}.")
    if ranker.sigma is not None:
        raise ValueError(f"sigma must be None {where}, which has none, got {ranker.sigma!r}.")
    return name
