"""Rows of files: ids of queries, labels of -1, numbers that go with documents, equal tables."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from command import SMALL, Output
from gbrank import GBRanker, get_measure, load_ranker, write_letor
from gbrank.commands.cli import main
from gbrank.commands.data_files import Reader, read_parts
from gbrank.commands.measuring import names_in_comments


def test_queries_are_as_in_the_file(tmp_path: Path, output: Output) -> None:
    """Neither leading zeros nor many digits are lost: 7 and 007 are two queries."""
    ids = ["7", "007", "12345678901234567890123", "12345678901234567890124"]
    rows = [f"{query},{label},{label}" for query in ids for label in (1, 0)]
    (tmp_path / "d.csv").write_text("\n".join(["qid,label,a", *rows]))
    (tmp_path / "s.txt").write_text("1\n0\n" * 4)
    said = output("evaluate", tmp_path / "d.csv", "--scores", tmp_path / "s.txt", "--per-query",
                  "--metric", "rr")  # fmt: skip
    assert [line.split()[1] for line in said.splitlines()] == [*ids, "all"]


LETOR = "2 qid:1 1:3\n-1 qid:1 1:2\n0 qid:1 1:1\n-1 qid:2 1:5\n1 qid:2 1:4\n"


@pytest.mark.parametrize("kind", ["csv", "txt", "parquet"])
@pytest.mark.parametrize(("unjudged", "value"), [("drop", 1.0), ("irrelevant", 0.75)])
def test_unjudged_documents(
    kind: str, unjudged: str, value: float, tmp_path: Path, output: Output, fault: Output
) -> None:
    """They are left out, with their scores, or irrelevant; by default an error."""
    labels = pa.array([2, -1, 0, None, 1]) if kind == "parquet" else pa.array([2, -1, 0, -1, 1])
    columns = {"label": labels, "qid": [1, 1, 1, 2, 2], "a": [3, 2, 1, 5, 4]}
    path = tmp_path / f"data.{kind}"
    if kind == "txt":
        path.write_text(LETOR)
    elif kind == "csv":
        path.write_text(pa.table(columns).to_pandas().to_csv(index=False))
    else:
        pq.write_table(pa.table(columns), path)
    scores = tmp_path / "scores"
    scores.write_text("3\n2\n1\n5\n4\n")
    argv = ["evaluate", path, "--scores", scores, "--metric", "rr"]
    assert float(output(*argv, "--unjudged", unjudged).split()[-1]) == value
    said = fault(*argv)
    assert "--unjudged" in said
    place = f"{path}, line 2, column 1: expected" if kind == "txt" else "in row 1 (2 in all)"
    assert place in said


@pytest.mark.parametrize("kind", ["txt", "csv", "parquet"])
def test_numbers_go_with_the_documents_that_are_kept(
    kind: str, tmp_path: Path, output: Output
) -> None:
    """Scores and positions are of all rows, those that nobody has judged too."""
    rng = np.random.default_rng(0)
    label, qid = rng.integers(-1, 3, 60), np.repeat(np.arange(6), 10)
    frame = pd.DataFrame({"a": rng.normal(size=60), "label": label, "qid": qid})
    path, numbers = tmp_path / f"t.{kind}", tmp_path / "numbers.txt"
    if kind == "txt":
        write_letor(path, frame[["a"]], label, qid)
    else:
        (frame.to_csv if kind == "csv" else frame.to_parquet)(path, index=False)
    shown, kept = rng.permutation(60) % 10 + 1, label >= 0
    numbers.write_text("\n".join(map(str, shown)))
    argv = [
        "evaluate",
        path,
        "--scores",
        numbers,
        "--unjudged",
        "drop",
        "--json",
        "--metric",
        "map",
    ]
    found = json.loads(output(*argv))["metrics"]["map"]["mean"]
    assert found == get_measure("map")(label[kept], shown[kept], qid=qid[kept])
    options = ["--positions", numbers, "--unjudged", "drop", "--min-child-samples", "1", *SMALL[:1]]
    output("train", path, "--model", tmp_path / "m", *options, "--objective", "ranknet")
    same = GBRanker("ranknet", n_estimators=5, min_child_samples=1, random_state=0)
    same.fit(frame[["a"]][kept], label[kept], qid=qid[kept], position=shown[kept])
    assert load_ranker(tmp_path / "m").position_bias_ == same.position_bias_


def test_what_comments_call_documents() -> None:
    """What follows "docid", a word by itself; else the first word; else query and position."""
    comments = {
        "#docid = GX001 inc = 1": "GX001",
        "inc = 1 docid=GX002": "GX002",
        "docid:954": "954",
        "docid: 955 inc:1": "955",
        "docid = a\u00a0b c": "a\u00a0b",
        "d\u00a0e f": "d\u00a0e",
        "mydocid = 7 x": "mydocid",
        "docid =": "docid",
        "a b": "a",
        "": "3-2",
        " ": "3-3",
    }
    queries = [0, 0, 0, 0, 1, 1, 1, 2, 3, 3, 3]
    assert list(names_in_comments(list(comments), queries)) == list(comments.values())


def test_files_have_the_features_of_the_first(tmp_path: Path) -> None:
    """Also those that end with an earlier one."""
    paths = [str(tmp_path / name) for name in ("a.txt", "b.txt")]
    Path(paths[0]).write_text("1 qid:1 1:2 3:1\n0 qid:1 1:3\n")
    Path(paths[1]).write_text("1 qid:2 1:5\n")
    data, rows = read_parts(Reader(), paths)
    assert_array_equal(data["X"], [[2, 0, 1], [3, 0, 0], [5, 0, 0]])
    assert [part.tolist() for part in rows] == [[0, 1], [2]]


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
@pytest.mark.parametrize("command", ["train", "evaluate"])
def test_rows_without_a_query(kind: str, command: str, tmp_path: Path, fault: Output) -> None:
    """They are named."""
    path, scores = tmp_path / f"t.{kind}", tmp_path / "s.txt"
    frame = pd.DataFrame({"query": ["1", "1", None, None], "grade": [1, 0, 1, 0], "a": 1.0})
    scores.write_text("1\n2\n3\n4\n")
    if kind == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="," if kind == "csv" else "\t")
    options = ["--model", tmp_path / "m"] if command == "train" else ["--scores", scores]
    said = fault(command, path, "--label", "grade", "--qid", "query", *options)
    assert f"{path}: --qid must name a column without missing values, got one in row 2" in said


def test_equal_tables_make_equal_models(tmp_path: Path) -> None:
    """In CSV and Parquet: codes are integers where all are, and no text is a missing one."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"qid": np.repeat(np.arange(30), 10), "label": rng.integers(0, 3, 300)})
    frame["a"] = np.where(rng.random(300) < 0.1, np.nan, rng.normal(size=300) + frame["label"])
    frame["code"] = rng.integers(0, 4, 300)
    frame["zip"] = rng.choice(["01", "1", "001"], 300)
    frame["shop"] = np.where(rng.random(300) < 0.2, None, rng.choice(["x", "NA", "é"], 300))
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    scores = []
    for kind in ("csv", "parquet"):
        options = ["--categorical", "code", "zip", "shop", "--subsample", "0.5", *SMALL]
        train = ["train", tmp_path / f"t.{kind}", "--model", tmp_path / "m", *options]
        assert main([*map(str, train), "--subsample-by", "query"]) == 0
        ranker = load_ranker(tmp_path / "m")
        assert ranker._schema.categories[3] == ["NA", "x", "é"]
        scores.append(ranker.predict(frame.drop(columns=["qid", "label"])))
    assert_array_equal(*scores)


def test_negative_labels_have_a_place(tmp_path: Path, fault: Output) -> None:
    """File, line and column, whatever stands before them."""
    path = tmp_path / "d.txt"
    path.write_text("# a file\n\n1 qid:1 1:3\n  -2 qid:1 1:2\n")
    said = fault("train", path, "--model", tmp_path / "m", "--unjudged", "drop")
    assert f"{path}, line 4, column 3: expected a label of at least 0, got '-2'" in said
