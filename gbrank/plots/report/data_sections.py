"""The part of a report on the data: queries, labels, missing values, drift since training."""

from __future__ import annotations

import numpy as np
from scipy import stats

from gbrank.common.arrays import Vector
from gbrank.common.table import Table
from gbrank.data.feature_matrix import Features, as_dense
from gbrank.data.lookup import count_repeated_names, count_repeated_rows, of_all
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
    number,
)
from gbrank.plots.report.model_sections import MOST, SHOWN
from gbrank.plots.report.report_data import ROW, ReportData, groups


def data(judged: ReportData) -> Section:
    """Return what the documents, queries and labels are, and the features beside training's."""
    queries, sizes = judged.rows.queries, judged.rows.queries.sizes
    length = f"{sizes.min():,} to {sizes.max():,}, median {np.median(sizes):,g}"
    facts = {
        "documents": f"{queries.n_documents:,}",
        "queries": f"{queries.n_queries:,}",
        "documents in a query": length,
        "repeated documents": _repeats(judged),
        "queries without a label above 0": f"{int((judged.n_relevant == 0).sum()):,}",
    }
    names, codes = groups(judged.rows.y.tolist())
    counts = np.bincount(codes, minlength=len(names))
    labels = [
        [label, f"{n:,}", Cell(f"{n / len(codes):.1%}", n / counts.max())]
        for label, n in zip(names, counts.tolist(), strict=True)
    ]
    tables = [
        Table(["data", ""], [*facts.items()]),
        Table(["label", "documents", "share"], labels),
    ]
    return Section("data", "The data", [*tables, *_features(judged)])


def _repeats(judged: ReportData) -> str:
    """Return how many rows repeat one of their query: by name, or by features and label."""
    rows = judged.rows
    if judged.column != ROW:
        repeats, how = count_repeated_names(judged.documents, rows.queries), judged.column
    else:
        repeats, how = count_repeated_rows(rows.X, rows.queries.index, rows.y), "equal rows"
    return f"{of_all(repeats, rows.queries)}, by {how}"


def _features(judged: ReportData) -> list[Block]:
    """Return a table of the features; those that drifted most first, or with most missing."""
    tables: list[Features] = [judged.rows.X]
    head, text = ["feature", "missing", "median"], TEXTS["missing"]
    if judged.training is not None:
        tables.append(judged.training)
        head += ["missing in training", "median in training", "drift"]
        text = TEXTS["drifted"].format(training=count(judged.training.shape[0], "document"))
    rows: list[tuple[float, Cells]] = []
    for column, feature in enumerate(judged.schema.feature_names):
        categorical = column in judged.schema.categorical
        samples = [as_dense(table[:, [column]]).ravel() for table in tables]
        cells: Cells = [name(feature)]
        for values in samples:
            cells += _facts(values, categorical)
        key = float(np.isnan(samples[0]).mean())
        if judged.training is not None:
            key = drift(samples[0], samples[1], categorical)
            cells.append(bar(key, 1.0))
        rows.append((key, cells))
    rows.sort(key=lambda row: -row[0])
    blocks = [text, *fold_rows(head, [cells for _, cells in rows[:MOST]], SHOWN)]
    if len(rows) > MOST:
        blocks.append(f"The first {MOST} of {len(rows):,} features.")
    return blocks


def _facts(values: Vector, categorical: bool) -> list[str]:
    """Return the share of missing values and the median."""
    missing = np.isnan(values)
    known = values[~missing]
    median = NONE if categorical or not known.size else number(float(np.median(known)), ".4g")
    return [f"{missing.mean():.1%}", median]


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
