"""Labels by name, constraints and trade-offs on the command line: the numbers of Python."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from command import SMALL, Output
from numpy.testing import assert_array_equal

from gbrank import GBRanker, load_ranker, make_cubic, pareto

X, Y, QID = make_cubic(40, n_documents=10, n_features=3, random_state=0)
QID = np.array([f"q{number}" for number in QID], dtype=object)  # in CSV, ids are text
MARGIN = np.where(X[:, 0] > 0.9, np.nan, np.round(3 * np.abs(X[:, 0])))
FRAME = pd.DataFrame(X, columns=list("abc")).assign(margin=MARGIN, label=Y, qid=QID)
CONSTRAINT = "ndcg@10[margin] >= 0.8 of best"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    FRAME.to_csv(path, index=False)
    return path


def test_train_and_evaluate(table: Path, tmp_path: Path, output: Output) -> None:
    options = ["--labels", "margin", "--constraints", CONSTRAINT, "--metric", "ndcg@10[margin]"]
    model = tmp_path / "model"
    said = output("train", table, "--valid", table, "--model", model, *options, *SMALL)
    ranker = load_ranker(model)
    (end,) = ranker.constraints_
    assert f"{CONSTRAINT}: {end.value:.4f} of {end.target:.4f}" in said
    params = {"n_estimators": 5, "min_child_samples": 5, "n_jobs": 1, "random_state": 0}
    same = GBRanker(constraints=[CONSTRAINT], **params).fit(
        X, Y, qid=QID, labels={"margin": MARGIN}, eval_set=[(X, Y)], eval_qid=[QID],
        eval_labels=[{"margin": MARGIN}],
    )  # fmt: skip
    assert_array_equal(ranker.predict(FRAME[list("abc")]), same.predict(X))
    metrics = ["--metric", "ndcg@10", "ndcg@10[margin]", "--json", "--per-query"]
    found = json.loads(output("evaluate", table, "--model", model, *metrics))["measures"]
    assert found["ndcg@10[margin]"]["mean"] == end.value
    assert len(found["ndcg@10[margin]"]["per_query"]) == 40
    assert found["ndcg@10"]["mean"] == same.score(X, Y, QID)


def test_tradeoff(table: Path, tmp_path: Path, output: Output) -> None:
    page, picture, model = tmp_path / "page.html", tmp_path / "front.png", tmp_path / "model"
    said = output(
        "tradeoff", table, "--labels", "margin", "--measure", "ndcg@10[margin]", "--levels", 0.8,
        "--n-estimators", 5, "--jobs", 1, "--picture", picture, "--html", page,
        "--choose", "0.8 of best", "--model", model,
    )  # fmt: skip
    front = pareto(
        GBRanker(n_estimators=5, random_state=0), X, Y, qid=QID, labels={"margin": MARGIN},
        measure="ndcg@10[margin]", levels=[0.8], n_jobs=1, progress=False,
    )  # fmt: skip
    assert said.strip() == front.to_markdown()
    chosen = load_ranker(model).predict(FRAME[list("abc")])
    assert_array_equal(chosen, front["0.8 of best"].predict(X))
    assert picture.stat().st_size > 1000
    text = page.read_text(encoding="utf-8")
    assert "<svg" in text
    assert "0.8 of best" in text
    assert "src=" not in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["train", "--labels", "margn"], r"unknown column \(labels\) 'margn'"),
        (["train", "--labels", "margin", "margin"], "labels must name different columns"),
        (["train", "--constraints", CONSTRAINT], "needs labels= with 'margin'"),
        (["evaluate", "--metric", "ap[x]", "--scores", "-"], r"unknown column \(labels\) 'x'"),
        (
            ["tradeoff", "--labels", "margin", "--measure", "ap[margin]", "--choose", "0.7 of best",
             "--model", "m"],
            "--choose must be one of",
        ),
        (
            ["tradeoff", "--labels", "margin", "--measure", "ap[margin]", "--model", "m"],
            "--choose and --model must be given together",
        ),
    ],
)  # fmt: skip
def test_faults(
    options: list[str], message: str, table: Path, tmp_path: Path, fault: Output
) -> None:
    command, *rest = options
    more: list[Any] = ["--model", tmp_path / "model", *SMALL] if command == "train" else []
    assert re.search(message, fault(command, table, *rest, *more))


def test_letor_files_have_no_other_labels(data: Path, tmp_path: Path, fault: Output) -> None:
    options = ["--labels", "margin", "--model", tmp_path / "model"]
    assert "labels must be columns of tables" in fault("train", data / "train.txt", *options)


def test_models_of_a_named_measure_are_explained_and_reported(
    table: Path, tmp_path: Path, output: Output
) -> None:
    model, page = tmp_path / "model", tmp_path / "page.html"
    options = ["--labels", "margin", "--metric", "ndcg@10[margin]"]
    output("train", table, "--model", model, *options, *SMALL)
    said = output("explain", table, "--model", model, "--query", QID[0])
    assert ", ndcg@10 " in said
    output("report", table, "--model", model, "--html", page)
    assert "[margin]" not in page.read_text(encoding="utf-8").partition("Parameters")[0]


def test_a_report_against_a_model_of_other_columns(
    table: Path, tmp_path: Path, output: Output
) -> None:
    """Each finds its own; queries may be grouped by what neither knows."""
    for name, drop in {"new": ["c", "margin"], "old": ["a", "margin"]}.items():
        output("train", table, "--model", tmp_path / name, "--drop", *drop, *SMALL)
    FRAME.assign(country=FRAME["qid"].str[-1]).to_csv(table, index=False)
    page = tmp_path / "page.html"
    models = ["--model", tmp_path / "new", "--against", tmp_path / "old"]
    output("report", table, *models, "--by", "country", "--metric", "ndcg@5", "--html", page)
    text = page.read_text(encoding="utf-8")
    assert "new against old" in text
    assert "country" in text


def test_a_folder_with_other_files_is_refused_before_training(
    table: Path, tmp_path: Path, fault: Output
) -> None:
    said = fault(
        "tradeoff", table, "--labels", "margin", "--measure", "ndcg@10[margin]", "--levels", 0.8,
        "--n-estimators", 10**9, "--choose", "0.8 of best", "--model", tmp_path,
    )  # fmt: skip
    assert "--model must be a new folder" in said
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]
