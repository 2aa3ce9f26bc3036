"""The mean of rankers is one ranker: scores, shares, files and exports."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gbrank import GBRanker, export_model, load_ranker, make_cubic
from gbrank.evaluation.averaging import averaged

X, Y, QID = make_cubic(40, n_documents=10, n_features=5, random_state=0)
FRAME = pd.DataFrame(X, columns=list("abcde")).assign(
    kind=pd.Categorical(np.array(["x", "y", "z"])[np.arange(len(X)) % 3])
)
FRAME.iloc[::7, 1] = np.nan
KINDS: list[dict[str, Any]] = [
    {"objective": "listmle"},
    {"num_leaves": 15, "extra_trees": False},
    {"num_leaves": 4, "colsample": 1.0},
]
WEIGHTS = [0.3, 1.7, 0.01]


def fitted(X: Any, kinds: list[dict[str, Any]]) -> list[GBRanker]:
    """Return rankers of the same columns."""
    small: dict[str, Any] = {"n_estimators": 8, "min_child_samples": 5, "n_jobs": 1}
    return [
        GBRanker(**small | kind, random_state=seed).fit(X, Y, qid=QID)
        for seed, kind in enumerate(kinds)
    ]


def mean_of(rankers: list[GBRanker], weights: list[float]) -> GBRanker:
    return averaged(rankers, weights, rankers[0].get_params(deep=False), 0.5)


def close(found: Any, expected: Any) -> None:
    assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_scores_and_shares_are_weighted_sums(tmp_path: Path) -> None:
    """Of numbers, missing ones and categories."""
    rankers = fitted(FRAME, KINDS)
    mean = mean_of(rankers, WEIGHTS)
    pairs = list(zip(WEIGHTS, rankers, strict=True))
    scores = mean.predict(FRAME)
    close(scores, sum(weight * ranker.predict(FRAME) for weight, ranker in pairs))
    shares = mean.explain(FRAME)
    expected = np.zeros_like(shares)
    for weight, ranker in pairs:
        own = weight * ranker.explain(FRAME)
        expected[:, : own.shape[1] - 1] += own[:, :-1]
        expected[:, -1] += own[:, -1]
    assert_allclose(shares, expected, atol=1e-10)
    assert mean.best_iteration_ == sum(ranker.best_iteration_ for ranker in rankers)
    assert mean.best_score_ == 0.5
    mean.save(tmp_path)
    assert_array_equal(load_ranker(tmp_path).predict(FRAME), scores)


def test_exports_and_goes_on(tmp_path: Path) -> None:
    mean = mean_of(fitted(X, [KINDS[0], KINDS[2]]), [0.5, 0.5])
    path = tmp_path / "model.json"
    export_model(mean, path, "solr", missing_as_zero=True)
    trees = json.loads(path.read_text())["params"]["trees"]
    assert len(trees) == mean.best_iteration_
    more = GBRanker(n_estimators=3, init=mean, min_child_samples=5, n_jobs=1, random_state=0)
    more.fit(X, Y, qid=QID)
    close(more.predict(X) - mean.predict(X), more._model.predict(X, more._schema, 1))


@pytest.mark.parametrize("params", [{"linear_tree": True}, {"boosting": "dart"}])
def test_linear_leaves_and_dart(params: dict[str, Any]) -> None:
    rankers = fitted(X, [{"booster_params": params, "extra_trees": False}] * 2)
    mean = mean_of(rankers, [0.3, 2.0])
    close(mean.predict(X), 0.3 * rankers[0].predict(X) + 2 * rankers[1].predict(X))


@pytest.mark.parametrize("weight", [1.0, -3.7e8])
def test_one_ranker_may_be_scaled(weight: float) -> None:
    (ranker,) = fitted(X, KINDS[1:2])
    close(mean_of([ranker], [weight]).predict(X), weight * ranker.predict(X))
