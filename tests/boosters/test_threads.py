"""Threads: options that depend on them, how long they spin, and where OpenMP gives fewer."""

import os
import subprocess
import sys
import warnings
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from gbrank import GBRanker

FITTED = """
import sys, tempfile, warnings
import numpy as np
from gbrank import GBRanker, load_ranker
n_jobs = int(sys.argv[1])
rng = np.random.default_rng(0)
y = rng.integers(0, 3, 1500)
X = rng.normal(size=(1500, 5)) + y[:, None]
options = {"booster": "xgboost", "n_estimators": 4, "n_jobs": n_jobs, "random_state": 0}
ranker = GBRanker("ranknet", **options)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    print(ranker.fit(X, y, group=[30] * 50).predict(X).tobytes().hex())
    with tempfile.TemporaryDirectory() as folder:
        ranker.save(folder)
        again = load_ranker(folder)
    print(again.predict(X).tobytes().hex())
    print(again._model.contributions(X, n_jobs).tobytes().hex())
    if n_jobs > 1:  # what the library reads itself, on all processors
        assert (again._model.predict_native(X) == again.predict(X)).all()
files = {warning.filename for warning in told if "on one thread" in str(warning.message)}
print("told in", sorted(files), file=sys.stderr)
"""


@cache
def fitted(n_jobs: int, **environment: str) -> tuple[str, str]:
    """Fit in a new process; return scores, and where a warning was shown."""
    run = subprocess.run(
        [sys.executable, "-c", FITTED, str(n_jobs)],
        env=os.environ | environment | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout, run.stderr


@pytest.mark.slow
def test_threads_as_asked() -> None:
    """Without a word: where all are given, where one is wanted, where XGBoost knows the limit."""
    expected, _ = fitted(1)
    for n_jobs, limit in ((3, {}), (3, {"OMP_THREAD_LIMIT": "1"})):
        scores, told = fitted(n_jobs, **limit)
        assert scores == expected
        assert "told in []" in told


LOADED = """
import os, sys
spins = {}
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in ("lightgbm", "xgboost"):
            spins.setdefault(name, os.environ.get("GOMP_SPINCOUNT"))
sys.meta_path.insert(0, Finder)
from gbrank.boosters import BOOSTERS
assert BOOSTERS["lightgbm"].trainer and BOOSTERS["xgboost"].trainer
print(*spins.values(), os.environ.get("GOMP_SPINCOUNT"))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("set_by_user", "seen"),
    [
        ({}, "1000 1000 None"),
        ({"OMP_WAIT_POLICY": "active"}, "None None None"),
        ({"GOMP_SPINCOUNT": "7"}, "7 7 7"),
    ],
    ids=str,
)
def test_how_long_threads_spin(set_by_user: dict[str, str], seen: str) -> None:
    """A short time, in what a booster loads; the user's choice counts, and nothing is left set."""
    names = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    run = subprocess.run(
        [sys.executable, "-c", LOADED],
        env=environment | set_by_user | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.stdout.split("\n")[0] == seen, run.stderr


@pytest.mark.parametrize(
    ("params", "one_thread"),
    [
        ({"data_sample_strategy": "goss"}, True),
        ({"boosting_type": "goss", "force_row_wise": True}, True),
        ({"linear_trees": "true"}, True),
        ({"use_quantized_grad": True}, True),
        ({"use_quantized_grad": True, "stochastic_rounding": False}, False),
        ({"boosting": "dart", "linear_tree": False}, False),
    ],
)
def test_options_that_depend_on_threads(params: dict[str, object], one_thread: bool) -> None:
    """With these, trees grow on one thread, and a warning says so where more are asked for."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 4))
    y = np.digitize(X[:, 0] + rng.normal(size=6000), [0, 1])
    common = {"n_estimators": 10, "learning_rate": 0.3, "random_state": 0}
    found = []
    for n_jobs in (1, 2, 3):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ranker = GBRanker("ranknet", n_jobs=n_jobs, booster_params=params, **common)
            found.append(ranker.fit(X, y, group=[20] * 300).predict(X))
        told = [str(each.message) for each in caught if "one thread" in str(each.message)]
        assert len(told) == (one_thread and n_jobs > 1)
        assert all(f"instead of n_jobs={n_jobs}: with " in each for each in told)
    assert_array_equal(found[0], found[1])
    assert_array_equal(found[0], found[2])
