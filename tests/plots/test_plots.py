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

from gbrank import NDCG, GBRanker, Queries, cross_validate_rankers, get_objective, make_cubic, plots
from gbrank.evaluation import Comparison, Front, Point, Row
from gbrank.fit.explanations import PairExplanation, QueryExplanation
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
    assert plots.soft_ranks([1.0, 2.0], ax=given) is given
    assert plots.soft_ranks([1.0, 2.0]) is not given


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
    for ranker in (fitted("lightgbm:lambdarank"), fitted(sigma=0.5)):
        ax = plots.learning_curves(ranker)
        assert ax.figure.axes == [ax]
    alone = fitted(validation_fraction=None, verbose=1)
    assert list(curves(plots.learning_curves(alone))) == ["train"]
    with pytest.raises(ValueError, match="ranker must have been fitted with validation data"):
        plots.learning_curves(fitted(validation_fraction=None))


# --- Objectives -------------------------------------------------------------------------------

LABELS, SCORES = [2.0, 0.0, 1.0, 0.0], [0.3, 0.1, -0.4, 0.9]


@pytest.mark.parametrize("name", ["approx:ndcg", "smooth:ndcg", "ranknet"])
def test_an_objective_by_one_score(name: str) -> None:
    """Each point is the loss of the query with that score."""
    ax = plots.objective(name, LABELS, SCORES, document=2, reach=1.5, sigmas=[1, 0.2])
    bound = get_objective(name).bind(LABELS, Queries.from_sizes([4]))
    assert list(curves(ax)) == ["σ = 1", "σ = 0.2"]
    for sigma, points in zip([1.0, 0.2], curves(ax).values(), strict=True):
        assert_allclose(points[[0, -1], 0], [-0.4 - 1.5, -0.4 + 1.5])
        for score, loss in points[::50]:
            moved = [*SCORES[:2], score, SCORES[3]]
            assert_allclose(loss, bound.loss(moved, sigma)[0], rtol=1e-12)
    assert ax.get_xlabel() == "score of document 2"
    assert ax.get_title() == str(get_objective(name))


def test_an_objective_along_a_random_direction() -> None:
    """The seed's own, of root mean square 1; it starts at the scores, and goes past their range."""
    ax = plots.objective("approx:ndcg", LABELS, SCORES, sigmas=[0.5], random_state=3)
    points = curves(ax)["σ = 0.5"]
    assert_allclose(points[[0, -1], 0], [-1.625, 1.625])
    bound = get_objective("approx:ndcg").bind(LABELS, Queries.from_sizes([4]))
    direction = np.random.default_rng(3).normal(size=4)
    direction /= np.sqrt((direction**2).mean())
    for step, loss in points[::50]:
        assert_allclose(loss, bound.loss(SCORES + step * direction, 0.5)[0], rtol=1e-9)
    other = plots.objective("approx:ndcg", LABELS, SCORES, sigmas=[0.5], random_state=4)
    assert not np.allclose(curves(other)["σ = 0.5"], points)


def test_a_stochastic_objective_has_one_curve() -> None:
    """The noise is the same at every step: where the ranking stays, the loss is linear."""
    ax = plots.objective("noisy", LABELS, SCORES, document=1, sigmas=[0.1], reach=100)
    assert_allclose(np.diff(curves(ax)["σ = 0.1"][-50:, 1], 2), 0, atol=1e-9)


def test_small_sigmas_follow_the_measure() -> None:
    """As figure 1 of the SmoothRank paper shows."""
    sigmas = [1.0, 0.1, 0.001]
    ax = plots.objective(
        "approx:ndcg", LABELS, SCORES, document=0, sigmas=sigmas, measure="ndcg", reach=2
    )
    *smooth, exact = [points[:, 1] for points in curves(ax).values()]
    distances = [np.abs(curve - exact).mean() for curve in smooth]
    assert distances[0] > 2 * distances[1] > 4 * distances[2]
    assert list(curves(ax))[-1] == "−ndcg"
    first = curves(ax)["−ndcg"][0]
    assert_allclose(first[1], -NDCG()(LABELS, [first[0], *SCORES[1:]]), rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"document": 4}, "document must be an integer of at least 0 and at most 3"),
        ({"sigmas": []}, "sigmas must have at least one entry"),
        ({"sigmas": [0.0]}, "sigmas must be a number above 0"),
        ({"reach": -1}, "reach must be a number above 0"),
        ({"scores": [1.0]}, "scores must have 4 entries, got 1"),
        ({"scores": [1.0, np.nan, 0, 0]}, "scores must be finite"),
        ({"y": [-1, 0, 0, 0]}, "y must be at least 0"),
        ({"objective": "approximate"}, "unknown objective"),
        ({"random_state": "x"}, "random_state must be an integer"),
    ],
)
def test_bad_arguments(change: dict[str, Any], message: str) -> None:
    """The argument, what it was, and what it should be; no figure is left."""
    arguments = {"objective": "approx:ndcg", "y": LABELS, "scores": SCORES} | change
    with pytest.raises((ValueError, TypeError), match=message):
        plots.objective(**arguments)
    assert not pyplot.get_fignums()


@pytest.mark.parametrize(
    ("objective", "bounded"),
    [("approx:ndcg", True), ("smooth:ndcg@5", True), ("approx:ndcg@5", False), ("tie:ap", False)],
)
def test_error_of_the_relaxation(objective: str, bounded: bool) -> None:
    """|loss + measure| of each round's scores, at its sigma, below the mean bound."""
    ranker = fitted(objective, init=GBRanker("ranknet", n_estimators=3, random_state=0, n_jobs=1))
    ax = plots.relaxation_error(ranker, X, Y, qid=QID, points=4)
    drawn = curves(ax)
    assert list(drawn) == (["error", "its bound"] if bounded else ["error"])
    rounds, errors = drawn["error"].T
    assert rounds[0] == 1
    assert rounds[-1] == ranker.best_iteration_
    made, queries = get_objective(objective), Queries.from_qid(QID)
    for round, error in zip(rounds.astype(int), errors, strict=True):
        scores, sigma = ranker.predict(X, num_iteration=int(round)), ranker.sigmas_[round - 1]
        smooth = -made.bind(Y, queries).loss(scores, sigma)
        exact = made.measure.bind(Y, queries).per_query(scores)
        assert error == pytest.approx(np.nanmean(np.abs(smooth - exact)), rel=1e-12)
    if bounded:
        assert (errors <= drawn["its bound"][:, 1]).all()
        assert drawn["its bound"][:, 1].max() <= 1


def test_queries_of_one_worth_are_no_error() -> None:
    """Some losses are 0 there, and the measure 1; so are lists of relevant documents to AP."""
    for objective, worth in (("approx:ndcg", [2.0]), ("approx:ap", [1.0, 2.0])):
        ranker = fitted(objective)
        first = QID[0] == QID
        y = np.where(first, np.resize(worth, len(Y)), Y)
        errors = [
            curves(plots.relaxation_error(ranker, X[rows], y[rows], qid=QID[rows], points=2))
            for rows in (np.ones(len(Y), dtype=bool), ~first)
        ]
        assert_allclose(errors[0]["error"], errors[1]["error"], rtol=1e-12)
        with pytest.raises(ValueError, match="y must hold documents of different worth"):
            plots.relaxation_error(ranker, X[first], y[first], qid=QID[first])


def test_error_of_the_relaxation_of_its_own_rounds() -> None:
    """Not of those of the objective that it begins with; beside sigma."""
    ranker = fitted(init=None, validation_fraction=None, n_estimators=10)
    ax = plots.relaxation_error(ranker, X, Y, qid=QID)
    assert_array_equal(curves(ax)["error"][:, 0], [6, 7, 8, 9, 10])
    (sigmas,) = ax.figure.axes[-1].lines
    assert_allclose(sigmas.get_ydata(), ranker.sigmas_[5:])
    for objective in ("ranknet", "lambda:ndcg", "slam:ndcg"):
        with pytest.raises(ValueError, match=f"smoothed objective of a measure.*{objective}"):
            plots.relaxation_error(fitted(objective), X, Y, qid=QID)


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
    blocks = compared.blocks("test")
    assert len(figure.axes) == len(blocks)
    for axes, rows in zip(figure.axes, blocks, strict=True):
        assert axes.get_ylabel() == f"{rows[0].measure}, test queries"
        marks = [line.get_xydata()[0].tolist() for line in axes.lines]
        assert marks == [[row.cpu_seconds, row.mean] for row in rows]
        for name, mark, row in zip(axes.texts, axes.lines, rows, strict=True):
            assert (name.get_text(), name.xy) == (row.ranker, (row.cpu_seconds, row.mean))
            assert name.get_color() == mark.get_color()


def test_many_data_sets_go_on_below() -> None:
    """Of four data sets, the fourth of each measure is below its first; no panel is empty."""
    keys = [(data, measure) for data in "abcd" for measure in "mn"]
    blocks = [
        [SimpleNamespace(ranker="r", mean=0.5, cpu_seconds=1.0, measure=measure, data=data)]
        for data, measure in keys
    ]
    figure = plots.quality_by_seconds(SimpleNamespace(blocks=lambda part: blocks))
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
    for argument in ("measure", "data", "part"):
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
    reasons = PairExplanation([name, "b"], [name, 1.0], [2.0, 2.0], numbers, (1.0, 0.2))
    texts = [text for text, _ in shown(plots.pair(reasons).figure)]
    assert any(text.startswith(r"\ud800") for text in texts)
    ax = plots.pair(reasons)
    legend(ax, [Patch(label=name)])
    assert (r"\ud800", False) in shown(ax.figure)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", NAMES)
def test_names_are_shown_as_they_are(name: str) -> None:
    """Of features, sets, measures, rankers, data sets and models: no mathematics, none is lost."""
    names = [name, f"{name} 2"]
    reasons = PairExplanation(names, [name, 1.0], [name, 2.0], np.array([0.5, 0.3]), (1.0, 0.2))
    listed = QueryExplanation(name, 0.5, [0, 1], [1.0, 0.0], [2.0, 1.0], [], [], [(None, 0.0)] * 2)
    rows = [
        Row(name, name, own, 3, 0, value, 0.1, 0.9, 0.1, 0.0, -0.1, 0.1, 0.5, 0.5, 0.1, 5.0, 1.0)
        for own, value in zip(names, (0.5, 0.6), strict=True)
    ]
    compared: Any = SimpleNamespace(
        baseline=name, measures=[name], summary=lambda _: rows, blocks=lambda _: [rows]
    )
    point = Point(name, GBRanker(), (0.5, 0.5), ((0.4, 0.6), (0.4, 0.6)))
    ranker = fitted(n_estimators=2)
    ranker.fit(X, Y, qid=QID)
    ranker.evals_result_[name] = {"ndcg@10": [0.1, 0.2]}
    both = [1, 0, 2], [1.0, 2.0, 0.0], [2.0, 1.0, 0.0]
    pictures = {
        "pair": (plots.pair(reasons), f"{name}:  {name} | {name}"),
        "query": (plots.query(listed), f"2 documents, {name} 0.5000"),
        "comparison": (plots.comparison(compared), name),
        "front": (plots.front(Front((name, name), [point])), name),
        "queries": (plots.per_query(*both, group=[3], names=(name, "b")), f"ndcg@10 of {name}"),
        "curves": (plots.learning_curves(ranker), name),
    }
    figures = {key: (ax.figure, text) for key, (ax, text) in pictures.items()}
    figures["grid"] = plots.comparison_grid(compared), f"{name} 2"
    figures["seconds"] = plots.quality_by_seconds(compared), name
    for key, (figure, text) in figures.items():
        found = shown(figure)
        assert text in [own for own, _ in found], key
        assert not any(mathematics for _, mathematics in found), key


def test_a_title_of_your_own_may_be_mathematics() -> None:
    """Where gbrank's texts had no dollar."""
    ax = plots.soft_ranks([1.0, 2.0])
    ax.set_title(r"$\sigma$")
    assert (r"$\sigma$", True) in shown(ax.figure)


def test_features_of_one_name_have_a_bar_each() -> None:
    """And widths that differ in the seventh digit a name each."""
    why = PairExplanation(["a", "a"], [1.0, 1.0], [2.0, 2.0], np.array([0.5, 0.25]), (1.0, 0.25))
    assert [patch.get_width() for patch in plots.pair(why).patches] == [0.5, 0.25]
    ax = plots.soft_ranks([1.0, 2.0], sigmas=[1234567.0, 1234568.0])
    assert list(curves(ax))[-2:] == ["σ = 1234567", "σ = 1234568"]


# --- Soft ranks -------------------------------------------------------------------------------


def test_soft_ranks() -> None:
    """By the formula; best first; equal scores share a rank."""
    scores = np.array([0.3, 1.5, 0.3, -2.0])
    ax = plots.soft_ranks(scores, sigmas=[1.0, 0.01])
    ordered = [1.5, 0.3, 0.3, -2.0]
    for sigma, points in zip([1.0, 0.01], curves(ax).values(), strict=True):
        assert_array_equal(points[:, 0], [1, 2.5, 2.5, 4])
        soft = [
            1 + sum(1 / (1 + np.exp((s - t) / sigma)) for j, t in enumerate(ordered) if j != i)
            for i, s in enumerate(ordered)
        ]
        assert_allclose(points[:, 1], soft, rtol=1e-12)
    assert_allclose(curves(ax)["σ = 0.01"][:, 1], [1, 2.5, 2.5, 4])
    for bad in (0.0, -1.0):
        with pytest.raises(ValueError, match="sigmas must be a number above 0"):
            plots.soft_ranks(scores, sigmas=[bad])


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
