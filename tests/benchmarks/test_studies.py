"""What studies write: numbers, and pages with a table for each part and data set."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks.strata import pooled_rows
from benchmarks.studies import study
from benchmarks.writing import RESULTS
from gbrank import LinearRanker, compare_rankers, make_cubic
from gbrank.evaluation import Comparison, Dataset

TABLES = ("measures", "objectives")


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
        name, mean, difference, interval, p, rounds, seconds = line.strip("| ").split(" | ")
        assert (name, mean) == (f"`{row.ranker}`", f"{row.mean:.4f}")
        assert seconds == f"{row.cpu_seconds:.1f}"
        assert rounds == f"{row.rounds:.0f}"
        if row.ranker == comparisons[0].baseline:
            assert (difference, interval, p) == ("baseline", "", "")
        else:
            assert difference == f"{row.difference:+.4f}"
            assert interval == f"{row.difference_low:+.4f} to {row.difference_high:+.4f}"
            assert p == f"{row.p_randomisation:.4f}"


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


@pytest.mark.parametrize("name", TABLES)
def test_pages_show_the_numbers(name: str) -> None:
    """Each page that is kept is made of the numbers that are kept, to the rounding."""
    rows = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    page = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    lines = [line for line in page.splitlines() if line.startswith("| `")]
    shown = rows[-len(lines) :]  # some pages leave out the validation queries
    for line, row in zip(lines, shown, strict=True):
        ranker, mean, *_ = line.strip("| ").split(" | ")
        assert ranker == f"`{row['ranker']}`"
        assert float(mean) == pytest.approx(row["mean"], abs=6e-5)


def test_larger_shows_its_numbers() -> None:
    """Each ranker's value at convergence and in equal seconds, by data set."""
    rows = json.loads((RESULTS / "larger.json").read_text(encoding="utf-8"))
    page = (RESULTS / "larger.md").read_text(encoding="utf-8")
    shown = {}
    for block in re.split(r"^\*(?=\w.*\*:$)", page, flags=re.MULTILINE)[1:]:
        for line in block.splitlines():
            if line.startswith("| `"):
                name, converged, _, _, _, equal, *_ = line.strip("| ").split(" | ")
                shown[block.partition("*")[0], name.strip("`")] = converged, equal
    within = ("convergence", "equal seconds")
    assert len(shown) * len(within) == len(rows) == (3 * 8 + 2 * 4) * 2
    for row in rows:
        text = shown[row["data"], row["ranker"]][within.index(row["within"])]
        assert text == f"{row['ndcg@10']:.4f}"
