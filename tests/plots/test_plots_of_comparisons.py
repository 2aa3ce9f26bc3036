"""Pictures of two models, query by query, and of comparisons."""

import numpy as np
import pytest
from matplotlib import pyplot
from numpy.testing import assert_allclose
from scipy import stats

from gbrank import NDCG, GBRanker, cross_validate_rankers, make_cubic, plots
from gbrank.evaluation import Comparison

X, Y, QID = make_cubic(40, n_documents=10, n_features=5, random_state=0)


# --- Two models, query by query ---------------------------------------------------------------


def test_per_query() -> None:
    """A dot for each query that counts; SciPy's own test of the differences."""
    rng = np.random.default_rng(0)
    qid = rng.permutation(np.repeat(np.arange(12), 10))
    y = rng.integers(0, 3, 120) * (qid != 5)  # a query without a relevant document
    ours, other = y + rng.normal(size=120), y + 2 * rng.normal(size=120)
    ax = plots.per_query(y, ours, other, qid=qid, metric="ndcg@5", names=("A", "B"))
    (dots,) = [line for line in ax.lines if line.get_marker() == "o"]
    by_hand = np.array(
        [
            [NDCG(k=5)(y[qid == query], scores[qid == query]) for scores in (other, ours)]
            for query in dict.fromkeys(qid)
            if query != 5
        ]
    )
    assert_allclose(dots.get_xydata(), by_hand, rtol=1e-12)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("ndcg@5 of B", "ndcg@5 of A")
    difference = by_hand[:, 1] - by_hand[:, 0]
    test = stats.permutation_test(
        (difference,), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    counts, numbers = ax.get_title().splitlines()
    better, worse = (int((sign * difference > 0).sum()) for sign in (1, -1))
    assert counts == f"{better} better, {11 - better - worse} equal, {worse} worse"
    assert f"mean difference {difference.mean():+.4f} [" in numbers
    assert numbers.endswith(f"p = {test.pvalue:.4f}")
    low, high = map(float, numbers.partition("[")[2].partition("]")[0].split(", "))
    assert low < difference.mean() < high


# --- Comparisons ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compared() -> Comparison:
    """Return a comparison of three rankers by two measures."""
    rankers = {name: GBRanker(name, n_estimators=5) for name in ("ranknet", "lambdarank", "slam")}
    return cross_validate_rankers(
        rankers, X, Y, QID, folds=3, seeds=1, n_jobs=1, metric=["ndcg@10", "map"]
    )


@pytest.mark.parametrize("metric", [None, "map"])
def test_comparison(compared: Comparison, metric: str | None) -> None:
    """Means as dots, and the intervals of the differences, from the baseline's mean."""
    ax = plots.comparison(compared, metric=metric)
    shown = metric or "ndcg@10"
    rows = [row for row in compared.summary() if row.metric == shown]
    dots = [line.get_xydata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert_allclose(dots, [[row.mean, place] for place, row in enumerate(rows)])
    bars = [line.get_xdata() for line in ax.lines if line.get_linewidth() == 2]
    ends = [[row.difference_low, row.difference_high] for row in rows]
    assert_allclose(bars, rows[0].mean + np.array(ends))
    assert [text.get_text() for text in ax.get_yticklabels()] == ["ranknet", "lambdarank", "slam"]
    assert ax.yaxis_inverted()  # the first is on top
    bottom, top = ax.get_ylim()
    assert -1 < top < 0  # less than a row of empty space at either end
    assert len(rows) - 1 < bottom < len(rows)
    assert ax.get_xlabel().startswith(f"{shown}\n")
    assert ax.get_xlabel().endswith("difference from ranknet")


def test_quality_by_seconds(compared: Comparison) -> None:
    """A panel for each measure and data set, a mark for each ranker at its seconds and mean."""
    figure = plots.quality_by_seconds(compared)
    assert pyplot.get_fignums() == [figure.number]  # a notebook shows it
    blocks = compared.blocks("test")
    assert len(figure.axes) == len(blocks)
    for axes, rows in zip(figure.axes, blocks, strict=True):
        assert axes.get_ylabel() == f"{rows[0].metric}, test queries"
        marks = [line.get_xydata()[0].tolist() for line in axes.lines]
        assert marks == [[row.cpu_seconds, row.mean] for row in rows]
        for name, mark, row in zip(axes.texts, axes.lines, rows, strict=True):
            assert (name.get_text(), name.xy) == (row.ranker, (row.cpu_seconds, row.mean))
            assert name.get_color() == mark.get_color()


def test_differences(compared: Comparison) -> None:
    """Of each measure, on one scale, from 0 for the baseline; and the seconds of a fit."""
    figure = plots.differences(compared)
    *panels, beside = figure.axes
    for axes, rows in zip(panels, compared.blocks(), strict=True):
        assert axes.get_title() == rows[0].metric
        assert axes.get_xlabel() == "minus ranknet"
        dots = [line.get_xydata()[0] for line in axes.lines if line.get_marker() == "o"]
        assert_allclose(dots, [[row.difference, place] for place, row in enumerate(rows)])
        bars = [line.get_xdata() for line in axes.lines if line.get_linewidth() == 3]
        assert_allclose(bars, [[row.difference_low, row.difference_high] for row in rows])
        texts = [text.get_text().replace("\N{MINUS SIGN}", "-") for text in axes.texts]
        assert texts[0] == f"mean {rows[0].mean:.3f}"
        assert texts[1:] == [f"{row.difference:+.3f}" for row in rows[1:]]
        assert axes.get_xlim() == panels[0].get_xlim()
    assert [bar.get_width() for bar in beside.patches] == [row.cpu_seconds for row in rows]
    assert [label.get_text() for label in panels[0].get_yticklabels()] == [*compared.rankers]
