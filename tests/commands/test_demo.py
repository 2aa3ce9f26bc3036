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
from gbrank.commands.demo import with_noise


def holm(p: Any) -> list[float]:
    """Return two p-values corrected for their number: the smaller one doubled."""
    small, large = min(1.0, 2 * min(p)), max(p)
    return [small if value == min(p) else max(small, large) for value in p]


def test_demo(tmp_path: Path, output: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table for each measure of the test queries, with tests, and a picture."""
    monkeypatch.chdir(tmp_path)
    text = output("demo", "--queries", "24")
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
    for measure in ("ndcg@10", "ap(threshold=2)", "rr(threshold=2)"):
        lines = text.split(f"cubic, {measure}: 8 queries, 0 skipped\n")[1].split("\n\n")[0]
        rows = [line.split() for line in lines.splitlines()]
        per_query = get_measure(measure).per_query
        values = {name: per_query(y[test], own, qid=qid[test]) for name, own in scores.items()}
        means = {cells[0]: cells[1] for cells in rows[1:4]}
        assert means == {name: f"{own.mean():.4f}" for name, own in values.items()}
        lead = np.array([values[cells[0]] - values["GBRanker"] for cells in rows[5:7]])
        p = (np.abs(lead @ signs.T) >= np.abs(lead.sum(axis=1))[:, None] - 1e-12).mean(axis=1)
        assert [cells[5] for cells in rows[5:7]] == [f"{value:.4f}" for value in holm(p)]
    assert text.endswith("Measures against seconds: gbrank-demo.png\n")
    assert Path("gbrank-demo.png").read_bytes().startswith(b"\x89PNG")
