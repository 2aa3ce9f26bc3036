"""Data in bins, and batches as XGBoost takes them: kept in files, page by page."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import xgboost as xgb

from gbrank.boosters.bins import bin_sample
from gbrank.boosters.xgboost.matrices import as_dense
from gbrank.common.interrupts import interrupt_waits
from gbrank.data.batches import FeatureBatches, block_rows, blocks, mapped
from gbrank.data.schema import Features
from gbrank.kernels.compiled import Vector


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
            raise RuntimeError("interrupted")  # what holds Ctrl-C raises it then
        block = next(self._blocks, None)
        if block is None:
            return False
        input_data(data=block, **self._columns)
        return True


def binned(X: Features, margin: Vector | None, options: dict[str, Any], folder: str) -> xgb.DMatrix:
    """Return training data in the bins of a sample, those of batches kept in a folder."""
    largest = np.full((1, X.shape[1]), np.nan)

    def seen(block: Any) -> Any:
        np.fmax(largest, np.fmax.reduce(as_dense(block), axis=0, keepdims=True), out=largest)
        return block

    in_batches = isinstance(X, FeatureBatches)
    sample = bin_sample(mapped(X, seen) if in_batches else seen(X))
    if len(sample) < X.shape[0]:
        # Where a number is beyond the last bin, a new row goes another way than it did in training.
        sample = np.concatenate([sample, largest], dtype=sample.dtype)
    bins = xgb.QuantileDMatrix(sample, **options)
    if not in_batches:
        return xgb.QuantileDMatrix(X, base_margin=margin, ref=bins, **options)
    pages = Pages(X, folder, "train", options)
    own = {name: options[name] for name in ("max_bin", "nthread", "enable_categorical")}
    data = xgb.ExtMemQuantileDMatrix(pages, ref=bins, **own)
    data.set_info(base_margin=margin)
    return data


def raw_batches(
    X: FeatureBatches, margin: Vector | None, options: dict[str, Any], folder: str, name: str
) -> xgb.DMatrix:
    """Return validation data, kept in a folder."""
    own = {name: options[name] for name in ("nthread", "enable_categorical")}
    data = xgb.DMatrix(Pages(X, folder, name, options), **own)
    data.set_info(base_margin=margin)
    return data
