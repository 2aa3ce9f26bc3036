"""Training with a booster: next to the library by itself, where gbrank does more than call it."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from gbrank import GBRanker, make_cubic
from gbrank.extend import custom_objective

Vector = NDArray[np.float64]

X, Y, QID = make_cubic(30, n_documents=20, n_features=4, random_state=0)
boosters = pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
# Of the gradients below, so that 1e-6, below which XGBoost takes no gain, cuts nothing off.
SMALL = 2.0**-6


@custom_objective
def small(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
    """Return squared error with gradients below 1, and no smaller second derivatives."""
    return 0.0, SMALL * (np.tanh(scores) - labels / 5), np.ones_like(scores)


def small_of(scores: Any, data: xgb.DMatrix) -> tuple[Any, Any]:
    """Return the same as XGBoost wants it."""
    gradient = SMALL * (np.tanh(scores.astype(np.float64)) - data.get_label() / 5)
    return gradient.astype(np.float32), np.ones(len(scores), dtype=np.float32)


@pytest.mark.parametrize(
    "own",
    [{"alpha": 0.05}, {"reg_alpha": 0.05}, {"gamma": 1e-4}, {"min_split_loss": 1e-4},
     {"max_delta_step": 0.002}, {"booster": "dart", "rate_drop": 0.5}, {}],
    ids=str,
)  # fmt: skip
def test_small_gradients_in_the_units_of_the_parameters(own: dict[str, Any]) -> None:
    """What is measured in gradients meets the gradients as they are: plain XGBoost's model."""
    data = xgb.DMatrix(X, Y, qid=QID, nthread=1)
    options = {"eta": 0.3, "max_leaves": 8, "max_depth": 0, "min_child_weight": 5, "lambda": 0,
               "grow_policy": "lossguide", "base_score": 0, "nthread": 1}  # fmt: skip
    expected = xgb.train(options | own, data, 8, obj=small_of).predict(data)
    ranker = GBRanker(
        small, booster="xgboost", n_estimators=8, learning_rate=0.3, num_leaves=8, colsample=1.0,
        min_child_samples=5, n_jobs=1, random_state=0, booster_params=own,
    )  # fmt: skip
    # A sum may be another in its last bit.
    assert_allclose(ranker.fit(X, Y, qid=QID).predict(X), expected, rtol=1e-5)
    assert len(set(expected)) > 5


@pytest.mark.parametrize("power", [-30, -80])
def test_tiny_gradients(power: int) -> None:
    """Where gains are far below those that XGBoost takes, the same trees with smaller leaves."""

    def steps(factor: float) -> Vector:
        def linear(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
            return 0.0, factor * (2.0 - labels), np.ones_like(labels)

        ranker = GBRanker(linear, n_estimators=4, booster="xgboost", n_jobs=1, random_state=0)
        return ranker.fit(X, Y, qid=QID).predict(X)

    expected = steps(1.0)
    assert_allclose(np.ldexp(steps(2.0**power), -power), expected, rtol=1e-6)
    assert len(set(expected)) > 10


@boosters
def test_leaves_count_documents(booster: str) -> None:
    """Of a curvature of 1 each; by half as many, a leaf could be smaller."""
    for least in (50, 100):
        ranker = GBRanker(
            "ranknet", n_estimators=1, booster=booster, n_jobs=1, random_state=0, colsample=1.0,
            curvature="unit", min_child_samples=least, extra_trees=False,
        )  # fmt: skip
        scores = ranker.fit(X, Y, qid=QID).predict(X)
        sizes = np.unique(scores, return_counts=True)[1]
        assert len(sizes) > 2
        assert least <= sizes.min() < 2 * least


@boosters
def test_leaves_count_documents_that_are_drawn(booster: str) -> None:
    """Those left out of a round fill no leaf: with half of all, leaves have twice as many."""
    ranker = GBRanker(
        "ranknet", n_estimators=1, booster=booster, n_jobs=1, random_state=0, colsample=1.0,
        curvature="unit", min_child_samples=40, extra_trees=False, subsample=0.5,
    )  # fmt: skip
    sizes = np.unique(ranker.fit(X, Y, qid=QID).predict(X), return_counts=True)[1]
    assert len(sizes) > 2
    assert 60 <= sizes.min() < 160


def test_initial_scores_in_single_precision() -> None:
    """Equal ones are told apart where they need be: nowhere. Those far from 0 are not."""
    ranker = GBRanker("ranknet", n_estimators=2, booster="xgboost", n_jobs=1, random_state=0)
    expected = ranker.fit(X, Y, qid=QID).predict(X)
    for level in (1e-3, 1.0, 1000.0):
        level_scores = np.full(len(Y), level)
        assert_allclose(ranker.fit(X, Y, qid=QID, init_score=level_scores).predict(X), expected,
                        atol=1e-3)  # fmt: skip
    for scores in (1e6 + np.arange(len(Y)) / 600, np.full(len(Y), 1e6)):
        with pytest.raises(ValueError, match=r"init_score must be closer to 0.*subtract the mean"):
            ranker.fit(X, Y, qid=QID, init_score=scores)


@boosters
@pytest.mark.parametrize(
    "names",
    [*([name, "b"] for name in ['a"b', "a,b", "a:b", "a[b", "a]b", "<", ">", "{", "}"]),
     *([name, "b"] for name in [" ", "a\tb", "a\nb", "a\rb"])],
    ids=repr,
)  # fmt: skip
def test_names_that_a_booster_could_not_write(booster: str, names: list[Any]) -> None:
    """Equal as text, or with its format's own signs: they stay names of gbrank's."""
    frame = pd.DataFrame(X[:, :2], columns=names)
    ranker = GBRanker("ranknet", n_estimators=2, booster=booster, random_state=0, n_jobs=1)
    ranker.fit(frame, Y, qid=QID)
    assert np.ptp(ranker.predict(frame)) > 0
    if len({str(name) for name in names}) == 2:
        expected = ranker.predict(frame)
        assert_array_equal(ranker.fit(X[:, :2], Y, qid=QID).predict(X[:, :2]), expected)
