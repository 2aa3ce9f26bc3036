"""GBRanker(context=...): the numbers are those of columns that are appended by hand."""

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gbrank import (
    GBRanker,
    QueryContext,
    QueryKFold,
    cross_validate_rankers,
    export_model,
    load_ranker,
    make_cubic,
    plots,
)
from gbrank.evaluation import make_scorer
from gbrank.export.formats import FORMATS
from gbrank.fit.rounds import Round

BOOSTERS = ("lightgbm", "xgboost")
ALL = ["difference", "rank", "zscore", "mean", "gap", "size"]
SMALL: dict[str, Any] = {
    "n_estimators": 8,
    "num_leaves": 7,
    "random_state": 0,
    "n_jobs": 1,
}
X, Y, QID = make_cubic(40, n_documents=10, n_features=4, random_state=0)
X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
VALID, TRAIN = slice(300, None), slice(0, 300)
HELD_OUT: dict[str, Any] = {"eval_set": [(X[VALID], Y[VALID])], "eval_qid": [QID[VALID]]}


def widened(kinds: Any, matrix: Any = X, qid: Any = QID) -> Any:
    """Return columns with those that the transformer appends."""
    return QueryContext(kinds).fit_transform(matrix, qid=qid)


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("kinds", [ALL, "difference", {"rank": [0, 2], "size": None}])
def test_a_fit_is_that_of_appended_columns(booster: str, kinds: Any) -> None:
    """Scores, measures, shares, importances and what is added."""
    params = {**SMALL, "booster": booster, "early_stopping_rounds": 5}
    ranker = GBRanker(context=kinds, **params).fit(X[TRAIN], Y[TRAIN], qid=QID[TRAIN], **HELD_OUT)
    wide = widened(kinds)
    held_out = {**HELD_OUT, "eval_set": [(wide[VALID], Y[VALID])]}
    other = GBRanker(**params).fit(wide[TRAIN], Y[TRAIN], qid=QID[TRAIN], **held_out)
    assert ranker.evals_result_ == other.evals_result_
    assert_array_equal(ranker.predict(X, qid=QID), other.predict(wide))
    assert_array_equal(ranker.predict(X[:10], group=[10]), other.predict(wide[:10]))
    shares = ranker.explain(X, qid=QID)
    assert_array_equal(shares, other.explain(wide))
    assert_allclose(shares.sum(axis=1), ranker.predict(X, qid=QID), atol=1e-5)
    assert_array_equal(ranker.feature_importances_, other.feature_importances_)
    assert_array_equal(ranker.rank(X, QID), other.rank(wide, QID))
    assert ranker.score(X, Y, QID) == other.score(wide, Y, QID)
    assert ranker.n_features_in_ == 4
    assert len(ranker.added_features_) == wide.shape[1] - 4 == shares.shape[1] - 5


def test_the_order_of_rows_changes_no_score() -> None:
    """In training and prediction."""
    params = {**SMALL, "context": ALL}
    ranker = GBRanker(**params).fit(X, Y, qid=QID)
    order = np.random.default_rng(0).permutation(len(X))
    again = GBRanker(**params).fit(X[order], Y[order], qid=QID[order])
    scores = ranker.predict(X, qid=QID)
    assert_array_equal(ranker.predict(X[order], qid=QID[order]), scores[order])
    assert_array_equal(again.predict(X, qid=QID), scores)


def test_what_is_missing_is_said() -> None:
    """Each method says what to pass, and checks what it is given."""
    ranker = GBRanker(context="rank", **SMALL).fit(X, Y, qid=QID)
    remedy = r"a model with context= needs qid=.*group=\[len\(X\)\]"
    for method in (ranker.predict, ranker.rank, ranker.explain):
        with pytest.raises(ValueError, match=remedy):
            method(X)
        with pytest.raises(ValueError, match="qid must have one entry per row"):
            method(X, qid=QID[:-1])
    with pytest.raises(ValueError, match="score needs qid="):
        ranker.score(X, Y)
    with pytest.raises(ValueError, match="context must be one of"):
        GBRanker(context="ranks", **SMALL).fit(X, Y, qid=QID)
    without = GBRanker(**SMALL).fit(X, Y, qid=QID)
    assert_array_equal(without.predict(X, qid=QID), without.predict(X))
    with pytest.raises(ValueError, match="qid must have one entry per row"):
        without.predict(X, qid=QID[:-1])


@pytest.mark.slow
@pytest.mark.parametrize("booster", BOOSTERS)
def test_saved_pickled_and_cloned(booster: str, tmp_path: Path) -> None:
    """A fresh process predicts the same from the folder."""
    frame = pd.DataFrame(X, columns=["bm25", "age", "price", "clicks"])
    kinds = {"size": None, "rank": ["bm25"], "difference": None}
    ranker = GBRanker(context=kinds, booster=booster, **SMALL).fit(frame, Y, qid=QID)
    scores = ranker.predict(frame, qid=QID)
    ranker.save(tmp_path / "model")
    frame.to_pickle(tmp_path / "frame")
    np.save(tmp_path / "qid.npy", QID)
    code = (
        "import numpy as np, pandas as pd, gbrank\n"
        "ranker = gbrank.load_ranker('model')\n"
        "scores = ranker.predict(pd.read_pickle('frame'), qid=np.load('qid.npy'))\n"
        "np.save('scores.npy', scores)\n"
        "print(ranker.added_features_, ranker.context)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == f"{ranker.added_features_} {kinds}"
    assert ranker.added_features_[4:] == ["rank(bm25)", "size"]
    assert_array_equal(np.load(tmp_path / "scores.npy"), scores)
    assert_array_equal(pickle.loads(pickle.dumps(ranker)).predict(frame, qid=QID), scores)
    again = clone(load_ranker(tmp_path / "model")).fit(frame, Y, qid=QID)
    assert_array_equal(again.predict(frame, qid=QID), scores)


def test_frames_with_categories_and_sparse_matrices() -> None:
    """Categories have no context; a sparse matrix gives what a dense one does."""
    frame = pd.DataFrame(np.nan_to_num(X), columns=list("abcd"))
    frame["kind"] = pd.Categorical(np.where(X[:, 0] > 0, "x", "y"))
    ranker = GBRanker(context="mean", **SMALL).fit(frame, Y, qid=QID)
    assert ranker.added_features_ == ["mean(a)", "mean(b)", "mean(c)", "mean(d)"]
    by_hand = frame.join(pd.DataFrame(widened("mean", frame[list("abcd")])[:, 4:], frame.index))
    other = GBRanker(**SMALL).fit(by_hand, Y, qid=QID)
    assert_array_equal(ranker.predict(frame[list(frame)[::-1]], qid=QID), other.predict(by_hand))
    with pytest.raises(ValueError, match=r"context must name columns of numbers.*'kind'"):
        GBRanker(context={"rank": ["kind"]}, **SMALL).fit(frame, Y, qid=QID)
    dense = GBRanker(context=ALL, **SMALL).fit(np.nan_to_num(X), Y, qid=QID)
    thin = sparse.csr_matrix(np.nan_to_num(X))
    found = GBRanker(context=ALL, **SMALL).fit(thin, Y, qid=QID).predict(thin, qid=QID)
    assert_allclose(found, dense.predict(np.nan_to_num(X), qid=QID), rtol=1e-9)


@pytest.mark.parametrize(
    "init", ["regression", GBRanker(context="difference", **SMALL), GBRanker(**SMALL)]
)
def test_what_is_boosted_from_is_told_the_queries(init: Any, tmp_path: Path) -> None:
    """Its shares are added to the columns of the same names."""
    init = init if isinstance(init, str) else clone(init).fit(X, Y, qid=QID)
    ranker = GBRanker("lambdarank", context=["difference", "rank"], init=init, **SMALL)
    ranker.fit(X, Y, qid=QID)
    scores = ranker.predict(X, qid=QID)
    shares = ranker.explain(X, qid=QID)
    assert shares.shape == (len(X), 13)
    assert_allclose(shares.sum(axis=1), scores, atol=1e-5)
    ranker.save(tmp_path / "model")
    assert_array_equal(load_ranker(tmp_path / "model").predict(X, qid=QID), scores)
    above = GBRanker(init=ranker, **SMALL).fit(X, Y, qid=QID)
    with pytest.raises(ValueError, match="needs qid="):
        above.predict(X)
    with pytest.raises(ValueError, match="init must add no features but"):
        above.explain(X, qid=QID)


def test_checkpoint_goes_on_to_the_same_model(tmp_path: Path) -> None:
    """And one of another context is refused."""
    ranker = GBRanker(context="rank", **SMALL)
    expected = clone(ranker).fit(X, Y, qid=QID).predict(X, qid=QID)

    def stop(state: Round) -> None:
        if state.number == 4:
            raise InterruptedError

    options: dict[str, Any] = {"checkpoint": tmp_path / "half", "checkpoint_rounds": 2}
    with pytest.raises(InterruptedError):
        ranker.fit(X, Y, qid=QID, callbacks=[stop], **options)
    ranker.fit(X, Y, qid=QID, **options)
    assert_array_equal(ranker.predict(X, qid=QID), expected)
    with pytest.raises(ValueError, match=r"checkpoint must be of the same fit.*context"):
        GBRanker(context="gap", **SMALL).fit(X, Y, qid=QID, checkpoint=tmp_path / "half")


@pytest.mark.slow
def test_cross_validation() -> None:
    """gbrank's own, and scikit-learn's by score, by a scorer and through a pipeline."""
    wide = widened("rank")
    with config_context(enable_metadata_routing=True):
        options = {"cv": QueryKFold(3), "params": {"qid": QID}}
        for scoring in (None, make_scorer("ndcg@10")):
            found = cross_val_score(
                GBRanker(context="rank", **SMALL), X, Y, scoring=scoring, **options
            )
            other = cross_val_score(GBRanker(**SMALL), wide, Y, scoring=scoring, **options)
            assert_array_equal(found, other)
        scaled = make_pipeline(StandardScaler(), GBRanker(context="rank", **SMALL))
        values = cross_val_score(scaled, X, Y, scoring=make_scorer("ndcg@10"), **options)
        assert np.isfinite(values).all()
        inside = make_pipeline(QueryContext("rank"), GBRanker(**SMALL))
        assert_array_equal(cross_val_score(inside, X, Y, **options), found)
    results = []
    for matrix, context in ((X, "rank"), (wide, None)):
        ranker = {"ours": GBRanker(context=context, **SMALL)}
        results.append(cross_validate_rankers(ranker, matrix, Y, QID, folds=3, n_jobs=1))
    assert results[0].summary()[0].mean == results[1].summary()[0].mean


def test_exports_refuse_and_name_what_is_added(tmp_path: Path) -> None:
    """No format computes it."""
    ranker = GBRanker(context="rank", **SMALL).fit(X, Y, qid=QID)
    above = GBRanker(init=ranker, **SMALL).fit(X, Y, qid=QID)
    for model in (ranker, above):
        for format in FORMATS:
            with pytest.raises(ValueError, match=r"context must be None .*rank\(f0\), rank\(f1\)"):
                export_model(model, tmp_path / "model", format)


def test_plots_name_what_is_added() -> None:
    """By gain and by shares of documents."""
    ranker = GBRanker(context="rank", **SMALL).fit(X, Y, qid=QID)
    for given in ((), (X,)):
        ax = plots.importance(ranker, *given, qid=QID if given else None)
        names = {label.get_text() for label in ax.get_yticklabels()}
        assert names == {*(f"f{i}" for i in range(4)), *ranker.added_features_}
