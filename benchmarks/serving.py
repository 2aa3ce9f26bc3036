"""CPU time of one request, and of loading before the first, beside the libraries' own ways.

20 documents of 50 features, the ranker with default parameters (150 trees of 31 leaves), one
thread. Its predictor and its `predict` take turns, 50 requests each, with the booster's own object
(`Booster.predict`, `inplace_predict`), its estimator (LGBMRanker, XGBRanker) on trees of the same
size, and ONNX Runtime on the exported file. Documents come as an array; as dicts, as from JSON, of
which the estimator is given a pandas frame; as frames; and as dicts with a word. The least CPU time
of many requests is printed, as a ratio to that of the booster's own object on the array.

    python -m benchmarks.serving
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import onnxruntime
import pandas as pd
import polars as pl
import xgboost as xgb

from benchmarks.writing import markdown_table
from gbrank import GBRanker, export_model

QUERIES, LENGTH, ASKED, FEATURES = 100, 40, 20, 50
COLUMNS = [f"f{place}" for place in range(FEATURES)]
WORDS = np.array([*"abcdefgh"])
LOADS = {
    "gbrank's predictor": "from gbrank.serving import load_predictor; load_predictor(folder)",
    "gbrank's ranker": "from gbrank import load_ranker; load_ranker(folder)",
    "lightgbm's booster": "import lightgbm; lightgbm.Booster(model_file=folder + '/own')",
    "xgboost's booster": "import xgboost; xgboost.Booster(model_file=folder + '/own.json')",
    "ONNX Runtime": "import onnxruntime; onnxruntime.InferenceSession(folder + '/own.onnx')",
}
Call = Callable[[], Any]


def with_word(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose first column has become one of categories."""
    words = WORDS[np.floor(np.abs(frame[COLUMNS[0]]) * 2).astype(int) % len(WORDS)]
    return frame.assign(**{COLUMNS[0]: pd.Categorical(words, [*WORDS])})


def own_ranker(booster: str, ranker: GBRanker) -> Any:
    """Return the library's own estimator, unfitted, for trees of the same size."""
    shared: dict[str, Any] = {"n_estimators": ranker.n_estimators, "n_jobs": 1, "random_state": 0}
    if booster == "lightgbm":
        return lgb.LGBMRanker(num_leaves=ranker.num_leaves, verbosity=-1, **shared)
    leaves = {"max_leaves": ranker.num_leaves, "max_depth": 0, "grow_policy": "lossguide"}
    return xgb.XGBRanker(enable_categorical=True, **leaves, **shared)


def least(calls: dict[str, Call], times: int) -> dict[str, float]:
    """Return the least CPU microseconds of each call; they take turns, 50 times each."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(times):
        for name, call in calls.items():
            for _ in range(50):
                start = time.process_time()
                call()
                seconds[name].append(time.process_time() - start)
    return {name: 1e6 * min(spent) for name, spent in seconds.items()}


def calls_of(booster: str, kind: str, frame: pd.DataFrame, y: Any, folder: Path) -> dict[str, Call]:
    """Fit, and return the ways to score a request that comes in one form."""
    X: Any = with_word(frame) if kind.endswith("a word") else frame
    X = frame.to_numpy() if kind == "array" else X
    group = [LENGTH] * QUERIES
    ranker = GBRanker(booster=booster, n_jobs=1, random_state=0).fit(X, y, group=group)
    predictor, native = ranker.predictor(), ranker.booster_
    first = X[:ASKED]
    numbers = frame[:ASKED].to_numpy()
    asked: Any = first
    if kind.startswith("dicts"):
        asked = json.loads(json.dumps(first.astype(object).to_dict("records")))
    elif kind == "array":
        asked = numbers
    elif kind == "polars":
        asked = pl.DataFrame(first)
    calls = {"predictor": lambda: predictor.predict(asked)}
    if not kind.startswith("dicts"):  # which only the predictor takes
        calls["predict"] = lambda: ranker.predict(asked)
    if kind == "array":
        calls["booster"] = bare(booster, native, numbers)
        export_model(ranker, folder / "own.onnx", "onnx")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(folder / "own.onnx", options)
        calls["ONNX Runtime"] = lambda: session.run(
            ["score"], {"features": asked.astype(np.float32)}
        )
    own = own_ranker(booster, ranker).fit(X, y, group=group)
    if kind.startswith("dicts"):
        calls["estimator"] = lambda: own.predict(as_frame(asked, first))
    elif kind != "polars" or booster == "xgboost":
        calls["estimator"] = lambda: own.predict(asked)
    return calls


def as_frame(documents: Any, like: pd.DataFrame) -> pd.DataFrame:
    """Return documents as a frame with the types of fit."""
    frame = pd.DataFrame(documents)
    return frame.astype({COLUMNS[0]: like.dtypes[COLUMNS[0]]})


def bare(booster: str, native: Any, numbers: Any) -> Call:
    """Return what the booster's own object takes for the scores of an array."""
    if booster == "lightgbm":
        return lambda: native.predict(numbers, raw_score=True, num_threads=1)
    native.set_param({"nthread": 1})
    return lambda: native.inplace_predict(numbers, predict_type="margin", validate_features=False)


def cpu_seconds(code: str, folder: Path) -> float:
    """Return the least CPU seconds of a new process that runs code, less those of a bare one."""
    command = [sys.executable, "-c", f"folder = {str(folder)!r}; {code}"]
    spent = []
    for one in [command] * 3:
        before = os.times()
        subprocess.run(one, check=True)
        after = os.times()
        user, system = after.children_user, after.children_system
        spent.append(user + system - before.children_user - before.children_system)
    return min(spent)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--times", type=int, default=40, help="turns, of 50 requests each")
    times = parser.parse_args().times
    values = np.random.default_rng(0).normal(size=(QUERIES * LENGTH, FEATURES))
    y = np.searchsorted([0.0, 2.0, 4.0], values[:, :10].sum(axis=1))
    frame = pd.DataFrame(values, columns=COLUMNS)
    ways = ["predictor", "predict", "booster", "estimator", "ONNX Runtime"]
    for booster in ("lightgbm", "xgboost"):
        rows, unit = [], 1.0
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            for kind in ("array", "dicts", "pandas", "polars", "dicts with a word"):
                found = least(calls_of(booster, kind, frame, y, folder), times)
                unit = found.get("booster", unit)
                ratios = [f"{found[way] / unit:.2f}" if way in found else "" for way in ways]
                rows.append([kind, f"{found['predictor']:.0f}", *ratios])
            print(
                markdown_table([f"{booster}: documents as", "predictor, µs", *ways], rows, words=1)
            )
            ranker = GBRanker(booster=booster, n_jobs=1, random_state=0)
            ranker.fit(frame, y, group=[LENGTH] * QUERIES).save(folder)
            ranker.booster_.save_model(folder / ("own" if booster == "lightgbm" else "own.json"))
            loads = [
                [name, f"{cpu_seconds(code, folder):.2f}"]
                for name, code in LOADS.items()
                if "'s booster" not in name or booster in name
            ]
        print(markdown_table([f"{booster}: import and load", "CPU seconds"], loads, words=1))


if __name__ == "__main__":
    main()
