"""Data as XGBoost takes them; batches go in page by page, and are kept in files."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import xgboost as xgb

from gbrank.boosters.bins import bin_sample
from gbrank.boosters.interface import TreeSettings, safe_names
from gbrank.boosters.xgboost import check_threads, translated
from gbrank.common.argument_error import ArgumentError
from gbrank.common.arrays import Matrix, Vector
from gbrank.common.interrupts import interrupt_waits
from gbrank.data.batches import FeatureBatches, block_rows, blocks, mapped
from gbrank.data.rows import Rows
from gbrank.data.schema import Features, Schema, as_dense
from gbrank.parallel.collective import BoosterError

# The coarsest rounding of initial scores, in units of their standard deviation.
COARSEST = 1e-3
# XGBoost's own default.
MAX_BIN = 256
# Options of a matrix of pages; the pages have the others.
OF_PAGES = ("nthread", "enable_categorical")
NOT_HELD = "X must be what XGBoost can hold"


class Pages(xgb.DataIter):
    """Gives XGBoost block after block."""

    def __init__(self, X: FeatureBatches, folder: str, name: str, options: dict[str, Any]) -> None:
        super().__init__(cache_prefix=os.path.join(folder, name))
        self._X = X
        self._columns = {name: options[name] for name in ("feature_names", "feature_types")}
        self._blocks: Iterator[Any] = iter(())

    def reset(self) -> None:
        """Begin a pass."""
        self._blocks = blocks(self._X, block_rows(self._X))

    def next(self, input_data: Callable[..., None]) -> bool:
        """Hand over a block, or say that there is none."""
        if interrupt_waits():
            raise RuntimeError("interrupted")  # the block that defers Ctrl-C then raises it
        block = next(self._blocks, None)
        if block is None:
            return False
        input_data(data=block, **self._columns)
        return True


def as_matrix(
    X: Features,
    schema: Schema,
    n_jobs: int,
    init_score: Vector | None = None,
    folder: str = "",
    name: str = "",
) -> xgb.DMatrix:
    """Return features with any initial scores; batches are kept in files in `folder`."""
    options, margin = _options(schema, n_jobs), _margin(init_score)
    data: Matrix | Pages = as_dense(X)
    if isinstance(X, FeatureBatches):
        data = Pages(X, folder, name, options)
        options = {name: options[name] for name in OF_PAGES}
    with translated(NOT_HELD, BoosterError):
        matrix = xgb.DMatrix(data, **options)
        matrix.set_info(base_margin=margin)
    return matrix


def training_matrix(rows: Rows, schema: Schema, settings: TreeSettings, folder: str) -> xgb.DMatrix:
    """Return data in bins that, unlike XGBoost's own, do not depend on the order of rows."""
    user = settings.params
    hist = user.get("tree_method", "hist") == "hist"
    in_batches = isinstance(rows.X, FeatureBatches)
    for name, wanted in (("tree_method", "hist"), ("device", "cpu")):
        if in_batches and user.get(name, wanted) != wanted:  # no GPU takes pages of batches
            demand = f"must be XGBoost's own, {wanted!r}, where X is read in batches"
            raise ArgumentError(f"{name} in booster_params", demand, repr(user[name]))
    if in_batches or (hist and settings.built_in is None):
        options = _options(schema, settings.n_jobs) | {"max_bin": user.get("max_bin", MAX_BIN)}
        margin = _margin(rows.init_score)
        with translated(NOT_HELD, BoosterError):
            data = _binned(as_dense(rows.X), options, folder)
            data.set_info(base_margin=margin)
    else:
        data = as_matrix(rows.X, schema, settings.n_jobs, rows.init_score)
    if settings.built_in is not None:
        sizes = rows.queries.sizes
        data.set_info(label=rows.y, group=sizes, weight=rows.query_weight)
    return data


def _binned(X: Features, options: dict[str, Any], folder: str) -> xgb.DMatrix:
    """Return data in the bins of a sample; those of batches are kept in files in `folder`."""
    largest = np.full((1, X.shape[1]), np.nan)

    def track_largest(block: Features) -> Features:
        np.fmax(largest, np.fmax.reduce(as_dense(block), axis=0, keepdims=True), out=largest)
        return block

    in_batches = isinstance(X, FeatureBatches)
    sample = bin_sample(
        mapped(X, lambda _, batch: track_largest(batch)) if in_batches else track_largest(X)
    )
    if len(sample) < X.shape[0]:
        # Beyond the last bin, a value would go another way in prediction than in training.
        sample = np.concatenate([sample, largest], dtype=sample.dtype)
    bins = xgb.QuantileDMatrix(sample, **options)
    if not in_batches:
        return xgb.QuantileDMatrix(X, ref=bins, **options)
    page_options = {name: options[name] for name in ("max_bin", *OF_PAGES)}
    return xgb.ExtMemQuantileDMatrix(Pages(X, folder, "train", options), ref=bins, **page_options)


def _margin(init_score: Vector | None) -> Vector | None:
    """Return initial scores, refusing those that single precision cannot tell apart."""
    if init_score is None:
        return None
    step = np.spacing(np.float32(np.abs(init_score).max()))
    if step > COARSEST * max(1.0, init_score.std()):
        largest = init_score[np.abs(init_score).argmax()]
        raise ValueError(
            "init_score must be nearer 0 with XGBoost, whose single precision has numbers "
            f"{step:.3g} apart there, got {largest}: subtract their mean."
        )
    return init_score


def _options(schema: Schema, n_jobs: int) -> dict[str, Any]:
    """Return the options that say how XGBoost reads the columns."""
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
