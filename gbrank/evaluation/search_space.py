"""The space that `tune` searches: places in it, and the rankers that they stand for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from gbrank.common.checks import check_choice
from gbrank.data.queries import Queries
from gbrank.fit.defaults import chosen_trees, learning_rate_of
from gbrank.ranker import GBRanker

if TYPE_CHECKING:
    import optuna

# Chosen on validation queries: benchmarks/results/tuned.md.
VARIANTS: tuple[dict[str, Any], ...] = (  # tried after the ranker's own parameters
    {"objective": "ranknet", "num_leaves": 15},
    {"rate": 0.5},
    {"objective": "listmle", "extra_trees": False},
)
TUNED = (
    *("objective", "rate", "n_estimators", "num_leaves", "min_child_samples", "colsample"),
    "extra_trees",
)
OBJECTIVES = ("ranknet", "listmle", "lambda:ndcg")
LARGEST_RATE = 0.3


def own_place(ranker: GBRanker, queries: Queries, keep: Collection[str]) -> dict[str, Any]:
    """Return where a ranker's own parameters are in the space, but for those to keep.

    `rate` is a factor on the learning rate.
    """
    trees, keep = chosen_trees(ranker, queries), [keep] if isinstance(keep, str) else keep
    place = {"objective": str(ranker.objective), "rate": 1.0, "colsample": trees["colsample"]}
    for name in ("n_estimators", "num_leaves", "min_child_samples"):
        place[name] = getattr(ranker, name)
    if ranker.booster == "lightgbm":
        place["extra_trees"] = trees["extra_trees"]
    for name in keep:
        check_choice(name, "keep", TUNED)
    return {name: value for name, value in place.items() if name not in keep}


def suggested(trial: optuna.Trial, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return a place in the space around a ranker's own."""

    def whole(name: str, low: int, high: int) -> int:
        ends = min(low, own[name]), max(high, own[name])
        return trial.suggest_int(name, *ends, log=ends[0] > 0)

    def choice(name: str, *choices: Any) -> Any:
        return trial.suggest_categorical(name, list(dict.fromkeys(choices)))

    ask: dict[str, Callable[[], Any]] = {
        "objective": lambda: choice("objective", own["objective"], *OBJECTIVES),
        "rate": lambda: trial.suggest_float("rate", 0.25, 4.0, log=True),
        "n_estimators": lambda: whole("n_estimators", own["n_estimators"], 2 * own["n_estimators"]),
        "num_leaves": lambda: whole("num_leaves", 8, 127),
        "min_child_samples": lambda: whole("min_child_samples", 5, 100),
        "colsample": lambda: trial.suggest_float("colsample", min(0.2, own["colsample"]), 1.0),
        "extra_trees": lambda: choice("extra_trees", True, False),
    }
    return {name: ask[name]() for name in TUNED if name in own}


def placed(ranker: GBRanker, place: Mapping[str, Any], queries: Queries) -> GBRanker:
    """Return an unfitted ranker with the parameters of a place, for these queries.

    Its learning rate is that of the size of the data, times the place's factor.
    """
    params = {name: value for name, value in place.items() if name != "rate"}
    if params.get("objective") == str(ranker.objective):
        del params["objective"]  # which may be no name
    elif "objective" in params:
        params["sigma"] = None
    result: GBRanker = clone(ranker).set_params(**params, verbose=0)
    factor = place.get("rate", 1.0)
    if factor != 1:
        rate = factor * learning_rate_of(result, queries)
        result.set_params(learning_rate=min(rate, LARGEST_RATE))
    return result
