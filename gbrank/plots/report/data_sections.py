"""The part of a report on the data: queries, labels, missing values, drift since training."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy import stats

from gbrank.common.arrays import Vector
from gbrank.common.table import Table
from gbrank.data.schema import Features
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
    said,
)
from gbrank.plots.report.model_sections import MOST, SHOWN
from gbrank.plots.report.report_data import ReportData, groups


def data(judged: ReportData, training: Features | None) -> Section:
    """Return what the documents, queries and labels are, and the features beside training's."""
    sizes = judged.queries.sizes
    facts = [
        ["documents", f"{judged.queries.n_documents:,}"],
        ["queries", f"{judged.queries.n_queries:,}"],
        [
            "documents in a query",
            f"{sizes.min():,} to {sizes.max():,}, median {np.median(sizes):,g}",
        ],
        ["queries without a label above 0", f"{int((judged.n_relevant == 0).sum()):,}"],
    ]
    names, codes = groups(judged.labels.tolist())
    found = np.bincount(codes, minlength=len(names))
    labels: list[list[Cell | str]] = [
        [label, f"{n:,}", Cell(f"{n / len(codes):.1%}", n / found.max())]
        for label, n in zip(names, found.tolist(), strict=True)
    ]
    blocks: list[Block] = [
        Table(["data", ""], facts),
        Table(["label", "documents", "share"], labels),
        *_features(judged, training),
    ]
    return Section("data", "The data", blocks)


def _features(judged: ReportData, training: Features | None) -> list[Block]:
    """Return a table of the features; those that drifted most first, or with most missing."""
    schema = judged.schema
    rows = []
    for column, feature in enumerate(schema.feature_names):
        categorical = column in schema.categorical
        own = _column(judged.features, column)
        cells: list[Cell | str] = [name(feature), *_facts(own, categorical)]
        key = float(np.isnan(own).mean())
        if training is not None:
            other = _column(training, column)
            key = drift(own, other, categorical)
            cells += [*_facts(other, categorical), Cell(number(key), key)]
        rows.append((key, cells))
    rows.sort(key=lambda row: -row[0])
    head = ["feature", "missing", "median"]
    if training is None:
        text = said("missing")
    else:
        head += ["missing in training", "median in training", "drift"]
        text = said("drifted", training=count(training.shape[0], "document"))
    blocks: list[Block] = [text, *fold_rows(head, [row for _, row in rows[:MOST]], SHOWN)]
    if len(rows) > MOST:
        blocks.append(Paragraph(f"The first {MOST} of {len(rows):,} features."))
    return blocks


def _column(matrix: Features, column: int) -> Vector:
    values = matrix[:, [column]]
    dense: Vector = (values.toarray() if sp.issparse(values) else values).ravel()
    return dense


def _facts(values: Vector, categorical: bool) -> list[str]:
    """Return the share of missing values and the median."""
    missing = np.isnan(values)
    known = values[~missing]
    median = NONE if categorical or not known.size else number(float(np.median(known)), ".4g")
    return [f"{missing.mean():.1%}", median]


def drift(here: Vector, then: Vector, categorical: bool) -> float:
    """Return how far two samples of a feature's values are apart, from 0 to 1."""
    here, then = (
        np.where(np.isnan(values), -1.0 if categorical else -np.inf, values)
        for values in (here, then)
    )
    if not categorical:
        return float(stats.ks_2samp(here, then, method="asymp").statistic)
    codes = np.unique(np.concatenate([here, then]))
    shares = [
        np.bincount(np.searchsorted(codes, v), minlength=len(codes)) / len(v) for v in (here, then)
    ]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)
