"""`gbrank demo` against the three rankers in Python."""

import itertools
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

from command import Output
from gbrank import GBRanker, get_measure, make_cubic
from gbrank.commands.comparisons import with_noise


def holm(p: Any) -> list[float]:
    """Return two p-values corrected for their number: the smaller one doubled."""
    small, large = min(1.0, 2 * min(p)), max(p)
    return [small if value == min(p) else max(small, large) for value in p]


def test_demo(tmp_path: Path, output: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table for each measure of the test queries, with tests, on one screen; and a picture."""
    monkeypatch.chdir(tmp_path)
    text = output("demo", "--n-queries", "24")
    assert "16 queries to train on, with a third of their labels exchanged" in text
    X, y, qid = make_cubic(24, random_state=0)
    train, test = qid < 16, qid >= 16
    clean = y.copy()
    y = with_noise(y, np.flatnonzero(train), 0)
    assert sorted(y) == sorted(clean)
    assert (y[test] == clean[test]).all()
    changed = (y[train] != clean[train]).mean()  # of the third, those of another label
    assert 0.1 < changed < 1 / 3
    common: dict[str, Any] = {"random_state": 0, "n_jobs": 1}
    models = {
        "GBRanker": GBRanker(**common).fit(X[train], y[train], qid=qid[train]),
        "LGBMRanker": lgb.LGBMRanker(**common).fit(X[train], y[train], group=[50] * 16),
        "XGBRanker": xgb.XGBRanker(**common).fit(X[train], y[train], qid=qid[train]),
    }
    scores = {name: model.predict(X[test]) for name, model in models.items()}
    signs = np.array(list(itertools.product([1, -1], repeat=8)))  # of 8 queries
    assert len(text.splitlines()) <= 30
    for measure in ("ndcg@10", "ap(threshold=2)", "rr(threshold=2)"):
        lines = text.split(f"  {measure} ")[1].split("\n\n")[0].splitlines()
        rows = {cells[0]: cells[1:] for cells in map(str.split, lines[1:])}
        per_query = get_measure(measure).per_query
        values = {name: per_query(y[test], own, qid=qid[test]) for name, own in scores.items()}
        means = {name: f"{own.mean():.4f}" for name, own in values.items()}
        assert {name: cells[0] for name, cells in rows.items()} == means
        others = [name for name in rows if name != "LGBMRanker"]
        lead = np.array([values[name] - values["LGBMRanker"] for name in others])
        assert [rows[name][1] for name in others] == [f"{own:+.4f}" for own in lead.mean(axis=1)]
        p = (np.abs(lead @ signs.T) >= np.abs(lead.sum(axis=1))[:, None] - 1e-12).mean(axis=1)
        assert [rows[name][5] for name in others] == [f"{value:.4f}" for value in holm(p)]
    assert text.endswith("Differences from LGBMRanker and seconds: gbrank-demo.png\n")
    assert Path("gbrank-demo.png").read_bytes().startswith(b"\x89PNG")
