"""Many at once: threads, processes and notebooks give what one after the other gives."""

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import reference
from gbrank import GBRanker, LinearRanker, Queries, get_objective
from gbrank.engine import driver
from pool import FITS, QID, X, Y, fit

THREADS = 8
PATIENCE = 300  # seconds, after which it is a deadlock
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def at_once(function: Callable[..., Any], cases: Sequence[Any]) -> list[Any]:
    """Call a function for all cases from eight threads."""
    with ThreadPoolExecutor(THREADS) as pool:
        futures = [pool.submit(function, case) for case in cases]
        return [future.result(timeout=PATIENCE) for future in futures]


@pytest.mark.parametrize("n_jobs", [2, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_fits_from_threads(booster: str, n_jobs: int) -> None:
    """Each with what it draws, and with threads of its own."""

    def scores(seed: int) -> Any:
        return fit(booster, seed, n_jobs=n_jobs, colsample=0.6).predict(X)

    expected = [scores(seed) for seed in range(THREADS)]
    for one, other in zip(at_once(scores, range(THREADS)), expected, strict=True):
        assert_array_equal(one, other)


@pytest.mark.parametrize(
    "ranker", [GBRanker(n_estimators=5, n_jobs=2), GBRanker(booster="xgboost", n_estimators=5),
               GBRanker("smooth:ndcg", n_estimators=10), LinearRanker("ranknet", n_steps=3)],
    ids=str,
)  # fmt: skip
def test_predictions_from_threads(ranker: Any) -> None:
    """All of one ranker."""
    ranker.fit(X, Y, qid=QID)
    tables = [X[start:] for start in range(16)]
    for table, scores in zip(tables, at_once(ranker.predict, tables), strict=True):
        assert_array_equal(scores, ranker.predict(table))


@pytest.mark.parametrize(
    "name", ["lambda:ndcg", "approx:ap", "tie:ap", "noisy:ndcg", "lambda:ap+listmle"]
)
def test_gradients_from_threads(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of one objective that is bound, itself on two threads."""
    monkeypatch.setattr(driver, "PAIRS_PER_THREAD", 1)
    data = reference.Data(41)
    bound = get_objective(name).bind(data.y, Queries.from_qid(data.qid), n_jobs=2)
    cases = [np.random.default_rng(seed).normal(size=len(data.y)) for seed in range(32)]
    for scores, pair in zip(cases, at_once(bound.gradients, cases), strict=True):
        for actual, expected in zip(pair, bound.gradients(scores), strict=True):
            assert_array_equal(actual, expected)


@pytest.mark.slow
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_process_pools(method: str) -> None:
    """However the processes are started, after this one has trained too."""
    done = subprocess.run(
        [sys.executable, Path(__file__).parents[1] / "support" / "pool.py", method],
        env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    own, pooled = done.stdout.splitlines()
    assert own == pooled
    assert len(set(own.split())) == len(FITS)


GLOBAL_STATE = """
import decimal, locale, logging, multiprocessing, os, random, signal, sys, threading, warnings
import joblib, lightgbm, matplotlib, numba, numpy as np, scipy.optimize, sklearn, xgboost
import narwhals, scipy.sparse, scipy.special, scipy.stats, sklearn.utils, tqdm

def state():
    return {
        "warnings": (list(warnings.filters), warnings.showwarning, warnings.formatwarning),
        "logging": (logging.root.level, list(logging.root.handlers), logging.root.disabled),
        "threads of numba": (numba.get_num_threads(), numba.config.NUMBA_NUM_THREADS),
        "threads of others": [(item["filepath"], item["num_threads"])
                              for item in __import__("threadpoolctl").threadpool_info()],
        "running threads": threading.active_count(),
        "seeds": (random.getstate(), str(np.random.get_state())),
        "errors of numpy": np.geterr(),
        "printing": (np.get_printoptions(), decimal.getcontext().prec, locale.setlocale(0)),
        "environment": dict(os.environ),
        "signals": [signal.getsignal(number) for number in sorted(signal.valid_signals())],
        "hooks": (sys.excepthook, sys.displayhook, threading.excepthook, sys.getrecursionlimit()),
        "processes": multiprocessing.get_start_method(allow_none=True),
        "scikit-learn": sklearn.get_config(),
        "matplotlib": dict(matplotlib.rcParams),
        "xgboost": xgboost.get_config(),
    }

def assert_unchanged(what):
    now = state()
    for name, value in before.items():
        assert now[name] == value, (what, name, value, now[name])

np.random.seed(1), random.seed(1)
before = state()
import gbrank
assert_unchanged("importing")
X, y, qid = gbrank.make_cubic(10, n_documents=10, n_features=3, random_state=0)
for booster in ("lightgbm", "xgboost"):
    ranker = gbrank.GBRanker(
        booster=booster, n_estimators=2, n_jobs=1, subsample=0.5, random_state=0
    )
    ranker.fit(X, y, qid=qid, eval_set=[(X, y)], eval_qid=[qid]).predict(X)
    assert_unchanged(f"fitting with {booster}")
gbrank.GBRanker(
    booster="xgboost", n_estimators=2, n_jobs=1, random_state=0, booster_params={"verbosity": 2}
).fit(X, y, qid=qid).booster_.save_config()
assert_unchanged("asking for XGBoost's messages")
"""


@pytest.mark.slow
def test_no_global_state() -> None:
    """Importing gbrank, and fitting an integer seed, leaves everything as it was."""
    done = subprocess.run(
        [sys.executable, "-c", GLOBAL_STATE],
        env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
