"""LambdaRank with the presets that reproduce LightGBM's and XGBoost's own objectives."""

from typing import Any

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from gbrank import NDCG, LambdaRank, Queries, lightgbm_fobj, make_cubic, xgboost_obj

Vector = NDArray[np.float64]


def cubic() -> Any:
    """Return training and test data."""
    X, y, qid = make_cubic(120, n_documents=30, n_features=10, random_state=0)
    return [(X[part], y[part], qid[part]) for part in (qid < 80, qid >= 80)]


def assert_same_model(ours: Vector, theirs: Vector, test: Any, atol: float) -> None:
    """Scores agree to rounding, and so does NDCG@10."""
    _, y, qid = test
    assert theirs.std() > 0.3
    assert_allclose(ours, theirs, rtol=0, atol=atol)
    values = [NDCG(k=10)(y, scores, qid=qid) for scores in (ours, theirs)]
    assert values[0] == pytest.approx(values[1], abs=1e-3)


@pytest.mark.parametrize("truncation", [30, 1000])
def test_lightgbm_is_reproduced(truncation: int) -> None:
    """Its "lambdarank", to the rounding of its single precision."""
    (X, y, qid), test = cubic()
    options = {"learning_rate": 0.05, "num_leaves": 15, "num_threads": 1, "verbose": -1,
               "deterministic": True, "force_col_wise": True}  # fmt: skip
    ours = LambdaRank(NDCG(), truncation=truncation, normalize="lightgbm", ties="order")
    theirs = {"objective": "lambdarank", "lambdarank_truncation_level": truncation}
    scores = []
    for objective in ({"objective": lightgbm_fobj(ours, n_jobs=1)}, theirs):
        data = lgb.Dataset(X, y, group=Queries.from_qid(qid).sizes)
        scores.append(lgb.train({**options, **objective}, data, 50).predict(test[0]))
    assert_same_model(*scores, test, atol=5e-5)


@pytest.mark.parametrize("truncation", [32, 1000])
def test_xgboost_is_reproduced(truncation: int) -> None:
    """Its "rank:ndcg", likewise."""
    (X, y, qid), test = cubic()
    options = {"eta": 0.05, "max_leaves": 15, "max_depth": 0, "grow_policy": "lossguide",
               "nthread": 1, "base_score": 0}  # fmt: skip
    ours = LambdaRank(NDCG(), truncation=truncation, normalize="xgboost", ties="order")
    theirs = {"objective": "rank:ndcg", "lambdarank_pair_method": "topk",
              "lambdarank_num_pair_per_sample": truncation}  # fmt: skip
    data = xgb.DMatrix(X, y, qid=qid, nthread=1)
    boosters = [
        xgb.train(options, data, 50, obj=xgboost_obj(ours, n_jobs=1)),
        xgb.train({**options, **theirs}, data, 50),
    ]
    scores = [booster.predict(xgb.DMatrix(test[0], nthread=1)) for booster in boosters]
    assert_same_model(*scores, test, atol=2e-6)
