"""Tables, JSON and pictures of a comparison."""

import dataclasses
import itertools
import json
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from gbrank import NDCG, compare_rankers, cross_validate_rankers, make_cubic
from gbrank.evaluation import Dataset
from noisy import NOISY

X, Y, QID = make_cubic(12, n_documents=8, n_features=4, random_state=0)
QUIET: dict[str, Any] = {"n_jobs": 1, "progress": False}


OTHER = make_cubic(6, n_documents=8, n_features=4, random_state=1)


@pytest.fixture(scope="module")
def comparisons() -> Any:
    """Compare three rankers on two data sets by two measures."""
    return compare_rankers(
        NOISY,
        [Dataset("data", X, Y, QID, 3), Dataset("other", *OTHER, 3)],
        seeds=2,
        metric=["ndcg@10", "rr"],
        target_difference=0.02,
        **QUIET,
    )


@pytest.fixture(scope="module")
def comparison(comparisons: Any) -> Any:
    """Return the one on the first data set."""
    return comparisons[0]


def test_several_data_sets_are_several_comparisons(comparisons: Any) -> None:
    """Each is what it would be alone."""
    assert [item.data for item in comparisons] == ["data", "other"]
    alone = cross_validate_rankers(
        NOISY, *OTHER, folds=3, seeds=2, metric=["ndcg@10", "rr"], name="other",
        target_difference=0.02, **QUIET,
    )  # fmt: skip
    for one, other in zip(comparisons[1].summary(), alone.summary(), strict=True):
        np.testing.assert_equal(
            dataclasses.asdict(one) | {"cpu_seconds": 0},
            dataclasses.asdict(other) | {"cpu_seconds": 0},
        )


def test_the_difference_that_is_detected_for_all_rankers(comparison: Any) -> None:
    """The widest of theirs."""
    widest = max(comparison.summary()[1:3], key=lambda row: row.minimum_detectable)
    assert (
        comparison.table()
        .split("\n\n")[0]
        .endswith(
            f" queries: {widest.minimum_detectable:.4f} (power 0.8, α 0.05). "
            f"Detecting 0.02 needs {widest.required_queries:,.0f} queries."
        )
    )


def test_json(comparison: Any) -> None:
    """Numbers or null for each measure and ranker, on test and validation queries."""
    content = comparison.to_json()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert list(content) == ["baseline", "metrics", "seeds", "test", "valid"]
    assert content["baseline"] == "clean"
    assert content["metrics"] == ["ndcg@10", "rr"]
    assert content["seeds"] == [0, 1]
    kinds = {"data": str, "metric": str, "ranker": str, "n_queries": int, "n_skipped": int}
    numbers = ["mean", "low", "high", "seed_deviation", "difference", "difference_low",
               "difference_high", "p_randomization", "p_t", "rounds",
               "cpu_seconds"]  # fmt: skip
    said = {"p_correction": "Holm"}
    told = [
        "minimum_detectable",
        "required_queries",
        "judge_equivalent_queries",
        "wins",
        "ties",
        "losses",
    ]
    for part in ("test", "valid"):
        keys = [(row["data"], row["metric"], row["ranker"]) for row in content[part]]
        expected = itertools.product(["data"], ["ndcg@10", "rr"], NOISY)
        assert keys == list(expected)
        for row in content[part]:
            assert list(row) == [*kinds, *numbers, *said, *told]
            assert said.items() <= row.items()
            assert all(type(row[name]) is kind for name, kind in kinds.items())
            empty = {name for name in numbers if row[name] is None}
            compared = row["ranker"] != "clean"
            assert empty == {"rounds"} | (set() if compared else {"p_randomization", "p_t"})
            assert row["low"] <= row["mean"] <= row["high"]
            assert row["difference_low"] <= row["difference"] <= row["difference_high"]


@pytest.mark.parametrize("part", ["test", "valid"])
def test_a_data_frame_has_the_rows(comparison: Any, part: str) -> None:
    """All numbers, unrounded."""
    frame = comparison.to_pandas(part)
    rows = comparison.summary(part)
    assert list(frame.columns) == [item.name for item in dataclasses.fields(rows[0])]
    for (_, found), row in zip(frame.iterrows(), rows, strict=True):
        np.testing.assert_equal(dict(found), dataclasses.asdict(row))


def test_the_array_has_the_value_of_each_query(comparison: Any) -> None:
    """By ranker, seed and query, fold by fold, as from rankers that are fitted by hand."""
    for part in ("test", "valid"):
        scores = comparison.parts[part]
        assert list(scores.values) == ["ndcg@10", "rr"]
        for number, fold in enumerate(Dataset("data", X, Y, QID, 3).splits, 1):
            rows, own = getattr(fold, part), scores.folds == number
            assert [scores.queries[place] for place in np.flatnonzero(own)] == [
                *dict.fromkeys(QID[rows].tolist())
            ]
            for cube, ranker in zip(scores.values["ndcg@10"], NOISY.values(), strict=True):
                for values, seed in zip(cube, (0, 1), strict=True):
                    by_hand = clone(ranker).set_params(random_state=seed).predict(X[rows])
                    expected = NDCG(k=10).per_query(Y[rows], by_hand, qid=QID[rows])
                    np.testing.assert_array_equal(values[own], expected)
