"""The rows that histogram bins are made of."""

from functools import partial

import numpy as np
import pytest
import xgboost as xgb

from gbrank.boosters.interface import bin_sample
from gbrank.boosters.xgboost import trainer


@pytest.mark.parametrize("most", [1, 2, 7, 31])
def test_a_sample_has_at_least_as_many_rows_as_asked_for(most: int) -> None:
    """Where products of shares round, too: 49 · (1 / 49) is below 1."""
    for n in range(most, 120):
        assert most <= len(bin_sample(np.arange(n, dtype=float)[:, None], most)) <= most + 1


def test_bins_reach_to_the_largest_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether or not it is sampled."""
    monkeypatch.setattr(trainer, "bin_sample", partial(bin_sample, most=40))
    X = np.random.default_rng(0).normal(size=(3000, 5))
    X[::9] = np.nan
    options = {"nthread": 1, "max_bin": 8}
    for place in (5, 1500, 2999):
        table = X.copy()
        table[place] = 99.0
        rows = trainer._Blocks(trainer._sample(table), {})
        first, values = xgb.QuantileDMatrix(rows, **options).get_quantile_cut()
        assert (values[first[1:].astype(int) - 1] > 99.0).all()
