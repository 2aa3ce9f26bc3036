"""Batches as XGBoost takes them: kept in files, page by page."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from gbrank.boosters.bins import bin_sample
from gbrank.common.interrupts import interrupt_waits
from gbrank.data.batches import FeatureBatches, block_rows, blocks, mapped
from gbrank.kernels.compiled import Vector

__all__ = ["binned_batches", "raw_batches"]


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


class Largest:
    """The largest number of each column, while a pass goes on."""

    def __init__(self, n_columns: int) -> None:
        self.values: NDArray[np.float64] = np.full((1, n_columns), np.nan)

    def see(self, block: Any) -> Any:
        """Look at a block and return it."""
        rows = block.toarray() if hasattr(block, "toarray") else block
        self.values = np.fmax(self.values, np.fmax.reduce(rows, axis=0, keepdims=True))
        return block


def binned_batches(
    X: FeatureBatches, margin: Vector | None, options: dict[str, Any], folder: str
) -> xgb.DMatrix:
    """Return training data whose bins, kept in a folder, are those of the same data in memory."""
    largest = Largest(X.shape[1])
    sample = bin_sample(mapped(X, largest.see))
    if len(sample) < X.shape[0]:
        sample = np.concatenate([sample, largest.values])
    bins = xgb.QuantileDMatrix(sample, **options)
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
