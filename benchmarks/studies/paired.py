"""Rankers compared with the first of them, on the same queries."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.strata import interval, randomisation_test, stratified_mean
from gbrank.common.arrays import Matrix

__all__ = ["against_first", "difference"]


def against_first(strata: Sequence[Matrix]) -> list[dict[str, Any]]:
    """Return each ranker's NDCG@10, and its difference from the first with interval and p-value.

    There is an array for each data set, shape (n_rankers, n_queries). Of the first ranker
    itself, all but NDCG@10 is None.
    """
    differences = [values[1:] - values[0] for values in strata]
    columns = {
        "difference": stratified_mean(differences),
        **dict(zip(("low", "high"), interval(differences), strict=True)),
        "p": randomisation_test(differences),
    }
    return [
        {
            "ndcg@10": float(mean),
            **{name: float(values[i - 1]) if i else None for name, values in columns.items()},
        }
        for i, mean in enumerate(stratified_mean(strata))
    ]


def difference(row: Mapping[str, Any]) -> str:
    """Return the cell of a table: the difference from the first ranker, with its interval."""
    return f"{row['difference']:+.4f} ({row['low']:+.4f} to {row['high']:+.4f})"
