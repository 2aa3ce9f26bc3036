"""Batches as LightGBM reads them."""

from collections.abc import Iterator
from typing import Any

import lightgbm as lgb

from gbrank.data.batches import FeatureBatches, block_rows, blocks


class BatchSequence(lgb.Sequence):
    """Batches in the form in which LightGBM fills bins: block after block, from the first."""

    def __init__(self, X: FeatureBatches) -> None:
        self.batch_size = block_rows(X)
        self._X = X
        self._blocks: Iterator[Any] = iter(())

    def __len__(self) -> int:
        return self._X.shape[0]

    def __getitem__(self, rows: Any) -> Any:
        if rows.start == 0:
            self._blocks = blocks(self._X, self.batch_size)
        return next(self._blocks)
