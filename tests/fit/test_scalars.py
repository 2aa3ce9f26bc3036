"""Parameters as NumPy's scalars, as searches over arrays set them; and how rankers print."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from gbrank import GBRanker, LinearRanker, SLAMPerceptron, load_ranker, make_cubic

X, Y, QID = make_cubic(20, n_documents=10, n_features=3, random_state=0)
# A value of each parameter, as Python has it, but of those that take no number or text.
PARAMS: dict[Any, dict[str, Any]] = {
    GBRanker: {
        "objective": "ranknet", "booster": "lightgbm", "n_estimators": 3, "learning_rate": 0.25,
        "num_leaves": 7, "max_depth": 3, "min_child_samples": 4, "subsample": 0.5,
        "subsample_by": "query", "colsample": 0.75, "extra_trees": True, "reg_lambda": 0.5,
        "sigma": 0.5, "curvature": "unit", "init": "regression", "eval_metric": "map",
        "early_stopping_rounds": 12, "validation_fraction": 0.5, "random_state": 7, "n_jobs": 2,
        "verbose": 0, "booster_params": {"max_bin": 31, "monotone_constraints": [1, 0, 0]},
    },
    LinearRanker: {
        "objective": "ranknet", "solver": "sgd", "reg_lambda": 0.5, "sigma": 0.5, "n_steps": 2,
        "init": "regression", "center": "zero", "ridge": 0.5, "balanced": True, "max_iter": 3,
        "tol": 0.5, "learning_rate": 0.5, "eval_metric": "map", "early_stopping_rounds": 2,
        "random_state": 7, "n_jobs": 2, "verbose": 0,
    },
    SLAMPerceptron: {"measure": "ap", "learning_rate": 0.5, "margin": 0.5, "max_iter": 2},
}  # fmt: skip
KINDS: list[dict[type, Any]] = [
    {bool: np.bool_, int: np.int64, float: np.float64, str: np.str_},
    {bool: np.bool_, int: np.uint8, float: np.float32, str: np.str_},
]


def numpys(value: Any, kinds: dict[type, Any]) -> Any:
    """Return a value as NumPy has it; of a list or a dict, its values."""
    if isinstance(value, dict):
        return {np.str_(name): numpys(item, kinds) for name, item in value.items()}
    return (
        [numpys(item, kinds) for item in value]
        if isinstance(value, list)
        else kinds[type(value)](value)
    )


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("cls", PARAMS)
def test_every_parameter(cls: Any, kinds: dict[type, Any], tmp_path: Path) -> None:
    """The model is that of Python's own numbers and texts, and is saved, loaded and cloned."""
    params = PARAMS[cls]
    valid: dict[str, Any] = {}
    if cls is LinearRanker:
        valid = {"eval_set": [(X, Y // 2)], "eval_qid": [QID]}
    expected = cls(**params).fit(X, Y, qid=QID, **valid).predict(X)
    assert np.ptp(expected) > 0
    ranker = cls(**{name: numpys(value, kinds) for name, value in params.items()})
    for own in (ranker, clone(ranker)):
        own.fit(X, Y, qid=QID, **valid).save(tmp_path / "model")
        np.testing.assert_array_equal(own.predict(X), expected)
        loaded = load_ranker(tmp_path / "model")
        np.testing.assert_array_equal(loaded.predict(X), expected)
        for name, value in params.items():
            assert loaded.get_params()[name] == value
            assert type(loaded.get_params()[name]) in (type(value), float)
        clone(loaded)
