"""Pictures: the data drawn, and what they are called."""

import doctest
import io
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.patches import Patch
from matplotlib.text import Text
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from gbrank import NDCG, GBRanker, cross_validate_rankers, make_cubic, plots
from gbrank.evaluation import Comparison, Row
from gbrank.fit.explanations import Explanation
from gbrank.fit.interrupted import as_part
from gbrank.plots.style import legend

X, Y, QID = make_cubic(40, n_documents=10, n_features=5, random_state=0)


@pytest.fixture(autouse=True)
def _close() -> Iterator[None]:
    """Close the figures of a test."""
    yield
    pyplot.close("all")


def fitted(objective: str = "approx:ndcg", **params: Any) -> GBRanker:
    """Return a small ranker, measured on validation data."""
    defaults = {
        "n_estimators": 15, "init": "zero", "random_state": 0, "n_jobs": 1,
        "validation_fraction": 0.3,
    }  # fmt: skip
    return GBRanker(objective, **{**defaults, **params}).fit(X, Y, qid=QID)


def curves(ax: Any) -> dict[str, Any]:
    """Return the points of the lines that have a name, shape (n_points, 2)."""
    named = {str(line.get_label()): line.get_xydata() for line in ax.lines}
    return {name: points for name, points in named.items() if not name.startswith("_")}


def test_all_draw_where_they_are_told() -> None:
    """On the axes that they get, or on new ones."""
    _, given = pyplot.subplots()
    lists = [1, 0], [1.0, 0.0], [0.0, 1.0]
    assert plots.per_query(*lists, group=[2], ax=given) is given
    assert plots.per_query(*lists, group=[2]) is not given


# --- Learning curves --------------------------------------------------------------------------


def test_learning_curves() -> None:
    """The record of the fit by round, from 1; sigma on an axis of its own; where it was cut."""
    ranker = fitted(
        sigma="geometric(1,0.1)",
        eval_metric=["ndcg@10", "map"],
        early_stopping_rounds=3,
        learning_rate=0.7,
        n_estimators=40,
    )
    done = len(ranker.sigmas_)
    ax = plots.learning_curves(ranker)
    drawn = curves(ax)
    best = ranker.best_iteration_
    assert best < done
    assert list(drawn) == ["valid_0", f"best round: {best}"]
    rounds = np.arange(1, done + 1)
    assert_array_equal(drawn["valid_0"].T, [rounds, ranker.evals_result_["valid_0"]["ndcg@10"]])
    assert_array_equal(drawn[f"best round: {best}"][:, 0], [best, best])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("round", "ndcg@10")
    second = ax.figure.axes[-1]
    assert (second.get_ylabel(), second.get_yscale()) == ("sigma", "log")
    assert_array_equal(curves(second)["sigma"].T, [rounds, ranker.sigmas_])
    shown = [text.get_text() for text in ax.get_legend().get_texts()]
    assert shown == ["valid_0", f"best round: {best}", "sigma"]


def test_learning_curves_of_another_measure() -> None:
    """Of those that were measured."""
    ranker = fitted(eval_metric=["ndcg@10", "map"], verbose=1)
    ax = plots.learning_curves(ranker, measure="map")
    assert list(curves(ax)) == ["train", "valid_0"]  # and no early stopping, so no best round
    assert_array_equal(curves(ax)["train"][:, 1], ranker.evals_result_["train"]["map"])
    with pytest.raises(ValueError, match=r"measure must be one of \['ndcg@10', 'map'\], got 'rr'"):
        plots.learning_curves(ranker, measure="rr")


def test_learning_curves_without_sigma_or_validation() -> None:
    """One axis, also where sigma is the same in all rounds; and no best round."""
    ax = plots.learning_curves(fitted(sigma=0.5))
    assert ax.figure.axes == [ax]
    alone = fitted(validation_fraction=None, verbose=1)
    assert list(curves(plots.learning_curves(alone))) == ["train"]
    with pytest.raises(ValueError, match="ranker must have been fitted with validation data"):
        plots.learning_curves(fitted(validation_fraction=None))


# --- Two models, query by query ---------------------------------------------------------------


def test_per_query() -> None:
    """A dot for each query that counts; SciPy's own test of the differences."""
    rng = np.random.default_rng(0)
    qid = rng.permutation(np.repeat(np.arange(12), 10))
    y = rng.integers(0, 3, 120) * (qid != 5)  # a query without a relevant document
    ours, other = y + rng.normal(size=120), y + 2 * rng.normal(size=120)
    ax = plots.per_query(y, ours, other, qid=qid, measure="ndcg@5", names=("A", "B"))
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


def test_per_query_of_too_few() -> None:
    """One query is enough; none is not."""
    ax = plots.per_query([1, 0], [1.0, 2.0], [2.0, 1.0], group=[2], measure="wta")
    assert ax.get_title().startswith("0 better, 0 equal, 1 worse\nmean difference -1.0000")
    with pytest.raises(ValueError, match="ndcg@10 is undefined on every query"):
        plots.per_query([0, 0], [1.0, 2.0], [2.0, 1.0], group=[2])
    with pytest.raises(ValueError, match="per_query needs qid="):
        plots.per_query([1, 0], [1.0, 2.0], [2.0, 1.0])


# --- Comparisons ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compared() -> Comparison:
    """Return a comparison of three rankers by two measures."""
    rankers = {name: GBRanker(name, n_estimators=5) for name in ("ranknet", "lambdarank", "slam")}
    return cross_validate_rankers(
        rankers, X, Y, QID, folds=3, seeds=1, n_jobs=1, measures=["ndcg@10", "map"]
    )


@pytest.mark.parametrize("measure", [None, "map"])
def test_comparison(compared: Comparison, measure: str | None) -> None:
    """Means as dots, and the intervals of the differences, from the baseline's mean."""
    ax = plots.comparison(compared, measure=measure)
    shown = measure or "ndcg@10"
    rows = [row for row in compared.summary() if row.measure == shown]
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


def test_comparison_is_a_panel_of_the_whole_picture(compared: Comparison) -> None:
    """With the same numbers."""
    whole = plots.comparison_grid(compared).axes[1]
    ax = plots.comparison(compared, measure="map")
    assert whole.get_xlabel() == "map"
    for line, same in zip(ax.lines, whole.lines, strict=True):
        assert_array_equal(line.get_xydata(), same.get_xydata())


def test_quality_by_seconds(compared: Comparison) -> None:
    """A panel for each measure and data set, a mark for each ranker at its seconds and mean."""
    figure = plots.quality_by_seconds(compared)
    assert pyplot.get_fignums() == [figure.number]  # a notebook shows it
    blocks = compared.blocks("test")
    assert len(figure.axes) == len(blocks)
    for axes, rows in zip(figure.axes, blocks, strict=True):
        assert axes.get_ylabel() == f"{rows[0].measure}, test queries"
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
        assert axes.get_title() == rows[0].measure
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


def test_many_data_sets_go_on_below() -> None:
    """Of four data sets, the fourth of each measure is below its first; no panel is empty."""
    keys = [(data, measure) for data in "abcd" for measure in "mn"]
    rows = [
        SimpleNamespace(ranker="r", mean=0.5, cpu_seconds=1.0, measure=measure, data=data)
        for data, measure in keys
    ]
    blocks = [[[row] for row in rows if row.data == data] for data in "abcd"]
    compared = [SimpleNamespace(blocks=lambda part, own=own: own) for own in blocks]
    figure = plots.quality_by_seconds(*compared)
    figure.draw_without_rendering()
    found = {(axes.get_title(), axes.get_ylabel()[0]): axes.get_position() for axes in figure.axes}
    assert found.keys() == set(keys)
    for measure in "mn":
        first, third, fourth = (found[data, measure] for data in "acd")
        assert first.y0 == pytest.approx(third.y0)
        assert fourth.x0 == pytest.approx(first.x0)
        assert fourth.y1 < first.y0
    assert found["a", "n"].y1 < found["d", "m"].y0


def test_names_of_many_rankers_do_not_overlap() -> None:
    """Thirty of nearly the same quality: all names can be read, the better the higher."""
    means = [*np.random.default_rng(0).uniform(0.75, 0.76, 30).tolist(), 0.5]
    rows = [
        SimpleNamespace(
            ranker=f"ranker {i}", mean=mean, cpu_seconds=10.0 + i, measure="m", data="d"
        )
        for i, mean in enumerate(means)
    ]
    figure = plots.quality_by_seconds(SimpleNamespace(blocks=lambda part: [rows]))
    figure.savefig(io.BytesIO())
    boxes = [Text.get_window_extent(text) for text in figure.axes[0].texts]  # without the line
    by_height = sorted(range(31), key=lambda i: boxes[i].y0)
    assert by_height == sorted(range(31), key=lambda i: means[i])
    for low, high in pairwise(by_height):
        assert boxes[low].y0 + 0.8 * boxes[low].height < boxes[high].y0


def test_comparison_of_what_was_not_compared(compared: Comparison) -> None:
    """What there is."""
    for argument in ("measure", "part"):
        with pytest.raises(ValueError, match=rf"{argument} must be one of \[.*\], got 'x'"):
            plots.comparison(compared, **{argument: "x"})


# --- Names that users give ----------------------------------------------------------------------

NAMES = ["price in $ or $$", "_hidden", r"a\$b $x_{$", "$\\frac{1}{2}$"]


def shown(figure: Any) -> list[tuple[str, bool]]:
    """Return the texts that a picture shows, and whether they may hold mathematics."""
    figure.savefig(io.BytesIO(), format="svg")  # bad mathematics ends here
    return [
        (text.get_text(), text.get_parse_math() and "$" in text.get_text())
        for text in figure.findobj(Text)
    ]


def test_lone_surrogates_are_drawn() -> None:
    """By their number, as fonts take none."""
    name, numbers = "\ud800", np.array([0.5, 0.3])
    reasons = Explanation([name, "b"], [name, 1.0], [2.0, 2.0], numbers, (1.0, 0.2))
    texts = [text for text, _ in shown(plots.explanation(reasons).figure)]
    assert any(text.startswith(r"\ud800") for text in texts)
    ax = plots.explanation(reasons)
    legend(ax, [Patch(label=name)])
    assert (r"\ud800", False) in shown(ax.figure)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", NAMES)
def test_names_are_shown_as_they_are(name: str) -> None:
    """Of features, sets, measures, rankers, data sets and models: no mathematics, none is lost."""
    names = [name, f"{name} 2"]
    reasons = Explanation(names, [name, 1.0], [name, 2.0], np.array([0.5, 0.3]), (1.0, 0.2))
    rows = [
        Row(name, name, own, 3, 0, value, 0.1, 0.9, 0.1, 0.0, -0.1, 0.1, 0.5, 0.5, 5.0, 1.0)
        for own, value in zip(names, (0.5, 0.6), strict=True)
    ]
    compared: Any = SimpleNamespace(
        data=name,
        baseline=name,
        measures=[name],
        summary=lambda _: rows,
        blocks=lambda _: [rows],
    )
    ranker = as_part(lambda: fitted(n_estimators=2))
    ranker.evals_result_[name] = {"ndcg@10": [0.1, 0.2]}
    both = [1, 0, 2], [1.0, 2.0, 0.0], [2.0, 1.0, 0.0]
    pictures = {
        "pair": (plots.explanation(reasons), f"{name}:  {name} | {name}"),
        "comparison": (plots.comparison(compared), name),
        "queries": (plots.per_query(*both, group=[3], names=(name, "b")), f"ndcg@10 of {name}"),
        "curves": (plots.learning_curves(ranker), name),
    }
    figures = {key: (ax.figure, text) for key, (ax, text) in pictures.items()}
    figures["grid"] = plots.comparison_grid(compared), f"{name} 2"
    figures["differences"] = plots.differences(compared), f"{name} 2"
    figures["seconds"] = plots.quality_by_seconds(compared), name
    for key, (figure, text) in figures.items():
        found = shown(figure)
        assert text in [own for own, _ in found], key
        assert not any(mathematics for _, mathematics in found), key


def test_a_title_of_your_own_may_be_mathematics() -> None:
    """Where gbrank's texts had no dollar."""
    ax = plots.per_query([1, 0], [1.0, 0.0], [0.0, 1.0], group=[2])
    ax.set_title(r"$\sigma$")
    assert (r"$\sigma$", True) in shown(ax.figure)


def test_features_of_one_name_have_a_bar_each() -> None:
    """Not one bar for both."""
    why = Explanation(["a", "a"], [1.0, 1.0], [2.0, 2.0], np.array([0.5, 0.25]), (1.0, 0.25))
    assert [patch.get_width() for patch in plots.explanation(why).patches] == [0.5, 0.25]


# --- Importance -------------------------------------------------------------------------------


def bars(ax: Any) -> dict[str, float]:
    """Return the widths of bars by name, from the top."""
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert ax.yaxis_inverted()
    return dict(zip(names, [bar.get_width() for bar in ax.patches], strict=True))


def test_importance() -> None:
    """The largest first."""
    ranker = fitted()
    drawn = bars(plots.importance(ranker))
    assert list(drawn.values()) == sorted(ranker.feature_importances_, reverse=True)
    assert drawn == {f"f{i}": share for i, share in enumerate(ranker.feature_importances_)}
    assert list(bars(plots.importance(ranker, largest=2))) == list(drawn)[:2]
    with pytest.raises(ValueError, match="largest must be an integer of at least 1"):
        plots.importance(ranker, largest=0)


def test_importance_of_shap_values() -> None:
    """Their mean size, without the last column."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcde"))
    ranker = GBRanker(n_estimators=5, n_jobs=1).fit(frame, Y, qid=QID)
    ax = plots.importance(ranker, frame)
    expected = np.abs(ranker.explain(frame))[:, :5].mean(axis=0)
    drawn = bars(ax)
    assert_allclose([drawn[name] for name in "abcde"], expected)
    assert ax.get_xlabel() == "mean |SHAP value|"


# --- The page ---------------------------------------------------------------------------------

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "pictures.md"


@pytest.mark.slow
@pytest.mark.skipif(not PAGE.exists(), reason="docs/ is not beside the tests")
def test_the_page() -> None:
    """Its lines run, its pictures are there, and it shows every function."""
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.attempted > 12
    assert found.failed == 0
    text = PAGE.read_text(encoding="utf-8")
    for picture in re.findall(r"!\[.*\]\((.*)\)", text):
        assert (PAGE.parent / picture).is_file()
    assert {f"plots.{name}(" in text for name in plots.__all__} == {True}
