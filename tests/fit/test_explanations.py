"""Why documents are ranked as they are: shares of a gap, and what swaps would bring."""

import re
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

import reference
from gbrank import (
    GBRanker,
    custom_measure,
    get_measure,
    load_ranker,
    make_cubic,
    plots,
    write_letor,
)
from gbrank.commands.cli import main
from gbrank.data.rows import take_rows
from gbrank.fit.explanations import PairExplanation

X, Y, QID = make_cubic(30, n_documents=8, n_features=4, random_state=0)
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(
    e=pd.Categorical(np.array(["red", "blue", "green"])[np.arange(240) % 3])
)
FRAME.loc[::7, "b"] = np.nan
SMALL: dict[str, Any] = {
    "n_estimators": 6,
    "min_child_samples": 3,
    "n_jobs": 1,
    "random_state": 0,
}
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "array": (X, {}),
    "sparse": (sparse.csr_matrix(np.where(X > 0, X, 0)), {}),
    "frame": (FRAME, {}),
    "polars": (pl.DataFrame(X, schema=list("abcd")), {}),
    "init": (X, {"init": GBRanker(**SMALL).fit(X, Y, qid=QID)}),
}


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("kind", KINDS)
def test_shares_of_a_pair(kind: str, booster: str) -> None:
    """They sum to the gap, and are the differences of what features add to both scores."""
    table, options = KINDS[kind]
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


def test_values_of_a_pair() -> None:
    """As they were given: text, numbers, missing ones."""
    ranker = GBRanker(**SMALL).fit(FRAME, Y, qid=QID)
    why = ranker.explain_pair(FRAME, 7, 2, qid=QID)
    assert why.features == ["a", "b", "c", "d", "e"]
    assert [why.first[0], *why.first[4:5]] == [FRAME["a"][7], FRAME["e"][7]]
    assert np.isnan(why.first[1])
    table = why.to_pandas()
    assert_allclose(table["share"].abs(), sorted(np.abs(why.shares), reverse=True))
    assert "<td>c</td>" in why._repr_html_()
    assert why.to_markdown().count("\n") == 1 + len(why.features)


def test_lists() -> None:
    """Are explained as arrays are."""
    ranker = GBRanker(**SMALL).fit(X, Y, qid=QID)
    one, other = (ranker.explain_pair(table, 3, 4, qid=QID) for table in (X, X.tolist()))
    assert_allclose(one.shares, other.shares)
    rows = [ranker.explain_query(table, qid=QID, query=3).rows for table in (X, X.tolist())]
    assert rows[0] == rows[1]


def test_missing_categories() -> None:
    """Are None."""
    frame = FRAME.copy()
    frame.loc[3, "e"] = np.nan
    ranker = GBRanker(**SMALL).fit(frame, Y, qid=QID)
    assert ranker.explain_pair(frame, 3, 4, qid=QID).first[4] is None


def best_swap(labels: list[float], place: int, k: int = 10) -> float:
    """Return the largest gain in NDCG of a swap of this document with a wrongly ordered one."""
    gains = [0.0]
    for other in range(len(labels)):
        upper, lower = sorted((place, other))
        if labels[upper] < labels[lower]:
            swapped = list(labels)
            swapped[upper], swapped[lower] = labels[lower], labels[upper]
            gains.append((reference.ndcg(swapped, k) or 0) - (reference.ndcg(labels, k) or 0))
    return max(gains)


def test_a_query() -> None:
    """Ranks, labels, scores, what lifts and lowers, and the best swaps, by enumeration."""
    ranker = GBRanker(**SMALL).fit(X, Y, qid=QID)
    scores, shares = ranker.predict(X), ranker.explain(X)[:, :-1]
    for query in range(30):
        why = ranker.explain_query(X, Y, qid=QID, query=query)
        assert sorted(why.rows) == np.flatnonzero(query == QID).tolist()
        assert_allclose(why.scores, scores[why.rows])
        assert why.scores == sorted(why.scores, reverse=True)
        assert why.labels == Y[why.rows].tolist()
        assert why.value == pytest.approx(reference.ndcg(Y[why.rows].tolist(), 10))
        beside = shares[why.rows] - shares[why.rows].mean(axis=0)
        for place, (partner, gain) in enumerate(why.swaps):
            wanted = best_swap(Y[why.rows].tolist(), place)
            if wanted < 1e-12:
                assert partner is None
            else:
                assert gain == pytest.approx(wanted)
            lifts = {f"f{i}": v for i, v in enumerate(beside[place]) if v > 0}
            assert dict(why.lifts[place]) == pytest.approx(
                dict(sorted(lifts.items(), key=lambda item: -item[1])[:3])
            )
            assert all(share < 0 for _, share in why.lowers[place])


def test_a_measure_that_is_cut() -> None:
    """Below the cut no swap helps; to swap with a document below it does."""
    ranker = GBRanker(**SMALL, eval_metric="ndcg@3").fit(X, Y, qid=QID)
    partners = []
    for query in range(30):
        why = ranker.explain_query(X, Y, qid=QID, query=query)
        for place, (partner, gain) in enumerate(why.swaps):
            wanted = best_swap(Y[why.rows].tolist(), place, k=3)
            assert (0.0 if partner is None else gain) == pytest.approx(wanted, abs=1e-12)
            partners.append((place, partner))
    assert any(place < 3 and (partner or 0) > 3 for place, partner in partners)


def test_a_query_without_labels() -> None:
    """The same table, without labels and swaps; a list by itself needs no query id."""
    ranker = GBRanker(**SMALL).fit(X, Y, qid=QID)
    own = ranker.explain_query(X[QID == 4])
    assert list(own.to_pandas()) == ["rank", "row", "score", "lifts", "lowers"]
    other = ranker.explain_query(X, qid=QID, query=4)
    assert own.scores == other.scores
    assert own.lifts == other.lifts
    assert ranker.explain_query(X, group=[8] * 30, query=4).scores == own.scores
    assert "lowers" in own._repr_html_()


@pytest.mark.parametrize("unit", ["D", "s", "ns"])
def test_a_query_that_is_a_time(unit: str) -> None:
    """In any type that can hold its id."""
    times = (np.datetime64("2020-01-01", "D") + QID).astype(f"M8[{unit}]")
    ranker = GBRanker(**SMALL).fit(X, Y, qid=times)
    rows = ranker.explain_query(X, group=[8] * 30, query=4).rows
    moment = times[4 * 8]
    for query in (moment, moment.astype("M8[D]").item(), pd.Timestamp(moment)):
        assert ranker.explain_query(X, qid=times, query=query).rows == rows


def test_without_labels_no_measure_is_needed(tmp_path: Path) -> None:
    """A model whose own measure is gone, as its function is not saved, explains nevertheless."""

    def gone(scores: Any, labels: Any) -> float:
        return float(labels[0])

    GBRanker(**SMALL, eval_metric=gone).fit(X, Y, qid=QID).save(tmp_path)
    loaded = load_ranker(tmp_path)
    why = loaded.explain_query(X, qid=QID, query=4)
    assert (why.measure, why.labels, why.swaps) == ("", None, [])
    with pytest.raises(ValueError, match=r"set again, by set_params\(eval_metric="):
        loaded.explain_query(X, Y, qid=QID, query=4)


def test_what_is_refused() -> None:
    ranker = GBRanker(**SMALL).fit(X, Y, qid=QID)
    with pytest.raises(ValueError, match=r"must be rows of one query, got those of 0 and 12"):
        ranker.explain_pair(X, 0, 100, qid=QID)
    with pytest.raises(ValueError, match=r"second must be .*239.* 240"):
        ranker.explain_pair(X, 0, 240, qid=QID)
    with pytest.raises(ValueError, match="query must be one of the 30 queries of X, such as 0, go"):
        ranker.explain_query(X, qid=QID)
    with pytest.raises(ValueError, match=r"query must be one of .*'a'"):
        ranker.explain_query(X, qid=QID, query="a")
    above = GBRanker(init=ranker.booster_, **SMALL).fit(X, Y, qid=QID)
    with pytest.raises(ValueError, match="init must be a GBRanker"):
        above.explain_pair(X, 0, 1, qid=QID)


def test_pictures() -> None:
    """Of a pair, the shares sum to the gap in the picture too; of a query, a point a document."""
    ranker = GBRanker(**SMALL).fit(X, Y, qid=QID)
    why = ranker.explain_pair(X, 0, 1, qid=QID)
    ax = plots.pair(why, largest=2)
    assert sum(patch.get_width() for patch in ax.patches) == pytest.approx(why.gap)
    names = [f"shoe {row}" for row in range(len(Y))]
    of_query = ranker.explain_query(X, Y, qid=QID, query=1, docid=names, against=X[:, 0])
    ax = plots.query(of_query)
    grades = sorted(set(of_query.labels or ()))
    assert [str(item.get_label()) for item in ax.collections] == [f"label {g:g}" for g in grades]
    assert sum(len(item.get_offsets()) for item in ax.collections) == 8
    rows = np.flatnonzero(QID == 1)
    assert of_query.names == [names[row] for row in of_query.rows]
    assert set(of_query.names) <= {text.get_text() for text in ax.texts}
    order = rows[np.argsort(-X[rows, 0])].tolist()
    assert of_query.other_ranks == [order.index(row) + 1 for row in of_query.rows]


def test_a_pair_by_rows_ranks_and_names() -> None:
    """The same two documents; the words have their names, and the largest share first."""
    ranker = GBRanker(**SMALL).fit(X, Y, qid=QID)
    listed = ranker.explain_query(X, qid=QID, query=1)
    first, last = listed.rows[0], listed.rows[-1]
    names = [f"shoe {row}" for row in range(len(Y))]
    pairs = [
        ranker.explain_pair(X, first, last, qid=QID),
        ranker.explain_pair(X, 1, 8, qid=QID, query=1),
        ranker.explain_pair(X, names[first], names[last], qid=QID, docid=names),
    ]
    assert len({tuple(why.shares) for why in pairs}) == 1
    words = pairs[2].in_words()
    assert words.startswith(f"For {names[first]}: ")
    best = pairs[0].features[int(np.argmax(pairs[0].shares))]
    assert words.split(": ")[1].startswith(f"{best} (")
    assert list(pairs[2].to_pandas())[1:3] == [names[first], names[last]]
    with pytest.raises(ValueError, match="first must be the name of one document, got 'boot'"):
        ranker.explain_pair(X, "boot", names[last], qid=QID, docid=names)
    with pytest.raises(ValueError, match="second must be an integer of at least 1 and at most 8"):
        ranker.explain_pair(X, 1, 9, qid=QID, query=1)


def test_the_kind_of_a_pair() -> None:
    """As exported."""
    why = GBRanker(**SMALL).fit(X, Y, qid=QID).explain_pair(X, 0, 1, qid=QID)
    assert isinstance(why, PairExplanation)


def test_explanation_of_shap() -> None:
    """It has what the array has, with the values and the names of the features."""
    ranker = GBRanker(**SMALL).fit(FRAME, Y, qid=QID)
    array = ranker.explain(FRAME)
    found = ranker.explain(FRAME, output="shap")
    assert_allclose(found.values, array[:, :-1], rtol=0, atol=0)
    assert_allclose(found.base_values, array[:, -1], rtol=0, atol=0)
    assert found.feature_names == ["a", "b", "c", "d", "e"]
    assert found.data[5].tolist() == [*FRAME.iloc[5]]
    with pytest.raises(ValueError, match="output must be one of"):
        ranker.explain(FRAME, output="table")


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Prints what the methods give; a pair is chosen by ranks; HTML is a file."""
    ranker = GBRanker(**SMALL).fit(X, Y, qid=QID)
    ranker.save(tmp_path / "model")
    write_letor(tmp_path / "data.txt", X, Y, QID)
    command = ["explain", f"{tmp_path}/data.txt", "--model", f"{tmp_path}/model", "--query", "7"]
    why = ranker.explain_query(X, Y, qid=QID, query=7)
    assert main(command) == 0
    assert capsys.readouterr().out == f"{why}\n\n{why.to_markdown()}\n"
    pair = ranker.explain_pair(X, why.rows[1], why.rows[4], qid=QID)
    assert main([*command, "--pair", "2", "5", "--html", f"{tmp_path}/pair.html"]) == 0
    page = (tmp_path / "pair.html").read_text(encoding="utf-8")
    cells = np.reshape(re.findall("<td[^>]*>(.*?)</td>", page), (-1, 4))
    assert cells[:, 0].tolist() == pair.to_pandas()["feature"].tolist()
    assert_allclose(cells[:, 3].astype(float), pair.to_pandas()["share"], rtol=1e-3)
    assert page.count("<!doctype html>") == page.count("<svg") == 1
    assert main([*command, "--html", f"{tmp_path}/query.html"]) == 0
    page = (tmp_path / "query.html").read_text(encoding="utf-8")
    cells = np.reshape(re.findall("<td[^>]*>(.*?)</td>", page), (8, 8))
    assert cells[:, 1].astype(int).tolist() == why.rows
    assert "<svg" in page
    assert main([*command, "--pair", "2", "9"]) == 1
    assert "--pair must be an integer of at least 1 and at most 8, got 9" in capsys.readouterr().err
    assert main([*command[:-1], "70"]) == 1
    assert "unknown query '70'" in capsys.readouterr().err


def test_a_start_that_was_fitted_on_an_array() -> None:
    """Its columns are those of the frame, in their order."""
    frame = pd.DataFrame(X, columns=list("abcd"))
    start = GBRanker(**SMALL).fit(X, Y, qid=QID)
    ranker = GBRanker(**SMALL, init=start).fit(frame, Y, qid=QID)
    shares = ranker.explain(frame)
    assert_allclose(shares.sum(axis=1), ranker.predict(frame))
    same = GBRanker(**SMALL, init=start).fit(X, Y, qid=QID)
    assert_allclose(shares, same.explain(X), rtol=0, atol=0)


@pytest.mark.parametrize("query", [np.array([1, 2]), pd.Series([1]), pd.NA, [1]])
def test_what_is_no_query(query: object) -> None:
    ranker = GBRanker(**SMALL).fit(X, Y, qid=QID)
    with pytest.raises(ValueError, match="query must be one of the"):
        ranker.explain_query(X, Y, qid=QID, query=query)


def test_a_query_of_a_ranker_that_is_judged_by_other_things() -> None:
    """Labels with a name, or columns: swaps are judged by the first measure of y alone."""
    of_columns = custom_measure(lambda scores, labels, a: float(a[scores.argmax()]), columns=[0])
    ranker = GBRanker(**SMALL).fit(X, Y, qid=QID)
    for others, name in [(["map"], "map"), ([], "ndcg@10")]:
        ranker.set_params(eval_metric=["ndcg[margin]", of_columns, *others])
        why = ranker.explain_query(X, Y, qid=QID, query=3)
        assert why.measure == name
        assert why.value == get_measure(name)(why.labels, -np.arange(len(why.rows)))
