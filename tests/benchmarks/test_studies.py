"""Rows of several data sets together, as studies write them, and the fits behind them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.strata import pooled_rows
from benchmarks.studies.fits import Study, compared, folds, samples
from gbrank import NDCG, LinearRanker, compare_rankers, make_cubic
from gbrank.evaluation import Comparison, Dataset


@pytest.fixture(scope="module")
def comparisons() -> list[Comparison]:
    """Compare two regressions on two data sets."""
    data = [
        Dataset(name, *make_cubic(9, n_documents=8, n_features=4, random_state=seed), folds=3)
        for seed, name in enumerate(("first", "second"))
    ]
    rankers = {f"ridge {x:g}": LinearRanker("regression", ridge=x) for x in (1.0, 1e3)}
    return compare_rankers(rankers, data, metric=["ndcg@3", "rr"], n_jobs=1, progress=False)


def test_pooled_rows_give_each_data_set_the_same_weight(comparisons: list[Comparison]) -> None:
    """Whatever their sizes; the test is that of their mean differences."""
    rows = list(pooled_rows(comparisons, "test"))
    assert [(row["metric"], row["ranker"]) for row in rows] == [
        (row.metric, row.ranker) for row in comparisons[0].summary()
    ]
    for row, *parts in zip(rows, *(item.summary() for item in comparisons), strict=True):
        for name in ("mean", "difference", "rounds"):
            expected = np.mean([getattr(part, name) for part in parts])
            assert row[name] == pytest.approx(expected, abs=1e-12)
        assert row["n_queries"] == 18
        assert (row["p_randomization"] is None) == (row["ranker"] == comparisons[0].baseline)


def test_fits_are_kept_and_compared_by_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second run trains nothing, and has the same rows."""
    monkeypatch.setattr("sys.argv", ["study", "--results", str(tmp_path / "kept")])
    data = Dataset("made", *make_cubic(20, n_documents=8, n_features=2, random_state=0))
    sizes = []

    def column(place: int, train: Any, test: Any, seed: int) -> Any:
        sizes.append(len(np.unique(train.qid)))
        return test.X[:, place]

    rankers = {"first": lambda *case: column(0, *case), "second": lambda *case: column(1, *case)}
    runs = [
        compared(Study("made", "A study.").rows(samples(folds(data, "test"), [3, 5]), rankers))
        for _ in range(2)
    ]
    assert sizes == [3, 3, 5, 5] * 5
    assert runs[0] == runs[1]
    assert [(row["size"], row["ranker"]) for row in runs[0]] == [
        (3, "first"), (3, "second"), (5, "first"), (5, "second"),
    ]  # fmt: skip
    values = [NDCG(k=10)(data.y, data.X[:, place], qid=data.qid) for place in range(2)]
    for row, expected in zip(runs[0], values * 2, strict=True):
        assert row["ndcg@10"] == pytest.approx(expected, abs=1e-12)
