"""No command writes over what it reads, and streams take any text."""

import io
import os
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure

import gbrank.plots
from command import SMALL, Output
from fresh import Fresh
from gbrank import load_ranker, make_cubic, write_letor
from gbrank.commands.cli import main
from gbrank.commands.comparisons import draw


@pytest.fixture
def place(data: Path, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with data of each kind and a model, and go there."""
    monkeypatch.chdir(tmp_path)
    X, y, qid = make_cubic(4, n_documents=5, n_features=6, random_state=0)
    table = pd.DataFrame(X).add_prefix("f").assign(label=y, qid=qid, a=y)
    table.to_csv("t.csv", index=False)
    Path("folder").mkdir()
    table.to_parquet("folder/0.parquet")
    write_letor("t.txt", X, y, qid)
    Path("names.txt").write_text("\n".join("abcdef"))
    Path("plugin.py").write_text("")
    Path("m").symlink_to(model)
    os.link("t.csv", "hard.csv")
    Path("soft.txt").symlink_to("t.txt")
    return tmp_path


def content(folder: Path) -> dict[str, bytes]:
    """Return all files in a folder."""
    paths = [*folder.rglob("*"), *(folder / "m").iterdir()]
    return {str(path): path.read_bytes() for path in paths if path.is_file()}


@pytest.mark.parametrize(
    ("argv", "option"),
    [
        ("predict folder --model m --output folder/0.parquet", "--output"),
        ("predict folder --model m --output folder/new.parquet", "--output"),
        ("predict t.txt --model m --output soft.txt", "--output"),
        ("predict t.csv --model m --output hard.csv", "--output"),
        ("predict t.txt --model m --output m/gbrank.json", "--output"),
        ("report t.txt --model m --train t.csv --html t.csv", "--html"),
        ("report t.txt --model m --against folder --html folder/r.html", "--html"),
        ("export --model m --format solr --features names.txt --output names.txt", "--output"),
        ("compare --data t.txt folder --json t.txt", "--json"),
        ("compare --data t.txt --cost-plot t.txt", "--cost-plot"),
        ("compare --plugin plugin.py --json plugin.py", "--json"),
        ("compare --json new.svg --plot new.svg", "--plot"),
        ("train folder --model folder/new.parquet", "--model"),
        ("train t.txt --model new --valid folder --checkpoint folder", "--checkpoint"),
    ],
)
def test_an_output_is_no_input(argv: str, option: str, place: Path, fault: Output) -> None:
    """By whatever path, and before any work."""
    before = content(place)
    assert f"error: {option} must be " in fault(*argv.split())
    assert content(place) == before


def test_a_picture_has_a_format(place: Path, fault: Output) -> None:
    """Known by the suffix of its name, before any work."""
    before = content(place)
    said = fault("compare", "--data", "t.txt", "--plot", "p.docx")
    assert "error: --plot must end in one of " in said
    assert content(place) == before


def test_a_new_file_beside_the_data(place: Path, output: Output) -> None:
    """In another folder, over older scores, or to a device."""
    predict = ["predict", "t.txt", "--model", "m", "--output"]
    for name in ("scores.txt", "scores.txt", os.devnull):
        output(*predict, name)
    assert len(Path("scores.txt").read_text().splitlines()) == 20


def test_a_picture_that_fails_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A picture that is written has the format of its name."""
    path = tmp_path / "picture.SVG"
    monkeypatch.setattr(gbrank.plots, "comparison_grid", lambda _: Figure())
    draw("comparison_grid", [None], str(path))
    drawn = path.read_bytes()
    assert b"<svg" in drawn

    def fails(self: Figure, file: Any, **_: Any) -> None:
        file.write(b"half")
        raise OSError("no space")

    monkeypatch.setattr(Figure, "savefig", fails)
    with pytest.raises(OSError, match="no space"):
        draw("comparison_grid", [None], str(path))
    assert [item.read_bytes() for item in tmp_path.iterdir()] == [drawn]


# --- Streams ----------------------------------------------------------------------------------


def narrow(monkeypatch: pytest.MonkeyPatch) -> io.BytesIO:
    """Make standard output one of an encoding with 256 characters."""
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, "cp1252", write_through=True))
    return raw


def test_an_output_that_is_not_utf8(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What its encoding lacks is written as a number."""
    raw = narrow(monkeypatch)
    assert main(["list"]) == 0
    text = raw.getvalue().decode("cp1252")
    assert "\\u2212" in text
    assert "−" not in text


def test_names_in_a_run_are_utf8(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a file: they are data."""
    lines = Path("t.txt").read_text().splitlines()
    text = "\n".join(f"{line} # Ж{row}" for row, line in enumerate(lines))
    Path("t.txt").write_text(text, encoding="utf-8")
    predict = ["predict", "t.txt", "--model", "m", "--format", "trec"]
    assert main([*predict, "--output", "run.txt"]) == 0
    raw = narrow(monkeypatch)
    assert main(predict) == 0
    assert raw.getvalue() == Path("run.txt").read_bytes()
    assert "Ж0".encode() in raw.getvalue()


def test_paths_that_are_no_text(place: Path, output: Output) -> None:
    """Bytes that are not UTF-8 in a name: it is used as it is, and shown."""
    odd = os.fsdecode(b"m\xff")
    output("train", "t.txt", "--model", odd, *SMALL)
    assert load_ranker(odd).n_features_in_ == 6
    output("report", "t.txt", "--model", odd, "--against", "m", "--html", "r.html")
    assert "m\\xff" in Path("r.html").read_text(encoding="utf-8")


# --- How a training ended ---------------------------------------------------------------------


INTERRUPTED = """
import os, signal, sys
from gbrank.commands.cli import main
from gbrank.ranker import GBRanker

def ctrl_c(round):
    if round.number == 3:
        os.kill(os.getpid(), signal.SIGINT)

fit = GBRanker.fit
GBRanker.fit = lambda *args, **options: fit(*args, **options, callbacks=[ctrl_c])
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.usefixtures("place")
def test_a_real_ctrl_c(fresh: Fresh) -> None:
    """It ends the training with code 130; the model is there."""
    done = fresh(INTERRUPTED, "train", "t.txt", "--model", "new", "--n-jobs", "1")
    assert done.returncode == 130, done.stderr
    assert "rounds kept" in done.stdout
    assert 1 <= load_ranker("new").best_iteration_ <= 4
