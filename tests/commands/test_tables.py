"""Parquet and CSV files on the command line: models, scores and measures are those of the frame."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from command import SMALL, Output
from gbrank import GBRanker, get_measure, load_ranker, make_cubic
from gbrank.commands.cli import main

COLUMNS = ["--label", "grade", "--qid", "query"]
FIT = [*COLUMNS, "--drop", "url", "--categorical", "shop", *SMALL]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Make 30 queries of 10 documents, with a text, a missing value and names of documents."""
    X, y, qid = make_cubic(30, n_documents=10, n_features=4, random_state=3)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.loc[5, "b"] = np.nan
    frame["shop"] = np.random.default_rng(0).choice(["x", "NA", "7"], len(y))
    frame["query"] = [f"{query:03d}" for query in qid]
    frame["grade"] = y.astype(int)
    frame["url"] = [f"u{row}" for row in range(len(y))]
    return frame


@pytest.fixture(scope="module")
def folder(frame: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a training and a test part in each format, and train a model."""
    folder = tmp_path_factory.mktemp("tables")
    for name, rows in {"train": frame[:200], "test": frame[200:]}.items():
        rows.to_parquet(folder / f"{name}.parquet")
        rows.to_csv(folder / f"{name}.csv", index=False, na_rep="NaN")
        rows.to_csv(folder / f"{name}.tsv.gz", index=False, sep="\t")
    assert main(["train", str(folder / "train.parquet"), "--model", str(folder / "m"), *FIT]) == 0
    return folder


def expected(frame: pd.DataFrame) -> Any:
    """Train on the frame itself, in Python."""
    ranker = GBRanker(n_estimators=5, min_child_samples=5, n_jobs=1, random_state=0)
    train = frame[:200]
    X = train.drop(columns=["query", "grade", "url"])
    return ranker.fit(X, train["grade"], qid=train["query"], categorical_feature=["shop"])


@pytest.mark.parametrize("kind", ["parquet", "csv", "tsv.gz"])
def test_the_model_is_that_of_the_frame(
    kind: str, frame: pd.DataFrame, folder: Path, tmp_path: Path, output: Output
) -> None:
    """Whatever the file, and whatever else stands in it; and so are scores and measures."""
    output("train", folder / f"train.{kind}", "--model", tmp_path / "m", *FIT)
    ranker, test = expected(frame), frame[200:]
    scores = ranker.predict(test[["a", "b", "c", "d", "shop"]])
    loaded = load_ranker(tmp_path / "m")
    assert_array_equal(loaded.predict(test[["shop", "d", "c", "b", "a"]]), scores)
    said = output("predict", folder / f"test.{kind}", "--model", tmp_path / "m")
    assert_array_equal(list(map(float, said.split())), scores)
    said = output(
        "evaluate", folder / f"test.{kind}", *COLUMNS, "--model", tmp_path / "m", "--json",
        "--metric", "ndcg@10",
    )  # fmt: skip
    found = json.loads(said)["metrics"]["ndcg@10"]["mean"]
    assert_allclose(found, get_measure("ndcg@10")(test["grade"], scores, qid=test["query"]))


@pytest.mark.parametrize("kind", ["parquet", "csv", "tsv", "csv.gz"])
def test_predictions_are_a_table(
    kind: str, frame: pd.DataFrame, folder: Path, tmp_path: Path, output: Output
) -> None:
    """With all columns that are no features; `evaluate` takes its scores."""
    path, test = tmp_path / f"scores.{kind}", folder / "test.csv"
    assert output("predict", test, "--model", folder / "m", "--output", path) == ""
    if kind == "parquet":
        found = pd.read_parquet(path)
    else:
        separator = "\t" if kind == "tsv" else ","
        found = pd.read_csv(path, sep=separator, dtype={"query": str})
    rows = frame[200:].reset_index(drop=True)
    assert list(found) == ["query", "grade", "url", "score"]
    assert found["query"].tolist() == rows["query"].tolist()
    assert found["url"].tolist() == rows["url"].tolist()
    scores = load_ranker(folder / "m").predict(rows[["a", "b", "c", "d", "shop"]])
    assert_allclose(found["score"], scores, rtol=1e-13)  # pandas reads text with small errors
    by_scores = output("evaluate", test, *COLUMNS, "--scores", path)
    assert by_scores == output("evaluate", test, *COLUMNS, "--model", folder / "m")


def test_trec_runs(frame: pd.DataFrame, folder: Path, output: Output) -> None:
    """Queries and documents are called as the table's columns say."""
    trec = ["--model", folder / "m", "--qid", "query", "--format", "trec"]
    lines = output("predict", folder / "test.csv", *trec, "--docid", "url").splitlines()
    found = {(line.split()[0], line.split()[2]) for line in lines}
    assert found == set(zip(frame["query"][200:], frame["url"][200:], strict=True))
    lines = output("predict", folder / "test.parquet", *trec).splitlines()
    assert {line.split()[2] for line in lines if line.startswith("020 ")} == {
        f"020-{place}" for place in range(1, 11)
    }


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ("train t.csv --label gade", "unknown column (label) 'gade'. Did you mean 'grade'?"),
        ("train t.csv --label url --qid query", "t.csv: label must name a column of numbers; col"),
        ("train bare.csv --model n", "X must have at least one row and one column, got 0"),
        ("predict d.txt --model l --docid u", "--docid must be given with tables only, got d.txt"),
        ("evaluate none.txt --model l", "none.txt: expected a feature"),
        ("explain d.txt --model l --query 1 --docid u --document a", "--docid must be"),
        ("train t.csv --sparse", "--sparse must be given with LETOR files only, got t.csv"),
        ("train twice.csv", "twice.csv: expected a different name for each column, got 'a'"),
        ("train index.csv", "got ''. A saved index is read back as a column without a"),
        ("train bad.parquet", "bad.parquet: Could not open Parquet"),
        ("report t.csv --model m --against m/ --html h", "--against must be another model than"),
        ("train bad.csv.gz", "bad.csv.gz: Not a gzipped file"),
        ("predict other.csv --model m", "all features of the model; it lacks ['a', 'b', 'c', 'd'"),
        ("predict t.csv --model l", "t.csv: expected LETOR format, since the model's features"),
        ("predict scored.csv --model m --output s.csv", "must not have a column 'score'"),
        ("predict t.csv --model m --format trec", "--qid must name a column of t.csv, got 'qid'"),
        ("evaluate t.csv --label grade --qid query --scores nan.csv", "must hold real numbers"),
    ],
)  # fmt: skip
def test_faults(
    argv: str, message: str, frame: pd.DataFrame, folder: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, fault: Output,
) -> None:  # fmt: skip
    """Each names the file and the option, in one line."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m").symlink_to(folder / "m")
    texts = {
        "d.txt": "1 qid:1 1:2\n0 qid:1 1:3\n",
        "none.txt": "1 qid:1\n0 qid:1\n",
        "bare.csv": "label,qid\n1,1\n0,1\n",
        "twice.csv": "a,a\n1,2\n",
        "index.csv": ",a\n0,2\n",
        "bad.parquet": "PAR1",
        "bad.csv.gz": "no gzip",
        "other.csv": "query,grade,z\n1,1,1\n",
        "nan.csv": "score\n1\nx\n",
    }
    for name, text in texts.items():
        Path(name).write_text(text)
    frame[:20].to_csv("t.csv", index=False)
    frame[:20].assign(score=1.0).to_csv("scored.csv", index=False)
    if "--model l" in argv:
        assert main(["train", "d.txt", "--model", "l", "--n-estimators", "1"]) == 0
    elif argv.startswith("train"):
        argv += " --model new"
    assert message in fault(*argv.split())
    assert not Path("new").exists()


@pytest.fixture
def parts(frame: pd.DataFrame, tmp_path: Path) -> Path:
    """Write the training and the test part as folders of two files."""
    for name, rows in {"train": frame[:200], "test": frame[200:]}.items():
        (tmp_path / name).mkdir()
        for part, some in enumerate([rows[:53], rows[53:]]):
            some.to_parquet(tmp_path / name / f"{part}.parquet")
    return tmp_path


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_a_folder_is_read_as_one_file(
    booster: str, parts: Path, folder: Path, output: Output
) -> None:
    """Model, scores and measures are those of one file, whatever `predict` writes."""
    printed = []
    for place, suffix in ((folder, ".parquet"), (parts, "")):
        train, test = f"{place / 'train'}{suffix}", f"{place / 'test'}{suffix}"
        model = str(parts / f"model{suffix}")
        output("train", train, "--valid", test, "--model", model, "--booster", booster, *FIT)
        predict = ["predict", test, "--model", model]
        lines = [
            output(*predict),
            output(*predict, "--qid", "query", "--docid", "url", "--format", "trec"),
            output("evaluate", test, *COLUMNS, "--model", model),
        ]
        for kind in (".csv", ".parquet"):
            output(*predict, "--output", parts / f"scores{kind}")
        table = pd.read_parquet(parts / "scores.parquet")
        assert_allclose(pd.read_csv(parts / "scores.csv")["score"], table["score"])
        printed.append((lines, table.to_dict()))
    assert printed[0] == printed[1]
    assert lines[0].count("\n") == len(table)


def test_categories_that_look_like_numbers(
    frame: pd.DataFrame, folder: Path, tmp_path: Path, output: Output
) -> None:
    """In a file without any other text: the model knows that they are text."""
    test = frame[200:][frame["shop"][200:] == "7"]
    path = tmp_path / "t.csv"
    test.to_csv(path, index=False)
    ranker = load_ranker(folder / "m")
    scores = ranker.predict(test[["a", "b", "c", "d", "shop"]])
    others = ranker.predict(test[["a", "b", "c", "d", "shop"]].assign(shop="x"))
    assert not np.array_equal(scores, others)
    said = output("predict", path, "--model", folder / "m")
    assert_array_equal(list(map(float, said.split())), scores)
    said = output("evaluate", path, *COLUMNS, "--model", folder / "m", "--json")
    found = json.loads(said)["metrics"]["ndcg@10"]["mean"]
    assert_allclose(found, get_measure("ndcg@10")(test["grade"], scores, qid=test["query"]))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("n", [1, 3])
def test_a_feature_without_any_value(
    kind: str, n: int, frame: pd.DataFrame, folder: Path, tmp_path: Path, output: Output
) -> None:
    """Its values are missing."""
    test = frame[200 : 200 + n].assign(b=None)
    test.to_parquet(tmp_path / "t.parquet")
    test.to_csv(tmp_path / "t.csv", index=False)
    said = output("predict", "--model", folder / "m", tmp_path / f"t.{kind}")
    expected = load_ranker(folder / "m").predict(test.assign(b=np.nan))
    assert_array_equal(list(map(float, said.split())), expected)


def test_labels_stay_numbers(folder: Path, tmp_path: Path, output: Output) -> None:
    """So a table of scores can be evaluated; other columns stay as they are in the file."""
    scored = tmp_path / "scored.parquet"
    argv = ["predict", folder / "test.csv", "--model", folder / "m", *COLUMNS]
    output(*argv, "--output", scored)
    types = {field.name: str(field.type) for field in pq.read_schema(scored)}
    assert types["grade"] == "int64"
    assert "string" in types["query"]
    assert "string" in types["url"]
    assert "ndcg@10" in output("evaluate", scored, "--scores", scored, *COLUMNS)
