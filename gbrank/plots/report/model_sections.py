"""The parts of a report on the judge, the model and the data, and on what computed the page."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from gbrank.common.arrays import Vector
from gbrank.common.plain import as_json
from gbrank.common.table import Table
from gbrank.common.version import __version__
from gbrank.data.feature_matrix import as_dense
from gbrank.data.lookup import count_repeated_names, count_repeated_rows, of_all
from gbrank.evaluation.statistics import common_queries, compared_with_judge, means
from gbrank.fit.pretrained import PretrainedRanker
from gbrank.measures.judges import JUDGE, PEOPLE
from gbrank.plots.fitted_ranker import learning_curves
from gbrank.plots.report import page
from gbrank.plots.report.page import NONE, TEXTS, Blocks, Cell, Cells, count, number
from gbrank.plots.report.query_sections import difference_cells
from gbrank.plots.report.report_data import ReportData, ReportedRanker, groups
from gbrank.ranker import GBRanker

SHOWN = 20  # features, and parameters; the others are folded away
MOST = 200  # features in a table
LIBRARIES = ("numpy", "scipy", "numba", "scikit-learn", "matplotlib")


def judge(judged: ReportData) -> Blocks:
    """Yield how far the judge agrees with people, and what its labels are worth."""
    if not judged.both:
        return
    measure, both = judged.measure, judged.both[judged.measure]
    worth = float(judged.compared[measure].worth[0])
    yield page.Lead(
        TEXTS["worth" if worth > 0 else "worth nothing"].format(
            what="difference" if judged.models[1:] else "mean",
            measure=measure,
            worth=number(worth, ".1f"),
            n=count(judged.n_counted(measure), "query"),
        )
    )
    yield TEXTS["judge"]
    yield Table(["judge", ""], _agreement(judged))
    rows = []
    for place, model in enumerate(judged.models):
        pair = common_queries(np.array([both.judge[place], both.people[place]]))
        bias, alike = means(pair), np.nan
        if pair.shape[1] > 1 and pair.std(axis=1).all():
            alike = float(stats.pearsonr(*pair).statistic)
        worth = float(compared_with_judge(both, place).worth[place])
        others = [number(alike, ".2f"), number(worth, ".1f")]
        rows.append([model.name, *difference_cells(bias), *others])
    yield TEXTS["bias"].format(measure=measure)
    yield Table(["model", "bias", "95% interval", "correlation", "worth in queries"], rows)


def _agreement(judged: ReportData) -> list[list[str]]:
    """Return what is judged by both, and how often they agree."""
    people, judge = (judged.rows.labels[name] for name in (PEOPLE, JUDGE))
    known = ~np.isnan(people)
    codes = np.unique(np.concatenate([people[known], judge[known]]), return_inverse=True)[1]
    pair = np.split(codes, 2)
    weighted = cohen_kappa_score(*pair, weights="quadratic")
    return [
        ["queries judged by people", f"{int(judged.both[judged.measure].judged.sum()):,}"],
        ["documents judged by people", f"{int(known.sum()):,}"],
        ["labels that agree", f"{np.mean(pair[0] == pair[1]):.1%}"],
        ["Cohen's kappa", number(cohen_kappa_score(*pair), ".2f")],
        ["kappa, weighted by squared distance", number(weighted, ".2f")],
    ]


def importances(judged: ReportData) -> Blocks:
    """Yield what features are worth."""
    model, n, moved = judged.models[0], len(judged.sample), judged.moved
    if not isinstance(model.ranker, GBRanker):
        yield _left_out(model, "no trees, whose splits are counted here")
        return
    gains = model.ranker.feature_importances_
    if isinstance(moved, str):
        yield f"Mean |SHAP| is left out: {moved}"
        moved = np.full(len(gains), np.nan)
    else:
        at_random = " taken at random" if n < judged.rows.queries.n_documents else ""
        yield TEXTS["importances"].format(documents=count(n, "document") + at_random)
    rows: list[Cells] = [
        [
            page.name(judged.schema.feature_names[i]),
            page.bar(gains[i], gains.max()),
            page.bar(moved[i], moved.max()),
        ]
        for i in np.lexsort((-gains, -np.nan_to_num(moved)))
    ]
    yield from _of_features(["feature", "share of the gain", "mean |SHAP|"], rows)


def _of_features(head: Sequence[str], rows: Sequence[Cells]) -> Blocks:
    """Yield the table of the first features."""
    yield from page.folded(head, rows[:MOST], SHOWN)
    if len(rows) > MOST:
        yield f"The first {MOST} of {len(rows):,} features."


def _left_out(model: ReportedRanker, lack: str) -> str:
    kind = "scores alone have" if model.ranker is None else f"a {type(model.ranker).__name__} has"
    return f"Left out: {kind} {lack}."


def curves(judged: ReportData) -> Blocks:
    """Yield measures by round."""
    ranker: Any = judged.models[0].ranker
    results = getattr(ranker, "evals_result_", None)
    if results is None:
        yield _left_out(judged.models[0], "no rounds")
    elif not results:
        yield "Left out: the model was fitted without validation data, and with verbose=0."
    else:
        caption = "The measure after each round, on the data of the fit."
        yield page.picture(lambda axes: learning_curves(ranker, ax=axes), caption)
        yield results._table()


def data(judged: ReportData) -> Blocks:
    """Yield what the documents, queries and labels are, and the features beside training's."""
    rows, queries, sizes = judged.rows, judged.rows.queries, judged.rows.queries.sizes
    if judged.documents is not None:
        repeats, how = count_repeated_names(judged.documents, queries), judged.column
    else:
        repeats, how = count_repeated_rows(judged.features, queries.index, rows.y), "equal rows"
    facts = [
        ["documents", f"{queries.n_documents:,}"],
        ["queries", f"{queries.n_queries:,}"],
        [
            "documents in a query",
            f"{sizes.min():,} to {sizes.max():,}, median {np.median(sizes):,g}",
        ],
        ["repeated documents", f"{of_all(repeats, queries)}, by {how}"],
        ["queries without a label above 0", f"{int((judged.n_relevant == 0).sum()):,}"],
    ]
    yield Table(["data", ""], facts)
    names, codes = groups(rows.y.tolist())
    counts = np.bincount(codes).tolist()
    labels = [
        [name, f"{n:,}", page.bar(n, max(counts), f"{n / len(codes):.1%}")]
        for name, n in zip(names, counts, strict=True)
    ]
    yield Table(["label", "documents", "share"], labels)
    yield from _features(judged)


def _features(judged: ReportData) -> Blocks:
    """Yield a table of the features; those that drifted most first, or with most missing."""
    tables, training = [judged.features], judged.training
    head = ["feature", "missing", "median"]
    if training is None:
        yield TEXTS["missing"]
    else:
        tables.append(training)
        head += ["missing in training", "median in training", "drift"]
        yield TEXTS["drifted"].format(training=count(training.shape[0], "document"))
    rows: list[tuple[float, Cells]] = []
    for column, feature in enumerate(judged.schema.feature_names):
        categorical = column in judged.schema.categorical
        samples = [as_dense(table[:, [column]]).ravel() for table in tables]
        cells: Cells = [page.name(feature)]
        for values in samples:
            missing = np.isnan(values)
            unknown = categorical or missing.all()
            median = np.nan if unknown else float(np.median(values[~missing]))
            cells += [f"{missing.mean():.1%}", number(median, ".4g")]
        key = float(np.isnan(samples[0]).mean())
        if training is not None:
            key = drift(samples[0], samples[1], categorical)
            cells.append(page.bar(key, 1.0))
        rows.append((key, cells))
    rows.sort(key=lambda row: -row[0])
    yield from _of_features(head, [cells for _, cells in rows])


def drift(here: Vector, then: Vector, categorical: bool) -> float:
    """Return how far two samples of a feature's values are apart, from 0 to 1."""
    lowest = -1.0 if categorical else -np.inf
    samples = [np.where(np.isnan(values), lowest, values) for values in (here, then)]
    if not categorical:
        return float(stats.ks_2samp(*samples, method="asymp").statistic)
    codes = np.unique(np.concatenate(samples))
    counts = [np.bincount(np.searchsorted(codes, v), minlength=len(codes)) for v in samples]
    shares = [n / n.sum() for n in counts]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def parameters(judged: ReportData) -> Blocks:
    """Yield the parameters of each model; those that differ stand out."""
    params = [_params_of(model.ranker) for model in judged.models]
    alike: list[Cells] = []
    differ: list[Cells] = []
    for key in dict.fromkeys(key for each in params for key in each):
        values = [each.get(key, NONE) for each in params]
        if len({*values}) == 1:
            alike.append([key, *values])
        else:
            differ.append([key, *(Cell(value, strong=True) for value in values)])
    kinds = [NONE if m.ranker is None else type(m.ranker).__name__ for m in judged.models]
    head = ["parameter", *(model.name for model in judged.models)]
    rows: list[Cells] = [["class", *kinds], *differ, *alike]
    yield from page.folded(head, rows, 2 * SHOWN, range(len(head)))


def _params_of(model: Any) -> dict[str, str]:
    """Return the parameters of a model as texts, of those that say."""
    if isinstance(model, PretrainedRanker) or not hasattr(model, "get_params"):
        return {}
    return {key: page.name(as_json(value)) for key, value in model.get_params(deep=False).items()}


def versions(judged: ReportData) -> Blocks:
    """Yield the versions of what computed the page."""
    boosters = {m.ranker.booster for m in judged.models if isinstance(m.ranker, GBRanker)}
    rows = [["gbrank", __version__], ["Python", platform.python_version()]]
    rows += [[library, version(library)] for library in (*sorted(boosters), *LIBRARIES)]
    yield "Of what computed this page; the model may have been trained by others."
    yield Table(["library", "version"], rows, (0, 1))
