"""CPU and wall-clock seconds of a default fit beside busy neighbours, in LightGBM's and gbrank's.

Each neighbour is a process that does nothing but count. The small data have 10,005 documents of 25
features, the large ones ten times as many. Every fit runs in a process of its own, since what
threads do while they wait is settled when a library is loaded.

    python -m benchmarks.busy
"""

import argparse
import itertools
import json
import multiprocessing
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import joblib
import numpy as np

from benchmarks.small import make_data

COPIES = {"small": 1, "large": 10}
RANKERS = {
    "gbrank": "gbrank.GBRanker(random_state=0)",
    "LightGBM": "lightgbm.LGBMRanker(verbosity=-1)",
}
# gbrank says how long threads spin where it is the first to load LightGBM.
FIT = """
import sys, time, json
import numpy as np
import {library}

X, y, group = np.load({data!r}).values()
{ranker}.set_params(n_estimators=1, n_jobs=1).fit(X[:900], y[:900], group=group[:60])
ranker = {ranker}
cpu, wall = time.process_time(), time.perf_counter()
ranker.fit(X, y, group=group)
print(json.dumps([time.process_time() - cpu, time.perf_counter() - wall]))
"""


def count() -> None:
    """Be busy for ever."""
    while True:
        pass


def seconds(ranker: str, data: Path) -> tuple[float, float]:
    """Return the CPU and the wall-clock seconds of a fit in a new process."""
    code = FIT.format(library=ranker.partition(".")[0], ranker=ranker, data=str(data))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    cpu, wall = json.loads(done.stdout)
    return cpu, wall


def write_data(folder: Path) -> dict[str, Path]:
    """Write both data sets to files."""
    X, y, group = make_data()
    files = {name: folder / f"{name}.npz" for name in COPIES}
    for name, copies in COPIES.items():
        np.savez(files[name], np.tile(X, (copies, 1)), np.tile(y, copies), group * copies)
    return files


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--times", type=int, default=3, help="fits of each ranker; the least counts"
    )
    times = parser.parse_args().times
    neighbours: list[Any] = []
    print(f"{'data':8}{'ranker':10}{'neighbours':>12}{'CPU s':>10}{'seconds':>10}")
    with TemporaryDirectory() as folder:
        files = write_data(Path(folder))
        for many in (0, joblib.cpu_count()):
            while len(neighbours) < many:
                neighbours.append(multiprocessing.Process(target=count, daemon=True))
                neighbours[-1].start()
            for data, (name, ranker) in itertools.product(COPIES, RANKERS.items()):
                cpu, wall = min(seconds(ranker, files[data]) for _ in range(times))
                print(f"{data:8}{name:10}{many:12}{cpu:10.2f}{wall:10.2f}", flush=True)
    for neighbour in neighbours:
        neighbour.terminate()


if __name__ == "__main__":
    main()
