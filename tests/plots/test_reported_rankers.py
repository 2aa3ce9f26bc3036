"""Every kind of ranker, measure and data that a report takes, and what it refuses."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from lightgbm import LGBMRanker, LGBMRegressor
from scipy import sparse

import gbrank
from gbrank import GBRanker, LinearRanker, SLAMPerceptron, write_letor
from gbrank.commands.cli import main
from report_page import QID, SMALL, Page, X, Y

KINDS: dict[str, tuple[Any, Any]] = {
    "xgboost": (GBRanker(booster="xgboost", **SMALL), X),
    "list": (GBRanker(**SMALL), X.tolist()),
    "sparse": (GBRanker(**SMALL), sparse.csr_matrix(X)),
    "polars": (GBRanker(**SMALL), pl.DataFrame(X, schema=list("abcd"))),
    "init": (GBRanker(**SMALL), X),
    "linear": (LinearRanker(n_steps=2), X),
    "perceptron": (SLAMPerceptron(max_iter=3), X),
}

SECTIONS = ["measures", "segments", "distribution", "worst", "importances", "curves"]
SECTIONS += ["data", "parameters", "versions"]


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=pytest.mark.slow) if kind in ("list", "polars") else kind
        for kind in KINDS
    ],
)
def test_every_ranker(kind: str, tmp_path: Path) -> None:
    """Has all sections; those for which it has nothing say so."""
    ranker, table = KINDS[kind]
    if kind == "init":
        ranker.set_params(init=LGBMRegressor(n_estimators=2).fit(X, Y))
    ranker = ranker.fit(table, Y, qid=QID)
    page = Page(gbrank.report(ranker, table, Y, qid=QID, html=tmp_path / "report.html"))
    assert list(page.tables) == SECTIONS
    silent = {key for key in SECTIONS if "ot available: " in page.texts[key]}
    linear = {"importances"} | ({"curves"} if kind == "perceptron" else set())
    assert silent == (linear if kind in ("linear", "perceptron") else {"curves"})


def test_a_booster_with_categories(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": X[:, 0], "kind": pd.Categorical(np.array(list("uvw"))[QID % 3])})
    model = LGBMRanker(n_estimators=3, verbosity=-1, n_jobs=1)
    model.fit(frame, Y, group=np.bincount(QID))
    for table in (frame, frame.assign(kind=frame["kind"].cat.reorder_categories(list("wvu")))):
        page = Page(gbrank.report(model, table, Y, qid=QID, html=tmp_path / "report.html"))
        assert "kind" in page.texts["importances"]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("rows", "labels", "without"),
    [
        (slice(0, 10), Y, 0),
        (slice(0, 1), Y + 1, 0),
        (slice(0, 100), 0 * Y, 10),
        (slice(0, 100), Y / 7.3, 0),
        (slice(0, 100), np.where(QID == 3, 0, Y), 1),
    ],
    ids=["one query", "one document", "nothing relevant", "real labels", "one of them"],
)
def test_small_and_odd_data(rows: slice, labels: Any, without: int, tmp_path: Path) -> None:
    """Have a page too, without a warning; what is not known is a dash."""
    one, other = (GBRanker(**SMALL | {"random_state": seed}).fit(X, Y, qid=QID) for seed in (0, 1))
    path = gbrank.report(
        one, X[rows], labels[rows], qid=QID[rows], against=other, html=tmp_path / "r.html"
    )
    page = Page(path)
    assert "nan" not in re.sub(r"<svg.*?</svg>", "", page.source, flags=re.DOTALL)
    assert ("is undefined on every query" in page.texts["worst"]) == (without == 10)
    assert (f"{without} without a relevant document" in page.texts[""]) == (without > 0)
    if without == 10:
        assert page.table("measures", "metric")["ndcg@10"] == ["0", "–", "–", "–"]


def test_command_on_letor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files in LETOR format, any class of model, and unjudged documents."""
    LinearRanker("regression").fit(X, Y, qid=QID).save(tmp_path / "model")
    labels = np.where(np.arange(460) == 5, -1, Y)
    data, where = str(tmp_path / "data.txt"), f"{tmp_path}/report.html"
    write_letor(data, X, np.abs(labels), QID)
    lines = Path(data).read_text().splitlines(keepends=True)
    Path(data).write_text("".join([*lines[:5], f"-1{lines[5][1:]}", *lines[6:]]))
    command = ["report", data, "--model", str(tmp_path / "model"), "--html", where]
    assert main(command) == 1
    assert "--unjudged" in capsys.readouterr().err
    judged = [*command, "--unjudged", "drop"]
    assert main(judged) == 0
    assert Page(Path(where)).table("data", "data")["documents"] == ["459"]
    assert main([*judged, "--docid", "url"]) == 1
    assert "--docid must be given with tables only" in capsys.readouterr().err
    assert main([*judged, "--against", str(tmp_path / "model")]) == 1
    assert "--against must be another model than --model" in capsys.readouterr().err
    assert main([*command[:-1], f"{tmp_path}/no/report.html"]) == 1
    assert "--html must be in a folder that exists" in capsys.readouterr().err
