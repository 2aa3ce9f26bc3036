"""Comparisons from a shell."""

import sys
from collections.abc import Sequence
from json import dumps
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gbrank.commands.data_files import ColumnName, Reader, read_parts
from gbrank.commands.paths import File, NewFile, NewPicture, printable
from gbrank.common.argument_error import ArgumentError
from gbrank.common.arrays import Positions
from gbrank.common.checks import refuse_twice, unknown_name
from gbrank.common.files import replace_file, replaced
from gbrank.data.ids import as_list, is_missing
from gbrank.data.queries import Queries
from gbrank.datasets import make_cubic
from gbrank.evaluation import Comparison, Dataset, compare_rankers
from gbrank.evaluation.comparison import PARTS
from gbrank.objectives.objective_registry import DEFAULT_OBJECTIVE

Names: TypeAlias = Sequence[str]

CUBIC_QUERIES = 200
N_PARTS = 5  # of the queries in order of time


def compare(
    *,
    data: Sequence[File] = (),
    rankers: Sequence[Annotated[str, "NAME"]] = (DEFAULT_OBJECTIVE, "lightgbm", "xgboost"),
    measures: Sequence[Annotated[str, "MEASURE"]] = ("ndcg@10",),
    seeds: int = 5,
    baseline: Annotated[str, "NAME"] | None = None,
    time: ColumnName | None = None,
    valid: File | None = None,
    test: File | None = None,
    docid: ColumnName | None = None,
    json: NewFile | None = None,
    picture: NewPicture | None = None,
    seconds_picture: NewPicture | None = None,
    jobs: int | None = None,
    reader: Reader,
) -> None:
    r"""Train every ranker on every fold of every data set, and compare them on the test queries.

    It prints means and differences from the baseline, with 95% bootstrap intervals over queries,
    the standard deviation over seeds, p-values of the paired randomisation test and t test,
    corrected by Holm (which intervals are not), and the CPU seconds of a fit.

    A ranker is an objective, for GBRanker with it, or "lightgbm", "xgboost" or "catboost", for
    their rankers, all with default parameters. It may also be judged as it is: the folder or file
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
    measures : sequence of str
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
    docid : str
        Column of tables with the names of documents, for TREC runs.
    json : path
        Write the numbers to this file.
    picture : path
        Draw the numbers to this file.
    seconds_picture : path
        Draw the measures against CPU seconds to this file.
    jobs : int
        Processes; by default all.
    reader : Reader
        Data.

    Examples
    --------
    gbrank compare --seeds 1
    gbrank compare --data data.parquet --label grade --qid query --drop url --measures ndcg@10 map \
        --rankers lambda:ndcg lightgbm xgboost catboost --json compared.json --picture compared.png
    gbrank compare --rankers ranknet listmle --seconds-picture seconds.png
    gbrank compare --rankers lambda:ndcg mine --plugin mine.py
    gbrank compare --data log.parquet --time day --rankers lambda:ndcg live_score model.txt
    gbrank compare --data train.txt --valid valid.txt --test test.txt
    """
    refuse_twice("--rankers", rankers)
    if len(data) > 1 and (test, time) != (None, None):
        raise ArgumentError("data", "must be one file with --test or --time", f"{list(data)}")
    others = _files_of_fold(valid, test, time)
    datasets, columns = list[Dataset](), dict[str, Any]()
    for file in data:
        names = rankers if len(data) == 1 else ()
        dataset, columns = _read(reader, [file, *others], names, time, docid)
        datasets.append(dataset)
    comparisons = compare_rankers(
        {name: columns.get(name, name) for name in rankers},
        datasets or [Dataset("cubic", *make_cubic(CUBIC_QUERIES, random_state=0))],
        seeds=seeds,
        measures=measures,
        baseline=baseline,
        n_jobs=jobs,
        progress=sys.stderr.isatty(),
    )
    print("\n\n".join(comparison.table() for comparison in comparisons))
    if json is not None:
        _write_json(comparisons, json)
    for path, name in ((picture, "comparison_grid"), (seconds_picture, "quality_by_seconds")):
        if path is not None:
            draw(name, comparisons, path)


def _files_of_fold(valid: str | None, test: str | None, time: str | None) -> Names:
    """Return the files to validate and to test on, if these make the fold."""
    if (valid is None) != (test is None):
        raise ArgumentError("valid", "and --test must be given together", "one of them")
    if test is not None and time is not None:
        raise ArgumentError("time", "must not be given with --test", time)
    return [] if valid is None or test is None else [valid, test]


def _write_json(comparisons: Sequence[Comparison], path: str) -> None:
    """Write the numbers of all data sets, whole or not at all."""
    contents = [comparison.to_json() for comparison in comparisons]
    rows = {part: [row for content in contents for row in content[part]] for part in PARTS}
    text = dumps(contents[0] | rows, indent=1, allow_nan=False)
    replace_file(Path(path), text.encode())


def draw(name: str, comparisons: Sequence[Comparison], path: str) -> None:
    """Write a picture of gbrank.plots, whole or not at all, in the format of its name."""
    from gbrank import plots  # imports Matplotlib

    with replaced(path) as file:
        figure = getattr(plots, name)(*comparisons)
        figure.savefig(file, format=Path(path).suffix[1:].lower(), dpi=150)


def _read(
    reader: Reader, paths: Names, rankers: Names, time: str | None, docid: str | None
) -> tuple[Dataset, dict[str, NDArray[Any]]]:
    """Return a data set, and the columns that are rankers, which are no features."""
    taken = [name for name in (time, docid) if name is not None]
    data, files = read_parts(reader, paths, [*rankers, *taken], docid)
    X, known = data["X"], list(getattr(data["X"], "columns", []))
    if unknown := [name for name in (*taken, *reader.categorical_feature) if name not in known]:
        raise unknown_name("column", unknown[0], known)
    names = [name for name in rankers if name in known and not Path(name).exists()]
    columns = {name: X[name].to_numpy() for name in (*names, *taken)}
    X = X.drop(columns=list(columns)) if columns else X
    for name in reader.categorical_feature:  # LightGBM and XGBoost know them by the type
        X = X.assign(**{name: X[name].astype("string").astype("category")})
    folds: Any = 5
    if time is not None:
        folds = _folds_by_time(columns[time], data["qid"])
    elif len(paths) > 1:
        folds = [tuple(np.flatnonzero(files == number) for number in range(len(paths)))]
    name = printable(Path(paths[0]).name)
    dataset = Dataset(name, **data | {"X": X}, folds=folds, docid=columns.get(docid or ""))
    return dataset, {name: columns[name] for name in names}


def _folds_by_time(times: NDArray[Any], qid: NDArray[Any]) -> list[tuple[Positions, ...]]:
    """Return three folds, whose tested queries are later than all others; of each, its first time.

    A part of the queries before those that are tested on is validated on.
    """
    missing = [row for row, value in enumerate(as_list(times)) if is_missing(value)]
    if missing:
        raise ArgumentError("time", "must be known for all documents", f"none in row {missing[0]}")
    order = np.argsort(times, kind="stable")
    queries = Queries.from_qid(qid[order])  # numbered in order of their first time
    part = np.empty(len(order), np.int64)
    part[order] = queries.index * N_PARTS // queries.n_queries
    return [
        tuple(np.flatnonzero(chosen) for chosen in (part < end - 1, part == end - 1, part == end))
        for end in range(2, N_PARTS)
    ]
