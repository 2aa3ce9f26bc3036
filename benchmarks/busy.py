"""CPU and wall-clock seconds of a default fit beside busy neighbours, in LightGBM's and gbrank's.

Each neighbour is a process that does nothing but count. The small data have 10,005 documents of 25
features, the large ones ten times as many. Every fit runs in a process of its own, since what
threads do while they wait is settled when a library is loaded.

    python -m benchmarks.busy
"""

import argparse
import json
import multiprocessing
import subprocess
import sys
from typing import Any

import joblib

COPIES = {"small": 1, "large": 10}
FIT = """
import sys, time, json
import numpy as np
from lightgbm import LGBMRanker
from benchmarks.small import make_data
from gbrank import GBRanker

X, y, group = make_data()
X, y, group = np.tile(X, ({copies}, 1)), np.tile(y, {copies}), group * {copies}
GBRanker(n_estimators=1, n_jobs=1).fit(X[:900], y[:900], group=group[:60])  # loads what is compiled
ranker = {ranker}
cpu, wall = time.process_time(), time.perf_counter()
ranker.fit(X, y, group=group)
print(json.dumps([time.process_time() - cpu, time.perf_counter() - wall]))
"""
RANKERS = {"gbrank": "GBRanker(random_state=0)", "LightGBM": "LGBMRanker(verbosity=-1)"}


def count() -> None:
    """Be busy for ever."""
    while True:
        pass


def seconds(ranker: str, copies: int) -> tuple[float, float]:
    """Return the CPU and the wall-clock seconds of a fit in a new process."""
    code = FIT.format(ranker=RANKERS[ranker], copies=copies)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    cpu, wall = json.loads(done.stdout)
    return cpu, wall


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--times", type=int, default=3, help="fits of each ranker; the least counts"
    )
    times = parser.parse_args().times
    neighbours: list[Any] = []
    print(f"{'data':8}{'ranker':10}{'neighbours':>12}{'CPU s':>10}{'seconds':>10}")
    for many in (0, joblib.cpu_count()):
        while len(neighbours) < many:
            neighbours.append(multiprocessing.Process(target=count, daemon=True))
            neighbours[-1].start()
        for data, copies in COPIES.items():
            for ranker in RANKERS:
                cpu, wall = min(seconds(ranker, copies) for _ in range(times))
                print(f"{data:8}{ranker:10}{many:12}{cpu:10.2f}{wall:10.2f}", flush=True)
    for neighbour in neighbours:
        neighbour.terminate()


if __name__ == "__main__":
    main()
