"""What a command hands on to Python: each option, under the name of its argument."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from gbrank import GBRanker
from gbrank.commands import data_files
from gbrank.commands.calling import import_plugins
from gbrank.commands.cli import main
from gbrank.evaluation import QueryTimeSeriesSplit


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """Make a table, and go where it is."""
    monkeypatch.chdir(tmp_path)
    rows = np.arange(20)
    frame = pd.DataFrame({"a": rows / 2, "b": [*"uv"] * 10, "margin": rows % 4, "label": rows % 3})
    frame = frame.assign(qid=rows // 4, url=[f"u{row}" for row in rows])
    frame.to_csv("t.csv", index=False)
    return frame


def called(monkeypatch: pytest.MonkeyPatch, function: str, *argv: object) -> tuple[Any, ...]:
    """Return the arguments with which a command calls a function."""
    calls: list[tuple[Any, ...]] = []

    def note(*args: Any, **options: Any) -> None:
        calls.append((args, options))
        raise KeyboardInterrupt

    monkeypatch.setattr(f"gbrank.{function}", note)
    assert main(list(map(str, argv))) == 130
    ((args, options),) = calls
    return args, options


def test_tune(table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    options = "--minutes 0.5 --n-trials 7 --storage t.log --metric map --n-estimators 9"
    options += " --categorical b --time-ordered --folds 3"
    argv = f"tune t.csv --model m --drop url margin {options}"
    _, found = called(monkeypatch, "evaluation.tune", *argv.split())
    assert list(found["X"]) == ["a", "b"]
    assert_array_equal(found["y"], table["label"])
    assert_array_equal(found["qid"], table["qid"])
    expected = {"minutes": 0.5, "n_trials": 7, "categorical_feature": ["b"]}
    assert found["study"].study_name == "gbrank"
    assert Path("t.log").stat().st_size
    assert expected.items() <= found.items()
    assert repr(found["folds"]) == repr(QueryTimeSeriesSplit(3))
    params = {"eval_metric": ["map"], "n_estimators": 9, "random_state": 0}
    assert found["ranker"].get_params() == GBRanker(**params).get_params()
    table.assign(qid=table["qid"] + 5).to_csv("v.csv", index=False)
    argv = "tune t.csv --model m --drop url margin b --valid v.csv"
    read = data_files.read_table
    files: list[Any] = []
    monkeypatch.setattr(
        data_files, "read_table", lambda path, *more: files.append(path) or read(path, *more)
    )
    _, found = called(monkeypatch, "evaluation.tune", *argv.split())
    assert files == ["t.csv", "v.csv"]
    ((train, valid),) = found["folds"]
    assert_array_equal(train, np.arange(20))
    assert_array_equal(valid, np.arange(20, 40))


def test_compare(table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    argv = "compare --data t.csv --categorical b --rankers ranknet lambda:map --seeds 2"
    argv += " --metric map ndcg@3 --baseline lambda:map --n-jobs 3 --docid url"
    (rankers, (data,)), found = called(
        monkeypatch, "commands.comparisons.compare_rankers", *argv.split()
    )
    assert rankers == {"ranknet": "ranknet", "lambda:map": "lambda:map"}
    assert data.name == "t.csv"
    assert data.X["b"].dtype == "category"
    assert list(data.X) == ["a", "b", "margin"]
    assert data.docid.tolist() == table["url"].tolist()
    expected = {"seeds": 2, "metric": ["map", "ndcg@3"], "baseline": "lambda:map", "n_jobs": 3}
    assert expected.items() <= found.items()


def test_processes_know_plugins(table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("p.py").write_text("")
    with monkeypatch.context() as patch:
        calls: list[Any] = []
        patch.setattr(
            joblib, "parallel_config", lambda **named: calls.append(named) or nullcontext()
        )
        assert main(["list", "--plugin", "p.py"]) == 0
    assert (calls[0]["initializer"], calls[0]["initargs"]) == (import_plugins, (["p.py"],))


def test_report(data: Path, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Training data need no labels: their first document is not judged."""
    (tmp_path / "train.txt").write_text("-1" + (data / "train.txt").read_text()[1:])
    argv = ["report", data / "test.txt", "--model", model, "--html", tmp_path / "r.html"]
    argv += ["--train", tmp_path / "train.txt", "--metric", "map", "ndcg@3"]
    other = str(tmp_path / "other")
    GBRanker.load(model).save(other)
    (ranker, X, y), found = called(monkeypatch, "plots.report.report", *argv, "--against", other)
    assert ranker.n_features_in_ == 6
    assert (X.shape, len(y), found["train"].shape) == ((50, 6), 50, (120, 6))
    assert found["metric"] == ["map", "ndcg@3"]
    assert found["names"] == (model, other)
    assert (found["by"], found["docid"]) == ((), None)
