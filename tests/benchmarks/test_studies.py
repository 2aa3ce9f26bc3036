"""Rows of several data sets together, as studies write them."""

import numpy as np
import pytest

from benchmarks.strata import pooled_rows
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
        assert (row["p_randomisation"] is None) == (row["ranker"] == comparisons[0].baseline)
