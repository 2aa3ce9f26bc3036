"""The parts of a report on the model: what features are worth, its training, its parameters."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from gbrank.common.arrays import Vector
from gbrank.common.plain import as_json
from gbrank.common.table import Table
from gbrank.common.version import __version__
from gbrank.data.documents import take_rows
from gbrank.fit.pretrained import PretrainedRanker
from gbrank.plots.fitted_ranker import learning_curves
from gbrank.plots.report.blocks import (
    NONE,
    Block,
    Cell,
    Paragraph,
    Section,
    count,
    fold_rows,
    name,
    number,
    picture,
    said,
    share,
)
from gbrank.plots.report.report_data import ReportData, ReportedRanker
from gbrank.ranker import GBRanker

SAMPLE = 500  # documents whose scores are explained, at 3 ms each
SHOWN = 20  # features, and parameters; the others are folded away
MOST = 200  # features in a table
LIBRARIES = ("numpy", "scipy", "numba", "scikit-learn", "matplotlib")


def _sample(n_documents: int) -> NDArray[np.int64]:
    """Return some rows at random."""
    if n_documents <= SAMPLE:
        return np.arange(n_documents)
    return np.sort(np.random.default_rng(0).choice(n_documents, SAMPLE, replace=False))


def _mean_shares(
    judged: ReportData, ranker: GBRanker, rows: NDArray[np.int64]
) -> tuple[Vector, str]:
    """Return by how much each feature moves a score on average, or NaN and why it is not known."""
    X = take_rows(judged.X, rows)
    try:
        shares = ranker.explain(X)
    except ValueError as error:  # of an `init` that cannot be explained
        return np.full(len(ranker._schema.feature_names), np.nan), str(error)
    return np.abs(shares[:, :-1]).mean(axis=0), ""


def importances(judged: ReportData) -> tuple[Section, bool]:
    """Return what features are worth, and whether scores can be explained."""
    model = judged.models[0]
    title = "What it looks at"
    if not isinstance(model.ranker, GBRanker):
        return Section(
            "importances", title, [_left_out(model, "no trees, whose splits are counted here")]
        ), False
    rows = _sample(judged.queries.n_documents)
    gains, features = model.ranker.feature_importances_, model.ranker._schema.feature_names
    moved, reason = _mean_shares(judged, model.ranker, rows)
    order = np.lexsort((-gains, -np.nan_to_num(moved)))[:MOST].tolist()
    documents = count(len(rows), "document")
    if len(rows) < judged.queries.n_documents:
        documents += " taken at random"
    text = said("importances", documents=documents)
    blocks: list[Block] = [Paragraph(f"Mean |SHAP| is left out: {reason}") if reason else text]
    table: list[list[Cell | str]] = [
        [name(features[i]), _bar(gains[i], gains.max()), _bar(moved[i], moved.max())] for i in order
    ]
    blocks += fold_rows(["feature", "share of the gain", "mean |SHAP|"], table, SHOWN)
    if len(order) < len(features):
        blocks.append(Paragraph(f"The first {len(order)} of {len(features):,} features."))
    return Section("importances", title, blocks), not reason


def _bar(value: float, largest: float) -> Cell:
    return Cell(number(value), share(value, largest))


def _left_out(model: ReportedRanker, lack: str) -> Paragraph:
    kind = "scores alone have" if model.ranker is None else f"a {type(model.ranker).__name__} has"
    return Paragraph(f"Left out: {kind} {lack}.")


def curves(judged: ReportData) -> Section:
    """Return measures by round."""
    title, model = "How it learned", judged.models[0]
    ranker: Any = model.ranker
    results = getattr(ranker, "evals_result_", None)
    if results is None:
        return Section("curves", title, [_left_out(model, "no rounds")])
    if not results:
        text = "Left out: the model was fitted without validation data, and with verbose=0."
        return Section("curves", title, [Paragraph(text)])

    def draw(axes: Axes) -> None:
        learning_curves(ranker, ax=axes)

    shown = picture(draw, "The measure after each round, on the data of the fit.")
    return Section("curves", title, [shown, results._table()])


def parameters(judged: ReportData) -> Section:
    """Return the parameters of each model; those that differ stand out."""
    given = [
        {key: _shown(value) for key, value in _params_of(model.ranker).items()}
        for model in judged.models
    ]
    keys = list(dict.fromkeys(key for params in given for key in params))
    rows: list[list[Cell | str]] = []
    for key in keys:
        values = [params.get(key, NONE) for params in given]
        rows.append([key, *(Cell(value, strong=len(set(values)) > 1) for value in values)])
    rows.sort(key=lambda row: not any(isinstance(cell, Cell) and cell.strong for cell in row))
    head = ["parameter", *(model.name for model in judged.models)]
    kinds = [NONE if m.ranker is None else type(m.ranker).__name__ for m in judged.models]
    blocks = fold_rows(head, [["class", *kinds], *rows], 2 * SHOWN, tuple(range(len(head))))
    return Section("parameters", "Parameters", blocks)


def _params_of(model: Any) -> dict[str, Any]:
    """Return the parameters of a model, of those that say."""
    if isinstance(model, PretrainedRanker) or not hasattr(model, "get_params"):
        return {}
    parameters: dict[str, Any] = model.get_params(deep=False)
    return parameters


def _shown(value: object) -> str:
    return name(as_json(value))


def versions(models: Sequence[ReportedRanker]) -> Section:
    """Return the versions of what computed the page."""
    boosters = sorted({m.ranker.booster for m in models if isinstance(m.ranker, GBRanker)})
    libraries = {library: version(library) for library in (*boosters, *LIBRARIES)}
    rows = {"gbrank": __version__, "Python": platform.python_version(), **libraries}
    text = "Of what computed this page; the model may have been trained by others."
    blocks: list[Block] = [
        Paragraph(text),
        Table(["library", "version"], [[*row] for row in rows.items()], (0, 1)),
    ]
    return Section("versions", "Versions", blocks)
