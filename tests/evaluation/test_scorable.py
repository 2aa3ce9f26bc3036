"""What can be scored: each kind gives what the model itself predicts."""

import json
import re
import subprocess
import warnings
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.linear_model import Ridge

from gbrank import (
    NDCG,
    GBRanker,
    compare_scores,
    cross_validate_rankers,
    export_model,
    make_cubic,
)
from gbrank.datasets import read_run, write_run
from gbrank.evaluation import Dataset, scores_from

X, Y, QID = make_cubic(12, n_documents=8, n_features=4, random_state=0)
NAMES = ["bm25", "title match", "price", "age"]
FRAME = pd.DataFrame(X, columns=NAMES)
WIDER = FRAME.assign(url=[f"d{row}" for row in range(len(Y))])[["url", *NAMES[::-1]]]
QUIET: dict[str, Any] = {"n_jobs": 1, "progress": False, "seeds": 1, "folds": 3}


def lightgbm_ranker() -> lgb.LGBMRanker:
    """Return one fitted on the frame."""
    return lgb.LGBMRanker(n_estimators=5, min_child_samples=2, verbosity=-1).fit(
        FRAME, Y, group=[8] * 12
    )


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


def test_files_are_told_by_their_content(tmp_path: Path) -> None:
    """Whatever their names."""
    ranker = lightgbm_ranker()
    ranker.booster_.save_model(tmp_path / "one")
    assert_allclose(scores_from(tmp_path / "one", FRAME), ranker.predict(FRAME))
    other = xgb.XGBRanker(n_estimators=5).fit(X, Y, qid=QID)
    for kind in ("json", "ubj"):
        (tmp_path / "two").write_bytes(other.get_booster().save_raw(kind))
        assert_allclose(scores_from(str(tmp_path / "two"), X), other.predict(X), rtol=1e-6)
    own = GBRanker(n_estimators=3, random_state=0).fit(X, Y, qid=QID)
    own.save(tmp_path / "three")
    assert_array_equal(scores_from(tmp_path / "three", X), own.predict(X))


def test_files_of_early_stopped_rankers(tmp_path: Path) -> None:
    """The rounds up to the best one count, as for XGBRanker; linear boosters have no rounds."""
    for kind in ("gbtree", "dart", "gblinear"):
        ranker = xgb.XGBRanker(n_estimators=9, booster=kind, n_jobs=1).fit(X, Y, qid=QID)
        ranker.get_booster().set_attr(best_iteration="3")
        expected = ranker.predict(X, output_margin=True)
        for ending in ("json", "ubj"):
            path = tmp_path / f"{kind}.{ending}"
            ranker.save_model(path)
            for source in (ranker, ranker.get_booster(), path):
                assert_allclose(scores_from(source, X), expected, rtol=1e-6, atol=1e-7)
            start = (
                GBRanker(n_estimators=1, min_child_samples=2, init=str(path), n_jobs=1)
                .fit(X, Y, qid=QID)
                .init_
            )
            assert_allclose(start.predict(X), expected, rtol=1e-6, atol=1e-7)


def whole_lightgbm() -> bytes:
    """Return the file of a model with numbers, categories and trees of one leaf."""
    frame = FRAME.assign(kind=pd.Categorical(np.arange(len(Y)) % 12))
    params = {"n_estimators": 4, "min_child_samples": 2, "verbosity": -1, "n_jobs": 1}
    own = {"min_data_per_group": 2, "cat_smooth": 1, "max_cat_to_onehot": 1}
    found = lgb.LGBMRegressor(**params, **own).fit(frame, Y + np.arange(len(Y)) % 12)
    return bytes(found.booster_.model_to_string().encode())


DAMAGE: dict[str, Any] = {
    "half": lambda text: text[: len(text) // 2],
    "nine tenths": lambda text: text[: len(text) * 9 // 10],
    "in the parameters": lambda text: text[: text.index(b"end of parameters")],
    "longer number": lambda text: text.replace(b"shrinkage=0.", b"shrinkage=0.00", 1),
    "child": lambda text: re.sub(rb"(left_child=.*)\d\n", rb"\g<1>0\n", text, count=1),
    "feature": lambda text: re.sub(rb"split_feature=\d", b"split_feature=9", text, count=1),
    "category": lambda text: re.sub(rb"num_cat=[1-9]", b"num_cat=0", text, count=1),
    "parameter": lambda text: text.replace(b"[boosting: gbdt]", b"boosting"),
    "word": lambda text: re.sub(rb"shrinkage=\d", b"shrinkage=x", text, count=1),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_files_of_lightgbm(damage: str, tmp_path: Path) -> None:
    """They would end the process: the message has the file and its kind, also as an init."""
    path, text = tmp_path / "live.txt", whole_lightgbm()
    cut = DAMAGE[damage](text)
    assert cut != text
    path.write_bytes(cut)
    with pytest.raises(
        ValueError, match=r"live\.txt: expected a whole LightGBM model, got one that was"
    ):
        scores_from(path, X)
    with pytest.raises(ValueError, match=r"live\.txt: expected a whole LightGBM model"):
        GBRanker(init=path).fit(X, Y, qid=QID)


def test_files_of_lightgbm_with_other_line_ends(tmp_path: Path) -> None:
    """They say the same."""
    ranker = lightgbm_ranker()
    text = ranker.booster_.model_to_string().encode()
    (tmp_path / "live").write_bytes(text.replace(b"\n", b"\r\n"))
    assert_array_equal(scores_from(tmp_path / "live", FRAME), ranker.predict(FRAME))
    sizeless = re.sub(rb"tree_sizes=.*\n", b"", text)
    (tmp_path / "live").write_bytes(sizeless)
    assert_array_equal(scores_from(tmp_path / "live", FRAME), ranker.predict(FRAME))


def circle(trees: list[Any]) -> None:
    """Let the root be its own child."""
    trees[0]["left_children"][0] = 0


def beyond(trees: list[Any]) -> None:
    """Let the root be of a column that is not there, where values are that no probe has."""
    trees[0]["split_indices"][0] = 10**6


def child(trees: list[Any]) -> None:
    """Let a node that is far from any probe have a child that is not there."""
    node = next(node for node, left in enumerate(trees[0]["left_children"]) if left > 0)
    trees[0]["left_children"][node] = 10**6


@pytest.mark.parametrize("damage", [circle, beyond, child, None])
def test_damaged_files_of_xgboost(damage: Any, tmp_path: Path) -> None:
    """They would end the process, or not come to an end: a process of its own reads them first."""
    booster = xgb.train({"max_depth": 3, "nthread": 1}, xgb.DMatrix(X, Y), 3)
    content = json.loads(booster.save_raw("json"))
    if damage is None:  # XGBoost reads beyond the end of the array
        content["learner"]["gradient_booster"]["model"]["trees"][0]["split_conditions"] = []
    else:
        damage(content["learner"]["gradient_booster"]["model"]["trees"])
    (tmp_path / "live").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r"live: expected a whole XGBoost model, got"):
        scores_from(tmp_path / "live", X)


def test_a_file_is_probed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who loads many times pays once."""
    booster = xgb.train({"nthread": 1}, xgb.DMatrix(X, Y), 2)
    booster.save_model(tmp_path / "live.ubj")
    first = scores_from(tmp_path / "live.ubj", X)
    monkeypatch.setattr(subprocess, "run", None)
    assert_array_equal(scores_from(tmp_path / "live.ubj", X), first)


def test_cut_files_of_others(tmp_path: Path) -> None:
    """The file is named, and its kind."""
    raw = xgb.XGBRanker(n_estimators=5).fit(X, Y, qid=QID).get_booster().save_raw("ubj")
    (tmp_path / "live").write_bytes(raw[: len(raw) // 2])
    with pytest.raises(ValueError, match="live: expected a whole XGBoost model, got one that was"):
        scores_from(tmp_path / "live", X)
    pytest.importorskip("catboost")
    (tmp_path / "live").write_bytes(b"CBM1" + b"x" * 9)
    with pytest.raises(ValueError, match="live: not a whole CatBoost model"):
        scores_from(tmp_path / "live", X)


@pytest.mark.parametrize(
    ("kind", "called"),
    [
        ("solr", "a model of Solr"),
        ("elasticsearch", "a model of Elasticsearch"),
        ("opensearch", "XGBoost's dump of trees"),
        ("vespa-lightgbm", "LightGBM's JSON"),
        ("ranklib", "a model of RankLib"),
    ],
)
def test_models_of_engines_are_no_runs(kind: str, called: str, tmp_path: Path) -> None:
    """The message says what the file is, and what to give."""
    path = tmp_path / "live"
    if kind == "ranklib":
        path.write_text("## LambdaMART\n## No. of trees = 1\n\n<ensemble>\n</ensemble>\n")
    else:
        ranker = GBRanker(n_estimators=2, random_state=0).fit(X.astype("float32"), Y, qid=QID)
        export_model(ranker, path, kind, missing_as_zero=True)
    for read in (lambda: scores_from(path, X), lambda: read_run(path)):
        with pytest.raises(ValueError, match=f"live: expected a TREC run, got {called}.*scores"):
            read()


def test_catboost(tmp_path: Path) -> None:
    """A fitted one, and its file."""
    catboost = pytest.importorskip("catboost")
    options = {"iterations": 5, "verbose": 0, "allow_writing_files": False}
    ranker = catboost.CatBoostRanker(**options).fit(FRAME, Y, group_id=QID)
    ranker.save_model(str(tmp_path / "model"))
    for source in (ranker, tmp_path / "model"):
        assert_allclose(scores_from(source, WIDER), ranker.predict(FRAME))


def test_columns_and_vectors() -> None:
    """A text is a column before it is a path."""
    assert_array_equal(scores_from("price", WIDER), FRAME["price"])
    assert_array_equal(scores_from([1, 2]), [1.0, 2.0])


def test_runs(tmp_path: Path) -> None:
    """By queries and names of documents; what a run lacks comes last in its query."""
    path = tmp_path / "run.txt"
    write_run(path, X[1:, 0], QID[1:], WIDER["url"][1:].tolist())
    found = scores_from(path, qid=QID, docid=WIDER["url"])
    assert_array_equal(found[1:], X[1:, 0])
    assert found[0] < X[:, 0].min()
    with pytest.raises(ValueError, match="docid must name the documents of the rows"):
        scores_from(path, qid=QID)
    with pytest.raises(ValueError, match=r"run must hold all queries.*lacks 1, got '99'"):
        scores_from(path, qid=np.where(QID == 5, 99, QID), docid=WIDER["url"])
    with pytest.raises(ValueError, match="docid must name documents of"):
        scores_from(path, qid=QID, docid=[f"x{row}" for row in range(len(Y))])
    with pytest.raises(ValueError, match=f"docid must have {len(Y)} entries, got 3"):
        scores_from(path, qid=QID, docid=["a", "b", "c"])
    for ids in (QID.astype(float), QID.astype(str)):
        np.testing.assert_array_equal(scores_from(path, qid=ids, docid=WIDER["url"]), found)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("no/such/file", "source must be a model with predict.*got 'no/such/file'"),
        (None, "source must be a model with predict.*got None"),
        (Ridge, r"source must be .*Call the class: Ridge\(\)"),
        ([1.0], "scores must have 96 entries, got 1"),
        ([np.nan] * 96, "scores must be finite"),
    ],
)
def test_bad_sources(source: object, message: str) -> None:
    """The argument, what it was, and what it should be."""
    with pytest.raises((ValueError, TypeError), match=message):
        scores_from(source, X)


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


# --- In cross-validation ----------------------------------------------------------------------


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


class OfIds(Recorder):
    """As CatBoost's."""

    def fit(self, X: Any, y: Any, group_id: Any = None, eval_set: Any = None) -> Any:
        """Note all."""
        return self.note(y=y, group_id=group_id, eval_set=eval_set)


class Regressor(Recorder):
    """As scikit-learn's."""

    def fit(self, X: Any, y: Any) -> Any:
        """Note all."""
        return self.note(X=X, y=y)


def test_estimators_without_qid_get_what_they_take() -> None:
    """Sizes of consecutive queries, ids of consecutive queries, or rows alone."""
    order = np.random.default_rng(0).permutation(len(Y))
    rankers = {"groups": OfGroups(), "ids": OfIds(), "rows": Regressor()}
    found = cross_validate_rankers(rankers, X[order], Y[order], QID[order], **QUIET)
    assert [row.n_queries for row in found.summary()] == [12] * 3
    labels = {tuple(sorted(Y[query == QID])): query for query in range(12)}
    start = 0
    for size in OfGroups.seen["group"]:
        assert tuple(sorted(OfGroups.seen["y"][start : start + size])) in labels
        start += size
    assert start == len(OfGroups.seen["y"])
    assert [sum(sizes) for sizes in OfGroups.seen["eval_group"]] == [32]
    assert (np.diff(OfIds.seen["group_id"]) >= 0).all()
    assert OfIds.seen["eval_set"] is None
    assert len(Regressor.seen["X"]) == 32


def test_weights_that_an_estimator_does_not_take_are_refused() -> None:
    """Rather than left out."""
    weights = np.ones(len(Y))
    with pytest.raises(ValueError, match=r"sample_weight must not be given.*fit of Regressor"):
        cross_validate_rankers({"a": Regressor()}, X, Y, QID, sample_weight=weights, **QUIET)


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
    options = QUIET | {"measures": ["map"], "baseline": "column"}
    rows = cross_validate_rankers(opponents, FRAME, Y, QID, **options).summary()
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
    assert scores_from(path, qid=["1.0"] * 2, docid=["7", 7])[1] < 3
    with pytest.raises(ValueError, match=r"run must hold all queries of the rows.*got '1'"):
        scores_from(path, qid=[1, 1], docid=docid[:2])
    with pytest.raises(ValueError, match=r"run must hold all queries of the rows.*got '1'"):
        scores_from(path, qid=np.array([1, "1"], object), docid=docid[:2])


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


@pytest.mark.parametrize("lowest", [0.5, 2.0**53, 1764195e12, -1e300, 1e-300])
def test_absent_documents_are_below_the_last(tmp_path: Path, lowest: float) -> None:
    """At any size of scores."""
    write_run(tmp_path / "run", [lowest, 2e18], ["q", "q"], ["old", "new"])
    found = scores_from(tmp_path / "run", qid=["q"] * 3, docid=["absent", "old", "new"])
    assert found[0] < found[1] < found[2]
    assert np.isfinite(found).all()


def test_no_room_below_the_last(tmp_path: Path) -> None:
    """The lowest number of all is refused only where a document is to be below it."""
    lowest = -np.finfo(float).max
    write_run(tmp_path / "run", [lowest, 0.0], ["q", "q"], ["old", "new"])
    assert scores_from(tmp_path / "run", qid=["q"] * 2, docid=["old", "new"])[0] == lowest
    with pytest.raises(ValueError, match="scores must leave room below the lowest"):
        scores_from(tmp_path / "run", qid=["q"] * 3, docid=["old", "new", "absent"])


def test_missing_scores_are_refused_with_a_remedy() -> None:
    """Which ranks them last."""
    frame = FRAME.assign(bm25=FRAME["bm25"].where(np.arange(len(Y)) % 4 > 0))
    text = r"scores\['ce'\]: scores must be finite, got nan in row 0 \(24 such rows\)\. To rank .*"
    with pytest.raises(ValueError, match=text + "last, fill in one that is below all others"):
        compare_scores({"ce": "bm25"}, Y, QID, X=frame)
    with pytest.raises(ValueError, match=r"\(24 such rows\)\. To rank documents without a score"):
        NDCG()(Y, frame["bm25"], qid=QID)
    filled = frame["bm25"].fillna(frame["bm25"].min() - 1)
    assert compare_scores({"ce": filled}, Y, QID).summary()[0].n_queries == 12


def test_documents_that_are_there_twice_are_counted() -> None:
    """In one warning; documents without a name, and those of other queries, are not."""
    docid: list[Any] = [f"d{row % 8}" for row in range(len(Y))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compare_scores({"a": X[:, 0]}, Y, QID, docid=docid)
        Dataset("x", FRAME, Y, QID, 3, docid=[None, None, 1, "1", *docid[4:]])
    docid[1:4] = "d0", "d0", "d4"
    text = r"^3 of 96 rows \(3\.1%\) repeat a document of their query, which counts twice"
    with pytest.warns(UserWarning, match=text) as caught:
        compare_scores({"a": X[:, 0], "b": X[:, 1]}, Y, QID, docid=docid)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match=text):
        Dataset("x", FRAME, Y, QID, 3, docid=docid)
