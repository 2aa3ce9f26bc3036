"""The sample of rows from which bins are made: chosen by content, not by position."""

import math

import numpy as np

from gbrank.common.collective import all_sum
from gbrank.data.feature_matrix import Features
from gbrank.data.sampling import block_keys

# LightGBM's own default.
BINNED_ROWS = 200_000


def bin_sample(X: Features, most: int = BINNED_ROWS) -> Features:
    """Return this worker's share of a sample of `most` rows, in the order of their hashes."""
    count = math.ceil(X.shape[0] * min(1, most / all_sum(X.shape[0])))
    return X[np.argsort(block_keys(X))[:count]]
