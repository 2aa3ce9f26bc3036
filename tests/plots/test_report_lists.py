"""The lists of queries that a report shows: the worst, and those that changed."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.testing import assert_allclose

import gbrank
from gbrank import GBRanker, LinearRanker
from report_page import EVIL, FRAME, QID, SMALL, TEST, Page, X, Y, lists


def test_worst_queries(
    page: Page, values: dict[str, Any], rankers: tuple[GBRanker, GBRanker]
) -> None:
    """Come in order, each with its first documents by score, and what was relevant below."""
    ours = values["ndcg@10"][0]
    scores, first = rankers[0].predict(FRAME[TEST]), rankers[0]
    features = first._schema.feature_names
    shown = list(lists(page, "worst"))
    assert len(shown) == 10
    for query, (title, table) in zip(np.argsort(ours, kind="stable"), shown, strict=False):
        assert f"{30 + query}: {ours[query]:.4f}, 10 documents" in title
        rows = 10 * query + np.argsort(-scores[10 * query : 10 * query + 10], kind="stable")
        assert [row[1] for row in table[1:]] == [f"{EVIL}{row}" for row in rows]
        assert [float(row[2]) for row in table[1:]] == Y[TEST][rows].tolist()
        assert_allclose([float(row[3]) for row in table[1:]], scores[rows], atol=6e-5)
        shares = first.explain(FRAME[TEST].iloc[rows])[:, :-1]
        beside = shares - shares.mean(axis=0)
        for row, own in zip(table[1:], beside, strict=True):
            most, least = own.argmax(), own.argmin()
            lifts = f"{features[most]} {own[most]:+.2f}" if own[most] > 0 else "–"
            lowers = f"{features[least]} {own[least]:+.2f}" if own[least] < 0 else "–"
            assert row[4].startswith(lifts)
            assert row[5].startswith(lowers)


def test_relevant_documents_below(tmp_path: Path) -> None:
    """Of long lists, up to five relevant documents are shown after the first ten."""
    ranker = LinearRanker("regression").fit(X, Y, qid=QID)
    scores = ranker.predict(X[:100])
    order = np.argsort(-scores)
    labels = np.zeros(100)
    labels[order[[3, 20, 30, 40, 50, 60, 70]]] = 1
    page = Page(gbrank.report(ranker, X[:100], labels, html=tmp_path / "report.html"))
    ((_, table),) = lists(page, "worst")
    assert [row[0] for row in table[11:]] == ["21", "31", "41", "51", "61"]
    assert [row[1] for row in table[11:]] == [str(row) for row in order[[20, 30, 40, 50, 60]]]


def test_reasons_of_documents_below(tmp_path: Path) -> None:
    """Are their own, and beside the mean of the whole list; none of very long lists."""
    ranker = GBRanker(**SMALL).fit(X, Y, qid=QID)
    for n in (60, 201):
        order = np.argsort(-ranker.predict(X[:n]), kind="stable")
        labels = np.zeros(n)
        labels[order[[3, 20, 45]]] = 1
        options: dict[str, Any] = {"names": ("a", "b"), "html": tmp_path / "r.html"}
        page = Page(gbrank.report(ranker, X[:n], labels, **options))
        ((_, table),) = lists(page, "worst")
        assert [row[0] for row in table[11:]] == ["21", "46"]
        assert len(table[0]) == (6 if n == 60 else 4)
        if n == 60:
            shares = ranker.explain(X[:n])[:, :-1]
            beside = (shares - shares.mean(axis=0))[order[[20, 45]]]
            for row, own in zip(table[11:], beside, strict=True):
                assert row[4].startswith(f"f{own.argmax()} {own.max():+.2f}")
                assert row[5].startswith(f"f{own.argmin()} {own.min():+.2f}")


def test_changed_queries(
    page: Page, values: dict[str, Any], rankers: tuple[GBRanker, GBRanker]
) -> None:
    """Are those of the largest difference, with both orders, and from where documents came."""
    ours, theirs = values["ndcg@10"]
    scores = rankers[0].predict(FRAME[TEST]), rankers[1].predict(FRAME[TEST][["a", "c", "kind"]])
    order, shown = np.argsort(-np.abs(ours - theirs), kind="stable"), list(lists(page, "changes"))
    assert len(shown) == 10
    for query, (title, table) in zip(order, shown, strict=False):
        assert f"{30 + query}: {theirs[query]:.4f} → {ours[query]:.4f}" in title
        new, old = (np.argsort(-s[10 * query : 10 * query + 10], kind="stable") for s in scores)
        assert [row[1] for row in table[1:]] == [f"{EVIL}{10 * query + row}" for row in old]
        assert [row[3] for row in table[1:]] == [f"{EVIL}{10 * query + row}" for row in new]
        for rank, row in enumerate(table[1:]):
            moved = old.tolist().index(new[rank]) - rank
            signs = {"↑": 1, "↓": -1}
            assert moved == (0 if row[5] == "=" else signs[row[5][0]] * int(row[5][2:]))
