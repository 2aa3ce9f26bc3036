"""Objectives of the study of soft rankings: slopes, and the measure itself where σ is small."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.studies.soft_rankings import sinkhorn, smooth_indicators
from gbrank import NDCG


@pytest.mark.slow
def test_sinkhorn_and_smooth_indicators() -> None:
    """SmoothI's gradient leaves out a part by design: it is no slope."""
    rng = np.random.default_rng(0)
    s, y = np.sort(rng.normal(size=8))[::-1].copy(), rng.integers(0, 3, 8).astype(float)
    for sigma in (0.3, 1.0):
        _, gradient, _ = sinkhorn(s, y, sigma)
        slopes = [
            (sinkhorn(s + step, y, sigma)[0] - sinkhorn(s - step, y, sigma)[0]) / 2e-6
            for step in 1e-6 * np.eye(8)
        ]
        assert_allclose(gradient, slopes, atol=1e-8)
        assert abs(gradient.sum()) < 1e-12
    for function in (sinkhorn, smooth_indicators):
        loss, _, _ = function(s, y, 3e-4)
        assert_allclose(loss, -NDCG(k=10)(y, s), atol=1e-9)
