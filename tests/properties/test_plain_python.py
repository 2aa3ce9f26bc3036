"""Kernels as plain Python, which a debugger and coverage see: `NUMBA_DISABLE_JIT=1`."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from battery import NAMES
from gbrank import Queries, get_measure, get_objective, list_measures

SIZES = [1, 2, 7, 12]
RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 4, sum(SIZES)).astype(float)
SCORES = RNG.normal(size=sum(SIZES))


def results() -> dict[str, np.ndarray]:
    """Return what all objectives and measures give, at scores with ties and without."""
    queries = Queries.from_sizes(SIZES)
    found = {}
    bound: Any
    for name in NAMES:
        bound = get_objective(name).bind(LABELS, queries)
        tied = bound.gradients(np.round(SCORES, 1), 0.3, round=2)
        parts = [*bound.gradients(SCORES, 1.0), bound.loss(SCORES, 1.0), *tied]
        found[name] = np.concatenate(parts)
    for item in list_measures():
        found[f"{item.name}, measure"] = (
            get_measure(item.name).bind(LABELS, queries).per_query(SCORES)
        )
    return found


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    """Return the results of a process in which numba does not compile."""
    file = tmp_path_factory.mktemp("plain") / "results.npz"
    subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", __file__, str(file)],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        check=True,
    )
    with np.load(file) as stored:
        return dict(stored)


def test_plain_kernels_give_what_compiled_ones_do(plain: dict[str, np.ndarray]) -> None:
    """Gradients, curvatures, losses and values, to 1e-12."""
    compiled = results()
    assert plain.keys() == compiled.keys()
    for name, values in compiled.items():
        scale = np.nanmax(np.abs(values), initial=0.0)
        assert_allclose(plain[name], values, rtol=1e-12, atol=1e-12 * scale, err_msg=name)


if __name__ == "__main__":
    np.savez(Path(sys.argv[1]), **results())
