"""XGBoost on a GPU, with gbrank's gradients: skipped where there is none."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from gbrank import GBRanker, make_cubic

X, Y, QID = make_cubic(60, n_documents=20, n_features=5, random_state=0)


def fit(**booster_params: object) -> GBRanker:
    """Fit a small ranker on XGBoost."""
    ranker = GBRanker(
        "lambda:ndcg", booster="xgboost", n_estimators=20, colsample=1.0, random_state=0,
        booster_params=booster_params,
    )  # fmt: skip
    return ranker.fit(X, Y, qid=QID)


def has_gpu() -> bool:
    """Return whether XGBoost trains on a GPU here."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fit(device="cuda")
    return not any("finds no GPU" in str(item.message) for item in told)


def test_trees_grown_on_a_gpu() -> None:
    """Ranks as well as those grown on the CPU, and the same in another fit."""
    if not has_gpu():
        pytest.skip("XGBoost finds no GPU on this machine")
    on_gpu, again, on_cpu = fit(device="cuda"), fit(device="cuda"), fit()
    assert_array_equal(on_gpu.predict(X), again.predict(X))
    assert abs(on_gpu.score(X, Y, QID) - on_cpu.score(X, Y, QID)) < 0.02
    assert np.corrcoef(on_gpu.predict(X), on_cpu.predict(X))[0, 1] > 0.98


def test_no_gpu() -> None:
    """The user hears that it trains on the CPU, and gets the CPU's trees."""
    if has_gpu():
        pytest.skip("XGBoost finds a GPU on this machine")
    with pytest.warns(UserWarning, match="XGBoost finds no GPU for device='cuda', and trains on"):
        ranker = fit(device="cuda")
    assert_array_equal(ranker.predict(X), fit().predict(X))


def test_no_such_gpu() -> None:
    """The user hears on which other GPU it trains."""
    if not has_gpu():
        pytest.skip("XGBoost finds no GPU on this machine")
    with pytest.warns(UserWarning, match="no GPU for device='cuda:99', and trains on 'cuda:"):
        fit(device="cuda:99")
