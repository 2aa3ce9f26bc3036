"""What studies write: numbers, and pages with a table for each part and data set."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks.strata import pooled_rows
from benchmarks.studies import study
from gbrank import LinearRanker, compare_rankers, make_cubic
from gbrank.evaluation import Comparison, Dataset


@pytest.fixture(scope="module")
def comparisons() -> list[Comparison]:
    """Compare two regressions on two data sets."""
    data = [
        Dataset(name, *make_cubic(9, n_documents=8, n_features=4, random_state=seed), folds=3)
        for seed, name in enumerate(("first", "second"))
    ]
    rankers = {f"ridge {x:g}": LinearRanker("regression", ridge=x) for x in (1.0, 1e3)}
    return compare_rankers(rankers, data, measures=["ndcg@3", "rr"], n_jobs=1, progress=False)


def test_page_and_numbers(
    comparisons: list[Comparison], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every row of the summaries stands in both, the baseline without a difference."""
    monkeypatch.setattr(study, "RESULTS", tmp_path)
    text, command = "# A study\n\nOf two.\n", "python -m toy"
    study.publish("toy", text, command, comparisons)
    rows = json.loads((tmp_path / "toy.json").read_text(encoding="utf-8"))
    assert len(rows) == 2 * 3 * 2 * 2  # parts, data sets with both together, measures, rankers
    page = (tmp_path / "toy.md").read_text(encoding="utf-8")
    assert page.startswith("# A study\n\nOf two.\n\n```bash\npython -m toy\n```\n")
    blocks = re.split(r"^##+ ", page, flags=re.MULTILINE)
    assert [block.partition("\n")[0] for block in blocks[1:4]] == [
        "Validation queries", "first, ndcg@3: 9 queries, 0 skipped",
        "first, rr: 9 queries, 0 skipped",
    ]  # fmt: skip
    lines = [line for line in page.splitlines() if line.startswith("| `")]
    assert len(lines) == len(rows)
    shown = [both for both in zip(lines, rows, strict=True) if both[1]["data"] != "pooled"]
    summaries = [
        row for part in ("valid", "test") for item in comparisons for row in item.summary(part)
    ]
    for (line, number), row in zip(shown, summaries, strict=True):
        assert number["ranker"] == row.ranker
        assert number["seeds"] == 5
        assert number["mean"] == pytest.approx(row.mean, rel=5e-4)
        shown_mean = line.strip("| ").split(" | ")[1]
        assert shown_mean == f"{row.mean:.4f}"


def test_pooled_rows_give_each_data_set_the_same_weight(comparisons: list[Comparison]) -> None:
    """Whatever their sizes; the test is that of their mean differences."""
    rows = list(pooled_rows(comparisons, "test"))
    assert [(row["measure"], row["ranker"]) for row in rows] == [
        (row.measure, row.ranker) for row in comparisons[0].summary()
    ]
    for row, *parts in zip(rows, *(item.summary() for item in comparisons), strict=True):
        for name in ("mean", "difference", "rounds"):
            expected = np.mean([getattr(part, name) for part in parts])
            assert row[name] == pytest.approx(expected, abs=1e-12)
        assert row["n_queries"] == 18
        assert (row["p_randomisation"] is None) == (row["ranker"] == comparisons[0].baseline)
