"""What the tests of commands share."""

from pathlib import Path

import pytest

from command import SMALL, Output
from gbrank import make_cubic, write_letor
from gbrank.commands.cli import main

PLUGIN = """
import gbrank, gbrank.extend, numpy as np

def regression(scores, labels, sigma):
    error = scores - labels
    return error @ error / 2, error, np.ones_like(error)

gbrank.extend.custom_objective(regression, name="mine")

@gbrank.extend.register_measure
class Mine(gbrank.NDCG):
    name = "mine"
"""


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """Write a module that registers an objective and a measure."""
    path = tmp_path / "plugin.py"
    path.write_text(PLUGIN)
    return path


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make train.txt, of 12 queries, and test.txt, of 5 of which one has no relevant document."""
    folder = tmp_path_factory.mktemp("data")
    X, y, qid = make_cubic(17, n_documents=10, n_features=6, random_state=3)
    qid += 100
    y[qid == 114] = 0
    names = [f"docid = D{row} inc = 1" for row in range(len(y))]
    for name, rows in {"train": qid < 112, "test": qid >= 112}.items():
        comments = [name for name, row in zip(names, rows, strict=True) if row]
        write_letor(folder / f"{name}.txt", X[rows], y[rows], qid[rows], comments=comments)
    return folder


@pytest.fixture(scope="session")
def model(data: Path) -> str:
    """Train on train.txt through the command."""
    folder = str(data / "model")
    assert main(["train", str(data / "train.txt"), "--model", folder, *SMALL]) == 0
    return folder


@pytest.fixture
def output(capsys: pytest.CaptureFixture[str]) -> Output:
    """Run the command, which must succeed, and return what it prints."""

    def run(*argv: object) -> str:
        capsys.readouterr()
        assert main(list(map(str, argv))) == 0
        return capsys.readouterr().out

    return run


@pytest.fixture
def fault(capsys: pytest.CaptureFixture[str]) -> Output:
    """Run the command, which must fail with one line, and return that."""

    def run(*argv: object) -> str:
        capsys.readouterr()
        assert main(list(map(str, argv))) == 1
        out, error = capsys.readouterr()
        assert not out
        assert error.startswith("gbrank: error: ")
        assert error.count("\n") == 1
        return error

    return run
