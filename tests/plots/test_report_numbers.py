"""The numbers of a report against other code."""

import re
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

import gbrank
from gbrank import GBRanker, get_measure
from gbrank.plots.report.report_data import groups
from report_page import COUNTRY, EVIL, FRAME, QID, QUERIES, TEST, TRAIN, Page, X, Y, ends


def test_measures(page: Page, values: dict[str, Any]) -> None:
    """Are the means; intervals are near those of the normal distribution."""
    table = page.table("measures", "metric")
    assert list(table) == list(values)
    for name, (ours, theirs) in values.items():
        shown = table[name]
        assert shown[0] == "16"
        assert [shown[1], shown[3]] == [f"{ours.mean():.4f}", f"{theirs.mean():.4f}"]
        half = 1.96 * ours.std() / 4
        assert_allclose(ends(shown[2]), [ours.mean() - half, ours.mean() + half], atol=half / 3)
    assert f"{values['ndcg@10'][0].mean():.4f}" in page.texts[""]


def test_paired_tests(page: Page, values: dict[str, Any]) -> None:
    """Are SciPy's t test, and all tosses of the randomization test."""
    tosses = np.array(list(product([-1, 1], repeat=16)))
    table = page.table("changes", "metric")
    for name, (ours, theirs) in values.items():
        lead, shown = ours - theirs, table[name]
        assert shown[0] == f"{lead.mean():+.4f}"
        larger = np.abs(tosses @ lead).round(9) >= np.abs(lead.sum()).round(9)
        assert float(shown[2]) == pytest.approx(larger.mean(), abs=0.02)  # of 9,999 tosses
        assert float(shown[3]) == pytest.approx(stats.ttest_rel(ours, theirs).pvalue, abs=6e-5)
        assert [int(cell) for cell in shown[4:]] == [sum(np.sign(lead) == s) for s in (1, 0, -1)]


def test_verdict(page: Page, rankers: tuple[GBRanker, GBRanker], tmp_path: Path) -> None:
    """Says which is better, whichever comes first, or that the data do not tell."""
    table = page.table("changes", "metric")["ndcg@10"]
    assert float(table[2]) < 0.05
    low, high = ends(table[1])
    by = f"is significantly better than old in ndcg@10, by {table[0][1:]} (95% interval "
    by += f"{low:.4f} to {high:.4f}, p = {table[2]})."
    assert by in page.texts["changes"]
    where: dict[str, Any] = {"qid": QID[TEST], "html": tmp_path / "report.html"}
    new, old = rankers
    turned = Page(
        gbrank.report(old, FRAME[TEST], Y[TEST], against=new, names=("old", "new"), **where)
    )
    assert f"new {by}" in turned.texts["changes"]
    same = Page(gbrank.report(new, FRAME[TEST], Y[TEST], against=new, **where))
    assert "No significant difference in ndcg@10" in same.texts["changes"]
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
    assert groups([2, 1, 2, 2**53, 2**53 + 1])[0] == ["1", "2", str(2**53), str(2**53 + 1)]
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


def test_distribution(page: Page, values: dict[str, Any]) -> None:
    """Are percentiles, and bars of their heights."""
    table = page.table("distribution", "model")
    for row, name in zip(values["ndcg@10"], (f"new {EVIL}", "old"), strict=True):
        expected = np.percentile(row, [10, 25, 50, 75, 90])
        assert_allclose([float(cell) for cell in table[name]], expected, atol=6e-5)


def test_importances(page: Page, rankers: tuple[GBRanker, GBRanker]) -> None:
    """Are shares of the gain, and means of SHAP values."""
    table = page.table("importances", "feature")
    shares = np.abs(rankers[0].explain(FRAME[TEST])[:, :-1]).mean(axis=0)
    gains = rankers[0].feature_importances_
    features = list(FRAME)
    assert list(table) == [features[i] for i in np.argsort(-shares)]
    for feature, gain, part in zip(features, gains, shares, strict=True):
        assert table[feature][:2] == [f"{gain:.4f}", f"{part:.4f}"]


def test_features_that_are_shuffled(tmp_path: Path) -> None:
    """Within queries: what differs between queries alone is worth nothing, whatever it adds.

    All that the other feature says is lost: the measure is the mean over all orders.
    """
    y = np.tile([2.0, 1.0, 0.0, 0.0], 400)
    qid = np.repeat(np.arange(400), 4)
    frame = pd.DataFrame({"document": y + 0.1, "query": (qid % 7) * 1.0})
    ranker = GBRanker("regression", n_estimators=20, min_child_samples=5, random_state=0, n_jobs=1)
    ranker.fit(frame, y + frame["query"], qid=qid)
    page = Page(gbrank.report(ranker, frame, y, qid=qid, html=tmp_path / "r", metric="ndcg"))
    table = page.table("importances", "feature")
    assert table["query"][2:] == ["+0.0000", "+0.0000 to +0.0000"]
    gains = np.array(list(permutations([3.0, 1.0, 0.0, 0.0])))
    discounts = 1 / np.log2(np.arange(2, 6))
    expected = (gains @ discounts).mean() / ([3.0, 1.0, 0.0, 0.0] @ discounts) - 1
    low, high = ends(table["document"][3])
    assert low < expected < high < 0


def test_curves(page: Page, rankers: tuple[GBRanker, GBRanker]) -> None:
    """The table of rounds is that of the fit."""
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
            assert cells[1] == cells[3] == "–"  # no median of codes
        else:
            one, other = (part[name].fillna(-1e9).to_numpy() for part in (here, then))
            expected = max(abs((one <= v).mean() - (other <= v).mean()) for v in [*one, *other])
            assert float(cells[1]) == pytest.approx(here[name].median(), rel=1e-3)
        assert float(cells[4]) == pytest.approx(expected, abs=6e-5)


def test_both_orders_of_lists_of_any_length(tmp_path: Path) -> None:
    """A single document has no order, and equal scores have no tau; by hand and by SciPy.

    Beside the difference stands how many queries detect 0.01; the best feature is beside the first.
    """
    rng, sizes = np.random.default_rng(0), [1, 3, *[12] * 12]
    queries = np.repeat(np.arange(14), sizes)
    table = rng.normal(size=(len(queries), 2))
    labels = np.digitize(table[:, 0] + rng.normal(size=len(queries)), [0.5, 1.5])
    ours, theirs = (table[:, 0] + rng.normal(size=len(queries)) for _ in range(2))
    ours[queries == 5] = 0
    options: dict[str, Any] = {"against": theirs, "metric": ["ndcg@10"], "names": ("a", "b")}
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
    needed = gbrank.evaluation.required_queries((first - second)[~np.isnan(first)])
    assert f"Detecting 0.01 needs {needed:,} queries." in page.texts["changes"]
    lead = (first - alone)[~np.isnan(first)]
    half = 1.96 * lead.std(ddof=1) / np.sqrt(len(lead))
    ends = f"95% interval {lead.mean() - half:+.4f} to {lead.mean() + half:+.4f}"
    fact = f"against f0 alone, the best single feature{lead.mean():+.4f}{ends}"
    assert fact in re.sub(r"\n\s*", "", page.texts[""])


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
    given: dict[str, Any] = {"qid": QUERIES, "judge_labels": judge, "html": tmp_path / "r.html"}
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
        scores, people, QUERIES, judge_labels=judge, baseline="old"
    ).summary()
    assert page.table("measures", "metric")["ndcg@10"][:2] == ["5", f"{found[0].mean:.4f}"]
    for name in scores:  # what the judge is worth to the mean of each
        judged = gbrank.compare_scores(scores, people, QUERIES, judge_labels=judge, baseline=name)
        (worth,) = [row.judge_equivalent_queries for row in judged.summary() if row.ranker == name]
        assert page.table("judge", "model")[name][3] == f"{worth:.1f}"
    changed = page.table("changes", "metric")["ndcg@10"]
    assert changed[0] == f"{found[0].difference:+.4f}"
    assert changed[2] == f"{found[0].p_t:.4f}"
    by_chance = f"p = {found[0].p_t:.4f}"
    leads = re.findall('<p class="lead">(.*?)</p>', page.source)
    assert (by_chance in leads[0], "For the difference in ndcg@10" in leads[1]) == (True, True)
    labels = np.where(known, people, judge)
    own, alone = (per_query(labels, each, qid=QUERIES) for each in (scores["new"], X[TEST][:, 0]))
    best = f'a alone, the best single feature</dt><dd class="value">{np.nanmean(own - alone):+.4f}<'
    assert best.replace(">-", ">−") in page.source
    page = Page(gbrank.report(scores["new"], FRAME[TEST], people, **given))
    assert "For the mean in ndcg@10, the judge" in page.texts["judge"]


def test_dots_above_the_line_are_better_with_the_first(tmp_path: Path) -> None:
    """Labels as scores are perfect: each dot is at the top, above or on the line."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200).astype(float)
    path = gbrank.report(
        y, X[:200], y, group=[10] * 20, against=rng.normal(size=200), html=tmp_path / "r.html"
    )
    picture = path.read_text(encoding="utf-8").partition("<svg")[2].partition("</svg>")[0]
    (line,) = re.findall(r"M ([\d.]+) ([\d.]+) \nL ([\d.]+) ([\d.]+) \n[^>]*dasharray", picture)
    left, bottom, right, top = map(float, line)
    dots = re.findall(r'<use[^>]* x="([\d.]+)" y="([\d.]+)"[^>]*accent', picture)
    x, height = np.array(dots, float).T
    assert len(dots) == 20
    assert_allclose(height, top, atol=1e-3)
    assert (x < right - 1).sum() > 15
    assert left <= x.min()
    assert top < bottom
