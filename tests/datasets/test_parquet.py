"""Folders of Parquet files: what is read when, and what is refused before anything is."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from gbrank import GBRanker, split_frame
from gbrank.datasets import scan_parquet, table_files

ROLES: dict[str, Any] = {"label": "grade", "qid": "query", "drop": ["url", "weight"]}


def make(n: int = 1000) -> pd.DataFrame:
    """Return a table whose queries have rows in every file."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    frame["shop"] = pd.Categorical(rng.choice(list("xyz"), n))
    frame["query"] = [f"q{query}" for query in rng.integers(0, 40, n)]
    frame["grade"] = np.digitize(frame["a"], [0, 1])
    frame["weight"] = rng.uniform(1, 2, n)
    frame["url"] = [f"u{row}" for row in range(n)]
    return frame


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Return what writes a table to a folder in three files, and what else a folder may hold."""

    def to_folder(frame: pd.DataFrame) -> Path:
        ends = [0, 300, 310, len(frame)]
        for name, first, last in zip(["b", "a", "c"], ends[:-1], ends[1:], strict=True):
            frame[first:last].to_parquet(tmp_path / f"part-{name}.parquet", row_group_size=128)
        (tmp_path / "_SUCCESS").touch()
        (tmp_path / "_metadata.parquet").touch()
        (tmp_path / ".part-d.parquet").touch()
        (tmp_path / "notes.txt").touch()
        return tmp_path

    return to_folder


def in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in the order of the files' names: the second part comes first."""
    return pd.concat([frame[300:310], frame[:300], frame[310:]])


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_the_fit_is_that_of_the_frame(
    booster: str, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whose rows are in the order of the files; weights come from pyarrow in that order too."""
    monkeypatch.setattr(table_files, "BATCH_ROWS", 77)
    frame = make()
    folder, whole = write(frame), in_order(frame)
    weight = pq.read_table(
        sorted(folder.glob("part-*")), columns=["weight"]
    )["weight"].to_numpy()  # fmt: skip
    assert_array_equal(weight, whole["weight"])
    params: dict[str, Any] = {"n_estimators": 5, "monotone": "free", "random_state": 0, "n_jobs": 1}
    ranker, found = GBRanker(booster=booster, **params), []
    for X, y, qid in (scan_parquet(folder, **ROLES), split_frame(whole, **ROLES)):
        ranker.fit(X, y, qid=qid, sample_weight=weight)
        found.append(ranker.predict(X))
        assert list(ranker.feature_names_in_) == ["a", "b", "c", "shop"]
        assert ranker._schema.categories == {3: ["x", "y", "z"]}
    assert_array_equal(*found)


@pytest.mark.parametrize("unjudged", ["drop", "irrelevant"])
def test_unjudged_rows(unjudged: Any, write: Callable[..., Path]) -> None:
    """As in a frame; features of those that are dropped are never seen."""
    frame = make()
    frame["grade"] = frame["grade"].astype(float)
    frame.loc[5:400, "grade"] = np.nan
    frame.loc[990, "grade"] = -1
    folder, whole = write(frame), in_order(frame)
    with pytest.raises(ValueError, match="label must be at least 0, got nan in row"):
        scan_parquet(folder, **ROLES)
    X, y, qid = scan_parquet(folder, **ROLES, unjudged=unjudged)
    expected = split_frame(whole, **ROLES, unjudged=unjudged)
    assert_array_equal(y, expected[1])
    assert_array_equal(qid, expected[2])
    assert X.shape == expected[0].shape
    rows = pd.concat([batch.to_pandas() for batch in X])
    assert_array_equal(rows["b"], expected[0]["b"])


def test_features_are_not_read_with_labels(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the columns that are asked for leave the file."""
    folder = write(make())
    read: list[list[str]] = []
    iter_batches = pq.ParquetFile.iter_batches

    def noted(self: Any, size: int, columns: Any) -> Any:
        read.append(columns)
        return iter_batches(self, size, columns=columns)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", noted)
    X, *_ = scan_parquet(folder, **ROLES)
    assert read == [["grade", "query"]] * 3
    next(iter(X))
    assert read[3:] == [["a", "b", "c", "shop"]]


def test_damage_is_found_before_training(write: Callable[..., Path]) -> None:
    """A file cut short when the folder is opened, a damaged page when it is read; each by name."""
    folder = write(make())
    file = folder / "part-c.parquet"
    content = file.read_bytes()
    file.write_bytes(content[:-100])
    with pytest.raises(ValueError, match=r"part-c\.parquet: expected a table in Parquet format"):
        scan_parquet(folder, **ROLES)
    file.write_bytes(content[:4] + bytes(20) + content[24:])  # the first page of features
    X, y, qid = scan_parquet(folder, **ROLES)
    rounds: list[Any] = []
    with pytest.raises(ValueError, match=r"part-c\.parquet: expected a table in Parquet format"):
        GBRanker(n_estimators=2).fit(X, y, qid=qid, callbacks=[rounds.append])
    assert not rounds


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.drop(columns="b"), r"part-c\.parquet: expected the columns of .*b"),
        (lambda frame: frame.astype({"query": "category"}), r"part-c\.parquet: .*'query'"),
        (lambda frame: frame.assign(a="text"), r"part-c\.parquet: expected the columns"),
    ],
)
def test_a_file_that_does_not_fit(
    change: Callable[[pd.DataFrame], pd.DataFrame], message: str, write: Callable[..., Path]
) -> None:
    """It is named, and how it differs."""
    frame = make()
    folder = write(frame)
    change(frame[310:]).to_parquet(folder / "part-c.parquet")
    with pytest.raises(ValueError, match=message):
        scan_parquet(folder, **ROLES)


def test_numbers_of_any_type_fit_together(write: Callable[..., Path]) -> None:
    """Whole numbers in one file, single precision in another."""
    frame = make()
    frame["a"], frame["b"] = np.arange(1000), frame["b"].astype("float32")
    folder = write(frame)
    frame[310:].astype({"a": float, "b": float}).to_parquet(folder / "part-c.parquet")
    X, *_ = scan_parquet(folder, **ROLES)
    assert_array_equal(
        pd.concat([batch.to_pandas() for batch in X])[["a", "b"]], in_order(frame)[["a", "b"]]
    )


@pytest.mark.parametrize("name", [None, "place"])
def test_a_stored_index_is_no_feature(name: str | None, tmp_path: Path) -> None:
    """Whether it has a name or not; only some files need have one without a name."""
    frame = make()[["a", "b", "grade", "query"]]
    shuffled = frame.sample(frac=1, random_state=0).rename_axis(name)
    shuffled[:500].to_parquet(tmp_path / "0.parquet")
    rest = shuffled[500:] if name else shuffled[500:].reset_index(drop=True)
    rest.to_parquet(tmp_path / "1.parquet")
    assert (name or "__index_level_0__") in pq.read_schema(tmp_path / "0.parquet").names
    X, y, qid = scan_parquet(tmp_path, label="grade", qid="query")
    assert [batch.column_names for batch in X] == [["a", "b"]] * 2
    assert_array_equal(np.concatenate([np.array(batch) for batch in X]), shuffled[["a", "b"]])
    assert_array_equal(y, shuffled["grade"])
    assert_array_equal(qid, shuffled["query"])
    stored = [name] if name else []
    for table in table_files.Tables(table_files.parquet_files(tmp_path)).batches():
        assert table.column_names == ["a", "b", "grade", "query", *stored]


def test_an_index_of_queries(tmp_path: Path) -> None:
    """It may be named as the column of queries."""
    frame = make()[["a", "grade", "query"]]
    frame.set_index("query").to_parquet(tmp_path / "0.parquet")
    X, _, qid = scan_parquet(tmp_path, label="grade", qid="query")
    assert X.shape == (1000, 1)
    assert_array_equal(qid, frame["query"])


@pytest.mark.parametrize("without", ["a", "b", "c"])
def test_a_file_without_a_value_in_a_column(without: str, tmp_path: Path) -> None:
    """Arrow has no type for it: the other files have; also of labels that nobody gave there."""
    frame = make()[["a", "b", "shop", "grade", "query"]].astype({"shop": str})
    parts = {"a": frame[:300], "b": frame[300:600], "c": frame[600:]}
    empty = {"a": None, "shop": None, "grade": None}
    parts[without] = parts[without].assign(
        **{c: pd.Series(v, dtype=object) for c, v in empty.items()}
    )
    for name, part in parts.items():
        part.to_parquet(tmp_path / f"{name}.parquet", index=False)
    assert str(pq.read_schema(tmp_path / f"{without}.parquet").field("a").type) == "null"
    X, y, qid = scan_parquet(tmp_path, label="grade", qid="query", unjudged="irrelevant")
    ranker = GBRanker(n_estimators=3, random_state=0, n_jobs=1)
    ranker.fit(X, y, qid=qid, categorical_feature=["shop"])
    assert ranker._schema.categories == {2: ["x", "y", "z"]}
    in_memory = pd.concat(parts.values()).astype({"a": float})
    expected = ranker.predict(in_memory.drop(columns=["grade", "query"]))
    assert_array_equal(ranker.predict(X), expected)
    assert_array_equal(y, in_memory["grade"].fillna(0).astype(float))


@pytest.mark.parametrize(
    "columns",
    [
        [[1.0], pa.nulls(1), ["text"]],
        [pa.nulls(1), None],
        [None, pa.nulls(1)],
        [pa.nulls(1), [1.0], ["text"]],
    ],
)
def test_files_that_differ_beside_a_column_without_a_value(columns: Any, tmp_path: Path) -> None:
    """Two other types stay two, and a column that a file lacks is lacking."""
    for place, values in enumerate(columns):
        table = pa.table({"grade": [1], "query": [1], **({} if values is None else {"a": values})})
        pq.write_table(table, tmp_path / f"{place}.parquet")
    with pytest.raises(ValueError, match=r"expected the columns of .*0\.parquet.*\['a'\]"):
        scan_parquet(tmp_path, label="grade", qid="query")


def test_two_columns_of_one_name(tmp_path: Path) -> None:
    """In a single file."""
    table = pa.Table.from_arrays([pa.array([1])] * 3, names=["grade", "query", "query"])
    pq.write_table(table, tmp_path / "0.parquet")
    with pytest.raises(ValueError, match=r"0\.parquet: expected different names of columns"):
        scan_parquet(tmp_path, label="grade", qid="query")


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
@pytest.mark.parametrize(
    "rewrite",
    [
        lambda frame: frame.iloc[::-1],  # features of other rows, in a file of the same size
        lambda frame: frame.drop(columns="b"),
        None,
    ],
    ids=["reversed", "without a column", "gone"],
)
def test_a_file_that_changes_is_refused(
    booster: str, rewrite: Callable[[pd.DataFrame], pd.DataFrame] | None, write: Callable[..., Path]
) -> None:
    """Its labels are read once: features of another file would be learnt for them."""
    frame = make()
    folder = write(frame)
    X, y, qid = scan_parquet(folder, **ROLES)
    path = folder / "part-c.parquet"
    path.unlink()
    if rewrite is not None:
        rewrite(frame[310:]).to_parquet(path, row_group_size=128)
    rounds: list[Any] = []
    error = FileNotFoundError if rewrite is None else ValueError
    message = None if rewrite is None else r"part-c\.parquet: expected the file as it was when"
    with pytest.raises(error, match=message) as info:
        GBRanker(booster=booster, n_estimators=2).fit(X, y, qid=qid, callbacks=[rounds.append])
    assert "part-c.parquet" in str(info.value)
    assert not rounds


def test_a_file_of_the_same_size_and_time_is_another(write: Callable[..., Path]) -> None:
    """As a copy that keeps times may be."""
    folder = write(make())
    X, *_ = scan_parquet(folder, **ROLES)
    path, copy = folder / "part-c.parquet", folder / "copy"
    copy.write_bytes(path.read_bytes())
    found = path.stat()
    os.utime(copy, ns=(found.st_atime_ns, found.st_mtime_ns))
    copy.replace(path)
    with pytest.raises(ValueError, match=r"part-c\.parquet: expected the file as it was"):
        list(X)


def test_a_column_without_any_value(write: Callable[..., Path]) -> None:
    """In one file, whose type says nothing, or in all: its values are missing."""
    frame = make()
    frame["b"] = frame["b"].astype(object)
    frame.loc[frame.index < 310, "b"] = None
    frame["c"] = None
    folder = write(frame)
    assert str(pq.read_schema(folder / "part-a.parquet").field("b").type) == "null"
    X, *_ = scan_parquet(folder, **ROLES)
    found = pd.concat([batch.to_pandas() for batch in X])
    assert_array_equal(found["b"], in_order(frame)["b"].astype(float))
    assert found["c"].isna().all()
    assert found["c"].dtype == float


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("make_entry", [os.mkfifo if hasattr(os, "mkfifo") else None, os.mkdir])
def test_what_is_no_file_is_refused(make_entry: Any, write: Callable[..., Path]) -> None:
    """A named pipe would be waited for, for ever."""
    folder = write(make())
    make_entry(folder / "part-d.parquet")
    with pytest.raises(ValueError, match=r"part-d\.parquet: expected a file, got a folder, a pipe"):
        scan_parquet(folder, **ROLES)


@pytest.mark.slow
def test_the_process_may_end_at_once(tmp_path: Path) -> None:
    """No thread of pyarrow lets go of something of Python's then, which aborts the process."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200_000, 20))).add_prefix("x")
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=20_000)
    code = "from gbrank.datasets.table_files import Tables; Tables(['t.parquet']).read(); exit(1)"
    for _ in range(15):
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (1, b"")
