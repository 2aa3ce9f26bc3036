"""Lists of many shapes, and their gradients summed directly or in the way of long lists.

The kernels of long lists take half of the time that all take to compile. Those of LambdaRank are
tested in every run, those of ApproxRank where slow tests are.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from gbrank import Queries, get_objective
from gbrank.engine.driver import Runner
from gbrank.objectives import approxrank, lambdarank, smoothrank

# Kernels of long lists.
SWEPT = (lambdarank.swept_pairs, approxrank.swept_measure)
Vector = NDArray[np.float64]
LABELS = ["binary", "graded", "many", "rare", "continuous", "alike"]
SCORES = ["scattered", "tied", "clustered", "heavy", "best first", "worst first", "equal"]


def lengthy(names: Iterable[str]) -> list[Any]:
    """Return names as parameters of a test, slow where their kernel of long lists is."""
    slow = pytest.mark.slow
    return [pytest.param(name, marks=slow) if name.startswith("approx") else name for name in names]


def runner(name: Any, labels: Any, direct: bool, sizes: Any = None, n_jobs: int = 1) -> Runner:
    """Bind an objective that sums all lists in one way, by its kernel or its parameters."""
    queries = Queries.from_sizes([len(labels)] if sizes is None else sizes)
    program = get_objective(name).program(np.asarray(labels, dtype=float), queries)
    parameters = program.parameters
    if program.kernel is smoothrank.smooth_measure:
        parameters = np.inf if direct else 0.0
    others = program.others
    if program.other_kernel in SWEPT:
        others = np.full(queries.n_queries, not direct)
    return Runner(replace(program, parameters=parameters, others=others), queries, n_jobs)


def gradients(name: Any, labels: Any, scores: Any, sigma: float, direct: bool) -> Any:
    """Return gradient and curvature of one query."""
    return runner(name, labels, direct).gradients(np.asarray(scores), sigma, 0, np.empty(0))


def make_labels(kind: str, m: int, rng: np.random.Generator) -> Vector:
    """Return few or many labels."""
    if kind == "continuous":
        return rng.random(m) * 4
    if kind == "alike":
        return np.full(m, 2.0)
    if kind == "many":
        return rng.integers(0, 13, m) / 4
    chances = {"binary": [0.6, 0.4], "graded": [0.5, 0.3, 0.1, 0.06, 0.04], "rare": [0.98, 0.02]}
    return rng.choice(len(chances[kind]), m, p=chances[kind]).astype(float)


def make_scores(kind: str, labels: Vector, rng: np.random.Generator) -> Vector:
    """Return scores of some shape, of spread about 1."""
    m = len(labels)
    scores = rng.normal(size=m)
    if kind == "tied":
        scores = np.round(2 * scores) / 2
    elif kind == "clustered":
        scores = rng.integers(0, 4, m) + 1e-6 * scores
    elif kind == "heavy":
        scores = np.sign(scores) * np.abs(scores) ** 9 / 100
    elif kind.endswith("first"):
        scores = np.sort(scores)[np.argsort(np.argsort(labels, kind="stable"), kind="stable")]
        scores *= 1 if kind == "best first" else -1
    return np.zeros(m) if kind == "equal" else scores


def assert_close(actual: Vector, expected: Vector, tolerance: float = 1e-7) -> None:
    """Equal to a part of the largest entry."""
    assert np.isfinite(actual).all()
    assert_allclose(actual, expected, rtol=0, atol=tolerance * np.abs(expected).max() + 1e-300)
