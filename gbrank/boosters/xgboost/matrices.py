"""Data as XGBoost takes them."""

from typing import Any

import numpy as np
import scipy.sparse as sp
import xgboost as xgb

from gbrank.boosters.interface import Matrix, safe_names
from gbrank.boosters.xgboost.errors import check_threads, translated
from gbrank.data.rows import Rows
from gbrank.data.schema import Features, Schema
from gbrank.kernels.compiled import Vector
from gbrank.parallel.collective import BoosterError

# How far initial scores may be rounded, in their standard deviations.
COARSEST = 1e-3


def as_matrix(X: Features, schema: Schema, n_jobs: int, rows: Rows | None = None) -> xgb.DMatrix:
    """Return features, and the initial scores of the rows, if there are any."""
    margin = None if rows is None else initial_scores(rows)
    with translated("X must be what XGBoost can hold", BoosterError):
        return xgb.DMatrix(as_dense(X), base_margin=margin, **matrix_options(schema, n_jobs))


def initial_scores(rows: Rows) -> Vector | None:
    """Return the initial scores, if XGBoost can tell them apart."""
    scores = rows.init_score
    if scores is None:
        return None
    step = np.spacing(np.float32(np.abs(scores).max()))
    if step > COARSEST * max(1.0, scores.std()):
        raise ValueError(
            "init_score must be nearer 0 with XGBoost, whose single precision has numbers "
            f"{step:.3g} apart there, got {scores[np.abs(scores).argmax()]}: subtract their mean."
        )
    return scores


def as_dense(X: Features) -> Matrix:
    """Return a dense matrix: XGBoost takes what a sparse one leaves out as missing, not as 0."""
    return X.toarray() if sp.issparse(X) else X


def matrix_options(schema: Schema, n_jobs: int) -> dict[str, Any]:
    """Return how XGBoost is to read the columns."""
    check_threads(n_jobs)
    types = ["q"] * schema.n_features
    for position in schema.categorical:
        types[position] = "c"
    return {
        "feature_names": safe_names(schema),
        "feature_types": types,
        "enable_categorical": bool(schema.categorical),
        "nthread": n_jobs,
    }
