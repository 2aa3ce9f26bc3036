"""What can be scored: each kind gives what the model itself predicts."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.linear_model import Ridge

from gbrank import NDCG, GBRanker, compare_scores, cross_validate_rankers
from gbrank.data.trec import write_run
from gbrank.evaluation import Dataset, scores_from
from scored import FRAME, QID, WIDER, X, Y, lightgbm_ranker

QUIET: dict[str, Any] = {"n_jobs": 1, "progress": False, "seeds": 1, "folds": 3}


def test_models_of_any_library_see_their_columns() -> None:
    """Of a frame with others, in another order."""
    ranker = lightgbm_ranker()
    expected = ranker.predict(FRAME)
    for source in (ranker, ranker.booster_):
        assert_allclose(scores_from(source, WIDER), expected)
    named = FRAME.rename(columns=lambda name: name.replace(" ", "_"))
    other = xgb.XGBRanker(n_estimators=5).fit(named, Y, qid=QID)
    wider = WIDER.rename(columns=lambda name: name.replace(" ", "_"))
    assert_allclose(scores_from(other, wider), other.predict(named, output_margin=True), rtol=1e-6)
    ridge = Ridge().fit(FRAME, Y)
    assert_allclose(scores_from(ridge, WIDER), ridge.predict(FRAME))
    own = GBRanker(n_estimators=3, random_state=0).fit(FRAME, Y, qid=QID)
    assert_array_equal(scores_from(own, WIDER), own.predict(FRAME))


def test_runs(tmp_path: Path) -> None:
    """By queries and names of documents; what a run lacks comes last in its query."""
    path = tmp_path / "run.txt"
    write_run(path, X[1:, 0], QID[1:], WIDER["url"][1:].tolist())
    found = scores_from(path, qid=QID, docid=WIDER["url"])
    assert_array_equal(found[1:], X[1:, 0])
    assert found[0] < X[:, 0].min()
    with pytest.raises(ValueError, match="docid must name the document of each row"):
        scores_from(path, qid=QID)
    with pytest.warns(UserWarning, match=r"nothing was retrieved for 1 of 12 .*, such as '99'"):
        lacking = scores_from(path, qid=np.where(QID == 5, 99, QID), docid=WIDER["url"])
    assert (lacking[QID == 5] < X[:, 0].min()).all()
    with pytest.raises(ValueError, match="docid must name documents that"):
        scores_from(path, qid=QID, docid=[f"x{row}" for row in range(len(Y))])
    for ids in (QID.astype(float), QID.astype(str)):
        np.testing.assert_array_equal(scores_from(path, qid=ids, docid=WIDER["url"]), found)


def test_scores_of_all_kinds_are_compared(tmp_path: Path) -> None:
    """By labels of any name, with a baseline that is not the first; queries have their own ids."""
    path, ids = tmp_path / "run.txt", np.array([f"query-{query}" for query in QID[::-1]])
    write_run(path, X[:, 0], ids, WIDER["url"].tolist())
    scores = {"price": "price", "run": path, "own": X[:, 0]}
    given: dict[str, Any] = {"X": WIDER, "docid": WIDER["url"], "labels": {"margin": Y[::-1]}}
    found = compare_scores(scores, Y, ids, metric="ndcg[margin]", baseline="run", **given)
    rows = {row.ranker: row for row in found.summary()}
    assert rows["run"].mean == rows["own"].mean == NDCG()(Y[::-1], X[:, 0], qid=ids)
    assert (rows["run"].difference, rows["own"].difference) == (0, 0)
    assert rows["price"].difference == pytest.approx(rows["price"].mean - rows["run"].mean)
    with pytest.raises(ValueError, match="is undefined on every query"):
        compare_scores(scores, 0 * Y, ids, **given)


class Recorder(BaseEstimator):
    """Notes what it is fitted on; a subclass says what its fit takes."""

    seen: Any = None

    def note(self, **seen: Any) -> "Recorder":
        """Keep what was given."""
        type(self).seen = seen
        return self

    def predict(self, X: Any) -> Any:
        """Return the first column."""
        return X[:, 0]


class OfGroups(Recorder):
    """As LightGBM's."""

    def fit(
        self, X: Any, y: Any, group: Any = None, eval_set: Any = None, eval_group: Any = None
    ) -> Any:
        """Note all."""
        return self.note(y=y, group=group, eval_set=eval_set, eval_group=eval_group)


class Regressor(Recorder):
    """As scikit-learn's."""

    def fit(self, X: Any, y: Any) -> Any:
        """Note all."""
        return self.note(X=X, y=y)


def test_estimators_without_qid_get_what_they_take() -> None:
    """Sizes of consecutive queries, or rows alone."""
    order = np.random.default_rng(0).permutation(len(Y))
    rankers = {"groups": OfGroups(), "rows": Regressor()}
    found = cross_validate_rankers(rankers, X[order], Y[order], QID[order], **QUIET)
    assert [row.n_queries for row in found.summary()] == [12] * 2
    labels = {tuple(sorted(Y[query == QID])): query for query in range(12)}
    start = 0
    for size in OfGroups.seen["group"]:
        assert tuple(sorted(OfGroups.seen["y"][start : start + size])) in labels
        start += size
    assert start == len(OfGroups.seen["y"])
    assert [sum(sizes) for sizes in OfGroups.seen["eval_group"]] == [32]
    assert len(Regressor.seen["X"]) == 32


def test_what_is_fitted_is_judged_as_it_is(tmp_path: Path) -> None:
    """A booster, its file, a column, scores: the same in all folds, in the order of the rows."""
    ranker = lightgbm_ranker()
    ranker.booster_.save_model(tmp_path / "live.txt")
    opponents = {
        "booster": ranker.booster_,
        "file": str(tmp_path / "live.txt"),
        "column": "price",
        "scores": X[:, 2],
        "mine": Ridge(),
        "named": "ranknet",
    }
    options = QUIET | {"metric": ["map"], "baseline": "column"}
    with pytest.warns(UserWarning, match="no tree has a split") as caught:
        rows = cross_validate_rankers(opponents, FRAME, Y, QID, **options).summary()
    assert {warning.filename for warning in caught} == {__file__}
    means = {row.ranker: row.mean for row in rows}
    assert means["booster"] == means["file"]
    assert means["column"] == means["scores"]
    assert next(row for row in rows if row.ranker == "scores").p_t == 1


@pytest.mark.parametrize(
    "trained_on", [["bm25 title"], ["bm25_title"], ["bm25_title", "bm25 title"]]
)
def test_columns_of_a_similar_name(trained_on: list[str]) -> None:
    """A model sees the column that it names, and a similar one only if it alone is there."""
    frame = pd.DataFrame({"bm25 title": X[:, 0], "x": X[:, 1], "bm25_title": X[:, 2]})
    ridge = Ridge().fit(frame[trained_on], Y)
    assert_array_equal(scores_from(ridge, frame), ridge.predict(frame[trained_on]))
    with pytest.raises(ValueError, match="feature names"):
        scores_from(ridge, frame.rename(columns={"bm25 title": "bm25-title", "bm25_title": "b"}))
    if len(trained_on) == 2:  # one column is not given in place of two
        with pytest.raises(ValueError, match="feature names"):
            scores_from(ridge, frame.drop(columns="bm25 title"))


def test_topics_and_documents_of_runs_that_read_the_same(tmp_path: Path) -> None:
    """1 and 1.0 are two topics of a run, and two documents; numbers find their texts."""
    path, qid = tmp_path / "run.txt", ["1", "1", "1.0", "1.0"]
    docid = ["7", "7.0", "7", "7.0"]
    write_run(path, [1.0, 2.0, 3.0, 4.0], qid, docid)
    assert_array_equal(scores_from(path, qid=qid, docid=docid), [1.0, 2.0, 3.0, 4.0])
    assert scores_from(path, qid=["1.0"] * 2, docid=[7, "x"])[0] == 3


@pytest.mark.parametrize("lowest", [0.5, 2.0**53, 1764195e12, -1e300, 1e-300])
def test_absent_documents_are_below_the_last(tmp_path: Path, lowest: float) -> None:
    """At any size of scores."""
    write_run(tmp_path / "run", [lowest, 2e18], ["q", "q"], ["old", "new"])
    found = scores_from(tmp_path / "run", qid=["q"] * 3, docid=["absent", "old", "new"])
    assert found[0] < found[1] < found[2]
    assert np.isfinite(found).all()


def test_documents_that_are_there_twice_are_counted() -> None:
    """In one warning; documents without a name, and those of other queries, are not."""
    docid: list[Any] = [f"d{row % 8}" for row in range(len(Y))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compare_scores({"a": X[:, 0]}, Y, QID, docid=docid)
        Dataset("x", FRAME, Y, QID, 3, docid=[None, None, 1, "1", *docid[4:]])
    docid[1:4] = "d0", "d0", "d4"
    text = r"^3 of 96 rows \(3\.1%\) repeat a document of their query\. Duplicate documents"
    with pytest.warns(UserWarning, match=text) as caught:
        compare_scores({"a": X[:, 0], "b": X[:, 1]}, Y, QID, docid=docid)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match=text):
        Dataset("x", FRAME, Y, QID, 3, docid=docid)


def test_queries_that_read_the_same_are_compared_apart() -> None:
    """As scores, and in folds."""
    qid = np.empty(len(Y), object)
    qid[:] = [int(query) if query % 2 else str(query + 1) for query in QID]
    found = compare_scores({"a": X[:, 0]}, Y, qid)
    assert found.summary()[0].n_queries == 12
    assert found.summary()[0].mean == pytest.approx(NDCG()(Y, X[:, 0], qid=QID))
    assert found.parts["test"].queries == list(dict.fromkeys(qid.tolist()))
    folds = cross_validate_rankers({"a": X[:, 0]}, FRAME, Y, qid, **QUIET).summary()
    assert folds[0].n_queries == 12
