"""The parts of a report on the model: what features are worth, its training, its parameters."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from gbrank.common.plain import as_json
from gbrank.common.table import Table
from gbrank.common.version import __version__
from gbrank.fit.pretrained import PretrainedRanker
from gbrank.plots.fitted_ranker import learning_curves
from gbrank.plots.report.html_page import (
    NONE,
    TEXTS,
    Block,
    Cell,
    Cells,
    Section,
    bar,
    count,
    fold_rows,
    name,
    picture,
)
from gbrank.plots.report.report_data import ReportData, ReportedRanker
from gbrank.ranker import GBRanker

SHOWN = 20  # features, and parameters; the others are folded away
MOST = 200  # features in a table
LIBRARIES = ("numpy", "scipy", "numba", "scikit-learn", "matplotlib")


def importances(judged: ReportData) -> Section:
    """Return what features are worth."""
    key, title, model = "importances", "What it looks at", judged.models[0]
    if not isinstance(model.ranker, GBRanker):
        return Section(key, title, [_left_out(model, "no trees, whose splits are counted here")])
    n, moved = len(judged.sample), judged.moved
    at_random = " taken at random" if n < judged.rows.queries.n_documents else ""
    text = TEXTS["importances"].format(documents=count(n, "document") + at_random)
    gains, features = model.ranker.feature_importances_, model.ranker._schema.feature_names
    if isinstance(moved, str):
        text, moved = f"Mean |SHAP| is left out: {moved}", np.full(len(features), np.nan)
    order = np.lexsort((-gains, -np.nan_to_num(moved)))[:MOST].tolist()
    rows: list[Cells] = [
        [name(features[i]), bar(gains[i], gains.max()), bar(moved[i], moved.max())] for i in order
    ]
    blocks = [text, *fold_rows(["feature", "share of the gain", "mean |SHAP|"], rows, SHOWN)]
    if len(order) < len(features):
        blocks.append(f"The first {len(order)} of {len(features):,} features.")
    return Section(key, title, blocks)


def _left_out(model: ReportedRanker, lack: str) -> str:
    kind = "scores alone have" if model.ranker is None else f"a {type(model.ranker).__name__} has"
    return f"Left out: {kind} {lack}."


def curves(judged: ReportData) -> Section:
    """Return measures by round."""
    model = judged.models[0]
    ranker: Any = model.ranker
    results = getattr(ranker, "evals_result_", None)

    def draw(axes: Axes) -> None:
        learning_curves(ranker, ax=axes)

    blocks: list[Block]
    if results is None:
        blocks = [_left_out(model, "no rounds")]
    elif not results:
        blocks = ["Left out: the model was fitted without validation data, and with verbose=0."]
    else:
        caption = "The measure after each round, on the data of the fit."
        blocks = [picture(draw, caption), results._table()]
    return Section("curves", "How it learned", blocks)


def parameters(judged: ReportData) -> Section:
    """Return the parameters of each model; those that differ stand out."""
    params = [_params_of(model.ranker) for model in judged.models]
    rows: list[tuple[bool, Cells]] = []
    for key in dict.fromkeys(key for each in params for key in each):
        values = [each.get(key, NONE) for each in params]
        differ = len({*values}) > 1
        rows.append((differ, [key, *(Cell(value, strong=differ) for value in values)]))
    rows.sort(key=lambda row: not row[0])
    kinds = [NONE if m.ranker is None else type(m.ranker).__name__ for m in judged.models]
    head, lines = ["parameter", *(m.name for m in judged.models)], [cells for _, cells in rows]
    blocks = fold_rows(head, [["class", *kinds], *lines], 2 * SHOWN, range(len(head)))
    return Section("parameters", "Parameters", blocks)


def _params_of(model: Any) -> dict[str, str]:
    """Return the parameters of a model as texts, of those that say."""
    if isinstance(model, PretrainedRanker) or not hasattr(model, "get_params"):
        return {}
    return {key: name(as_json(value)) for key, value in model.get_params(deep=False).items()}


def versions(judged: ReportData) -> Section:
    """Return the versions of what computed the page."""
    boosters = {m.ranker.booster for m in judged.models if isinstance(m.ranker, GBRanker)}
    libraries = {library: version(library) for library in (*sorted(boosters), *LIBRARIES)}
    rows = {"gbrank": __version__, "Python": platform.python_version(), **libraries}
    text = "Of what computed this page; the model may have been trained by others."
    return Section(
        "versions", "Versions", [text, Table(["library", "version"], [*rows.items()], (0, 1))]
    )
