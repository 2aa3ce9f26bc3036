"""A booster that a module outside gbrank declares does all that LightGBM and XGBoost do."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.tree import DecisionTreeRegressor

from gbrank import GBRanker, export_model, lightgbm_fobj, load_ranker, make_cubic
from gbrank.boosters import BOOSTERS
from gbrank.commands.models import info
from gbrank.fit.pretrained import PretrainedRanker
from sklearn_tree import SKLEARN_TREE

X, Y, QID = make_cubic(30, n_documents=10, n_features=5, random_state=0)
X = X.astype(np.float32).astype(np.float64)
TRAIN, VALID = QID < 20, QID >= 20
FEW: dict[str, Any] = {"booster": "sklearn-tree", "colsample": 1.0, "num_leaves": 6, "n_jobs": 1}


@pytest.fixture(autouse=True, scope="module")
def registered() -> Iterator[None]:
    """The declaration is all that gbrank needs; other tests know two boosters."""
    BOOSTERS[SKLEARN_TREE.name] = SKLEARN_TREE
    yield
    del BOOSTERS[SKLEARN_TREE.name]


def newton_steps(scores: Any) -> tuple[Any, Any]:
    """Return what RankNet's hook gives to a booster in the first round."""
    return lightgbm_fobj("ranknet").at_round(0, Y, scores, None, [10] * 30)


def test_a_tree_is_fitted_to_newton_steps() -> None:
    """The weighted mean of -gradient / curvature is the Newton step of a leaf."""
    gradient, curvature = newton_steps(np.zeros(len(Y)))
    tree = DecisionTreeRegressor(max_leaf_nodes=6, min_samples_leaf=20, random_state=3)
    tree.fit(X, -gradient / curvature, sample_weight=curvature)
    ranker = GBRanker("ranknet", n_estimators=1, learning_rate=0.3, random_state=3, **FEW)
    ranker.fit(X, Y, qid=QID)
    assert_allclose(ranker.predict(X), 0.3 * tree.predict(X), rtol=1e-12)
    assert_array_equal(ranker.importances("split") > 0, tree.feature_importances_ > 0)
    assert_allclose(ranker.feature_importances_, tree.feature_importances_)


def test_refit_takes_newton_steps_in_its_leaves() -> None:
    """By hand, for a tree."""
    ranker = GBRanker("ranknet", n_estimators=1, learning_rate=0.2, random_state=3, **FEW)
    scores = ranker.fit(X, 4 - Y, qid=QID).predict(X)
    gradient, curvature = newton_steps(scores)
    expected = scores.copy()
    for value in np.unique(scores):
        rows = scores == value
        expected[rows] -= 0.2 * gradient[rows].sum() / curvature[rows].sum()
    assert_allclose(ranker.refit(X, Y, qid=QID).predict(X), expected, rtol=1e-6)


def test_early_stopping() -> None:
    """The model has the rounds up to the best one."""
    ranker = GBRanker(n_estimators=60, early_stopping_rounds=8, learning_rate=0.3, **FEW)
    ranker.fit(X[TRAIN], Y[TRAIN], qid=QID[TRAIN], eval_set=[(X[VALID], Y[VALID])],
               eval_qid=[QID[VALID]])  # fmt: skip
    curve = ranker.evals_result_["valid_0"]["ndcg@10"]
    assert len(curve) == ranker.best_iteration_ + 8 < 60
    assert ranker.best_iteration_ == np.argmax(curve) + 1
    assert ranker.score(X[VALID], Y[VALID], QID[VALID]) == pytest.approx(max(curve), abs=1e-12)


def test_checkpoints(tmp_path: Path) -> None:
    """A fit that ended in its fourth round resumes, to the same bits."""
    whole = GBRanker(n_estimators=6, random_state=0, **FEW).fit(X, Y, qid=QID)
    ranker = GBRanker(n_estimators=6, random_state=0, **FEW)

    def killed(round: Any) -> None:
        if round.number == 3:
            raise InterruptedError

    checkpoint: dict[str, Any] = {"checkpoint": tmp_path, "checkpoint_rounds": 2}
    with pytest.raises(InterruptedError):
        ranker.fit(X, Y, qid=QID, callbacks=[killed], **checkpoint)
    ranker.fit(X, Y, qid=QID, **checkpoint)
    assert_array_equal(ranker.predict(X), whole.predict(X))


def test_saved_and_loaded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By GBRanker, in a chain, and as a file of its own."""
    frame = pd.DataFrame(X, columns=list("abcde"))
    first = GBRanker(n_estimators=4, **FEW).fit(frame, Y, qid=QID)
    ranker = GBRanker(n_estimators=3, init=first, **FEW).fit(frame, Y, qid=QID)
    ranker.save(tmp_path / "folder")
    assert_array_equal(load_ranker(tmp_path / "folder").predict(frame), ranker.predict(frame))
    assert_array_equal(ranker.predictor().predict(frame), ranker.predict(frame))
    info(model=str(tmp_path / "folder"), json=True)
    assert json.loads(capsys.readouterr().out)["booster"] == "sklearn-tree"
    (tmp_path / "file").write_bytes(first.booster_.dump())
    again = GBRanker(n_estimators=1, init=tmp_path / "file", **FEW).fit(frame, Y, qid=QID)
    assert isinstance(again.init_, PretrainedRanker)
    assert_array_equal(again.init_.predict(X), first.predict(frame))
    del BOOSTERS["sklearn-tree"]
    try:
        with pytest.raises(ValueError, match=r"booster.*'lightgbm'.*'xgboost'.*'sklearn-tree'"):
            load_ranker(tmp_path / "folder")
    finally:
        BOOSTERS["sklearn-tree"] = SKLEARN_TREE


def test_explained_and_exported(tmp_path: Path) -> None:
    """Shares sum to scores, and a verified export has them."""
    ranker = GBRanker(n_estimators=4, **FEW).fit(X, Y, qid=QID)
    shares = ranker.explain(X)
    assert shares.shape == (300, 6)
    assert_allclose(shares.sum(axis=1), ranker.predict(X), atol=1e-12)
    gap = np.diff(ranker.predict(X[[4, 0]]))[0]
    assert ranker.explain_pair(X, 0, 4, qid=QID).gap == pytest.approx(gap)
    export_model(ranker, tmp_path / "model.json", "opensearch")


def test_parameters() -> None:
    """They are checked as those of any booster."""
    refusals: dict[str, dict[str, Any]] = {
        "extra_trees must be .*'sklearn-tree'": {"extra_trees": True},
        "'criterion', which has no effect here": {"booster_params": {"criterion": "mae"}},
        "unknown booster parameter 'splittr'.*splitter": {"booster_params": {"splittr": "best"}},
        "'max_depth': use the argument": {"booster_params": {"max_depth": 3}},
    }
    for message, params in refusals.items():
        with pytest.raises(ValueError, match=f"(?s){message}"):
            GBRanker(**FEW, **params).fit(X, Y, qid=QID)
    signs: dict[str, Any] = {
        "booster_params": {"monotonic_cst": [0, 0, 0, 0, 1]},
        "n_estimators": 2,
    }
    ranker = GBRanker(**FEW, **signs).fit(X, Y, qid=QID)
    with pytest.raises(ValueError, match="refit does not support monotonic_cst"):
        ranker.refit(X, Y, qid=QID)
