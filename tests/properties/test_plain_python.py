"""Kernels as plain Python, which a debugger and coverage see: `NUMBA_DISABLE_JIT=1`."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from battery import NAMES
from fresh import Fresh
from gbrank import Queries, get_measure, get_objective, list_measures
from gbrank.engine.numba_internals import PLAIN_PYTHON
from lists import assert_close, gradients, make_labels, make_scores

SIZES = [1, 2, 7, 12]
RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 4, sum(SIZES)).astype(float)
SCORES = RNG.normal(size=sum(SIZES))
# Their kernel of long lists takes so long to compile that slow tests alone do.
SWEPT = [
    "approx:ndcg", "approx:ndcg@5", "approx:dcg(discount=linear)", "approx:precision@3",
    "approx:ap", "approx:ap@4", "approx:rr", "approx:err", "approx:rbp", "approx:kendall",
]  # fmt: skip
# So does their kernel, whatever the length. Slow tests compare it compiled, too.
SIGMOIDS = [name for name in NAMES if "sigmoid=" in name]
COMPILED = [name for name in NAMES if name not in SIGMOIDS]
# As with NUMBA_DISABLE_JIT=1 when numba was imported.
PLAIN = """
import runpy, sys, warnings
import numba
numba.config.DISABLE_JIT = 1
warnings.simplefilter("error", RuntimeWarning)
sys.argv[:1] = []
runpy.run_path(sys.argv[0], run_name="__main__")
"""
Results = dict[str, np.ndarray]


def short_lists(names: list[str]) -> Results:
    """Return what objectives and all measures give, at scores with ties and without."""
    queries = Queries.from_sizes(SIZES)
    found = {}
    bound: Any
    for name in names:
        bound = get_objective(name).bind(LABELS, queries)
        tied = bound.gradients(np.round(SCORES, 1), 0.3, round=2)
        parts = [*bound.gradients(SCORES, 1.0), bound.loss(SCORES, 1.0), *tied]
        found[name] = np.concatenate(parts)
    for item in list_measures():
        bound = get_measure(item.name).bind(LABELS, queries)
        found[f"measure {item.name}"] = bound.per_query(SCORES)
    return found


def long_list(direct: bool) -> Results:
    """Return gradients and curvatures of a list with ties, by sums over pairs or in linear time."""
    labels = make_labels("graded", 200, np.random.default_rng(1))
    scores = make_scores("tied", labels, np.random.default_rng(2))
    scores[:100] += make_scores("heavy", labels[:100], np.random.default_rng(3))
    return {name: np.stack(gradients(name, labels, scores, 0.3, direct)) for name in SWEPT}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory, fresh: Fresh) -> dict[str, Results]:
    """Return the results of a process in which numba does not compile."""
    folder = tmp_path_factory.mktemp("plain")
    done = fresh(PLAIN, __file__, folder)
    assert done.returncode == 0, done.stderr
    return {file.stem: dict(np.load(file)) for file in folder.iterdir()}


@pytest.mark.parametrize("names", [COMPILED, pytest.param(SIGMOIDS, marks=pytest.mark.slow)])
def test_plain_kernels_give_what_compiled_ones_do(
    names: list[str], plain: dict[str, Results]
) -> None:
    """Gradients, curvatures, losses and values, to 1e-12."""
    for name, values in short_lists(names).items():
        scale = np.nanmax(np.abs(values), initial=0.0)
        actual = plain["short"][name]
        assert_allclose(actual, values, rtol=1e-12, atol=1e-12 * scale, err_msg=name)


@pytest.mark.parametrize("name", SWEPT)
def test_sums_over_sorted_scores(plain: dict[str, Results], name: str) -> None:
    """Are the direct sums; slow tests compare the compiled kernels, in many lists."""
    for swept, direct in zip(plain["swept"][name], plain["direct"][name], strict=True):
        assert_close(swept, direct)


@pytest.mark.parametrize("name", SIGMOIDS)
def test_other_sigmoids(plain: dict[str, Results], name: str) -> None:
    """Gradients are slopes; gradients and curvatures at the ends of what floats hold are usable."""
    gradient, slope = plain["slopes"][name]
    assert_allclose(slope, gradient, rtol=1e-4, atol=1e-5 * np.abs(gradient).max())
    assert np.abs(gradient).max() > 0.01
    gradients, curvatures = np.moveaxis(plain["extremes"][name], 1, 0)
    assert np.isfinite(gradients).all()
    assert np.isfinite(curvatures).all()
    assert (curvatures > 0).all()


def slopes() -> Results:
    """Return gradients, and central differences of losses."""
    found: Results = {}
    for name in SIGMOIDS:
        bound = get_objective(name).bind(LABELS, Queries.from_sizes(SIZES))
        slope = [
            (bound.loss(SCORES + step, 0.7) - bound.loss(SCORES - step, 0.7)).sum() / 2e-5
            for step in 1e-5 * np.eye(len(SCORES))
        ]
        found[name] = np.stack([bound.gradients(SCORES, 0.7)[0], slope])
    return found


def extremes() -> Results:
    """Return gradients and curvatures at extreme scores and widths."""
    found: Results = {}
    for name in SIGMOIDS:
        bound = get_objective(name).bind(LABELS, Queries.from_sizes(SIZES))
        with np.errstate(all="ignore"):
            found[name] = np.stack(
                [
                    bound.gradients(spread * np.sign(SCORES), sigma)
                    for spread in (5e-324, 1.0, 1e300)
                    for sigma in (1e-300, 1.0, 1e300)
                ]
            )
    return found


def save(folder: Path) -> None:
    """Write all results."""
    assert PLAIN_PYTHON
    np.savez(folder / "short.npz", **short_lists(NAMES))
    np.savez(folder / "slopes.npz", **slopes())
    np.savez(folder / "extremes.npz", **extremes())
    np.savez(folder / "swept.npz", **long_list(direct=False))
    np.savez(folder / "direct.npz", **long_list(direct=True))


if __name__ == "__main__":
    save(Path(sys.argv[1]))
