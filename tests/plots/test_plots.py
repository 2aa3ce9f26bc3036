"""Pictures: the data drawn, and what they are called."""

import io
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib.patches import Patch
from matplotlib.text import Text
from numpy.testing import assert_array_equal

from gbrank import GBRanker, make_cubic, plots
from gbrank.evaluation import Row
from gbrank.extend import GradientWatch
from gbrank.fit.explanations import Explanation
from gbrank.fit.interrupted import as_part
from gbrank.plots.style import legend

X, Y, QID = make_cubic(40, n_documents=10, n_features=5, random_state=0)


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


def test_gradients() -> None:
    """The first rank is at the top; curves are the columns of the watch's table."""
    watch = GradientWatch()
    GBRanker("approx:ndcg", n_estimators=4, n_jobs=1).fit(X, Y, qid=QID, callbacks=[watch])
    figure = plots.gradients(watch, ranks=3)
    top, middle, bottom, *_ = figure.axes
    (image,) = top.images
    assert_array_equal(image.get_array(), watch.shares_by_rank(3).T)
    assert image.get_extent() == [0.5, 4.5, 3.5, 0.5]
    assert top.get_ylim() == (3.5, 0.5)
    table = watch.to_pandas()
    columns = {
        middle: {"mean of |gradient|": "mean |gradient|", "spread": "spread"},
        bottom: {"no gradient": "zero", "longest step": "at longest step"},
    }
    for axes, names in columns.items():
        drawn = curves(axes)
        for label, column in names.items():
            assert_array_equal(drawn[label].T, [[1, 2, 3, 4], table[column]])
    assert table["objective"].tolist() == ["ranknet", "ranknet", "approx:ndcg", "approx:ndcg"]
    assert 2.5 in [line.get_xdata()[0] for line in top.lines]


# --- Names that users give ----------------------------------------------------------------------

NAMES = [
    r"_hidden, a\$b $x_{$",
    pytest.param("price in $ or $$", marks=pytest.mark.slow),
    pytest.param(r"$\frac{1}{2}$", marks=pytest.mark.slow),
]


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
        data=name, baseline=name, metrics=[name], rankers=names, blocks=lambda _: [rows]
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
