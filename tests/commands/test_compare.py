"""`gbrank compare`, run in this process, against the Python API."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gbrank.commands.compare
from gbrank import compare_rankers, make_cubic, write_letor
from gbrank.commands.cli import main
from gbrank.evaluation import ranker_from_name, read_folds

RANKERS = ["lambda:ndcg", "lightgbm"]
SMALL = ["--n-estimators", "5", "--min-child-samples", "3", "--seeds", "2", "--jobs", "1"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with S1.txt to S3.txt, of four queries each."""
    folder = tmp_path_factory.mktemp("letor") / "cubic"
    folder.mkdir()
    X, y, qid = make_cubic(12, n_documents=10, n_features=6, random_state=3)
    for part in range(3):
        rows = part == qid // 4
        write_letor(folder / f"S{part + 1}.txt", X[rows], y[rows], qid[rows])
    return folder


@pytest.fixture
def output(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run the command, which must succeed quietly, and return what it prints."""

    def run(*argv: object) -> str:
        capsys.readouterr()
        assert main(["compare", *map(str, argv)]) == 0
        out, error = capsys.readouterr()
        assert not error
        return out

    return run


def test_it_is_compare_rankers(data: Path, output: Callable[..., str], tmp_path: Path) -> None:
    """The same table, numbers and picture as from Python; a second run reads its results."""
    files = {name: tmp_path / name for name in ("results", "numbers.json", "picture.png")}
    argv = ["--data", data, "--rankers", *RANKERS, "--baseline", RANKERS[1], *SMALL]
    argv += ["--measures", "ndcg@3", "map", "--num-leaves", 7, "--learning-rate", 0.1]
    argv += ["--results", files["results"], "--json", files["numbers.json"]]
    table = output(*argv, "--picture", files["picture.png"])
    budget: dict[str, Any] = {"n_estimators": 5, "min_child_samples": 3, "num_leaves": 7}
    budget |= {"learning_rate": 0.1, "eval_metric": "ndcg@3"}
    expected = compare_rankers(
        {name: ranker_from_name(name, **budget) for name in RANKERS},
        [read_folds(data)],
        seeds=2,
        measures=["ndcg@3", "map"],
        baseline=RANKERS[1],
        results=files["results"],
        n_jobs=1,
        progress=False,
    )
    assert len(list(files["results"].iterdir())) == 12  # none was done again
    assert table == f"{expected.table()}\n"
    assert json.loads(files["numbers.json"].read_text()) == expected.to_json()
    assert files["picture.png"].read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert output(*argv) == table


def test_without_data(output: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Artificial queries, and rankers of gbrank, LightGBM and XGBoost."""
    monkeypatch.setattr(gbrank.commands.compare, "CUBIC_QUERIES", 10)
    lines = output(*SMALL).split("\n")
    assert lines[0] == "cubic, ndcg@10: 10 queries, 0 skipped"
    names = [line.split()[0] for line in lines[2:5]]
    assert names == ["noisy:ndcg", "lightgbm", "xgboost"]


def test_several_data_sets(data: Path, output: Callable[..., str], tmp_path: Path) -> None:
    """One by one, and pooled."""
    (tmp_path / "more").mkdir()
    for file in data.iterdir():
        (tmp_path / "more" / file.name).write_bytes(file.read_bytes())
    table = output("--data", data, "--data", tmp_path / "more", "--rankers", *RANKERS, *SMALL)
    *blocks, note = table.split("\n\n")
    assert [block.split(",")[0] for block in blocks] == ["cubic", "more", "pooled"]
    assert note.startswith("p is corrected for the number of rankers (Holm), which intervals are")
    assert max(map(len, table.splitlines())) <= 100


@pytest.mark.slow
def test_plugins_reach_every_process(
    data: Path, output: Callable[..., str], tmp_path: Path, plugin: Path
) -> None:
    """Objectives and measures of one's own, by name, in two processes as in one."""
    argv = ["--data", data, "--rankers", "mine", "lambda:mine", "--measures", "mine@5", *SMALL]
    contents = []
    for jobs in ("1", "2"):
        file = tmp_path / f"{jobs}.json"
        output(*argv, "--jobs", jobs, "--plugin", plugin, "--json", file)
        content = json.loads(file.read_text())
        contents.append([row | {"cpu_seconds": 0} for row in content["test"]])
    assert contents[0] == contents[1]
    assert [row["measure"] for row in contents[0]] == ["mine@5", "mine@5"]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--rankers", "nonsense"], "unknown objective 'nonsense'"),
        (["--rankers", "lambda:ndcg", "lambda:ndcg"], "--rankers must not hold 'lambda:ndcg' twic"),
        (["--measures", "nonsense"], "unknown measure 'nonsense'"),
        (["--baseline", "b"], "baseline must be one of ['noisy:ndcg',"),
        (["--seeds", "0"], "seeds must be an integer of at least 1, got 0"),
        (["--jobs", "0"], "--jobs must be -1 or at least 1, or None, got 0"),
        (["--num-leaves", "1"], "on cubic: --num-leaves must be an integer of at least 2"),
        (["--json", "missing/a.json"], "--json must be in a folder that exists"),
        (["--picture", "missing/a.png"], "--picture must be in a folder that exists"),
        (["--picture", "a.txt"], "--picture must end in one of"),
        (["--data", "missing"], "missing: No such file or directory"),
        (["--data", "."], "must hold S1.txt, S2.txt, ... or Fold1, Fold2, ..."),
    ],
)
def test_faults(
    argv: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One line on standard error says what is wrong."""
    monkeypatch.setattr(gbrank.commands.compare, "CUBIC_QUERIES", 10)
    monkeypatch.chdir(tmp_path)
    assert main(["compare", "--jobs", "1", *argv]) == 1
    out, error = capsys.readouterr()
    assert not out
    assert error.startswith("gbrank: error: ")
    assert message in error
    assert error.count("\n") == 1


def test_catboost_is_optional(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it, the message says what to install."""
    monkeypatch.setitem(sys.modules, "catboost", None)
    assert main(["compare", "--rankers", "catboost:YetiRank"]) == 1
    assert "pip install 'gbrank[catboost]'" in capsys.readouterr().err


def test_what_a_library_does_not_take_is_refused_before_any_fit(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fractions as labels in LightGBM: with the ranker, and a remedy."""
    monkeypatch.chdir(tmp_path)
    lines = [f"{row % 3 / 2},{row // 4},{row}" for row in range(40)]
    Path("t.csv").write_text("\n".join(["label,qid,x", *lines]))
    options = ["--results", "r", *SMALL, "--rankers", "ranknet", "lightgbm"]
    assert main(["compare", "--data", "t.csv", *options]) == 1
    said = capfd.readouterr().err
    for part in ("lightgbm on t.csv: ", "label should be int", "Leave it out"):
        assert part in said
    assert not Path("r").exists()


def test_the_picture_of_seconds(
    output: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is drawn beside the table, which has the seconds too."""
    monkeypatch.setattr(gbrank.commands.compare, "CUBIC_QUERIES", 10)
    picture = tmp_path / "seconds.png"
    rankers = ["--rankers", "ranknet", "lightgbm"]
    table = output(*rankers, "--seconds-picture", picture, *SMALL)
    assert "CPU s" in table.split("\n")[1]
    assert picture.stat().st_size > 5000
