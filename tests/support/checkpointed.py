"""Small fits with checkpoints, and how tests end them."""

import json
from pathlib import Path
from typing import Any

import pytest
from numpy.testing import assert_array_equal

from gbrank import GBRanker, make_cubic
from gbrank.boosters import BOOSTERS
from plain_trees import PLAIN

X_ALL, Y_ALL, QID_ALL = make_cubic(40, n_documents=12, n_features=6, random_state=0)
TRAIN = QID_ALL < 25
X, Y, QID = X_ALL[TRAIN], Y_ALL[TRAIN], QID_ALL[TRAIN]
VALID = {
    "eval_set": [(X_ALL[~TRAIN], Y_ALL[~TRAIN]), (X[:120], Y[:120])],
    "eval_qid": [QID_ALL[~TRAIN], QID[:120]],
}
FILE = "checkpoint.gbrank"
boosters = pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])


class Killed(Exception):
    """What ends a fit in these tests."""


def make(booster: str = "lightgbm", objective: Any = "lambdarank", **params: Any) -> GBRanker:
    """Return a small ranker; `init` may be a function that makes a start."""
    if callable(start := params.get("init")):
        params["init"] = start()
    defaults = {"n_estimators": 9, "random_state": 3, "n_jobs": 1, "min_child_samples": 3}
    return GBRanker(objective, booster=booster, **{**PLAIN, **defaults, **params})


def fit(ranker: GBRanker, X: Any = X, **data: Any) -> GBRanker:
    """Return a ranker, fitted."""
    return ranker.fit(X, Y, **{"qid": QID, **VALID, **data})


def kill_before(
    monkeypatch: pytest.MonkeyPatch, ranker: GBRanker, round: int, error: Any = Killed
) -> None:
    """Let training end before a round, counted from the beginning of this fit."""
    kind = BOOSTERS[ranker.booster].trainer
    step, done = kind.step, []

    def dying(self: Any, derivatives: Any) -> None:
        if len(done) == round:
            raise error
        done.append(1)
        step(self, derivatives)

    monkeypatch.setattr(kind, "step", dying)


def interrupted(ranker: GBRanker, folder: Path, round: int, X: Any = X, **data: Any) -> None:
    """Fit until before a round."""
    with pytest.MonkeyPatch.context() as patch:
        kill_before(patch, ranker, round)
        with pytest.raises(Killed):
            fit(ranker, X, checkpoint=folder, checkpoint_rounds=2, **data)


def assert_same(a: GBRanker, b: GBRanker, X: Any = X) -> None:
    """Assert that two fits came to the same bits."""
    assert a._model.dump() == b._model.dump()
    assert a.evals_result_ == b.evals_result_
    assert a.best_iteration_ == b.best_iteration_
    assert a.best_score_ == b.best_score_
    assert_array_equal(a.sigmas_, b.sigmas_)
    assert_array_equal(a.predict(X), b.predict(X))


def history_of(folder: Path) -> dict[str, Any]:
    """Return what a checkpoint says of the rounds."""
    return json.loads((folder / FILE).read_bytes().split(b"\n")[1])["history"]
