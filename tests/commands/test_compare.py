"""`gbrank compare`, run in this process, against the Python API."""

import json
from pathlib import Path

import pytest
from lightgbm import LGBMRanker

from command import Output
from gbrank import GBRanker, cross_validate_rankers, read_letor

RANKERS = ["ranknet", "lightgbm"]
SMALL = ["--seeds", "1", "--n-jobs", "1"]


def test_it_is_cross_validate_rankers(data: Path, output: Output, tmp_path: Path) -> None:
    """The same table, numbers and picture as from Python."""
    files = {name: tmp_path / name for name in ("numbers.json", "picture.png")}
    argv = ["--data", data / "train.txt", "--rankers", *RANKERS, "--baseline", RANKERS[1], *SMALL]
    argv += ["--metric", "ndcg@3", "map", "--json", files["numbers.json"]]
    output("compare", *argv, "--plot", files["picture.png"])
    expected = cross_validate_rankers(
        dict(zip(RANKERS, [GBRanker("ranknet"), LGBMRanker(verbosity=-1)], strict=True)),
        *read_letor(data / "train.txt"),
        name="train.txt",
        seeds=1,
        metric=["ndcg@3", "map"],
        baseline=RANKERS[1],
        n_jobs=1,
        progress=False,
    ).to_json()
    found = json.loads(files["numbers.json"].read_text())
    for row in (*found["test"], *found["valid"], *expected["test"], *expected["valid"]):
        assert row.pop("cpu_seconds") >= 0
    assert found == expected
    assert files["picture.png"].read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.slow
def test_several_data_sets(data: Path, output: Output, tmp_path: Path) -> None:
    """One by one, in the table, the numbers and the picture."""
    (tmp_path / "more.txt").write_bytes((data / "train.txt").read_bytes())
    argv = ["--data", data / "train.txt", "--data", tmp_path / "more.txt", *SMALL]
    argv += ["--rankers", *RANKERS]
    files = ["--json", tmp_path / "numbers.json", "--plot", tmp_path / "picture.svg"]
    table = output("compare", *argv, *files)
    first, note, second, _ = table.split("\n\n")
    assert [block.split(",")[0] for block in (first, second)] == ["train.txt", "more.txt"]
    rows = json.loads((tmp_path / "numbers.json").read_text())["test"]
    assert [row["data"] for row in rows] == ["train.txt"] * 2 + ["more.txt"] * 2
    assert note.startswith("p-values are corrected for the number of rankers (Holm); intervals are")
    assert max(map(len, table.splitlines())) <= 110
