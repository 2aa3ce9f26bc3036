"""Standard input in place of any file, and standard output that is none of bytes."""

import gzip
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command import SMALL, Output
from gbrank import GBRanker, load_ranker, read_letor
from gbrank.commands.cli import main


def pipe(content: bytes) -> io.TextIOWrapper:
    """Return a stream that holds these bytes, as standard input does."""
    return io.TextIOWrapper(io.BufferedReader(io.BytesIO(content)))


@pytest.fixture(scope="module")
def files(data: Path) -> dict[str, Path]:
    """Write the documents to evaluate in each format, with the names of columns of the model."""
    X, y, qid = read_letor(data / "test.txt")
    frame = pd.DataFrame(X, columns=[f"x{column}" for column in range(X.shape[1])])
    frame = frame.assign(label=y, qid=qid, docid=[f"d{row}" for row in range(len(y))])
    paths = {kind: data / f"test.{kind}" for kind in ("csv", "tsv", "parquet", "csv.gz", "txt.gz")}
    frame.to_csv(paths["csv"], index=False)
    frame.to_csv(paths["tsv"], index=False, sep="\t")
    frame.to_parquet(paths["parquet"], index=False)
    frame.to_csv(paths["csv.gz"], index=False)
    paths["txt"] = data / "test.txt"
    commented = b"# url, text\n\n" + paths["txt"].read_bytes()
    paths["txt.gz"].write_bytes(gzip.compress(commented))
    return paths


@pytest.fixture(scope="module")
def model_of_tables(files: dict[str, Path], data: Path) -> str:
    """Train a model whose features have names."""
    folder = str(data / "model-of-tables")
    argv = ["train", str(files["csv"]), "--drop", "docid", "--model", folder, *SMALL]
    assert main(argv) == 0
    return folder


@pytest.mark.parametrize("kind", ["txt", "txt.gz", "csv", "csv.gz", "tsv", "parquet"])
@pytest.mark.parametrize("command", ["evaluate", "predict"])
def test_a_hyphen_is_standard_input(
    kind: str, command: str, files: dict[str, Path], model: str, model_of_tables: str,
    output: Output, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Of each format, told by its beginning; the numbers are those of the file."""
    folder = model if kind.startswith("txt") else model_of_tables
    expected = output(command, files[kind], "--model", folder)
    monkeypatch.setattr("sys.stdin", pipe(files[kind].read_bytes()))
    assert output(command, "-", "--model", folder) == expected
    assert len(expected.splitlines()) >= 5


def test_runs_and_judgments(
    tmp_path: Path, output: Output, fault: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Either may come from a pipe; not both."""
    run, qrels = tmp_path / "run", tmp_path / "qrels"
    run.write_text("".join(f"{q} Q0 d{r} {r + 1} {10 - r} x\n" for q in "ab" for r in range(5)))
    qrels.write_text("".join(f"{q} 0 d{r} {r % 2}\n" for q in "ab" for r in range(5)))
    expected = output("evaluate", qrels, "--run", run, "--metric", "map")
    assert expected.split() == ["map", "all", "0.5000"]
    monkeypatch.setattr("sys.stdin", pipe(run.read_bytes()))
    assert output("evaluate", qrels, "--run", "-", "--metric", "map") == expected
    monkeypatch.setattr("sys.stdin", pipe(gzip.compress(qrels.read_bytes())))
    assert output("evaluate", "-", "--run", run, "--metric", "map") == expected
    assert "only one file can be -" in fault("evaluate", "-", "--run", "-")


def test_faults_name_the_hyphen(model: str, fault: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", pipe(b"1 qid:1 1:x\n"))
    assert "-, line 1, column 11: expected" in fault("evaluate", "-", "--model", model)


@pytest.mark.parametrize("form", ["scores", "trec"])
def test_output_without_bytes(
    form: str, data: Path, model: str, output: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a notebook, whose streams take and give text alone."""
    argv = ["predict", data / "test.txt", "--model", model, "--format", form]
    expected = output(*argv)
    monkeypatch.setattr("sys.stdin", io.StringIO((data / "test.txt").read_text()))
    monkeypatch.setattr("sys.stdout", captured := io.StringIO())
    assert main(["predict", "-", *map(str, argv[2:])]) == 0
    assert captured.getvalue() == expected


@pytest.mark.parametrize("dropped", [[], ["--drop", "shown_at"]])
def test_positions_are_a_column(dropped: list[str], tmp_path: Path, output: Output) -> None:
    """Of the table, which is no feature, also of the validation data."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    clicks, qid = rng.integers(0, 2, 60), np.repeat(np.arange(6), 10)
    position = rng.permutation(60) % 10 + 1
    log = frame.assign(label=clicks, qid=qid, shown_at=position)
    log.to_csv(tmp_path / "log.csv", index=False)
    options = ["--objective", "ranknet", "--min-child-samples", "1", *SMALL[:1], *dropped]
    paths = [tmp_path / "log.csv", "--valid", tmp_path / "log.csv", "--model", tmp_path / "m"]
    output("train", *paths, "--positions", "shown_at", *options)
    expected = GBRanker("ranknet", n_estimators=5, min_child_samples=1, random_state=0)
    expected.fit(frame, clicks, qid=qid, position=position)
    ranker = load_ranker(tmp_path / "m")
    assert ranker.position_bias_ == expected.position_bias_
    assert ranker.feature_names_in_.tolist() == ["a", "b"]


def test_weights_are_a_column_or_a_file(tmp_path: Path, output: Output) -> None:
    """As in fit, beside positions; a column is no feature."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    clicks, qid = rng.integers(0, 2, 60), np.repeat(np.arange(6), 10)
    position, weight = rng.permutation(60) % 10 + 1, rng.integers(1, 5, 60)
    log = frame.assign(label=clicks, qid=qid, shown_at=position)
    log.assign(trust=weight).to_csv(tmp_path / "log.csv", index=False)
    log.to_csv(tmp_path / "plain.csv", index=False)
    (tmp_path / "weights.txt").write_text("\n".join(map(str, weight)))
    options = ["--objective", "ranknet", "--min-child-samples", "1", *SMALL[:1]]
    options += ["--positions", "shown_at", "--position-regularization", "none"]
    expected = GBRanker(
        "ranknet", n_estimators=5, min_child_samples=1, random_state=0, position_regularization=None
    )
    expected.fit(frame, clicks, qid=qid, position=position, sample_weight=weight)
    for table, weights in (("log.csv", "trust"), ("plain.csv", tmp_path / "weights.txt")):
        paths = [tmp_path / table, "--model", tmp_path / "m", "--weights", weights]
        output("train", *paths, *options)
        ranker = load_ranker(tmp_path / "m")
        assert ranker.get_params()["position_regularization"] is None
        assert ranker.predict(frame).tolist() == expected.predict(frame).tolist()


def test_positions_that_are_neither(data: Path, tmp_path: Path, fault: Output) -> None:
    argv = ["train", data / "train.txt", "--positions", "position", "--model", tmp_path / "m"]
    demand = "--positions must be a column of the table, or a file with a number per line"
    assert f"{demand}, got position." in fault(*argv)


@pytest.mark.slow
@pytest.mark.parametrize(
    "argv", [["train", "--help"], ["evaluate", "--help"], ["compare", "--help"], ["list"]]
)
def test_without_docstrings(argv: list[str]) -> None:
    """Python's option -OO drops them (LightGBM then cannot be imported): help says less."""
    command = [sys.executable, "-OO", "-m", "gbrank", *argv]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "--objective" in done.stdout or argv[0] != "train"


@pytest.mark.slow
def test_scores_are_evaluated_without_docstrings(
    data: Path, model: str, tmp_path: Path, output: Output
) -> None:
    scores = tmp_path / "scores"
    output("predict", data / "test.txt", "--model", model, "--output", scores)
    argv = ["evaluate", str(data / "test.txt"), "--scores", str(scores)]
    command = [sys.executable, "-OO", "-m", "gbrank", *argv]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == output(*argv)
