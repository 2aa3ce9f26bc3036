"""Why documents are ranked as they are: shares of a gap."""

import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pytest
import xgboost as xgb
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone

from gbrank import GBRanker, make_cubic, write_letor
from gbrank.commands.cli import main
from gbrank.data.documents import take_rows
from gbrank.fit.explanations import Explanation

X, Y, QID = make_cubic(30, n_documents=8, n_features=4, random_state=0)
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(
    e=pd.Categorical(np.array(["red", "blue", "green"])[np.arange(240) % 3])
)
FRAME.loc[::7, "b"] = np.nan
SMALL: dict[str, Any] = {"n_estimators": 6, "min_child_samples": 3, "n_jobs": 1, "random_state": 0}
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "array": (X, {}),
    "sparse": (sparse.csr_matrix(np.where(X > 0, X, 0)), {}),
    "frame": (FRAME, {}),
    "polars": (pl.DataFrame(X, schema=list("abcd")), {}),
    "init": (X, {}),
}


@pytest.fixture(scope="module")
def ranker() -> GBRanker:
    """Return one of the array."""
    return GBRanker(**SMALL).fit(X, Y, qid=QID)


@pytest.fixture(scope="module")
def on_frame() -> GBRanker:
    """Return one of the frame."""
    return GBRanker(**SMALL).fit(FRAME, Y, qid=QID)


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("kind", KINDS)
def test_shares_of_a_pair(kind: str, booster: str) -> None:
    """They sum to the gap, and are the differences of what features add to both scores."""
    table, options = KINDS[kind]
    if kind == "init":
        options = {"init": GBRanker(**SMALL).fit(X, Y, qid=QID)}
    ranker = GBRanker(booster=booster, **SMALL, **options).fit(table, Y, qid=QID)
    order = np.random.default_rng(0).permutation(len(Y))  # queries stand apart
    table, qid = take_rows(table, order), QID[order]
    scores, shares = ranker.predict(table), ranker.explain(table)
    for first, second in combinations(np.flatnonzero(qid == 5)[:4].tolist(), 2):
        why = ranker.explain_pair(table, first, second, qid=qid)
        assert why.gap == pytest.approx(scores[first] - scores[second], abs=1e-12)
        assert abs(why.shares.sum() - why.gap) < 1e-9
        assert_allclose(why.shares, (shares[first] - shares[second])[:-1], rtol=0, atol=1e-5)
        assert len(why.features) == len(why.first) == len(why.second) == shares.shape[1] - 1


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("kind", KINDS)
def test_shares_of_a_document(kind: str, booster: str) -> None:
    """They sum to what its score has beside the mean of its list, and are beside the mean shares.

    The others of a list count, those of other lists do not.
    """
    table, options = KINDS[kind]
    ranker = GBRanker(booster=booster, **SMALL, **options).fit(table, Y, qid=QID)
    scores, shares = ranker.predict(table), ranker.explain(table)[:, :-1]
    own = np.flatnonzero(QID == 5)
    order = own[np.argsort(-scores[own], kind="stable")]
    for rank, row in enumerate(order.tolist(), 1):
        why = ranker.explain_document(table, rank, qid=QID, query=5)
        assert why.gap == pytest.approx(scores[row] - scores[own].mean(), abs=1e-12)
        assert abs(why.shares.sum() - why.gap) < 1e-9
        assert_allclose(why.shares, shares[row] - shares[own].mean(axis=0), rtol=0, atol=1e-5)
        same = ranker.explain_document(table, row, qid=QID)
        assert_allclose(same.shares, why.shares, rtol=0, atol=0)
        assert (why.names[0], same.names[0], why.second) == (f"rank {rank}", f"row {row}", None)


def test_a_pair_in_words() -> None:
    """The value of the document that a feature speaks for comes first."""
    shares, names = np.array([0.5, -0.25]), ("A17", "B3")
    why = Explanation(["a", "b"], [1, 2], [3, 4], shares, (1.0, 0.75), names)
    assert why.in_words() == "For A17: a (1 against 3; 100%). For B3: b (4 against 2; 100%)."


def test_values_of_a_pair(on_frame: GBRanker) -> None:
    """As they were given: text, numbers, missing ones."""
    why = on_frame.explain_pair(FRAME, 7, 2, qid=QID)
    assert why.features == ["a", "b", "c", "d", "e"]
    assert [why.first[0], *why.first[4:5]] == [FRAME["a"][7], FRAME["e"][7]]
    assert np.isnan(why.first[1])
    table = why.to_pandas()
    assert_allclose(table["share"].abs(), sorted(np.abs(why.shares), reverse=True))
    assert "<td>c</td>" in why._repr_html_()
    assert why.to_markdown().count("\n") == 1 + len(why.features)


def test_a_pair_by_rows_ranks_and_names(ranker: GBRanker) -> None:
    """The same two documents; the words have their names, and the largest share first."""
    own = np.flatnonzero(QID == 1)
    first, last = own[np.argsort(-ranker.predict(X)[own], kind="stable")][[0, -1]].tolist()
    names = [f"shoe {row}" for row in range(len(Y))]
    pairs = [
        ranker.explain_pair(X, first, last, qid=QID),
        ranker.explain_pair(X, 1, 8, qid=QID, query=1),
        ranker.explain_pair(X, names[first], names[last], qid=QID, docid=names),
    ]
    assert len({tuple(why.shares) for why in pairs}) == 1
    kinds = [why.names for why in pairs]
    assert kinds[:2] == [(f"row {first}", f"row {last}"), ("rank 1", "rank 8")]
    words = pairs[2].in_words()
    assert words.startswith(f"For {names[first]}: ")
    best = pairs[0].features[int(np.argmax(pairs[0].shares))]
    assert words.split(": ")[1].startswith(f"{best} (")
    assert list(pairs[2].to_pandas())[1:3] == [names[first], names[last]]
    again = [f"shoe {row % 8}" for row in range(len(Y))]  # of every query
    named = ranker.explain_pair(X, "shoe 1", "shoe 2", qid=QID, query=4, docid=again)
    assert named.gap == ranker.explain_pair(X, 33, 34, qid=QID).gap
    with pytest.raises(ValueError, match="first must be the name of one document, got 'boot'"):
        ranker.explain_pair(X, "boot", names[last], qid=QID, docid=names)


def test_command(ranker: GBRanker, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Prints what the methods give, of documents by their ranks; HTML is a file."""
    ranker.save(tmp_path / "model")
    write_letor(tmp_path / "data.txt", X, Y, QID)
    command = ["explain", f"{tmp_path}/data.txt", "--model", f"{tmp_path}/model", "--query", "7"]
    pages = {
        ("--document", "2"): ranker.explain_document(X, 2, qid=QID, query=7),
        ("--pair", "2", "5"): ranker.explain_pair(X, 2, 5, qid=QID, query=7),
    }
    for options, why in pages.items():
        assert main([*command, *options]) == 0
        assert capsys.readouterr().out == f"{why}\n\n{why.in_words()}\n\n{why.to_markdown()}\n"
        assert main([*command, *options, "--html", f"{tmp_path}/page.html"]) == 0
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        found = re.findall("<td[^>]*>(.*?)</td>", page)
        cells = np.reshape(found, (4, len(options) + 1))
        assert cells[:, 0].tolist() == why.to_pandas()["feature"].tolist()
        assert_allclose(cells[:, -1].astype(float), why.to_pandas()["share"], rtol=1e-3)
        assert page.count("<!doctype html>") == page.count("<svg") == 1
        assert why.in_words() in page
    assert main([*command, "--pair", "2", "9"]) == 1
    assert "--pair must be an integer of at least 1 and at most 8" in capsys.readouterr().err
    assert main([*command[:-1], "70", "--document", "1"]) == 1
    assert "--query must be one of the 30 queries" in capsys.readouterr().err


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("base", ["lightgbm", "xgboost"])
def test_a_booster_as_start(base: str, booster: str) -> None:
    """Its contributions, as its library computes them, count as well."""
    table = pd.DataFrame(X, columns=list("abcd"))
    start: Any
    contributions: Any
    if base == "lightgbm":
        start = lgb.train({"verbosity": -1, "num_threads": 1}, lgb.Dataset(table, Y), 5)
        contributions = start.predict(table, pred_contrib=True)
    else:
        rows = xgb.DMatrix(table, Y)
        start = xgb.train({"nthread": 1, "base_score": 0.7}, rows, 5)
        contributions = start.predict(rows, pred_contribs=True)
    ranker = GBRanker(booster=booster, init=start, **SMALL).fit(table, Y, qid=QID)
    shares = ranker.explain(table)
    assert_allclose(shares.sum(axis=1), ranker.predict(table), rtol=0, atol=2e-6)
    alone = clone(ranker).set_params(init=None)
    alone._publish(replace(ranker._fitted, init=None))
    assert_allclose(shares - alone.explain(table), contributions, rtol=0, atol=2e-6)
    why = ranker.explain_pair(table, 0, 1, qid=QID)
    assert abs(why.shares.sum() - why.gap) < 1e-9


def test_a_booster_as_start_beside_categories() -> None:
    """LightGBM keeps the categories of columns; ordered ones are numbers, of columns unnamed."""
    start = lgb.train({"verbosity": -1, "num_threads": 1}, lgb.Dataset(FRAME, Y), 5)
    ranker = GBRanker(init=start, **SMALL).fit(FRAME, Y, qid=QID)
    assert_allclose(ranker.explain(FRAME).sum(axis=1), ranker.predict(FRAME))
    ordered = FRAME.assign(e=FRAME["e"].cat.as_ordered())
    start = lgb.train({"verbosity": -1, "num_threads": 1}, lgb.Dataset(ordered, Y), 5)
    ranker = GBRanker(init=start, **SMALL).fit(FRAME, Y, qid=QID)
    with pytest.raises(ValueError, match="init must be a GBRanker to explain scores with categ"):
        ranker.explain(FRAME)


def test_a_start_that_was_fitted_on_an_array() -> None:
    """Its columns are those of the frame, in their order."""
    frame = pd.DataFrame(X, columns=list("abcd"))
    start = GBRanker(**SMALL).fit(X, Y, qid=QID)
    ranker = GBRanker(**SMALL, init=start).fit(frame, Y, qid=QID)
    shares = ranker.explain(frame)
    assert_allclose(shares.sum(axis=1), ranker.predict(frame))
    same = GBRanker(**SMALL, init=start).fit(X, Y, qid=QID)
    assert_allclose(shares, same.explain(X), rtol=0, atol=0)


def test_queries_and_documents_that_read_the_same() -> None:
    """Each is found by what equals it; a text finds a number if there is no such text."""
    ids = np.empty(len(Y), object)
    ids[:] = [("1", "1.0", 2)[min(query, 2)] for query in QID]
    names = ["7", 7, *map(str, range(10, len(Y) + 8))]
    ranker = GBRanker(**SMALL).fit(X, Y, qid=ids, query_weight={"1": 1.0, "1.0": 2.0, 2: 1.0})
    by_row = ranker.explain_pair(X, 8, 9, qid=ids)
    assert ranker.explain_pair(X, "16", "17", qid=ids, query="1.0", docid=names).gap == by_row.gap
    first = ranker.explain_pair(X, "7", 7, qid=ids, query="1", docid=names)
    assert first.gap == ranker.explain_pair(X, 0, 1, qid=ids).gap
    assert ranker.explain_document(X, 1, qid=ids, query="2").names[0] == "rank 1"
    with pytest.raises(ValueError, match=r"query must be one of .*got 1\.?$"):
        ranker.explain_document(X, 1, qid=ids, query=1)


def test_no_rows(on_frame: GBRanker) -> None:
    """Of a search without hits: no shares, as there are no scores."""
    assert on_frame.explain(FRAME[:0]).shape == (0, 6)
    explained = on_frame.explain(FRAME[:0], output="shap")
    assert (explained.values.shape, explained.data.shape) == ((0, 5), (0, 5))
    assert on_frame.predict(FRAME[:0]).shape == (0,)
