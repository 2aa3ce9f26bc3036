"""Memory of large trainings and predictions, by phase, beside the booster alone.

Three loads: training on 5,000,000 documents of 50 features in single precision, in queries of
100, by each booster with its own lambdarank and by gbrank's "lambda:ndcg" on it; prediction of
10,000,000 documents in chunks; training on one query of 1,000,000 documents. Each runs in a process
of its own, and the memory is the most that the process had in the phase, which Linux counts.
gbrank's share is what its process had at most, less what the booster's own had, in bytes for each
document. Writes load.md.

python -m benchmarks.load
python -m benchmarks.load --scale 0.1 --output /tmp   # a tenth of everything
"""

import argparse
import functools
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import xgboost as xgb

from benchmarks.writing import RESULTS, markdown_table
from gbrank import GBRanker
from gbrank.boosters import TRAINERS
from gbrank.objectives.objective import Objective

DOCUMENTS, FEATURES, LENGTH = 5_000_000, 50, 100
PREDICTED, CHUNK = 10_000_000, 100_000
LONGEST = 1_000_000
ROUNDS, LEAVES, THREADS = 5, 31, 2
TREES = 100  # of the model that predicts
GIB = 2**30
LIMIT_GIB, LIMIT_SHARE = 12, 64
TEXT = """\
# Memory: 58 bytes a document more than LightGBM takes; 5,000,000 documents fit into 2.2 GiB

Training on {documents:,} documents of {features} features in single precision, in queries of
{length}, by the boosters' own lambdarank and by gbrank's on them ({rounds} rounds of {leaves}
leaves, {threads} threads); prediction of {predicted:,} documents by {trees} trees, {chunk:,} at a
time, which are made in between; training on one query of {longest:,} documents. Each load runs in
a process of its own, and the memory is the most that the process had in a phase, which Linux
counts. How it is measured: [`benchmarks/load.py`](../load.py).

```bash
python -m benchmarks.load
```
"""

Phases = list[tuple[str, float, int]]


class Watch:
    """The most memory that this process had in each phase."""

    def __init__(self) -> None:
        self.phases: Phases = []
        self._name = "start"
        self._begin()

    def _begin(self) -> None:
        Path("/proc/self/clear_refs").write_text("5")
        self._start = time.perf_counter()

    def enter(self, name: str) -> None:
        """End a phase and begin another."""
        status = Path("/proc/self/status").read_text()
        (peak,) = (int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line)
        self.phases.append((self._name, time.perf_counter() - self._start, peak * 1024))
        self._name = name
        self._begin()

    def before(self, owner: Any, name: str, phase: str) -> None:
        """Enter a phase whenever a method is called."""
        method = getattr(owner, name)

        @functools.wraps(method)
        def entering(*args: Any, **kwargs: Any) -> Any:
            if self._name != phase:
                self.enter(phase)
            return method(*args, **kwargs)

        setattr(owner, name, entering)


def make_rows(n: int, seed: int) -> np.ndarray:
    """Return normal features, made in chunks, since generators begin with double precision."""
    rng, X = np.random.default_rng(seed), np.empty((n, FEATURES), np.float32)
    for start in range(0, n, CHUNK):
        X[start : start + CHUNK] = rng.standard_normal(X[start : start + CHUNK].shape, np.float32)
    return X


def make_labels(X: np.ndarray) -> np.ndarray:
    """Return grades 0 to 4 of a noisy sum of features."""
    noise = np.random.default_rng(1).standard_normal(len(X), np.float32)
    return np.digitize(X[:, :3].sum(axis=1) + noise, [0, 1.5, 2.5, 3.5]).astype(np.float32)


def lightgbm_alone(watch: Watch, scale: float) -> int:
    """Train with LightGBM's own lambdarank."""
    watch.enter("data")
    X = make_rows(int(DOCUMENTS * scale), 0)
    y = make_labels(X)
    watch.enter("the booster's data")
    params = {"objective": "lambdarank", "num_leaves": LEAVES, "num_threads": THREADS,
              "deterministic": True, "force_col_wise": True, "verbosity": -1}  # fmt: skip
    data = lgb.Dataset(X, y, group=[LENGTH] * (len(y) // LENGTH), params=params).construct()
    watch.enter("rounds")
    lgb.train(params, data, ROUNDS)
    return len(y)


def xgboost_alone(watch: Watch, scale: float) -> int:
    """Train with XGBoost's own rank:ndcg."""
    watch.enter("data")
    X = make_rows(int(DOCUMENTS * scale), 0)
    y = make_labels(X)
    watch.enter("the booster's data")
    params = {"objective": "rank:ndcg", "max_leaves": LEAVES, "max_depth": 0, "nthread": THREADS,
              "grow_policy": "lossguide", "tree_method": "hist"}  # fmt: skip
    data = xgb.DMatrix(X, y, group=[LENGTH] * (len(y) // LENGTH), nthread=THREADS)
    watch.enter("rounds")
    xgb.train(params, data, ROUNDS)
    return len(y)


def watch_fit(watch: Watch, booster: str) -> None:
    """Name the phases of the fit that follows."""
    kind = TRAINERS[booster]
    watch.before(kind, "__init__", "the booster's data")
    watch.before(Objective, "bind", "gbrank's labels")
    watch.before(kind, "step", "rounds")
    watch.before(kind, "finish", "the model")
    watch.enter("checks")


def ours(booster: str, watch: Watch, scale: float, length: int = LENGTH) -> int:
    """Train with gbrank."""
    watch.enter("data")
    X = make_rows(int(scale * (DOCUMENTS if length == LENGTH else length)), 0)
    y = make_labels(X)
    watch_fit(watch, booster)
    fit(booster, X, y, min(length, len(y)))
    return len(y)


def fit(booster: str, X: Any, y: np.ndarray, length: int) -> None:
    """Train with gbrank's lambdarank."""
    ranker = GBRanker(
        "lambda:ndcg", booster=booster, n_estimators=ROUNDS, num_leaves=LEAVES, n_jobs=THREADS,
        random_state=0,
    )  # fmt: skip
    ranker.fit(X, y, group=[length] * (len(y) // length))


def prediction(booster: str, watch: Watch, scale: float) -> int:
    """Predict many documents, a chunk at a time."""
    watch.enter("training")
    X = make_rows(10_000, 0)
    ranker = GBRanker(booster=booster, n_estimators=TREES, n_jobs=THREADS, random_state=0)
    ranker.fit(X, make_labels(X), group=[LENGTH] * (len(X) // LENGTH))
    count = int(PREDICTED * scale)
    watch.enter("prediction")
    for start in range(0, count, CHUNK):
        scores = ranker.predict(make_rows(min(CHUNK, count - start), start))
        assert np.isfinite(scores).all()
    return count


TASKS: dict[str, Callable[[Watch, float], int]] = {
    "LightGBM alone": lightgbm_alone,
    "gbrank on LightGBM": functools.partial(ours, "lightgbm"),
    "XGBoost alone": xgboost_alone,
    "gbrank on XGBoost": functools.partial(ours, "xgboost"),
    "prediction by LightGBM": functools.partial(prediction, "lightgbm"),
    "prediction by XGBoost": functools.partial(prediction, "xgboost"),
    "one long query on LightGBM": functools.partial(ours, "lightgbm", length=LONGEST),
    "one long query on XGBoost": functools.partial(ours, "xgboost", length=LONGEST),
}


def run(task: str, scale: float) -> dict[str, Any]:
    """Run a task in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.load", "--task", task, "--scale", str(scale)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measure(task: str, scale: float) -> None:
    """Run a task in this process, and print its phases."""
    watch = Watch()
    documents = TASKS[task](watch, scale)
    watch.enter("end")
    print(json.dumps({"documents": documents, "phases": watch.phases}))


def main() -> None:
    """Run all tasks, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0, help="share of the documents")
    parser.add_argument("--output", type=Path, default=RESULTS, help="where to write")
    parser.add_argument("--task", choices=TASKS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        measure(options.task, options.scale)
        return
    most: dict[str, int] = {}
    rows = []
    for task in TASKS:
        result = run(task, options.scale)
        for phase, seconds, peak in result["phases"][1:]:
            rows.append([task, phase, f"{seconds:.1f}", f"{peak / GIB:.2f}"])
            print(*rows[-1], flush=True)
        most[task] = max(peak for _, _, peak in result["phases"])
    count = int(DOCUMENTS * options.scale)
    shares = {
        booster: (most[f"gbrank on {booster}"] - most[f"{booster} alone"]) / count
        for booster in ("LightGBM", "XGBoost")
    }
    text = TEXT.format(
        documents=count, features=FEATURES, length=LENGTH, rounds=ROUNDS, leaves=LEAVES,
        threads=THREADS, predicted=int(PREDICTED * options.scale), trees=TREES, chunk=CHUNK,
        longest=int(LONGEST * options.scale),
    )  # fmt: skip
    own = "; ".join(f"{share:.0f} on {booster}" for booster, share in shares.items())
    own = f"gbrank's process had at most so many bytes a document more than the booster's: {own}."
    table = markdown_table(["load", "phase", "seconds", "GiB at most"], rows, words=2)
    page = f"{text}\n{table}\n\n{own}\n"
    (options.output / "load.md").write_text(page, encoding="utf-8")
    assert max(most.values()) < LIMIT_GIB * GIB, most
    if options.scale >= 1:  # what a process has for no documents at all is then little
        assert max(shares.values()) <= LIMIT_SHARE, shares


if __name__ == "__main__":
    main()
