"""The comparison itself: every ranker on every fold from every seed, in several processes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.argument_error import found_in
from gbrank.common.arrays import Vector
from gbrank.common.checks import check_choice, check_number, listed, refuse_twice
from gbrank.common.extras import needed
from gbrank.data.documents import Documents
from gbrank.data.frames import as_frame
from gbrank.data.ids import as_list
from gbrank.data.queries import Queries
from gbrank.evaluation.comparison import PARTS, Comparison
from gbrank.evaluation.dataset import Dataset, Folds
from gbrank.evaluation.fits import Fit, configure, run_fits
from gbrank.evaluation.query_values import QueryValues
from gbrank.evaluation.scorable import scores_from
from gbrank.measures.measure import Measure, bind_to_rows
from gbrank.measures.measure_registry import Metric, get_measures
from gbrank.objectives.objective_registry import get_objective
from gbrank.ranker import GBRanker

OF_DATA = (  # options of `Dataset`
    "sample_weight",
    "query_weight",
    "init_score",
    "position",
    "labels",
    "categorical_feature",
    "judged_by",
    "docid",
)
OTHERS: dict[str, tuple[str, dict[str, Any]]] = {  # libraries; their rankers, kept quiet
    "lightgbm": ("LGBMRanker", {"verbosity": -1}),
    "xgboost": ("XGBRanker", {"enable_categorical": True}),
    "catboost": (
        "CatBoostRanker",
        {"n_estimators": 1000, "logging_level": "Silent", "allow_writing_files": False},
    ),
}


def cross_validate_rankers(
    rankers: Mapping[str, Any],
    X: Any,
    y: ArrayLike,
    qid: ArrayLike,
    *,
    folds: Folds = 5,
    name: str = "data",
    **options: Any,
) -> Comparison:
    """Compare rankers on one data set by cross-validation.

    Parameters
    ----------
    rankers
        As for `compare_rankers`.
    X, y, qid, folds, name
        As for `Dataset`.
    **options
        For `Dataset`: judged_by, docid, labels, sample_weight and the other columns; for
        `compare_rankers`: seeds, measures, baseline, difference, n_jobs, progress.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from gbrank import GBRanker, cross_validate_rankers, make_cubic
    >>> rankers = {name: GBRanker(name, n_estimators=10) for name in ("ranknet", "lambdarank")}
    >>> result = cross_validate_rankers(rankers, *make_cubic(9, random_state=0), folds=3, n_jobs=1)
    >>> [(row.ranker, row.n_queries) for row in result.summary()]
    [('ranknet', 9), ('lambdarank', 9)]
    """
    columns = {key: options.pop(key) for key in OF_DATA if key in options}
    data = Dataset(name, X, y, qid, folds, **columns)
    (comparison,) = compare_rankers(rankers, [data], **options)
    return comparison


def compare_rankers(
    rankers: Mapping[str, Any],
    datasets: Sequence[Dataset],
    *,
    seeds: int | Sequence[int] = 5,
    measures: Sequence[Metric] = ("ndcg@10",),
    baseline: str | None = None,
    difference: float = 0.01,
    n_jobs: int | None = None,
    progress: bool = True,
) -> list[Comparison]:
    """Train every ranker on every fold of every data set from every seed, and judge them.

    A ranker is trained on the training rows of a fold, with the validation rows as its
    `eval_set`, and judged on each validation and test query. Every fit uses one thread; fits run
    in several processes, and their number changes no result. Before all else, each ranker that has
    `n_estimators` is trained for two rounds on each data set, so that none is refused later.

    Parameters
    ----------
    rankers : mapping of str to estimator, str or scores
        By name: estimators with `fit` and `predict`, which are trained, fitted or not; the name of
        an objective, for `GBRanker` with it, or "lightgbm", "xgboost" or "catboost", for their
        rankers, all with default parameters; or what `scores_from` takes, which is judged as it is:
        a booster, the file of a model, a column, scores, a TREC run. (So is a fitted estimator in
        scikit-learn's ``FrozenEstimator``.) What has seen the test queries in training will look
        better than it is. A `random_state` is set to the seed, and `n_jobs` (CatBoost's
        `thread_count`) to 1. An estimator whose `fit` takes no qid is given LightGBM's group,
        CatBoost's group_id, or no queries, whatever it takes; validation data only where it takes
        them with queries.
    datasets : sequence of Dataset
    seeds : int or sequence of int
        How often each fit is repeated, or from which seeds.
    measures : sequence of str, Measure or callable
    baseline : str, optional
        The ranker that the others are compared with; the first by default.
    difference : float
        The summary says how many queries it takes to tell a difference of this size.
    n_jobs : int, optional
        Processes; as many as there are processors by default. They know what is registered by
        modules that they import; to register more, call this in a
        ``joblib.parallel_config(backend="loky", initializer=...)``.
    progress : bool
        Whether to show a bar on standard error.

    Returns
    -------
    list of Comparison
        One for each data set.

    Raises
    ------
    ValueError, TypeError
        If an argument is not usable, or a ranker refuses the data.

    Examples
    --------
    >>> from gbrank import GBRanker, compare_rankers, make_cubic
    >>> from gbrank.evaluation import Dataset
    >>> datasets = [Dataset(f"cubic {i}", *make_cubic(9, random_state=i), folds=3) for i in (1, 2)]
    >>> rankers = {"ranknet": GBRanker("ranknet", n_estimators=5)}
    >>> comparisons = compare_rankers(rankers, datasets, seeds=1, n_jobs=1, progress=False)
    >>> [(comparison.data, comparison.summary()[0].n_queries) for comparison in comparisons]
    [('cubic 1', 9), ('cubic 2', 9)]
    """
    resolved = get_measures(measures, "measures")
    _check_datasets(datasets, resolved)
    estimators = _check_rankers(rankers, datasets)
    numbers = _check_seeds(seeds)
    check_number(difference, "difference", 0, open_low=True)
    first = next(iter(estimators))
    baseline = check_choice(first if baseline is None else baseline, "baseline", estimators)
    fits = [
        Fit(name, configure(ranker[data.name], random_state=seed, n_jobs=1), data, seed, fold)
        for data in datasets
        for name, ranker in estimators.items()
        for seed in numbers
        for fold in range(1, len(data.splits) + 1)
    ]
    results = iter(run_fits(fits, resolved, n_jobs, progress))
    names = list(map(str, resolved))
    comparisons = []
    for data in datasets:
        shape = len(estimators), len(numbers), len(data.splits)
        done = list(islice(results, math.prod(shape)))
        comparisons.append(
            Comparison(
                data.name,
                list(estimators),
                numbers,
                names,
                _values(data, [fit.values for fit in done], shape),
                np.array([fit.rounds for fit in done], np.float64).reshape(shape),
                np.array([fit.cpu_seconds for fit in done]).reshape(shape),
                baseline,
                difference,
            )
        )
    return comparisons


def _values(
    data: Dataset, fits: Sequence[dict[str, dict[str, Vector]]], shape: tuple[int, ...]
) -> dict[str, QueryValues]:
    """Return the values of all fits by part; fits are in the order of rankers, seeds and folds."""
    values = {}
    for part in PARTS:
        folds = [getattr(fold, part) for fold in data.splits]
        queries = [
            as_list(Queries.from_qid(data.qid[rows]).ids) if len(rows) else [] for rows in folds
        ]
        by_fit = [fit[part] for fit in fits if part in fit]
        if by_fit:
            values[part] = QueryValues(
                list(chain(*queries)),
                np.repeat(np.arange(len(queries)) + 1, list(map(len, queries))),
                {
                    name: np.concatenate([fit[name] for fit in by_fit]).reshape(*shape[:2], -1)
                    for name in by_fit[0]
                },
            )
    return values


def _check_rankers(rankers: object, datasets: Sequence[Dataset]) -> dict[str, dict[str, Any]]:
    """Return each ranker, or its scores, on each data set."""
    if not isinstance(rankers, Mapping) or not rankers:
        raise ValueError(f"rankers must be a dict of name to ranker, got {rankers!r}.")
    if not all(isinstance(name, str) for name in rankers):
        raise TypeError(f"rankers must have names that are texts, got {listed(rankers)}.")
    return {
        name: {data.name: _on_data(name, ranker, data) for data in datasets}
        for name, ranker in rankers.items()
    }


def _on_data(name: str, ranker: Any, data: Dataset) -> Any:
    """Return a ranker to train, or the scores of one that is judged as it is."""
    if hasattr(ranker, "fit") and not isinstance(ranker, type):
        return ranker
    if isinstance(ranker, str):
        frame = as_frame(data.X, "X")
        is_column = frame is not None and ranker in frame.columns
        if not is_column and not Path(ranker).exists():
            return _as_it_comes(ranker)
    with found_in(f"rankers[{name!r}]: "):
        return scores_from(ranker, data.X, qid=data.qid, docid=data.docid)


def _as_it_comes(name: str) -> Any:
    """Return a library's own ranker, or a GBRanker with an objective, with default parameters."""
    if name in OTHERS:
        kind, params = OTHERS[name]
        return getattr(needed(name), kind)(**params)
    return GBRanker(get_objective(name))  # an object: other processes may not know the name


def _check_datasets(datasets: object, measures: list[Measure]) -> None:
    if not isinstance(datasets, Sequence) or not datasets:
        raise ValueError(f"datasets must be a list of at least one Dataset, got {datasets!r}.")
    for data in datasets:
        if not isinstance(data, Dataset):
            raise TypeError(f"datasets must hold Datasets, got {data!r}.")
        for number, fold in enumerate(data.splits, 1):
            for part, rows in zip(PARTS, fold[1:], strict=True):
                if len(rows):
                    with found_in(f"{data.name}, {part} of fold {number}: "):
                        check_measures(measures, data.rows(rows))
    refuse_twice("datasets", [data.name for data in datasets])


def check_measures(measures: Sequence[Measure], rows: Documents) -> None:
    """Refuse measures that have no value on any query."""
    for measure in measures:
        bind_to_rows(measure, rows, 1).mean(np.zeros(len(rows.y)))


def _check_seeds(seeds: object) -> list[int]:
    if isinstance(seeds, Sequence) and not isinstance(seeds, str):
        numbers = [check_number(seed, "seeds", 0, integer=True) for seed in seeds]
        if not numbers:
            raise ValueError("seeds must hold at least one seed, got none.")
        refuse_twice("seeds", numbers)
        return numbers
    return list(range(check_number(seeds, "seeds", 1, integer=True)))
