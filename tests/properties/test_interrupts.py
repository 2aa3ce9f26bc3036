"""Ctrl-C at any moment is a KeyboardInterrupt, or ends the fit with the rounds that are done."""

import json
import subprocess
import sys

import pytest

# As many moments as are asked for, spread over construction, training and prediction.
INTERRUPTED = """
import json, os, signal, sys, threading, time, warnings
import numpy as np
from gbrank import GBRanker, make_cubic
from gbrank.fit.interrupted import FitInterrupted

booster, moments = sys.argv[1], int(sys.argv[2])
X, y, qid = make_cubic(300, n_documents=30, n_features=40, random_state=0)
ranker = GBRanker("ranknet", n_estimators=4, booster=booster, n_jobs=1)

def job():
    ranker.fit(X, y, qid=qid, eval_set=[(X, y)], eval_qid=[qid]).predict(X)

def seconds():
    start = time.perf_counter()
    job()
    return time.perf_counter() - start

whole = min(seconds() for _ in range(3))
seen = {"KeyboardInterrupt": 0, "FitInterrupted": 0}
for delay in np.random.default_rng(0).permutation(np.linspace(0, whole, moments)):
    sent = threading.Event()
    def interrupt():
        time.sleep(delay)
        os.kill(os.getpid(), signal.SIGINT)
        sent.set()
    thread = threading.Thread(target=interrupt)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            thread.start()
            job()
            sent.wait()
            time.sleep(0.01)
        kind = str(caught[0].category.__name__) if caught else "lost"
    except BaseException as error:
        kind = type(error).__name__
    thread.join()
    seen[kind] = seen.get(kind, 0) + 1
job()
print(json.dumps(seen))
"""


@pytest.mark.slow
@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_any_moment(booster: str) -> None:
    """None is lost, none becomes another error, and the next fit is as if nothing had been."""
    moments = 40
    run = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, booster, str(moments)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    seen = json.loads(run.stdout)
    assert set(seen) == {"KeyboardInterrupt", "FitInterrupted"}
    assert seen["KeyboardInterrupt"] > 0
    assert sum(seen.values()) == moments
    assert "Exception ignored" not in run.stderr
