"""Hooks: how they are shown, and what of a booster's data set they refuse."""

from typing import Any

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from sklearn.model_selection import GroupKFold

from gbrank import lightgbm_feval, lightgbm_fobj, make_cubic, xgboost_feval, xgboost_obj
from gbrank.schedules import geometric

HOOKS = [
    "lightgbm_fobj('lambda:map')",
    "lightgbm_fobj('approx:ndcg', sigma=geometric(start=1, stop=0.1), rounds=5)",
    "xgboost_obj('ranknet', start=False, curvature='unit', n_jobs=2)",
    "lightgbm_feval('ndcg@3', 'map')",
    "xgboost_feval('ndcg')",
]


@pytest.mark.parametrize("text", HOOKS)
def test_a_hook_is_shown_as_it_is_made(text: str) -> None:
    """So that what logs the parameters of a ranker says what it trained on."""
    names = (geometric, lightgbm_feval, lightgbm_fobj, xgboost_feval, xgboost_obj)
    assert repr(eval(text, {function.__name__: function for function in names})) == text


def test_torn_queries_are_refused() -> None:
    """The folds of `lgb.cv` are of rows, unless they are asked to be of groups."""
    X, y, _ = make_cubic(12, n_documents=5, random_state=0)
    quiet: dict[str, Any] = {"verbosity": -1, "num_threads": 1, "metric": "none"}

    def cv(objective: Any, **options: Any) -> Any:
        data = lgb.Dataset(X, y, group=[5] * 12)
        params = {**quiet, "objective": objective}
        return lgb.cv(params, data, 2, nfold=3, feval=lightgbm_feval("map"), **options)

    hook = lightgbm_fobj("lambda:map")
    torn = r"Dataset must hold whole queries, got a subset that cuts \d+ of 12\. .*GroupKFold"
    for options in ({}, {"stratified": False}):
        with pytest.raises(ValueError, match=torn):
            cv(hook, **options)
    assert len(cv(hook, folds=GroupKFold(3))["valid map-mean"]) == 2
    assert len(cv("lambdarank")["valid map-mean"]) == 2  # LightGBM's own folds are whole
    whole = lgb.Dataset(X, y, group=[5] * 12, free_raw_data=False)
    lgb.train({**quiet, "objective": hook}, whole.subset([*range(25)]), 1)
    with pytest.raises(ValueError, match="a subset that cuts 1 of 12"):
        lgb.train({**quiet, "objective": hook}, whole.subset([*range(26)]), 1)


def test_columns_that_no_hook_uses_are_refused() -> None:
    """Positions of clicks and bounds of labels; weights and initial scores have an effect."""
    X, y, qid = make_cubic(8, n_documents=5, random_state=0)
    clicks = lgb.Dataset(X, y, group=[5] * 8, position=np.tile(np.arange(5), 8))
    params: dict[str, Any] = {"verbosity": -1, "num_threads": 1, "objective": lightgbm_fobj()}
    with pytest.raises(ValueError, match=r"position must not be .*GBRanker does: fit\(.*position"):
        lgb.train(params, clicks, 1)
    bounded = xgb.DMatrix(X, y, qid=qid, label_upper_bound=y + 1)
    with pytest.raises(ValueError, match="label_upper_bound must not be in the DMatrix"):
        xgb.train({"base_score": 0}, bounded, 1, obj=xgboost_obj())
