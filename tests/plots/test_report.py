"""The report: its numbers against other code, what it is safe from, and every kind of ranker."""

import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy import sparse, stats

import gbrank
from gbrank import (
    GBRanker,
    LinearRanker,
    SLAMPerceptron,
    get_measure,
    make_cubic,
    write_letor,
)
from gbrank.commands.cli import main
from gbrank.common import files
from gbrank.evaluation import expected_calibration_error
from gbrank.plots.report import blocks
from gbrank.plots.report.model_sections import _sample
from gbrank.plots.report.query_sections import _chance
from gbrank.plots.report.report_data import groups

SMALL: dict[str, Any] = {
    "n_estimators": 20,
    "min_child_samples": 3,
    "monotone": "free",
    "n_jobs": 1,
    "random_state": 0,
}
X, Y, QID = make_cubic(46, n_documents=10, n_features=4, random_state=0)
EVIL = "<script>alert('&')</script>"
FRAME = pd.DataFrame(X, columns=["a", "b", "c", EVIL]).assign(
    kind=pd.Categorical(np.array(["x", "y", "z"])[np.arange(460) % 3])
)
FRAME.loc[::7, "b"] = np.nan
TRAIN, TEST = slice(0, 300), slice(300, 460)
QUERIES = np.array([f"{EVIL} {query}" for query in QID])[TEST]
COUNTRY = np.array(["DE", "FR", "US"])[QID % 3][TEST]


class Page(HTMLParser):
    """What a page holds: tables as lists of rows by section, text, tags and attributes."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tables: dict[str, list[list[list[str]]]] = {}
        self.texts: dict[str, str] = {"": ""}
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.section, self.open = "", list[str]()
        self.source = path.read_text(encoding="utf-8")
        self.feed(self.source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)
        if tag == "section":
            self.section = str(dict(attrs)["id"])
            self.tables[self.section], self.texts[self.section] = [], ""
        if tag == "table":
            self.tables[self.section].append([])
        if tag == "tr":
            self.tables[self.section][-1].append([])
        if tag in ("td", "th"):
            self.tables[self.section][-1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        """Close a tag, and those in it that have no end."""
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        """Note text."""
        text = data.replace("\u00a0", " ").replace("−", "-")
        self.texts[self.section] += text
        if {"td", "th"} & set(self.open[-2:]):
            self.tables[self.section][-1][-1][-1] += text

    def table(self, section: str, head: str) -> dict[str, list[str]]:
        """Return the rows of the first table whose head begins so, by their first cell."""
        (found, *_) = [item for item in self.tables[section] if item[0][0] == head]
        return {row[0]: row[1:] for row in found[1:]}


@pytest.fixture(scope="module")
def rankers() -> tuple[GBRanker, GBRanker]:
    """Fit two rankers on the frame."""
    new = GBRanker(sigma="geometric(2, 0.3)", validation_fraction=0.2, **SMALL).fit(
        FRAME[TRAIN], Y[TRAIN], qid=QID[TRAIN]
    )
    old = GBRanker(booster="xgboost", **SMALL | {"n_estimators": 2})
    return new, old.fit(FRAME[TRAIN][["a", "c", "kind"]], Y[TRAIN], qid=QID[TRAIN])


@pytest.fixture(scope="module")
def page(rankers: tuple[GBRanker, GBRanker], tmp_path_factory: pytest.TempPathFactory) -> Page:
    """Make the page of a comparison, with all options."""
    table = FRAME[TEST].assign(country=COUNTRY, url=[f"{EVIL}{row}" for row in range(160)])
    path = gbrank.report(
        rankers[0],
        table,
        Y[TEST],
        qid=QUERIES,
        html=tmp_path_factory.mktemp("report") / "report.html",
        against=rankers[1],
        train=FRAME[TRAIN],
        by="country",
        docid="url",
        names=(f"new {EVIL}", "old"),
    )
    return Page(path)


@pytest.fixture(scope="module")
def values(rankers: tuple[GBRanker, GBRanker]) -> dict[str, np.ndarray[Any, Any]]:
    """Return the measures of each query, shape (2, n_queries)."""
    scores = rankers[0].predict(FRAME[TEST]), rankers[1].predict(FRAME[TEST][["a", "c", "kind"]])
    return {
        name: np.array([get_measure(name).per_query(Y[TEST], own, qid=QUERIES) for own in scores])
        for name in ("ndcg@10", "ndcg@1", "ndcg@5", "map", "mrr")
    }


def ends(text: str) -> list[float]:
    """Return the ends of an interval."""
    return [float(end) for end in text.split(" to ")]


def test_measures(page: Page, values: dict[str, Any]) -> None:
    """Are the means; intervals are near those of the normal distribution."""
    table = page.table("measures", "measure")
    assert list(table) == list(values)
    for name, (ours, theirs) in values.items():
        shown = table[name]
        assert shown[0] == "16"
        assert [shown[1], shown[3]] == [f"{ours.mean():.4f}", f"{theirs.mean():.4f}"]
        half = 1.96 * ours.std() / 4
        assert_allclose(ends(shown[2]), [ours.mean() - half, ours.mean() + half], atol=half / 3)
    assert f"{values['ndcg@10'][0].mean():.4f}" in page.texts[""]


def test_paired_tests(page: Page, values: dict[str, Any]) -> None:
    """Are SciPy's t test, and all tosses of the randomisation test."""
    tosses = np.array(list(product([-1, 1], repeat=16)))
    table = page.table("changes", "measure")
    for name, (ours, theirs) in values.items():
        lead, shown = ours - theirs, table[name]
        assert shown[0] == f"{lead.mean():+.4f}"
        larger = np.abs(tosses @ lead).round(9) >= np.abs(lead.sum()).round(9)
        assert float(shown[2]) == pytest.approx(larger.mean(), abs=0.02)  # of 9,999 tosses
        assert float(shown[3]) == pytest.approx(stats.ttest_rel(ours, theirs).pvalue, abs=6e-5)
        assert [int(cell) for cell in shown[4:]] == [sum(np.sign(lead) == s) for s in (1, 0, -1)]


def test_verdict(page: Page, rankers: tuple[GBRanker, GBRanker], tmp_path: Path) -> None:
    """Says which is better, whichever comes first, or that the data do not tell."""
    table = page.table("changes", "measure")["ndcg@10"]
    assert float(table[2]) < 0.05
    low, high = ends(table[1])
    by = f"is better than old by {table[0][1:]} (95% interval {low:.4f} to {high:.4f})"
    assert by in page.texts["changes"]
    where: dict[str, Any] = {"qid": QID[TEST], "html": tmp_path / "report.html"}
    new, old = rankers
    turned = Page(
        gbrank.report(old, FRAME[TEST], Y[TEST], against=new, names=("old", "new"), **where)
    )
    assert f"new {by}" in turned.texts["changes"]
    same = Page(gbrank.report(new, FRAME[TEST], Y[TEST], against=new, **where))
    assert "These queries do not tell which is better" in same.texts["changes"]
    assert "No query changed." in same.texts["changes"]


def test_segments(page: Page, values: dict[str, Any]) -> None:
    """Are means of the groups, by pandas."""
    first = pd.Series(COUNTRY).groupby(QID[TEST]).first().to_numpy()
    relevant = pd.Series(Y[TEST] > 0).groupby(QID[TEST]).sum().to_numpy()
    frame = pd.DataFrame({"ours": values["ndcg@10"][0], "theirs": values["ndcg@10"][1]})
    for head, keys in (("country", first), ("relevant documents", relevant)):
        table = page.table("segments", head)
        expected = frame.groupby(keys).agg(["count", "mean"])
        assert len(table) == len(expected)
        for key, row in expected.iterrows():
            n, ours, theirs = row[("ours", "count")], row[("ours", "mean")], row[("theirs", "mean")]
            cells = table[str(key)]
            assert (cells[0], cells[1], cells[3]) == (f"{n:.0f}", f"{ours:.4f}", f"{theirs:.4f}")
            assert float(cells[4]) == pytest.approx(ours - theirs, abs=6e-5)
    assert page.table("segments", "documents in the list")["10"][0] == "16"


def test_groups() -> None:
    """Few numbers are by themselves, many in ranges, 0 apart; rare texts go together."""
    assert groups([2, 1, 2])[0] == ["1", "2"]
    names, codes = groups([*range(101), None])
    assert names == ["0", "1 to 25", "26 to 50", "51 to 75", "76 to 100", "missing"]
    assert np.bincount(codes).tolist() == [1, 25, 25, 25, 25, 1]
    names, codes = groups(list(range(-9, 11)))
    assert names == ["-9 to -5", "-4 to -1", "0", "1", "2 to 5", "6 to 10"]
    assert np.bincount(codes).tolist() == [5, 4, 1, 1, 4, 5]
    names, codes = groups([*("abcdefghijkl" * 2), "a"])
    assert names == [*"abcdefghij", "2 others"]
    assert np.bincount(codes).tolist() == [3, *[2] * 9, 4]
    names, codes = groups([1, "1", "missing", None, "a", "1"])  # all different
    assert names == ["'1'", "1", "'missing'", "a", "missing"]
    assert codes.tolist() == [1, 0, 2, 4, 3, 0]
    assert groups([True, False, True])[0] == ["True", "False"]
    names, codes = groups([*"abcdefghijk", "a"])  # one rare text is no group of its own
    assert names == [*"abcdefghijk"]
    assert np.bincount(codes).tolist() == [2, *[1] * 10]


def test_groups_of_large_numbers() -> None:
    """Numbers that differ in the seventh digit, or the seventeenth, are not called the same."""
    assert groups([1234567, 1234568, 1234567.5])[0] == ["1234567", "1234567.5", "1234568"]
    assert groups([0.1234567, 0.1234568])[0] == ["0.1234567", "0.1234568"]
    assert groups([2**60 + 1, 2**60 + 2])[0] == ["1152921504606846977", "1152921504606846978"]
    names = groups([20260000 + day for day in range(101, 113)])[0]
    assert names == [
        "20260101 to 20260103", "20260104 to 20260106", "20260107 to 20260109",
        "20260110 to 20260112",
    ]  # fmt: skip


def test_distribution(page: Page, values: dict[str, Any]) -> None:
    """Are percentiles, and bars of their heights."""
    table = page.table("distribution", "model")
    for row, name in zip(values["ndcg@10"], (f"new {EVIL}", "old"), strict=True):
        expected = np.percentile(row, [10, 25, 50, 75, 90])
        assert_allclose([float(cell) for cell in table[name]], expected, atol=6e-5)


def lists(page: Page, section: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield the title and the table of each query."""
    titles = re.findall(r"<summary>(.*?)</summary>", page.source)
    titles = [
        title
        for title in titles
        if "relevant" in title and ("→" in title) == (section == "changes")
    ]
    tables = [table for table in page.tables[section] if table[0][0] == "rank"]
    yield from zip(titles, tables, strict=True)


def test_worst_queries(
    page: Page, values: dict[str, Any], rankers: tuple[GBRanker, GBRanker]
) -> None:
    """Come in order, each with its first documents by score, and what was relevant below."""
    ours = values["ndcg@10"][0]
    scores, first = rankers[0].predict(FRAME[TEST]), rankers[0]
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
            lifts = f"{first._columns[most]} {own[most]:+.2f}" if own[most] > 0 else "–"
            lowers = f"{first._columns[least]} {own[least]:+.2f}" if own[least] < 0 else "–"
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
    order = np.argsort(-np.abs(ours - theirs), kind="stable")
    for query, (title, table) in zip(order, lists(page, "changes"), strict=False):
        assert f"{30 + query}: {theirs[query]:.4f} → {ours[query]:.4f}" in title
        new, old = (np.argsort(-s[10 * query : 10 * query + 10], kind="stable") for s in scores)
        assert [row[1] for row in table[1:]] == [f"{EVIL}{10 * query + row}" for row in old]
        assert [row[3] for row in table[1:]] == [f"{EVIL}{10 * query + row}" for row in new]
        for rank, row in enumerate(table[1:]):
            moved = old.tolist().index(new[rank]) - rank
            signs = {"↑": 1, "↓": -1}
            assert moved == (0 if row[5] == "=" else signs[row[5][0]] * int(row[5][2:]))


def test_importances(page: Page, rankers: tuple[GBRanker, GBRanker]) -> None:
    """Are shares of the gain, and means of SHAP values."""
    table = page.table("importances", "feature")
    shares = np.abs(rankers[0].explain(FRAME[TEST])[:, :-1]).mean(axis=0)
    gains = rankers[0].feature_importances_
    features = list(FRAME)
    assert list(table) == [features[i] for i in np.argsort(-shares)]
    for feature, gain, share in zip(features, gains, shares, strict=True):
        assert table[feature] == [f"{gain:.4f}", f"{share:.4f}"]


def test_calibration_and_curves(page: Page, rankers: tuple[GBRanker, GBRanker]) -> None:
    """The error stands over the picture; the table of rounds is that of the fit."""
    p = rankers[0].predict(FRAME[TEST], output="probability")
    error = expected_calibration_error(Y[TEST] / Y[TRAIN].max(), p)
    assert f"expected calibration error {error:.4f}" in page.texts["calibration"]
    curve = rankers[0].evals_result_["valid_0"]["ndcg@10"]
    (row,) = page.table("curves", "set").values()
    assert row[1:] == [
        f"{curve[0]:.4f}",
        f"{max(curve):.4f}",
        str(1 + np.argmax(curve)),
        f"{curve[-1]:.4f}",
        "20",
    ]


def test_data(page: Page) -> None:
    """Counts, labels, missing values; drift by the definition of its two distances."""
    facts = page.table("data", "data")
    assert facts["documents"] == ["160"]
    assert facts["queries"] == ["16"]
    labels = page.table("data", "label")
    for label, n in zip(*np.unique(Y[TEST], return_counts=True), strict=True):
        assert labels[f"{label:g}"] == [str(n), f"{n / 160:.1%}"]
    here, then = FRAME[TEST], FRAME[TRAIN]
    features = page.table("data", "feature")
    assert [float(row[-1]) for row in features.values()] == sorted(
        (float(row[-1]) for row in features.values()), reverse=True
    )
    for name in FRAME:
        cells = features[name]
        assert (cells[0], cells[2]) == tuple(
            f"{part[name].isna().mean():.1%}" for part in (here, then)
        )
        if name == "kind":
            shares = [part[name].value_counts(normalize=True).sort_index() for part in (here, then)]
            expected = (shares[0] - shares[1]).abs().sum() / 2
        else:
            one, other = (part[name].fillna(-1e9).to_numpy() for part in (here, then))
            expected = max(abs((one <= v).mean() - (other <= v).mean()) for v in [*one, *other])
            assert float(cells[1]) == pytest.approx(here[name].median(), rel=1e-3)
        assert float(cells[4]) == pytest.approx(expected, abs=6e-5)


def bars(page: Page, section: str) -> list[float]:
    """Return the lengths of the bars in a section, from 0 to 1."""
    text = page.source.partition(f'<section id="{section}"')[2].partition("</section>")[0]
    return [float(share) for share in re.findall(r"--share:(.*?)\"", text)]


def test_bars(page: Page, rankers: tuple[GBRanker, GBRanker], values: dict[str, Any]) -> None:
    """Are as long as the share of the largest that their number is."""
    n = np.unique(Y[TEST], return_counts=True)[1]
    assert bars(page, "data")[: len(n)] == [round(share, 3) for share in n / n.max()]
    shares = np.abs(rankers[0].explain(FRAME[TEST])[:, :-1]).mean(axis=0)
    order, gains = np.argsort(-shares), rankers[0].feature_importances_
    both = np.column_stack([gains / gains.max(), shares / shares.max()])[order]
    assert_allclose(bars(page, "importances"), both.ravel(), atol=6e-4)
    means = [values["ndcg@10"][0][QID[TEST][::10] % 3 == country].mean() for country in range(3)]
    expected = sorted(means / np.max(means))
    assert_allclose(sorted(bars(page, "segments")[:3]), expected, atol=6e-4)
    assert [blocks.share(*pair) for pair in ((-1, 2), (1, 0), (np.nan, 1), (1, 4))] == [
        0,
        0,
        0,
        0.25,
    ]
    assert [blocks.count(n, "query") for n in (1, 1000)] == ["1 query", "1,000 queries"]


def test_of_equal_queries_those_with_most_relevant_documents_are_worst(tmp_path: Path) -> None:
    """And the facts on the data say how many have none, whose measure has a value here."""
    ranker = LinearRanker("regression").fit(X, Y, qid=QID)
    n_relevant = np.array([0, 3, 1, 1, 2, 0])
    labels = np.zeros(60)
    for query, n in enumerate(n_relevant):
        labels[10 * query : 10 * query + n] = 0.5
    alike = gbrank.custom_measure(lambda scores, labels: 0.5)
    options: dict[str, Any] = {"measures": [alike], "html": tmp_path / "r.html"}
    page = Page(gbrank.report(ranker, X[:60], labels, qid=QID[:60], **options))
    titles = [title for title, _ in lists(page, "worst")]
    assert [int(title.split(":")[0]) for title in titles] == [1, 4, 2, 3, 0, 5]
    assert [int(re.findall(r"(\d+) relevant", title)[0]) for title in titles] == [3, 2, 1, 1, 0, 0]
    facts = page.table("data", "data")
    assert facts["queries without a label above 0"] == ["2"]
    assert facts["documents in a query"] == ["10 to 10, median 10"]
    assert list(page.table("segments", "relevant documents")) == ["0", "1", "2", "3"]


@pytest.mark.parametrize("largest", [2.0, 8.0])
def test_probabilities_beside_other_labels_than_those_of_training(
    largest: float, tmp_path: Path
) -> None:
    """Both are shares of the largest label, here or in training."""
    ranker = GBRanker(**SMALL).fit(X[TRAIN], Y[TRAIN], qid=QID[TRAIN])
    assert Y[TRAIN].max() == 4
    labels = np.minimum(Y[TEST], 2) * largest / 2
    page = Page(
        gbrank.report(ranker, X[TEST], labels, qid=QID[TEST], html=tmp_path / "r.html")
    )  # fmt: skip
    p, top = ranker.predict(X[TEST], output="probability"), max(4.0, largest)
    error = expected_calibration_error(labels / top, p * 4 / top)
    assert f"expected calibration error {error:.4f}" in page.texts["calibration"]


def test_what_is_measured_by_default(tmp_path: Path) -> None:
    """What the model was judged by, but for labels of a name; and the usual, each once."""
    ranker = GBRanker(eval_metric=["ap[m]", "err", "map"], **SMALL)
    ranker.fit(X, Y, qid=QID, labels={"m": Y})
    page = Page(gbrank.report(ranker, X, Y, qid=QID, html=tmp_path / "r.html"))
    wanted = ["err", "map", "ndcg@1", "ndcg@5", "ndcg@10", "mrr"]
    assert list(page.table("measures", "measure")) == wanted


def test_parameters_and_versions(page: Page) -> None:
    """Those that differ come first, in bold."""
    table = page.table("parameters", "parameter")
    differ = ["booster", "n_estimators", "sigma", "validation_fraction"]
    assert list(table)[:5] == ["class", *differ]
    assert table["n_estimators"] == ["20", "2"]
    assert "<b>xgboost</b>" in page.source
    assert "<b>63</b>" not in page.source
    versions = page.table("versions", "library")
    assert versions["gbrank"] == [gbrank.__version__]
    assert {"lightgbm", "xgboost", "numpy"} <= set(versions)


def test_nothing_from_elsewhere(page: Page) -> None:
    """No script, no address, no resource; every link leads to a section."""
    assert not re.search(
        r"https?:|//\w|@import|url\((?!#)|\bsrc=|<script|<link|<iframe", page.source
    )
    links = {str(attrs["href"]) for tag, attrs in page.tags if tag == "a"}
    assert links == {f"#{section}" for section in page.tables}
    used = {str(attrs["xlink:href"]) for tag, attrs in page.tags if tag == "use"}
    assert used <= {f"#{attrs['id']}" for _, attrs in page.tags if "id" in attrs}


def test_names_are_text(page: Page) -> None:
    """Of queries, documents, features and models."""
    assert "script" not in {tag for tag, _ in page.tags}
    for section in ("worst", "importances", "data", "changes"):
        assert EVIL in page.texts[section]


def test_light_dark_and_narrow(page: Page) -> None:
    """Pictures take the page's colours, and each table scrolls by itself."""
    assert "@media (prefers-color-scheme: dark)" in page.source
    pictures = re.findall(r"<svg.*?</svg>", page.source, re.DOTALL)
    assert len(pictures) == 4
    for picture in pictures:
        assert "$" not in picture
        assert "currentColor" in picture
        colours = set(re.findall(r"(?:fill|stroke): ?([^;\"]+)", picture))
        assert colours <= {"none", "currentColor", "var(--accent)", "var(--second)", "var(--quiet)"}
    assert page.source.count("<table>") == page.source.count(
        '<div class="box" tabindex="0"><table>'
    )


def test_the_same_page_again(rankers: tuple[GBRanker, GBRanker], tmp_path: Path) -> None:
    """Byte for byte, over an older file; the settings of pictures stay."""
    before = dict(matplotlib.rcParams)
    paths = [tmp_path / "1.html", tmp_path / "2.html"]
    paths[1].write_text("old")
    for path in paths:
        assert gbrank.report(rankers[0], FRAME[TEST], Y[TEST], qid=QUERIES, html=path) == path
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert dict(matplotlib.rcParams) == before


def test_an_older_page_stays(
    rankers: tuple[GBRanker, GBRanker], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the disk is full."""
    path = tmp_path / "report.html"
    path.write_text("old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        gbrank.report(rankers[0], FRAME[TEST], Y[TEST], qid=QUERIES, html=path)
    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["report.html"]


KINDS: dict[str, tuple[Any, Any]] = {
    "xgboost": (GBRanker(booster="xgboost", **SMALL), X),
    "context": (GBRanker(context=["rank", "size"], **SMALL), X),
    "list": (GBRanker(**SMALL), X.tolist()),
    "sparse": (GBRanker(**SMALL), sparse.csr_matrix(X)),
    "polars": (GBRanker(**SMALL), pl.DataFrame(X, schema=list("abcd"))),
    "init": (GBRanker(init=LinearRanker("regression"), **SMALL), X),
    "own": (GBRanker("lightgbm:lambdarank", **SMALL), X),
    "linear": (LinearRanker(n_steps=2), X),
    "perceptron": (SLAMPerceptron(max_iter=3), X),
}
SECTIONS = ["measures", "segments", "distribution", "worst", "importances", "curves"]
SECTIONS += ["calibration", "data", "parameters", "versions"]


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=pytest.mark.slow) if kind in ("list", "polars", "own") else kind
        for kind in KINDS
    ],
)
def test_every_ranker(kind: str, tmp_path: Path) -> None:
    """Has all sections; those for which it has nothing say so."""
    ranker, table = KINDS[kind]
    ranker = ranker.fit(table, Y, qid=QID)
    page = Page(gbrank.report(ranker, table, Y, qid=QID, html=tmp_path / "report.html"))
    assert list(page.tables) == SECTIONS
    silent = {key for key in SECTIONS if "eft out: " in page.texts[key]}
    trees = {"curves"} | ({"importances"} if kind == "init" else set())
    linear = {"importances", "calibration"} | ({"curves"} if kind == "perceptron" else set())
    assert silent == (linear if kind in ("linear", "perceptron") else trees)
    if kind == "context":
        assert {"rank(f0)", "size"} <= set(page.table("importances", "feature"))


def test_labels_of_many_digits_are_told_apart(tmp_path: Path) -> None:
    """In the table of labels and in lists."""
    labels = np.where(Y > 1, 1234567.0, 1234568.0)[:20]
    ranker = LinearRanker("regression").fit(X, Y, qid=QID)
    options: dict[str, Any] = {"measures": ["ap"], "html": tmp_path / "r.html"}
    page = Page(gbrank.report(ranker, X[:20], labels, qid=QID[:20], **options))
    assert list(page.table("data", "label")) == ["1234567", "1234568"]
    table = next(lists(page, "worst"))[1]
    assert {row[2] for row in table[1:]} == {"1234567", "1234568"}


def test_names_of_models_and_queries(tmp_path: Path) -> None:
    """Are shown as they are; a lone surrogate, which no file can hold, by its code."""
    ranker = LinearRanker("regression").fit(X, Y, qid=QID)
    queries = np.array([f"\ud800{query}" for query in QID], dtype=object)[:30]
    page = Page(
        gbrank.report(
            ranker, X[:30], Y[:30], qid=queries, against=ranker, html=tmp_path / "r.html",
            names=("_a $x_{$", "b$"),
        )
    )  # fmt: skip
    legend = page.texts["distribution"]
    assert "_a $x_{$" in legend.partition("How many queries")[0]
    assert "\\ud8000" in page.texts["worst"]


@pytest.mark.parametrize("largest", [0, 700])
def test_a_sample_of_whole_queries_is_never_empty(largest: int) -> None:
    """Though the first one that is drawn is longer than the sample."""
    sizes = [600] * 3 if largest else [100] * 20
    judged: Any = SimpleNamespace(queries=gbrank.Queries.from_sizes(sizes))
    rows = _sample(judged, SimpleNamespace(_needs_queries=True))
    queries = judged.queries.index[rows]
    assert len(rows) == sum(np.array(sizes)[np.unique(queries)])
    assert len(rows) == (600 if largest else 500)
    rows = _sample(judged, SimpleNamespace(_needs_queries=False))  # of any documents
    assert len(np.unique(rows)) == 500
    assert len(np.unique(judged.queries.index[rows])) == len(sizes)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("rows", "labels", "without"),
    [
        (slice(0, 10), Y, 0),
        (slice(0, 1), Y + 1, 0),
        (slice(0, 100), 0 * Y, 10),
        (slice(0, 100), Y / 7.3, 0),
        (slice(0, 100), np.where(QID == 3, 0, Y), 1),
    ],
    ids=["one query", "one document", "nothing relevant", "real labels", "one of them"],
)
def test_small_and_odd_data(rows: slice, labels: Any, without: int, tmp_path: Path) -> None:
    """Have a page too, without a warning; what is not known is a dash."""
    one, other = (GBRanker(**SMALL | {"random_state": seed}).fit(X, Y, qid=QID) for seed in (0, 1))
    path = gbrank.report(
        one, X[rows], labels[rows], qid=QID[rows], against=other, html=tmp_path / "r.html"
    )
    page = Page(path)
    assert "nan" not in re.sub(r"<svg.*?</svg>", "", page.source, flags=re.DOTALL)
    assert ("has no value on any query" in page.texts["worst"]) == (without == 10)
    assert (f"{without} without a relevant document" in page.texts[""]) == (without > 0)
    if without == 10:
        assert page.table("measures", "measure")["ndcg@10"] == ["0", "–", "–", "–"]


@pytest.mark.usefixtures("registry")
def test_measures_of_your_own(tmp_path: Path) -> None:
    """The first decides; one may look at columns that are no features."""
    ranker = GBRanker(**SMALL).fit(X, Y, qid=QID)
    first = gbrank.custom_measure(lambda scores, labels: float(labels[scores.argmax()]), name="top")
    page = Page(
        gbrank.report(ranker, X, Y, qid=QID, measures=[first, "map"], html=tmp_path / "r.html")
    )
    assert list(page.table("measures", "measure")) == ["top", "map"]
    assert "top of a query" in page.texts["distribution"]


@pytest.mark.usefixtures("registry")
def test_queries_without_a_value(tmp_path: Path) -> None:
    """Are not said to have no relevant document where they have one."""
    ranker = LinearRanker("regression").fit(X, Y, qid=QID)
    value = gbrank.custom_measure(lambda s, y: np.nan if y[0] else 1.0, name="first")
    page = Page(gbrank.report(ranker, X, Y, qid=QID, measures=[value], html=tmp_path / "r.html"))
    assert " without a value" in page.texts[""]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "a"}, "by: column 'a' must be the same in all rows of a query, got"),
        ({"by": "nation"}, r"unknown column \(by\) 'nation'"),
        ({"docid": 3}, "docid must name columns of X by text, got 3"),
        ({"against": 3}, "against: scores must have one dimension"),
        ({"train": X}, "train: X must be a data frame"),
        ({"names": ("a", "a")}, "names must be two texts that differ"),
        ({"html": "no/where/report.html"}, "html must be in a folder that exists"),
        ({"qid": [1]}, "qid must have one entry per row"),
        ({"y": [1]}, "y must have 160 entries, got 1"),
    ],
)
def test_errors(
    options: dict[str, Any], message: str, rankers: tuple[GBRanker, GBRanker], tmp_path: Path
) -> None:
    """Name the argument, before a score is computed; nothing is written."""
    given: dict[str, Any] = {"y": Y[TEST], "qid": QUERIES, "html": tmp_path / "report.html"}
    with pytest.raises((ValueError, TypeError), match=message):
        gbrank.report(rankers[0], FRAME[TEST], **given | options)
    assert not list(tmp_path.iterdir())


def test_without_jinja(
    rankers: tuple[GBRanker, GBRanker], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says what to install."""
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"pip install 'gbrank\[report\]'"):
        gbrank.report(rankers[0], FRAME[TEST], Y[TEST], qid=QUERIES, html=tmp_path / "report.html")


@pytest.mark.slow
def test_command_on_tables(rankers: tuple[GBRanker, GBRanker], tmp_path: Path) -> None:
    """In a process of its own, it writes the page that Python writes."""
    table = FRAME[TEST].assign(country=COUNTRY, url=range(160), kind=FRAME["kind"].astype(str))
    for name, ranker in zip(("new", "old"), rankers, strict=True):
        ranker.save(tmp_path / name)
    table.assign(label=Y[TEST], qid=QID[TEST]).to_parquet(tmp_path / "test.parquet")
    FRAME[TRAIN].assign(label=Y[TRAIN], qid=QID[TRAIN]).to_parquet(tmp_path / "train.parquet")
    command = ["report", "test.parquet", "--model", "new", "--against", "old", "--by", "country"]
    command += ["--docid", "url", "--train", "train.parquet", "--html", "report.html"]
    command += ["--metric", "map", "ndcg@3"]
    done = subprocess.run(
        [sys.executable, "-m", "gbrank", *command], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "report: report.html\n"), done.stderr
    path = gbrank.report(
        rankers[0],
        table,
        Y[TEST],
        qid=QID[TEST],
        html=tmp_path / "expected.html",
        against=rankers[1],
        train=FRAME[TRAIN],
        by=["country"],
        docid="url",
        measures=["map", "ndcg@3"],
        names=("new", "old"),
    )
    assert (tmp_path / "report.html").read_bytes() == path.read_bytes()


def test_command_on_letor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files in LETOR format, any class of model, and unjudged documents."""
    LinearRanker("regression").fit(X, Y, qid=QID).save(tmp_path / "model")
    labels = np.where(np.arange(460) == 5, -1, Y)
    data, where = str(tmp_path / "data.txt"), f"{tmp_path}/report.html"
    write_letor(data, X, np.abs(labels), QID)
    lines = Path(data).read_text().splitlines(keepends=True)
    Path(data).write_text("".join([*lines[:5], f"-1{lines[5][1:]}", *lines[6:]]))
    command = ["report", data, "--model", str(tmp_path / "model"), "--html", where]
    assert main(command) == 1
    assert "--unjudged" in capsys.readouterr().err
    assert main([*command, "--unjudged", "drop"]) == 0
    assert Page(Path(where)).table("data", "data")["documents"] == ["459"]
    assert main([*command, "--docid", "url"]) == 1
    assert "--docid must be given with tables only" in capsys.readouterr().err
    for same in (str(tmp_path / "model"), f"{tmp_path}/x/../model"):
        assert main([*command, "--against", same]) == 1
        assert "--against must be another model" in capsys.readouterr().err
    assert main([*command[:-1], f"{tmp_path}/no/report.html"]) == 1
    assert "--html must be in a folder that exists" in capsys.readouterr().err


# --- Both orders, and a judge -----------------------------------------------------------------


def test_both_orders_of_lists_of_any_length(tmp_path: Path) -> None:
    """A single document has no order, and equal scores have no tau; by hand and by SciPy.

    Beside the difference stands how many queries tell 0.01; the best feature is beside the first.
    """
    rng, sizes = np.random.default_rng(0), [1, 3, *[12] * 12]
    queries = np.repeat(np.arange(14), sizes)
    table = rng.normal(size=(len(queries), 2))
    labels = np.digitize(table[:, 0] + rng.normal(size=len(queries)), [0.5, 1.5])
    ours, theirs = (table[:, 0] + rng.normal(size=len(queries)) for _ in range(2))
    ours[queries == 5] = 0
    options: dict[str, Any] = {"against": theirs, "measures": ["ndcg@10"], "names": ("a", "b")}
    page = Page(
        gbrank.report(ours, table, labels, qid=queries, html=tmp_path / "r.html", **options)
    )
    overlap, same, tau = [], [], []
    for query, size in list(enumerate(sizes))[1:]:
        pair = ours[queries == query], theirs[queries == query]
        orders = [sorted(range(size), key=lambda row: -own[row]) for own in pair]
        k = min(size, 10)
        overlap.append(len(set(orders[0][:k]) & set(orders[1][:k])) / k)
        same.append(orders[0][0] == orders[1][0])
        tau += [stats.kendalltau(*pair).statistic] if query != 5 else []
    facts = page.table("changes", "both orders")
    assert facts["first 10 documents in common"] == [f"{np.mean(overlap):.1%}"]
    assert facts["queries with the same first document"] == [f"{np.mean(same):.1%}"]
    assert facts["Kendall's tau of the scores"] == [f"{np.mean(tau):.3f}"]
    first, second, alone = (
        get_measure("ndcg@10").per_query(labels, scores, qid=queries)
        for scores in (ours, theirs, table[:, 0])
    )
    needed = gbrank.how_many_queries((first - second)[~np.isnan(first)])
    assert f"one of 0.01 takes {needed:,}." in page.texts["changes"]
    lead = (first - alone)[~np.isnan(first)]
    half = 1.96 * lead.std(ddof=1) / np.sqrt(len(lead))
    ends = f"95% interval {lead.mean() - half:+.4f} to {lead.mean() + half:+.4f}"
    fact = f"against f0 alone, the best feature here{lead.mean():+.4f}{ends}"
    assert fact in re.sub(r"\n\s*", "", page.texts[""])


def test_small_probabilities() -> None:
    """Those that four digits do not show are below the last one that they do."""
    assert [_chance(p) for p in (0.00009, 0.0005, 0.04)] == ["< 0.0001", "0.0005", "0.0400"]


def test_a_judge_beside_people(rankers: tuple[GBRanker, GBRanker], tmp_path: Path) -> None:
    """Agreement, bias and worth; means are those of `compare_scores`, tests of t alone.

    People found nothing relevant in one of the six queries that they judged.
    """
    rng, queries = np.random.default_rng(0), QID[TEST]
    judge = np.clip(Y[TEST] + rng.choice([-1, 0, 0, 0, 1], 160), 0, 4)
    people = np.where(queries < 36, np.where(queries == 31, 0, Y[TEST]), np.nan)
    known = ~np.isnan(people)
    scores = {"new": rankers[0].predict(FRAME[TEST]),
              "old": rankers[1].predict(FRAME[TEST][["a", "c", "kind"]])}  # fmt: skip
    given: dict[str, Any] = {"qid": QUERIES, "judged_by": judge, "html": tmp_path / "r.html"}
    options = {"against": scores["old"], "names": ("new", "old")}
    page = Page(gbrank.report(scores["new"], FRAME[TEST], people, **given, **options))
    facts, pairs = page.table("judge", "judge"), people[known][:, None] - judge[known]
    assert facts["queries judged by people"] == ["6"]
    assert facts["documents judged by people"] == ["60"]
    apart = people[known] - judge[known]
    assert facts["labels that agree"] == [f"{np.mean(apart == 0):.1%}"]
    assert facts["Cohen's kappa"] == [f"{1 - np.mean(apart != 0) / np.mean(pairs != 0):.2f}"]
    weighted = f"{1 - np.mean(apart**2) / np.mean(pairs**2):.2f}"
    assert facts["kappa, weighted by squared distance"] == [weighted]
    per_query = get_measure("ndcg@10").per_query
    by = [
        per_query(labels[known], scores["new"][known], qid=QUERIES[known])
        for labels in (judge, people)
    ]
    assert page.table("judge", "model")["new"][0] == f"{np.nanmean(by[0] - by[1]):+.4f}"
    found = gbrank.compare_scores(
        scores, people, QUERIES, judged_by=judge, baseline="old"
    ).summary()
    assert page.table("measures", "measure")["ndcg@10"][:2] == ["5", f"{found[0].mean:.4f}"]
    changed = page.table("changes", "measure")["ndcg@10"]
    assert changed[0] == f"{found[0].difference:+.4f}"
    assert changed[2] == f"{found[0].p_t:.4f}"
    chance = f"with probability {found[0].p_t:.4f}."
    leads = re.findall('<p class="lead">(.*?)</p>', page.source)
    assert (chance in leads[0], "To the difference in ndcg@10" in leads[1]) == (True, True)
    labels = np.where(known, people, judge)
    own, alone = (per_query(labels, each, qid=QUERIES) for each in (scores["new"], X[TEST][:, 0]))
    best = f'a alone, the best feature here</dt><dd class="value">{np.nanmean(own - alone):+.4f}<'
    assert best.replace(">-", ">−") in page.source
    page = Page(gbrank.report(scores["new"], FRAME[TEST], people, **given))
    assert "To the mean in ndcg@10, the judge is worth" in page.texts["judge"]
