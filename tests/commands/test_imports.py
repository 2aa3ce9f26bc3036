"""What a command loads in a fresh process: each library costs a good part of a second."""

import functools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from command import SMALL
from fresh import Fresh, without
from gbrank import read_letor
from gbrank.commands.cli import main

PICTURES = {"matplotlib", "gbrank.plots"}
TRAINING = {f"gbrank.fit.{name}" for name in ("boost", "checkpoints", "loop", "plan")}
TRAINING |= {"sklearn.linear_model"}
TRAINING |= {f"gbrank.boosters.{name}.trainer" for name in ("lightgbm", "xgboost")}
OPTIONAL = {"catboost", "dask", "distributed", "onnx", "polars", "pyspark", "treelite"}
SCRIPT = """
import sys
from gbrank.commands.cli import main
assert main(sys.argv[1:]) == 0
print(*sys.modules, file=sys.stderr)
"""


def loaded(*argv: object) -> set[str]:
    """Return the modules that a command has loaded when it ends."""
    return modules_of(SCRIPT, *argv)


def modules_of(script: str, *argv: object) -> set[str]:
    """Return what a script prints on standard error."""
    command = [sys.executable, "-c", script, *map(str, argv)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return set(done.stderr.split())


@functools.cache
def loaded_by(library: str) -> set[str]:
    """Return what a booster's library loads by itself; LightGBM 4.5 does Dask and Matplotlib."""
    return modules_of(f"import sys, {library}; print(*sys.modules, file=sys.stderr)")


@pytest.mark.slow
@pytest.mark.parametrize(("booster", "other"), [("lightgbm", "xgboost"), ("xgboost", "lightgbm")])
@pytest.mark.parametrize("command", ["predict", "evaluate", "info"])
def test_a_model_loads_its_own_booster_only(
    command: str, booster: str, other: str, data: Path, tmp_path: Path
) -> None:
    """And nothing that trains, draws, compares or exports."""
    train = ["train", data / "train.txt", "--model", tmp_path / "m", "--booster", booster, *SMALL]
    assert main(list(map(str, train))) == 0
    files = [] if command == "info" else [data / "test.txt"]
    modules = loaded(command, *files, "--model", tmp_path / "m")
    assert booster in modules
    unwanted = {other, "gbrank.evaluation", "gbrank.linear.linear_ranker"}
    unwanted |= TRAINING | PICTURES | OPTIONAL
    if command == "predict":
        unwanted |= {"gbrank.export", "gbrank.commands.training"}
    assert not modules & (unwanted - loaded_by(booster))


@pytest.mark.parametrize("kind", [pytest.param("txt", marks=pytest.mark.slow), "csv"])
def test_scores_are_judged_without_a_booster(
    kind: str, data: Path, tmp_path: Path, fresh: Fresh
) -> None:
    """Nor scikit-learn, which LightGBM and XGBoost import, but for LETOR files, which it reads."""
    X, y, qid = read_letor(data / "test.txt")
    files = {"txt": data / "test.txt", "csv": tmp_path / "test.csv"}
    table = np.column_stack([X[:, 0], y, qid])
    np.savetxt(files["csv"], table, "%g", ",", header="x,label,qid", comments="")
    (tmp_path / "scores.txt").write_text("\n".join(map(str, range(len(y)))))
    unwanted = {"lightgbm", "xgboost", "matplotlib", *OPTIONAL}
    unwanted |= {"sklearn"} if kind == "csv" else set()
    argv = ["evaluate", files[kind], "--scores", tmp_path / "scores.txt"]
    done = fresh(without(*sorted(unwanted)) + SCRIPT, *argv)
    assert done.returncode == 0, done.stderr
    assert not set(done.stderr.split()) & {"gbrank.ranker", "gbrank.plots"}
