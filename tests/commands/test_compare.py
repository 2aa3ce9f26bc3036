"""`gbrank compare`, run in this process, against the Python API."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from lightgbm import LGBMRanker

import gbrank.commands.comparisons
from gbrank import GBRanker, cross_validate_rankers, make_cubic, read_letor, write_letor
from gbrank.commands.cli import main

RANKERS = ["listmle", "lightgbm"]
SMALL = ["--seeds", "2", "--jobs", "1"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a file of twelve queries."""
    file = tmp_path_factory.mktemp("letor") / "cubic.txt"
    write_letor(file, *make_cubic(12, n_documents=10, n_features=6, random_state=3))
    return file


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


def test_it_is_cross_validate_rankers(
    data: Path, output: Callable[..., str], tmp_path: Path
) -> None:
    """The same table, numbers and picture as from Python."""
    files = {name: tmp_path / name for name in ("numbers.json", "picture.png")}
    argv = ["--data", data, "--rankers", *RANKERS, "--baseline", RANKERS[1], *SMALL]
    argv += ["--measures", "ndcg@3", "map", "--json", files["numbers.json"]]
    output(*argv, "--picture", files["picture.png"])
    expected = cross_validate_rankers(
        dict(zip(RANKERS, [GBRanker("listmle"), LGBMRanker(verbosity=-1)], strict=True)),
        *read_letor(data),
        name="cubic.txt",
        seeds=2,
        measures=["ndcg@3", "map"],
        baseline=RANKERS[1],
        n_jobs=1,
        progress=False,
    ).to_json()
    found = json.loads(files["numbers.json"].read_text())
    for row in (*found["test"], *found["valid"], *expected["test"], *expected["valid"]):
        assert row.pop("cpu_seconds") >= 0
    assert found == expected
    assert files["picture.png"].read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_without_data(output: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Artificial queries, and rankers of gbrank, LightGBM and XGBoost."""
    monkeypatch.setattr(gbrank.commands.comparisons, "CUBIC_QUERIES", 10)
    lines = output(*SMALL).split("\n")
    assert lines[0] == "cubic, ndcg@10: 10 queries, 0 skipped"
    names = [line.split()[0] for line in lines[2:5]]
    assert names == ["noisy:ndcg", "lightgbm", "xgboost"]


def test_several_data_sets(data: Path, output: Callable[..., str], tmp_path: Path) -> None:
    """One by one, in the table, the numbers and the picture."""
    (tmp_path / "more.txt").write_bytes(data.read_bytes())
    argv = ["--data", data, "--data", tmp_path / "more.txt", "--rankers", *RANKERS, *SMALL]
    files = ["--json", tmp_path / "numbers.json", "--picture", tmp_path / "picture.svg"]
    table = output(*argv, *files)
    first, note, second, _ = table.split("\n\n")
    assert [block.split(",")[0] for block in (first, second)] == ["cubic.txt", "more.txt"]
    rows = json.loads((tmp_path / "numbers.json").read_text())["test"]
    assert [row["data"] for row in rows] == ["cubic.txt"] * 2 + ["more.txt"] * 2
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
        (["--jobs", "0"], "n_jobs must be -1 or at least 1, or None, got 0"),
        (["--json", "missing/a.json"], "--json must be in a folder that exists"),
        (["--picture", "missing/a.png"], "--picture must be in a folder that exists"),
        (["--picture", "a.txt"], "--picture must end in one of"),
        (["--data", "missing"], "missing: No such file or directory"),
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
    monkeypatch.setattr(gbrank.commands.comparisons, "CUBIC_QUERIES", 10)
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
    assert main(["compare", "--rankers", "catboost"]) == 1
    assert "pip install catboost" in capsys.readouterr().err


def test_what_a_library_does_not_take_is_refused_before_any_fit(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Fractions as labels in LightGBM: with the ranker, and a remedy."""
    file = tmp_path / "t.csv"
    lines = [f"{row % 3 / 2},{row // 4},{row},{'uv'[row % 2]}" for row in range(40)]
    file.write_text("\n".join(["label,qid,x,shop", *lines]))
    options = ["--categorical", "shop", *SMALL, "--rankers", "ranknet", "lightgbm"]
    assert main(["compare", "--data", str(file), *options]) == 1
    said = capfd.readouterr().err
    assert "lightgbm on t.csv: " in said
    assert "label should be int" in said
    assert "Leave it out" in said


def test_the_picture_of_seconds(
    output: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is drawn beside the table, which has the seconds too."""
    monkeypatch.setattr(gbrank.commands.comparisons, "CUBIC_QUERIES", 10)
    picture = tmp_path / "seconds.png"
    rankers = ["--rankers", "ranknet", "lightgbm"]
    table = output(*rankers, "--seconds-picture", picture, *SMALL)
    assert "CPU s" in table.split("\n")[1]
    assert picture.stat().st_size > 5000
