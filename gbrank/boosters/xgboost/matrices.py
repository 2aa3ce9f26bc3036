"""Data as XGBoost takes them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from gbrank.boosters.interface import TreeSettings, bin_sample, safe_names
from gbrank.common.checks import Vector
from gbrank.common.collective import BoosterError
from gbrank.data.documents import Documents
from gbrank.data.feature_matrix import Features, dense_blocks, stacked
from gbrank.data.schema import Schema

from .library import check_threads, translated, xgb

# The coarsest rounding of initial scores, in units of their standard deviation.
COARSEST = 1e-3
NOT_HELD = "X must be what XGBoost can hold"


def as_matrix(
    X: Features, n_jobs: int, init_score: Vector | None = None, **columns: Any
) -> xgb.DMatrix:
    """Convert features and initial scores; only training needs to know the columns."""
    check_threads(n_jobs)
    margin = _margin(init_score)
    if sp.issparse(X):  # XGBoost takes what is not in a sparse matrix as missing
        X = X.astype(np.float32).toarray()
    with translated(NOT_HELD, BoosterError):
        return xgb.DMatrix(
            X, base_margin=margin, nthread=n_jobs, enable_categorical=True, **columns
        )


def training_matrix(rows: Documents, schema: Schema, settings: TreeSettings) -> xgb.DMatrix:
    """Bin data in a way that, unlike XGBoost's own, does not depend on the order of rows."""
    types = ["c" if place in schema.categorical else "q" for place in range(schema.n_features)]
    columns = {"feature_names": safe_names(schema), "feature_types": types}
    user = settings.params
    n_jobs = settings.n_jobs
    if user.get("tree_method", "hist") != "hist":
        return as_matrix(rows.X, n_jobs, rows.init_score, **columns)
    options = {"nthread": n_jobs, "enable_categorical": True, "max_bin": user.get("max_bin")}
    margin = _margin(rows.init_score)
    with translated(NOT_HELD, BoosterError):
        bins = xgb.QuantileDMatrix(_Blocks(_sample(rows.X), columns), **options)
        data = xgb.QuantileDMatrix(_Blocks(rows.X, columns), ref=bins, **options)
        data.set_info(base_margin=margin)
    return data


def _sample(X: Features) -> Features:
    """Take rows whose bins are those of all, the largest numbers among them."""
    sample = bin_sample(X)
    if sample.shape[0] == X.shape[0]:
        return sample
    # Beyond the last bin, a value would go another way in prediction than in training.
    sparse = sp.issparse(X)
    largest = X.tocsc().nanmax(axis=0) if sparse else np.fmax.reduce(X, axis=0, keepdims=True)
    return stacked([sample, largest])


class _Blocks(xgb.DataIter):
    """Gives XGBoost features as arrays: it takes what is not in a sparse matrix as missing."""

    def __init__(self, X: Features, columns: dict[str, Any]) -> None:
        super().__init__()
        self._X = X
        self._columns = columns
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self._blocks = dense_blocks(self._X)

    def next(self, input_data: Callable[..., Any]) -> bool:
        """Give the next rows, if there are any."""
        if (block := next(self._blocks, None)) is not None:
            input_data(data=block, **self._columns)
        return block is not None


class SparseScores:
    """Scores of sparse rows, to which new trees are added: XGBoost would keep an array of rows."""

    def __init__(self, rows: Documents) -> None:
        margin = _margin(rows.init_score)
        self._X = rows.X
        self._n_rounds = 0
        self._scores = np.full(len(rows.y), 0.0 if margin is None else margin, np.float32)

    def by(self, booster: xgb.Booster) -> Vector:
        """Add the scores of a booster's new trees."""
        rounds = (self._n_rounds, booster.num_boosted_rounds())
        row = 0
        for block in dense_blocks(self._X):
            part = self._scores[row : row + len(block)]
            part[:] = booster.inplace_predict(
                block.astype(np.float32),
                iteration_range=rounds,
                predict_type="margin",
                base_margin=part,
                validate_features=False,
            )
            row += len(block)
        self._n_rounds = rounds[1]
        return self._scores.astype(np.float64)


def _margin(init_score: Vector | None) -> Vector | None:
    """Check initial scores: single precision must tell them apart."""
    if init_score is None:
        return None
    step = np.spacing(np.float32(np.abs(init_score).max()))
    if step > COARSEST * max(1.0, init_score.std()):
        largest = init_score[np.abs(init_score).argmax()]
        raise ValueError(
            "init_score must be closer to 0 with XGBoost, whose single-precision numbers are "
            f"{step:.3g} apart at {largest}: subtract the mean."
        )
    return init_score
