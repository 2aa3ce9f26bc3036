"""Comparisons: of scores, and of rankers on every fold from every seed."""

from __future__ import annotations  # short signatures in the documentation

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.checks import (
    ArgumentError,
    Array,
    Vector,
    check_choice,
    check_integer,
    check_number,
    check_scores,
    check_unique,
    error_context,
    quoted,
)
from gbrank.common.files import StrPath, is_path
from gbrank.common.runtime import import_optional
from gbrank.data.documents import Documents
from gbrank.data.frames import as_frame
from gbrank.data.ids import key_of
from gbrank.data.lookup import warn_of_repeats
from gbrank.data.queries import Queries
from gbrank.data.trec import Run, is_in_memory, with_retrieved
from gbrank.fit.arguments import Ids
from gbrank.fit.known_elsewhere import explains_words
from gbrank.measures.judges import JUDGE, PEOPLE, check_of_y, with_judge
from gbrank.measures.measure import Measure, bind_to_rows
from gbrank.measures.measure_registry import Metrics, get_measures
from gbrank.objectives.objective_registry import get_objective
from gbrank.ranker import GBRanker

from .comparison import PARTS, Comparison, QueryValues
from .dataset import Dataset, Fit, check_known, configure, is_scored, run_fits, take_whole_queries
from .scorable import open_source, predicted, read_judgments, scores_from

DEFAULT_RANKERS: dict[str, tuple[str, dict[str, Any]]] = {  # of other libraries, kept quiet
    "lightgbm": ("LGBMRanker", {"verbosity": -1}),
    "xgboost": ("XGBRanker", {"enable_categorical": True}),
}

# Runs and judgments by query and document, data frames, or records.
InMemory: TypeAlias = Mapping[Any, Mapping[Any, float]] | Iterable[Any]


@explains_words
def compare_scores(
    scores: Mapping[str, Any],
    y: ArrayLike | StrPath | InMemory,
    qid: Ids | None = None,
    *,
    group: ArrayLike | None = None,
    metric: Metrics = "ndcg@10",
    baseline: str | None = None,
    judge_labels: ArrayLike | StrPath | InMemory | None = None,
    labels: Mapping[str, ArrayLike] | None = None,
    X: Any = None,
    docid: Ids | None = None,
    target_difference: float = 0.01,
    name: str = "data",
) -> Comparison:
    """Compare scores of the same documents: means, intervals, paired tests.

    Nothing is trained: the inputs are arrays of scores, or anything else that `scores_from`
    accepts.

    TREC runs are evaluated as by trec_eval: judged documents missing from a run were never
    retrieved and count in the ideal ranking only; retrieved documents without a judgment have label
    0; tied scores are ordered by name. Queries without judgments are excluded; queries missing from
    a run count as nothing retrieved, with a warning. The label "judged", used by `judged@10`, is
    then available.

    With `judge_labels`, y holds people's labels of some queries, sampled at random, and
    `judge_labels` the labels of a judge, such as a language model, of all. Means and differences
    are estimates of those by people's labels, made more precise by the judge's (prediction-powered
    inference): an unreliable judge makes intervals wider, not wrong. Intervals use the t
    distribution with n − 2 degrees of freedom, and are never wider than with people's labels alone;
    the slope on the judge is shrunk if people judged few queries. The summary states how many
    additional queries of people the judge is equivalent to.

    Parameters
    ----------
    scores : mapping of str to scores
        By name: an array with one score per row (−inf: never retrieved), or a model, its file, a
        column of X, a TREC run.
    y : array-like, shape (n_documents,), or path
        Nonnegative labels; with `judge_labels`, NaN in queries that people did not judge. For runs,
        the path of TREC qrels, or qrels in memory.
    qid, group
        The queries, as for `GBRanker.fit`; by default, all rows are one query.
    metric : str, Measure, callable, or sequence of them
        The metrics to compare.
    baseline : str, optional
        The name that others are compared with; the first by default.
    judge_labels : array-like, shape (n_documents,), or path, optional
        Labels by a judge, for all documents; or the path of the judge's qrels.
    labels : mapping of str to array-like, optional
        Further labels, to which a metric may refer.
    X : array-like, sparse matrix or data frame, optional
        Features, required for models and columns.
    docid : array-like, shape (n_documents,), optional
        Names of the documents in TREC runs.
    target_difference : float
        The summary states how many queries are needed to detect a difference of this size.
    name : str
        Name of the data.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid.

    References
    ----------
    A. Angelopoulos, S. Bates, C. Fannjiang, M. Jordan, T. Zrnic. Prediction-powered inference.
    Science 382, 2023; A. Angelopoulos, J. Duchi, T. Zrnic. PPI++: efficient prediction-powered
    inference. arXiv:2311.01453, 2023.

    Examples
    --------
    >>> from gbrank import compare_scores, make_cubic
    >>> X, y, qid = make_cubic(60, n_documents=10, random_state=0)
    >>> comparison = compare_scores(
    ...     {"live": X[:, 0], "new": X[:, 0] + X[:, 1]}, y, qid, metric="map"
    ... )
    >>> row = comparison.summary()[1]
    >>> row.ranker, row.n_queries, row.difference_low < row.difference < row.difference_high
    ('new', 60, True)
    """
    baseline = _check_names(scores, "scores", baseline, target_difference)
    measures = get_measures(metric, "metric")
    query_key: Any = key_of
    if is_path(y) or is_in_memory(y):  # qrels, in place of labels by row
        if any(argument is not None for argument in (qid, group, docid, X)):
            raise ArgumentError(
                "y", "must be labels by row where qid, group, docid or X are passed", quoted(y)
            )
        y, qid, docid, judge_labels = read_judgments(y, judge_labels)
        query_key = str
    n = np.size(cast(Any, y))
    queries = Queries.resolve(n, qid, group)
    warn_of_repeats(docid, queries)
    sources: dict[str, Any] = {}
    for key, source in scores.items():
        with error_context(f"scores[{key!r}]: "):
            opened = open_source(source, X, key)
            if not isinstance(opened, Run):
                opened = check_scores(predicted(opened, X, qid, group), n, unretrieved=True)
            sources[key] = opened
    data: dict[str, Any] = {"y": y, "labels": labels}
    decisive = measures
    if judge_labels is None:
        _check_no_judge(labels)
    else:
        data = with_judge(cast(Any, y), cast(Any, judge_labels), queries, labels)
        decisive = [replace(measure, label=PEOPLE) for measure in map(check_of_y, measures)]
    documents = Documents.checked(X, queries=queries, **data)
    documents, vectors = with_retrieved(documents, docid, sources, query_key)
    _check_measures(decisive, documents)
    return compared_scores(
        measures,
        documents,
        vectors,
        data=name,
        baseline=baseline,
        target_difference=target_difference,
    )


def compared_scores(
    measures: Sequence[Measure], documents: Documents, scores: Mapping[str, Vector], **options: Any
) -> Comparison:
    """Compare the scores of documents, which nothing was trained for; options are fields."""
    cube = np.array([[vector] for vector in scores.values()])
    unknown = np.full((len(scores), 1, 1), np.nan)
    return Comparison(
        rankers=list(scores),
        seeds=[0],
        metrics=list(map(str, measures)),
        parts={"test": QueryValues.of_scores(measures, documents, 1, cube)},
        rounds=unknown,
        cpu_seconds=unknown,
        **options,
    )


def cross_validate_rankers(
    rankers: Mapping[str, Any],
    X: Any,
    y: ArrayLike,
    qid: ArrayLike,
    *,
    folds: Any = 5,
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
        For `Dataset`: judge_labels, docid, labels, sample_weight and the other columns; for
        `compare_rankers`: seeds, metric, baseline, target_difference, n_jobs, progress.

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
    check_known(options, cross_validate_rankers, compare_rankers)
    names = options.keys() - signature(compare_rankers).parameters.keys()
    columns = {key: options.pop(key) for key in names}
    return compare_rankers(rankers, [Dataset(name, X, y, qid, folds, **columns)], **options)[0]


@explains_words
def compare_rankers(
    rankers: Mapping[str, Any],
    datasets: Sequence[Dataset],
    *,
    seeds: int | Sequence[int] = 5,
    metric: Metrics = "ndcg@10",
    baseline: str | None = None,
    target_difference: float = 0.01,
    n_jobs: int | None = None,
    progress: bool = True,
) -> list[Comparison]:
    """Train rankers on all folds of all data sets with all seeds, and compare them.

    A ranker is trained on the training rows of a fold, with the validation rows as its `eval_set`,
    and evaluated on each validation and test query. Fits run in several processes, whose number
    does not change the results. First, each ranker with `n_estimators` is trained for two rounds on
    each data set, so that errors occur early.

    Parameters
    ----------
    rankers : mapping of str to estimator, str or scores
        By name: estimators with `fit` and `predict`, which are trained, fitted or not; the name of
        an objective, for `GBRanker` with it, or "lightgbm" or "xgboost", for their rankers, all
        with default parameters; or anything that `scores_from` accepts, which is evaluated as it
        is: a booster, a model file, a column, scores, a TREC run, or a fitted estimator in
        scikit-learn's ``FrozenEstimator``. Models that saw the test queries in training look better
        than they are. `random_state` is set to the seed, and `n_jobs` to 1. An estimator whose
        `fit` does not accept qid receives LightGBM's group, or no queries; validation data are
        passed only if it accepts them with queries.
    datasets : sequence of Dataset
    seeds : int or sequence of int
        Number of repetitions of each fit, or the seeds.
    metric : str, Measure, callable, or sequence of them
        The metrics to compare.
    baseline : str, optional
        The ranker that others are compared with; the first by default.
    target_difference : float
        The summary states how many queries are needed to detect a difference of this size.
    n_jobs : int, optional
        Number of processes; as many as processors by default. They know what is registered by
        modules that they import; to register more, call this within
        ``joblib.parallel_config(backend="loky", initializer=...)``.
    progress : bool
        Whether to show a progress bar on standard error.

    Returns
    -------
    list of Comparison
        One for each data set.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid, or a ranker rejects the data.

    Examples
    --------
    >>> from gbrank import GBRanker, make_cubic
    >>> from gbrank.evaluation import Dataset
    >>> datasets = [Dataset(f"cubic {i}", *make_cubic(9, random_state=i), folds=3) for i in (1, 2)]
    >>> rankers = {"ranknet": GBRanker("ranknet", n_estimators=5)}
    >>> comparisons = compare_rankers(rankers, datasets, seeds=1, n_jobs=1, progress=False)
    >>> [(comparison.data, comparison.summary()[0].n_queries) for comparison in comparisons]
    [('cubic 1', 9), ('cubic 2', 9)]
    """
    measures = get_measures(metric, "metric")
    datasets = list(datasets)
    _check_datasets(datasets, measures)
    baseline = _check_names(rankers, "rankers", baseline, target_difference)
    numbers = _check_seeds(seeds)
    sources = {
        data.name: {name: _on_data(name, ranker, data) for name, ranker in rankers.items()}
        for data in datasets
    }
    fits = [
        Fit(name, configure(ranker, random_state=seed, n_jobs=1), data, seed, fold)
        for data in datasets
        for name, ranker in sources[data.name].items()
        for seed in numbers
        for fold in range(1, len(data.splits) + 1)
    ]
    results = run_fits(fits, n_jobs, progress)
    comparisons = []
    for data in datasets:
        done = [result for fit, result in zip(fits, results, strict=True) if fit.data is data]
        shape = (len(rankers), len(numbers), -1)
        scores, rounds, seconds = (
            np.array(column).reshape(shape) for column in zip(*done, strict=True)
        )
        comparisons.append(
            Comparison(
                data=data.name,
                rankers=list(rankers),
                seeds=numbers,
                metrics=list(map(str, measures)),
                parts=_values_of_parts(data, sources[data.name], scores, measures),
                rounds=rounds,
                cpu_seconds=seconds,
                baseline=baseline,
                target_difference=target_difference,
            )
        )
    return comparisons


def _values_of_parts(
    data: Dataset, sources: Mapping[str, Any], scores: Array, measures: Sequence[Measure]
) -> dict[str, QueryValues]:
    """Measure each part; documents that only runs retrieved are in their queries.

    `scores` has those of each ranker, seed and fold, by part.
    """
    scored = {name: source for name, source in sources.items() if is_scored(source)}
    documents, vectors = with_retrieved(data.documents, data.docid, scored)
    index = documents.queries.index
    added = np.arange(len(data.y), len(index))
    values = {}
    for part in PARTS:
        by_fold = []
        for number, fold in enumerate(data.splits, 1):
            if not len(rows := getattr(fold, part)):
                continue
            lists = np.concatenate([rows, added[np.isin(index[added], index[rows])]])
            absent = np.full(len(lists) - len(rows), -np.inf)
            cube = [
                [
                    vectors[name][lists] if name in vectors else np.append(by_part[part], absent)
                    for by_part in scores[ranker, :, number - 1]
                ]
                for ranker, name in enumerate(sources)
            ]
            judged = take_whole_queries(documents, lists)
            by_fold.append(QueryValues.of_scores(measures, judged, number, np.array(cube)))
        if by_fold:
            values[part] = QueryValues.concatenate(by_fold)
    return values


def _on_data(name: str, ranker: Any, data: Dataset) -> Any:
    """Resolve a name to a ranker with default parameters; open models, columns and runs."""
    if hasattr(ranker, "fit"):
        return ranker
    if isinstance(ranker, str):
        columns = getattr(as_frame(data.X), "columns", ())
        if ranker not in columns and not Path(ranker).exists():
            if ranker in DEFAULT_RANKERS:
                kind, params = DEFAULT_RANKERS[ranker]
                return getattr(import_optional(ranker), kind)(**params)
            return GBRanker(get_objective(ranker))  # an object: other processes may lack the name
    with error_context(f"rankers[{name!r}]: "):
        source = open_source(ranker, data.X, name)
        return source if isinstance(source, Run) else scores_from(source, data.X, qid=data.qid)


def _check_names(
    values: object, argument: str, baseline: str | None, target_difference: float
) -> str:
    """Refuse what is not by name; return the name of the baseline."""
    if not isinstance(values, Mapping) or not values:
        raise ArgumentError(
            argument, f"must be a dict that maps names to {argument}", quoted(values)
        )
    check_number(target_difference, "target_difference", above=0)
    return check_choice(next(iter(values)) if baseline is None else baseline, "baseline", values)


def _check_datasets(datasets: Sequence[Dataset], measures: Sequence[Measure]) -> None:
    """Refuse what is no data set, and measures without a value in a part of a fold."""
    if not datasets or not all(isinstance(data, Dataset) for data in datasets):
        raise ArgumentError("datasets", "must be a list of at least one Dataset", quoted(datasets))
    for data in datasets:
        if not data.only_to_judge:
            _check_no_judge(data.documents.labels)
        with error_context(f"{data.name}: "):
            _check_measures(measures, data.documents)
    check_unique("datasets", [data.name for data in datasets])


def _check_no_judge(labels: Mapping[str, Any] | None) -> None:
    """Refuse a label of the name that only a judge's have, where there is none."""
    if JUDGE in (labels or {}):
        raise ArgumentError(
            "labels", f"must not use the name {JUDGE!r}: pass a judge's labels as judge_labels="
        )


def _check_seeds(seeds: int | Sequence[int]) -> list[int]:
    """Check seeds; a number stands for 0, 1 and so on below it."""
    if not isinstance(seeds, Sequence):
        seeds = range(check_integer(seeds, "seeds", 1))
    if not (numbers := [check_integer(seed, "seeds", 0) for seed in seeds]):
        raise ArgumentError("seeds", "must hold at least one seed", "none")
    check_unique("seeds", numbers)
    return numbers


def _check_measures(measures: Sequence[Measure], documents: Documents) -> None:
    """Refuse measures that have no value on any query."""
    for measure in measures:
        scores = np.arange(len(documents.y), dtype=np.float64)
        bind_to_rows(measure, documents, 1).mean(scores)
