"""`gbrank predict`, run in this process, against the models' own scores."""

import gzip
from pathlib import Path

import pytest

from command import Output
from fresh import Fresh
from gbrank import LinearRanker, read_letor
from gbrank.commands.cli import main


@pytest.mark.parametrize("form", ["scores", "trec"])
def test_compressed_scores(form: str, data: Path, model: str, tmp_path: Path) -> None:
    """As the name says, the same in each run."""
    argv = ["predict", str(data / "test.txt"), "--model", model, "--format", form, "--output"]
    assert main([*argv, str(tmp_path / "plain")]) == main([*argv, str(tmp_path / "s.gz")]) == 0
    packed = gzip.decompress((tmp_path / "s.gz").read_bytes())
    assert packed == (tmp_path / "plain").read_bytes()


def test_linear_models_too(data: Path, tmp_path: Path, output: Output, fault: Output) -> None:
    """Any ranker that gbrank has saved, where trees are not asked for."""
    test, folder = data / "test.txt", tmp_path / "linear"
    X, y, qid = read_letor(data / "train.txt")
    ranker = LinearRanker("regression").fit(X, y, qid=qid)
    ranker.save(folder)
    scores = list(map(float, output("predict", "--model", folder, test).split()))
    assert scores == ranker.predict(read_letor(test)[0]).tolist()
    assert "ndcg@10" in output("evaluate", test, "--model", folder)
    assert "must hold a GBRanker or a booster, got a LinearRanker" in fault(
        "info", "--model", folder
    )


def test_trec_order(model: str, tmp_path: Path, output: Output) -> None:
    """Queries in their order, documents by rank, ties by row, names from comments or places."""
    features = " ".join(f"{i}:0" for i in range(1, 7))
    lines = [
        f"0 qid:b {features} #docid = X9 inc = 1",
        f"0 qid:a {features} # first-word docid",
        f"0 qid:b {features}",
        f"0 qid:a {features} # the docid=Y7",
        f"0 qid:a {features}",
    ]
    (tmp_path / "data.txt").write_text("\n".join(lines))
    text = output("predict", "--model", model, tmp_path / "data.txt", "--format", "trec")
    assert [line.split()[:4] for line in text.splitlines()] == [
        ["b", "Q0", "X9", "1"],
        ["b", "Q0", "b-2", "2"],
        ["a", "Q0", "first-word", "1"],
        ["a", "Q0", "Y7", "2"],
        ["a", "Q0", "a-3", "3"],
    ]
    assert {line.split()[5] for line in text.splitlines()} == {"gbrank"}


def test_comments_may_hold_any_bytes(
    data: Path, model: str, tmp_path: Path, output: Output, fault: Output
) -> None:
    """Where they are not printed, and they hide no other fault; else their line is named."""
    lines = (data / "test.txt").read_bytes().splitlines(keepends=True)
    path = tmp_path / "latin.txt"
    path.write_bytes(b"".join(lines).replace(b"docid", b"caf\xe9"))
    assert output("predict", path, "--model", model) == output(
        "predict", data / "test.txt", "--model", model
    )
    assert output("evaluate", path, "--model", model) == output(
        "evaluate", data / "test.txt", "--model", model
    )
    said = fault("predict", path, "--model", model, "--format", "trec")
    assert f"{path}, line 1, column " in said
    assert "expected text in UTF-8" in said
    path.write_bytes(b"# \xe9\n" + lines[0] + b"  -1.0 " + lines[1].partition(b" ")[2])
    said = fault("evaluate", path, "--model", model)
    assert f"{path}, line 3, column 3: expected a label of at least 0 (" in said


def test_documents_from_standard_input(
    data: Path, model: str, output: Output, fresh: Fresh
) -> None:
    """A hyphen stands for it."""
    code = "import runpy; runpy.run_module('gbrank', run_name='__main__')"
    piped = fresh(code, "predict", "-", "--model", model, given=(data / "test.txt").read_text())
    assert (piped.returncode, piped.stderr) == (0, "")
    assert piped.stdout == output("predict", data / "test.txt", "--model", model)
