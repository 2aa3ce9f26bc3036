"""Means over several data sets, each with the same weight: intervals and paired tests.

All take one array per data set (stratum), shape (n_tests, n_queries).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import stats

from gbrank.common.checks import Matrix, Vector
from gbrank.evaluation import Comparison
from gbrank.evaluation.statistics import CELLS, RESAMPLES, SEED, holm

__all__ = [
    "against_first", "difference", "interval", "pooled_rows", "randomization_test",
    "stratified_mean",
]  # fmt: skip


def stratified_mean(strata: Sequence[Matrix]) -> Vector:
    """Return the mean over data sets of the mean over queries."""
    return np.mean([values.mean(axis=-1) for values in strata], axis=0)


def interval(strata: Sequence[Matrix]) -> tuple[Vector, Vector]:
    """Return a 95% bootstrap interval of the mean; queries are resampled within their data set."""
    # B. Efron, R. Tibshirani. An Introduction to the Bootstrap. 1993, chapter 13.
    return stats.bootstrap(
        strata,
        lambda *resampled, axis: stratified_mean(resampled),
        n_resamples=RESAMPLES,
        batch=max(1, CELLS // sum(values.size for values in strata)),
        vectorized=True,
        axis=-1,
        confidence_level=0.95,
        method="percentile",
        random_state=np.random.default_rng(SEED),
    ).confidence_interval


def randomization_test(strata: Sequence[Matrix]) -> Vector:
    """Return p-values of the paired randomization test that the mean difference is zero."""
    weighted = np.concatenate([values / values.shape[1] for values in strata], axis=1)
    total = np.abs(weighted).sum(axis=1, keepdims=True)
    shares = np.divide(weighted, total, out=np.zeros_like(weighted), where=total > 0)
    return stats.permutation_test(
        (np.ones(shares.shape[1]),),  # the same tosses for all tests
        lambda signs, axis: np.abs(signs @ shares.T).round(12),
        permutation_type="samples",
        alternative="greater",
        n_resamples=RESAMPLES,
        batch=max(1, CELLS // shares.shape[1]),
        vectorized=True,
        axis=-1,
        random_state=np.random.default_rng(SEED),
    ).pvalue


def pooled_rows(comparisons: Sequence[Comparison], part: str) -> Iterator[dict[str, Any]]:
    """Yield a row for each measure and ranker of all data sets together."""
    first = comparisons[0]
    base = first.rankers.index(first.baseline)
    for metric in first.metrics:
        cubes = [comparison.parts[part].by_query(metric) for comparison in comparisons]
        strata = [cube[:, :, ~np.isnan(cube).any(axis=(0, 1))].mean(axis=1) for cube in cubes]
        differences = [values - values[base] for values in strata]
        p = randomization_test(differences)
        p[base] = np.nan
        columns = {
            "mean": stratified_mean(strata),
            **dict(zip(("low", "high"), interval(strata), strict=True)),
            "difference": stratified_mean(differences),
            **dict(zip(("difference_low", "difference_high"), interval(differences), strict=True)),
            "p_randomization": holm(p),
            "rounds": np.mean([item.rounds.mean(axis=(1, 2)) for item in comparisons], axis=0),
            "cpu_seconds": np.mean(
                [item.cpu_seconds.mean(axis=(1, 2)) for item in comparisons], axis=0
            ),
        }
        n_queries = sum(values.shape[1] for values in strata)
        counts = {
            "n_queries": n_queries,
            "n_skipped": sum(cube.shape[2] for cube in cubes) - n_queries,
        }
        for place, ranker in enumerate(first.rankers):
            numbers = {name: float(column[place]) for name, column in columns.items()}
            known = {name: None if np.isnan(value) else value for name, value in numbers.items()}
            yield {"data": "pooled", "metric": metric, "ranker": ranker, **counts, **known}


def against_first(strata: Sequence[Matrix]) -> list[dict[str, Any]]:
    """Return each ranker's NDCG@10, and its difference from the first with interval and p-value.

    There is an array for each data set, shape (n_rankers, n_queries). Of the first ranker
    itself, all but NDCG@10 is None.
    """
    differences = [values[1:] - values[0] for values in strata]
    columns = {
        "difference": stratified_mean(differences),
        **dict(zip(("low", "high"), interval(differences), strict=True)),
        "p": randomization_test(differences),
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
