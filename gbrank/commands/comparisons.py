"""Comparisons from a shell, of files and of artificial data."""

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from json import dumps
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from gbrank import make_cubic
from gbrank.common.checks import (
    ArgumentError,
    Array,
    Positions,
    Vector,
    check_integer,
    check_known_name,
    check_unique,
)
from gbrank.common.files import replace_file, replaced
from gbrank.data.queries import Queries
from gbrank.data.text_files import STDIN
from gbrank.data.trec import read_qrels
from gbrank.evaluation import Comparison, Dataset, compare_rankers
from gbrank.evaluation.comparison import COSTS, DIFFERENCES, MEANS, PARTS, table_of
from gbrank.objectives.objective_registry import DEFAULT_OBJECTIVE
from gbrank.ranker import GBRanker

from .data_files import ColumnName, Reader, read_parts
from .options import File, NewFile, NewPicture, printable

CUBIC_QUERIES = 200
N_PARTS = 5  # of the queries in order of time

# The demonstration's: labels are 0 to 4, and one document in six has 2 or more.
NOISE = 1 / 3
BASELINE = "LGBMRanker"
METRICS = ("ndcg@10", "ap(threshold=2)", "rr(threshold=2)")


def compare(
    *,
    data: Sequence[File] = (),
    rankers: Sequence[Annotated[str, "NAME"]] = (DEFAULT_OBJECTIVE, "lightgbm", "xgboost"),
    metric: Sequence[Annotated[str, "METRIC"]] = ("ndcg@10",),
    seeds: int = 5,
    baseline: Annotated[str, "NAME"] | None = None,
    time: ColumnName | None = None,
    valid: File | None = None,
    test: File | None = None,
    json: NewFile | None = None,
    plot: NewPicture | None = None,
    cost_plot: NewPicture | None = None,
    n_jobs: int | None = None,
    reader: Annotated[Reader, "labels"],
) -> None:
    r"""Train every ranker on every fold of every data set, and compare them on the test queries.

    It prints means and differences from the baseline, with 95% bootstrap intervals over queries,
    the standard deviation over seeds, p-values of the paired randomization test and t test,
    corrected by Holm (which intervals are not), and the CPU seconds of a fit.

    A ranker is an objective, for GBRanker with it, or "lightgbm" or "xgboost", for their rankers,
    all with default parameters. It may also be judged as it is: the folder or file
    of a model, a TREC run (with --docid), or a column of tables, which is then no feature.

    The queries of a file are divided into five folds. With --time, those of a table are divided in
    order of this column: each fold tests on later queries than it trains on. With --valid and
    --test there is one fold, of files.

    Parameters
    ----------
    data : sequence of path
        Data sets, one a file; by default 200 artificial queries.
    rankers : sequence of str
        Rankers to compare.
    metric : sequence of str
        Measures of them.
    seeds : int
        Repetitions of each fit.
    baseline : str
        Ranker that others are compared with; by default the first.
    time : str
        Column of tables with the time of each query.
    valid : path
        File to validate on.
    test : path
        File to test on.
    json : path
        Write the numbers to this file.
    plot : path
        Draw the numbers to this file.
    cost_plot : path
        Draw the metrics against CPU seconds to this file.
    n_jobs : int
        Processes; by default all.
    reader : Reader
        Data.

    Examples
    --------
    gbrank compare --seeds 1
    gbrank compare --data data.parquet --label grade --qid query --drop url --metric ndcg@10 map \
        --rankers lambda:ndcg lightgbm xgboost --json compared.json --plot compared.png
    gbrank compare --rankers ranknet listmle --cost-plot cost.png
    gbrank compare --rankers lambda:ndcg mine --plugin mine.py
    gbrank compare --data log.parquet --time day --rankers lambda:ndcg live_score model.txt
    gbrank compare --data train.txt --valid valid.txt --test test.txt
    """
    check_unique("--rankers", rankers)
    if (valid is None) != (test is None):
        raise ArgumentError("valid", "and --test must be given together", "one of them")
    if test is not None and time is not None:
        raise ArgumentError("time", "must not be given with --test", time)
    others = [*filter(None, (valid, test))]
    names = rankers if len(data) == 1 else ()
    parts = [_read(reader, [file, *others], names, time) for file in data]
    columns = parts[0][1] if parts else {}
    comparisons = compare_rankers(
        {name: columns.get(name, name) for name in rankers},
        [dataset for dataset, _ in parts]
        or [Dataset("cubic", *make_cubic(CUBIC_QUERIES, random_state=0))],
        seeds=seeds,
        metric=metric,
        baseline=baseline,
        n_jobs=n_jobs,
        progress=sys.stderr.isatty(),
    )
    print("\n\n".join(comparison.table() for comparison in comparisons))
    if json is not None:
        replace_file(Path(json), _numbers(comparisons).encode())
    for path, name in ((plot, "comparison_grid"), (cost_plot, "quality_by_seconds")):
        if path is not None:
            draw(name, comparisons, path)


def _numbers(comparisons: Sequence[Comparison]) -> str:
    """Format the numbers of all data sets as JSON."""
    contents = [comparison.to_json() for comparison in comparisons]
    rows = {part: [row for content in contents for row in content[part]] for part in PARTS}
    return dumps(contents[0] | rows, indent=1, allow_nan=False)


def draw(name: str, comparisons: Sequence[Comparison], path: str) -> None:
    """Write a picture of gbrank.plots, whole or not at all, in the format of its name."""
    from gbrank import plots  # imports Matplotlib

    with replaced(path) as file:
        figure = getattr(plots, name)(*comparisons)
        figure.savefig(file, format=Path(path).suffix[1:].lower(), dpi=150)


def _read(
    reader: Reader, paths: Sequence[str], rankers: Sequence[str], time: str | None
) -> tuple[Dataset, dict[str, Array]]:
    """Read a data set, and its columns that are rankers, not features."""
    extra = [name for name in (time, reader.docid) if name is not None]
    try:
        data, rows = read_parts(reader, paths, [*rankers, *extra])
    except ValueError:
        _check_no_qrels(paths)
        raise
    X = data["X"]
    known = list(getattr(X, "columns", []))
    for name in (*extra, *reader.categorical_feature):
        check_known_name("column", name, known)
    names = [name for name in rankers if name in known and not Path(name).exists()]
    folds: Any = 5
    if time is not None:
        folds = _folds_by_time(X[time], data["qid"])
    elif rows[1:]:
        folds = [rows]
    columns: dict[Any, Array] = {name: X.pop(name).to_numpy() for name in {*names, *extra}}
    for name in reader.categorical_feature:  # LightGBM and XGBoost know them by the type
        X[name] = X[name].astype("string").astype("category")
    name = printable(Path(paths[0]).name)
    dataset = Dataset(name, **data, folds=folds, docid=columns.get(reader.docid))
    return dataset, {name: columns[name] for name in names}


def _check_no_qrels(paths: Sequence[str]) -> None:
    for path in paths:
        if path == STDIN:  # it can be read once
            continue
        try:
            read_qrels(path)
        except (OSError, ValueError):
            continue
        raise ArgumentError(
            "data",
            "must be documents with features",
            f"the TREC qrels {path}",
            f" Compare runs by: gbrank evaluate {path} --run ...",
        ) from None


def _folds_by_time(times: Any, qid: Array) -> list[tuple[Positions, ...]]:
    """Make three folds that test on later queries than they train on.

    A part of the queries before those that are tested on is validated on.
    """
    missing = times.isna()
    if missing.any():
        raise ArgumentError(
            "time", "must be known for all documents", f"none in row {missing.argmax()}"
        )
    order = np.argsort(times.to_numpy(), kind="stable")
    queries = Queries.from_qid(qid[order])  # numbered in order of their first time
    part = np.empty(len(order), np.int64)
    part[order] = queries.index * N_PARTS // queries.n_queries
    return [
        tuple(np.flatnonzero(chosen) for chosen in (part < end - 1, part == end - 1, part == end))
        for end in range(2, N_PARTS)
    ]


def demo(
    *, output: NewPicture = "gbrank-demo.png", n_queries: int = 1000, random_state: int = 0
) -> None:
    """Train three rankers on artificial data, print how good they are, and draw it beside seconds.

    GBRanker, LGBMRanker and XGBRanker are trained with default parameters, except the seed
    and one thread, and measured on other queries. The seconds are those of training. It takes about
    half a minute.

    Parameters
    ----------
    output : path
        File of the picture.
    n_queries : int
        Number of queries to make, at least 3.
    random_state : int
        Seed of data and training.

    Examples
    --------
    gbrank demo
    gbrank demo --n-queries 3000 --output larger.png
    """
    check_integer(n_queries, "--n-queries", 3)
    X, y, qid = make_cubic(n_queries, random_state=random_state)
    n_train = n_queries * 2 // 3
    fold = np.flatnonzero(qid < n_train), np.flatnonzero(qid >= n_train)
    data = Dataset("cubic", X, with_noise(y, fold[0], random_state), qid, folds=[fold])
    print(
        f"Data: {n_queries} queries of 50 documents, 50 features, labels 0 to 4 "
        f"(make_cubic, seed {random_state}):\n"
        f"  {n_train} queries to train on, with a third of their labels exchanged at random,\n"
        f"  since real labels have noise; {n_queries - n_train} to test.\n"
        "Rankers with default parameters, except the seed and one thread.\n",
        flush=True,
    )
    rankers: dict[str, Any] = {BASELINE: "lightgbm", "GBRanker": GBRanker()}
    if find_spec("xgboost") is not None:  # which an installation may lack
        rankers["XGBRanker"] = "xgboost"
    (comparison,) = compare_rankers(
        rankers,
        [data],
        seeds=[random_state],
        metric=METRICS,
        n_jobs=1,
        progress=sys.stderr.isatty(),
    )
    columns = MEANS[0], *DIFFERENCES[:3], COSTS[1]
    for rows in comparison.blocks():
        print(f"{table_of(rows, columns, rows[0].metric).to_text()}\n")
    print(
        "Intervals are of the difference, over queries; p is of the paired randomization test, "
        "by Holm."
    )
    draw("differences", [comparison], output)
    print(f"\nDifferences from {BASELINE} and seconds: {output}")


def with_noise(y: Vector, rows: Positions, seed: int) -> Vector:
    """Exchange a third of the labels of these rows at random."""
    rng = np.random.default_rng(seed)
    exchanged = rows[rng.random(len(rows)) < NOISE]
    noisy = y.copy()
    noisy[exchanged] = y[rng.permutation(exchanged)]
    return noisy
