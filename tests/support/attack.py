"""Calls everything that takes users' data with odd arguments, drawn at random.

    python attack.py CASES [FIRST_SEED]

A call must return what it promises, or raise a ValueError or TypeError that gbrank itself words, in
short; anything else is printed with its seed, and `python attack.py 1 SEED` repeats that one case.
test_attack.py runs it, and tells a crash or a hang by the last seed in the log.
"""

import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import xgboost as xgb

import gbrank
import gbrank.extend
from gbrank import (
    GBRanker,
    Queries,
    get_measure,
    get_objective,
    lightgbm_feval,
    lightgbm_fobj,
    list_measures,
    xgboost_feval,
    xgboost_obj,
)
from odd_arguments import ODD_NUMBERS, Draw

PACKAGE = str(Path(gbrank.__file__).parent)
MEASURES = [item.name for item in list_measures()] + ["ndcg@3", "ap@2(threshold=2)"]


def fit(draw: Draw) -> None:
    """Fit a ranker and use it."""
    ranker, X = draw.ranker(), draw.features(draw.n)
    options = draw.queries()
    if isinstance(ranker, GBRanker):
        options["sample_weight"] = draw.weights(draw.n)
        optional: dict[str, Callable[[], Any]] = {
            "query_weight": lambda: draw.weights(len(draw.sizes)),
            "init_score": draw.scores,
            "position": lambda: draw.vector(draw.rng.integers(1, 4, draw.n)),
            "categorical_feature": lambda: draw.one_of([0], ["f0"], [-1], [9], 0, [True], []),
            "eval_set": lambda: draw.one_of([(X, draw.labels())], [X], (X, X), [], [(X,)]),
            "eval_qid": lambda: [draw.queries().get("qid")],
            "eval_group": lambda: [draw.queries().get("group")],
        }
        options |= {name: make() for name, make in optional.items() if draw.strange()}
    ranker.fit(X, draw.labels(), **options)
    Z = draw.features(draw.n)
    scores = ranker.predict(Z)
    assert np.isfinite(scores).all()
    queries = draw.queries()
    ranks = ranker.rank(Z, **queries)
    assert ranks.min() == 1
    assert ranks.max() <= len(scores)
    value = ranker.score(Z, draw.labels(), **queries)
    assert np.isnan(value) or -1e-9 <= value < np.inf


def measure(draw: Draw) -> None:
    """Measure scores."""
    function = get_measure(draw.one_of(*MEASURES))
    weights = {"sample_weight": draw.weights(draw.n), "query_weight": draw.weights(len(draw.sizes))}
    value = function(draw.labels(), draw.scores(), **draw.queries(), **weights)
    assert np.isnan(value) or value > -1.1, value


def columns(draw: Draw) -> None:
    """Measure scores by a function of some features."""
    names = (
        draw.one_of([0], ["f0"], [0, 1], ["f0", 0])
        if not draw.strange()
        else draw.one_of([9], [-1], ["nope"], "f0", [True], [0.0], [None], 3)
    )
    function = gbrank.custom_measure(lambda s, y, *own: sum(x[0] for x in own), columns=names)
    value = function(draw.labels(), draw.scores(), X=draw.features(draw.n), **draw.queries())
    assert np.isfinite(value), value


def gradients(draw: Draw) -> None:
    """Compute gradients without a booster."""
    objective = get_objective(draw.objective())
    queries = Queries.resolve(draw.n, **draw.queries())
    bound = objective.bind(draw.labels(), queries, sample_weight=draw.weights(draw.n))
    sigma = draw.one_of(1.0, *ODD_NUMBERS) if draw.strange() else draw.one_of(1.0, 0.1, 10.0)
    check_gradients(*bound.gradients(draw.scores(), sigma=sigma))


def check_gradients(gradient: Any, curvature: Any) -> None:
    """Refuse what no booster could take."""
    assert np.isfinite(gradient).all()
    assert np.isfinite(curvature).all()
    assert (curvature >= 0).all()


def lightgbm_hook(draw: Draw) -> None:
    """Call the hooks as LightGBM and its scikit-learn interface do, or nearly."""
    hook, group = draw.hook(lightgbm_fobj), draw.queries().get("group")
    weights, labels = draw.weights(draw.n), draw.labels()
    arguments: Callable[[], tuple[Any, ...]]
    if draw.one_of(True, False):
        try:
            X = np.zeros((draw.n, 1))
            data = lgb.Dataset(X, labels, group=group, weight=weights, params={"verbose": -1})
            data.construct()
        except Exception:
            return  # LightGBM's own affair
        arguments = lambda: (draw.scores(), data)  # noqa: E731
    else:
        arguments = lambda: (labels, draw.scores(), weights, group)  # noqa: E731
    for _ in range(draw.one_of(1, 3)):
        check_gradients(*hook(*arguments()))
    lightgbm_feval(draw.one_of(*MEASURES))(*arguments())


def xgboost_hook(draw: Draw) -> None:
    """Call the hooks as XGBoost does, or nearly."""
    hook, weights = draw.hook(xgboost_obj), draw.weights(len(draw.sizes))
    try:
        X = np.zeros((draw.n, 1))
        data = xgb.DMatrix(X, draw.labels(), weight=weights, nthread=1, **draw.queries())
    except Exception:
        return  # XGBoost's own affair
    for _ in range(draw.one_of(1, 3)):
        check_gradients(*hook(draw.scores(), data))
    xgboost_feval(draw.one_of(*MEASURES))(draw.scores(), data)


CASES = [fit, fit, measure, columns, gradients, lightgbm_hook, xgboost_hook]


def fault(error: Exception) -> str:
    """Say what is wrong with an error that a call has raised, nothing if it is as it should be."""
    message = str(error)
    if not isinstance(error, ValueError | TypeError):
        return "an error of another type"
    if not 10 < len(message) < 1500:
        return "a message that is too short or too long"
    last = traceback.extract_tb(error.__traceback__)[-1].filename
    if not last.startswith(PACKAGE):
        return "an error that gbrank has not worded"
    return ""


def attack(seed: int) -> str:
    """Run the case of a seed; return what is wrong with it, and count how it ended."""
    draw = Draw(seed)
    case = draw.one_of(*CASES)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            warnings.simplefilter("error", RuntimeWarning)
            case(draw)
    except Exception as error:
        found = fault(error)
        COUNTS[f"{case.__name__}: {'fault' if found else 'refused'}"] += 1
        return found and f"{case.__name__}: {found}\n{traceback.format_exc(limit=-4)}"
    COUNTS[f"{case.__name__}: done"] += 1
    return ""


COUNTS: Counter[str] = Counter()


def main(cases: str, first: str = "0") -> int:
    """Run so many cases; return how many were wrong."""
    wrong = 0
    for seed in range(int(first), int(first) + int(cases)):
        print("seed", seed, file=sys.stderr, flush=True)
        if found := attack(seed):
            wrong += 1
            print(f"seed {seed}: {found}", flush=True)
    print(cases, "cases,", wrong, "wrong:", dict(sorted(COUNTS.items())))
    return wrong


if __name__ == "__main__":
    sys.exit(min(main(*sys.argv[1:]), 100))
