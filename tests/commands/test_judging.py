"""Commands that judge any model: opponents, splits by time and by files, judges, features."""

import json
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest

from gbrank import NDCG, GBRanker, make_cubic
from gbrank.commands.cli import main

X, Y, QID = make_cubic(30, n_documents=8, n_features=3, random_state=0)
FRAME = pd.DataFrame(X, columns=["bm25", "title", "price"])
QUICK = ["--seeds", "1", "--n-jobs", "1"]
FEATURES = ["--features", "bm25", "title", "price"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder, which is the working one, with a table and a live model."""
    monkeypatch.chdir(tmp_path)
    days = pd.Timestamp("2026-01-01") + pd.to_timedelta(29 - QID, unit="D")
    table = FRAME.assign(
        label=Y, qid=QID, day=days, margin=abs(X[:, 1]), live=X[:, 0],
        sku=[f"s{row}" for row in range(len(Y))],
    )  # fmt: skip
    table.to_parquet("all.parquet")
    FRAME.assign(label=Y, qid=QID).to_csv("all.csv", index=False)
    table[QID < 20].to_parquet("train.parquet")
    table[QID >= 20].to_parquet("test.parquet")
    table.assign(label=np.where(QID < 10, Y, np.nan), llm=Y).to_parquet("few.parquet")
    ranker = lgb.LGBMRanker(n_estimators=5, min_child_samples=2, verbosity=-1)
    ranker.fit(FRAME, Y, group=[8] * 30).booster_.save_model("model.txt")
    return tmp_path


def run(command: str, *more: str) -> int:
    """Run a command."""
    return main([*command.split(), *more])


def test_compare_by_time(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of five parts in order of days, the last three are tested on: here the first queries."""
    command = "compare --data all.parquet --time day --rankers live model.txt --json o.json"
    assert run(command, *FEATURES, *QUICK) == 0
    rows = json.loads((folder / "o.json").read_text())["test"]
    assert [(row["ranker"], row["n_queries"]) for row in rows] == [("live", 18), ("model.txt", 18)]
    tested = QID < 18
    expected = NDCG(k=10)(Y[tested], X[tested, 0], qid=QID[tested])
    assert rows[0]["mean"] == pytest.approx(expected, rel=1e-12)
    assert "Minimum detectable difference with" in capsys.readouterr().out


def test_compare_on_files(folder: Path) -> None:
    """One fold: trained on some files, tested on others."""
    pd.read_parquet("train.parquet").query("qid >= 15").to_parquet("valid.parquet")
    pd.read_parquet("train.parquet").query("qid < 15").to_parquet("train.parquet")
    command = "compare --data train.parquet --valid valid.parquet --test test.parquet"
    command += " --rankers ranknet --json o.json"
    assert run(command, *FEATURES, *QUICK) == 0
    (row,) = json.loads((folder / "o.json").read_text())["test"]
    assert row["n_queries"] == 10


def test_report_against_a_column_with_a_judge(folder: Path) -> None:
    """Labels of people are missing where they have not judged; training data have no judge."""
    given = {"n_estimators": 3, "n_jobs": 1}
    GBRanker(**given).fit(FRAME.assign(margin=abs(X[:, 1])), Y, qid=QID).save("own")
    command = "report few.parquet --model own --against live --judge-labels llm --docid sku"
    assert run(command, "--train", "train.parquet", "--html", "r.html") == 0
    page = (folder / "r.html").read_text()
    assert "Value of the judge" in page
    assert "queries judged by people" in page
    assert run("report all.parquet --model model.txt --against own --html other.html") == 0


@pytest.mark.parametrize("data", ["all.parquet", "parts"])
def test_evaluate_a_booster(folder: Path, capsys: pytest.CaptureFixture[str], data: str) -> None:
    """By its file, on a file, or on a folder."""
    (folder / "parts").mkdir()
    (folder / "train.parquet").rename("parts/a.parquet")
    (folder / "test.parquet").rename("parts/b.parquet")
    assert run(f"evaluate {data} --model model.txt --metric map") == 0
    live = lgb.Booster(model_file="model.txt").predict(FRAME)
    expected = np.mean([_ap(Y[query == QID], live[query == QID]) for query in range(30)])
    assert f"{expected:.4f}" in capsys.readouterr().out


def _ap(y: np.ndarray, scores: np.ndarray) -> float:
    relevant = y[np.argsort(-scores, kind="stable")] > 0
    precision = np.cumsum(relevant) / np.arange(1, len(y) + 1)
    return float(precision[relevant].mean())
