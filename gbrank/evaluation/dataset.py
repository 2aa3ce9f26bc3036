"""Data sets with folds, and the fits of a comparison: a ranker on one fold from one seed."""

import signal
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from gbrank.common.checks import (
    ArgumentError,
    Function,
    Positions,
    Vector,
    check_integer,
    check_jobs,
    error_context,
    queries_needed,
    quoted,
    unknown_names,
)
from gbrank.common.progress import Bar
from gbrank.common.runtime import usable_threads
from gbrank.data.documents import Documents, fit_arguments, take_rows
from gbrank.data.lookup import warn_of_repeats
from gbrank.data.queries import Queries
from gbrank.data.splitting import Fold, LetorFolds
from gbrank.data.trec import Run
from gbrank.fit.arguments import take_named_columns, take_queries
from gbrank.fit.estimator import BaseRanker
from gbrank.fit.interrupted import as_part
from gbrank.measures.judges import JUDGE, PEOPLE, with_judge
from gbrank.objectives.objective_registry import get_objective

from .comparison import PARTS
from .scorable import predicted, select_columns


class LabeledDocuments(NamedTuple):
    """Documents of whole queries, as `GBRanker.fit` takes them."""

    X: Any
    y: Vector
    qid: NDArray[Any]


class Dataset:
    """Documents with labels, queries and folds.

    Parameters
    ----------
    name : str
        Name of the data set in results.
    X, y, qid
        Features, labels and queries, as for `GBRanker.fit`; y, qid and further columns may be names
        of columns of a data frame X.
    folds : int, splitter or sequence of (train, valid, test) or (train, test)
        Number of folds, as made by `LetorFolds`; a splitter, such as `QueryTimeSeriesSplit`; or row
        numbers. If a fold has no validation rows, rankers are trained without.
    **columns
        Further columns for training, as for `GBRanker.fit`: ``labels``, ``sample_weight``,
        ``query_weight``, ``init_score``, ``position``. Weights have no effect on evaluation;
        initial scores are added to predictions.
    judge_labels : array-like, shape (n_documents,), optional
        Labels by a judge, such as a language model, for all documents. y may then be NaN in queries
        that people did not judge: rankers are trained on people's labels where available, else on
        the judge's, and evaluated on both (see `compare_scores`).
    docid : array-like, shape (n_documents,), optional
        Names of the documents, for comparisons with TREC runs.
    categorical_feature : sequence of int or str, optional
        As for `GBRanker.fit`.

    Attributes
    ----------
    y : ndarray, shape (n_documents,)
    queries : Queries
    splits : list of Fold
        The folds, as row numbers.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid; among others, if a fold splits a query.

    Examples
    --------
    >>> from gbrank import make_cubic
    >>> from gbrank.evaluation import Dataset
    >>> data = Dataset("cubic", *make_cubic(30, random_state=0), folds=3)
    >>> [len(rows) for rows in data.splits[0]]
    [500, 500, 500]
    """

    def __init__(
        self,
        name: str,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike,
        folds: Any = 5,
        *,
        judge_labels: ArrayLike | None = None,
        docid: ArrayLike | None = None,
        categorical_feature: Sequence[int | str] | None = None,
        **columns: Any,
    ) -> None:
        check_known(columns)
        if qid is None:
            raise queries_needed("Dataset", "qid= (one query id per row)")
        X = X if hasattr(X, "shape") else np.asarray(X)
        X, columns = take_named_columns(X, {"y": y, "qid": qid, **columns})
        self.queries = take_queries(columns, X.shape[0])
        self.name = name
        self.docid = docid
        self.categorical_feature = categorical_feature
        self.only_to_judge: set[str] = set()  # labels that nothing is trained on
        warn_of_repeats(docid, self.queries)
        if judge_labels is not None:
            self.only_to_judge = {PEOPLE, JUDGE}
            columns |= with_judge(
                columns["y"], judge_labels, self.queries, columns.pop("labels", None)
            )
        self.documents = Documents.checked(X, queries=self.queries, **columns)
        self.X = self.documents.X
        self.y = self.documents.y
        self.qid = self.queries.qid
        if isinstance(folds, int | np.integer):
            folds = LetorFolds(check_integer(folds, "folds", 3, self.queries.n_queries))
        if hasattr(folds, "split"):
            folds = folds.split(self.X, self.y, self.qid)
        self.splits = [
            _check_fold(fold, self.queries, f"folds[{number}]") for number, fold in enumerate(folds)
        ]
        if not self.splits:
            raise ArgumentError("folds", "must hold at least one fold", "none")

    def fold(self, number: int) -> tuple[LabeledDocuments, LabeledDocuments, LabeledDocuments]:
        """Get the documents of a fold to train on, to validate on and to test on.

        Parameters
        ----------
        number : int
            Which fold, counted from 1.

        Returns
        -------
        train, valid, test
            Each has X, y and qid.

        Raises
        ------
        ValueError
            If there is no such fold.

        Examples
        --------
        >>> from gbrank import GBRanker, make_cubic
        >>> from gbrank.evaluation import Dataset
        >>> data = Dataset("cubic", *make_cubic(30, n_documents=10, random_state=0))
        >>> train, valid, test = data.fold(1)
        >>> ranker = GBRanker(n_estimators=10, n_jobs=1).fit(train.X, train.y, qid=train.qid)
        >>> 0 < ranker.score(test.X, test.y, test.qid) < 1
        True
        """
        check_integer(number, "number", 1, len(self.splits))
        train, valid, test = (
            LabeledDocuments(take_rows(self.X, rows), self.y[rows], self.qid[rows])
            for rows in self.splits[number - 1]
        )
        return train, valid, test

    def rows(self, rows: Positions) -> Documents:
        """Take rows of whole queries, with features as the user passed them."""
        return take_whole_queries(self.documents, rows)


def take_whole_queries(documents: Documents, rows: Positions) -> Documents:
    """Take rows of whole queries, in any order."""
    queries = Queries.from_qid(documents.queries.index[rows])
    numbers = queries.ids
    ids = documents.queries.ids[numbers]
    return documents.take(rows, replace(queries, ids=ids), numbers)


def check_known(names: Iterable[str], *functions: Function) -> None:
    """Refuse names that are neither columns of a data set nor keywords of these functions."""
    takers: list[Function] = [Dataset, Documents.checked, *functions]
    known = {
        item.name
        for function in takers
        for item in signature(function).parameters.values()
        if item.kind is item.KEYWORD_ONLY
    }
    if unknown := sorted({*names} - known):
        raise TypeError(unknown_names("argument", unknown, known))


def _check_fold(fold: Any, queries: Queries, where: str) -> Fold:
    """Check that no row and no query is in a fold twice."""
    parts = [np.asarray(rows) for rows in fold] if hasattr(fold, "__len__") else []
    if len(parts) not in (2, 3):
        raise ArgumentError(where, "must be (train, valid, test) or (train, test)", quoted(fold))
    rows = np.concatenate(parts)
    outside = rows.dtype.kind not in "iu" or not np.isin(rows, queries.order).all()
    if outside or not all(map(len, parts)) or len(np.unique(rows)) < len(rows):
        last = queries.n_documents - 1
        raise ArgumentError(
            where,
            f"must hold rows from 0 to {last} in each part, each row at most once",
            quoted(fold),
        )
    n_parts = np.sum([queries.count(rows) > 0 for rows in parts], axis=0)
    if (n_parts > 1).any():
        name = quoted(queries.id_list[n_parts.argmax()])
        raise ArgumentError(where, "must not split a query", f"query {name} in two of its parts")
    if len(parts) == 2:
        parts.insert(1, rows[:0])
    return Fold(*(rows.astype(np.int64) for rows in parts))


class Fit(NamedTuple):
    """A ranker to train, or its scores, with the seed and the fold, which is counted from 1."""

    name: str
    ranker: Any
    data: Dataset
    seed: int
    fold: int

    def __str__(self) -> str:
        return f"{self.name} on {self.data.name}, seed {self.seed}, fold {self.fold}"


class FitResult(NamedTuple):
    """Scores of the documents of each part, rounds of the model (NaN if unknown), CPU seconds."""

    scores: Mapping[str, Vector]
    rounds: float
    seconds: float


def run_fits(fits: Sequence[Fit], n_jobs: int | None, progress: bool) -> list[FitResult]:
    """Train in several processes, after a trial of each ranker: none fails late."""
    processes = usable_threads(check_jobs(n_jobs))
    for fit in {(fit.data.name, fit.name): fit for fit in fits}.values():
        try_ranker(fit)
    results = map(run, fits)  # whose warnings name the caller's line, and not joblib's
    if processes > 1:
        parallel = joblib.Parallel(processes, return_as="generator", batch_size=1)
        portable = [fit._replace(ranker=_without_names(fit.ranker)) for fit in fits]
        results = parallel(map(joblib.delayed(run_in_worker), portable))
    done = []
    with Bar(total=len(fits), disable=not progress, unit="fit") as bar:
        for fit, result in zip(fits, results, strict=True):
            done.append(result)
            bar.set_postfix_str(str(fit), refresh=False)
            bar.update()
    return done


def _without_names(ranker: Any) -> Any:
    """Copy a ranker with objects in place of names, which other processes may not know."""
    if not isinstance(ranker, BaseRanker):
        return ranker
    params = ranker.get_params(deep=False)
    measures = ranker._measures()
    values = {"eval_metric": measures, "measure": measures[0]}
    if isinstance(params.get("objective"), str):
        values["objective"] = get_objective(params["objective"])
    return clone(ranker).set_params(**{name: values[name] for name in values.keys() & params})


def try_ranker(fit: Fit) -> None:
    """Train a ranker that has rounds for two, one of its start, on all rows of its data set."""
    ranker = configure(fit.ranker, n_estimators=2)
    if is_scored(ranker) or "n_estimators" not in _parameters(ranker).values():
        return
    data = fit.data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fits themselves warn
        try:
            fold = data.splits[fit.fold - 1]
            fit_on_fold(ranker, data, fold._replace(train=np.arange(len(data.y))))
        except ArgumentError as error:
            raise error.within(f"{fit.name} on {data.name}: ") from None
        except Exception as error:  # libraries have their own kinds
            raise ValueError(f"{fit.name} on {data.name}: {error}") from error


def run(fit: Fit) -> FitResult:
    """Train a ranker, and score validation and test queries, unless it is scores already."""
    if is_scored(fit.ranker):
        return FitResult({}, rounds=np.nan, seconds=0.0)
    data = fit.data
    fold = data.splits[fit.fold - 1]
    start = time.process_time()
    with error_context(f"{fit}: "):
        ranker = fit_on_fold(fit.ranker, data, fold)
    seconds = getattr(ranker, "cpu_seconds_", time.process_time() - start)
    rounds = getattr(ranker, "best_iteration_", None) or np.nan  # LightGBM says 0 for all of them
    scores = {
        part: scores_on(ranker, data.rows(rows))
        for part in PARTS
        if len(rows := getattr(fold, part))
    }
    return FitResult(scores, rounds, seconds)


def run_in_worker(fit: Fit) -> FitResult:
    """Do `run` in a process that leaves Ctrl-C to its parent."""
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return run(fit)
    finally:
        signal.signal(signal.SIGINT, previous)


def is_scored(ranker: object) -> bool:
    """Check for scores of rows, or a run, which need no training."""
    return isinstance(ranker, np.ndarray | Run)


def _parameters(ranker: Any) -> dict[str, str]:
    """Map each parameter to the last word of its name, in steps of pipelines too."""
    return {name: name.rpartition("__")[2] for name in ranker.get_params(deep=True)}


def configure(ranker: object, **values: Any) -> Any:
    """Clone a ranker, with these values of the parameters that it has."""
    if is_scored(ranker):
        return ranker
    copy = clone(ranker)
    params = {name: values[word] for name, word in _parameters(copy).items() if word in values}
    return copy.set_params(**params)


def fit_on_fold(ranker: Any, data: Dataset, fold: Fold) -> Any:
    """Train a ranker on the training rows of a fold, with those to validate on, if any."""
    parts = []
    for rows in map(data.rows, filter(len, (fold.train, fold.valid))):
        labels = {k: values for k, values in rows.labels.items() if k not in data.only_to_judge}
        rows = replace(rows, labels=labels)
        if not isinstance(ranker, BaseRanker):  # other libraries need queries one by one
            rows = replace(rows, X=select_columns(ranker, rows.X)).grouped()
        parts.append(rows.arguments())
    arguments = fit_arguments(*parts)
    if data.categorical_feature is not None:
        arguments["categorical_feature"] = data.categorical_feature
    arguments = _accepted_by_fit(ranker, arguments)
    return as_part(lambda: ranker.fit(arguments.pop("X"), arguments.pop("y"), **arguments))


def _accepted_by_fit(ranker: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Adapt the arguments to an estimator's `fit`: queries as qid, as LightGBM's group, or none.

    Queries and validation data that `fit` does not accept are left out; weights, positions and
    the like are refused.
    """
    accepted = signature(getattr(ranker, "_final_estimator", ranker).fit).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in accepted.values()):
        return arguments
    optional = {"qid", "eval_set", "eval_qid"} - set(accepted)
    adapted = {name: value for name, value in arguments.items() if name not in optional}
    if "verbose" in accepted and "qid" in accepted:  # XGBoost prints each round
        adapted["verbose"] = False
    if "group" in accepted and "qid" not in accepted:
        adapted["group"] = Queries.from_qid(arguments["qid"]).sizes
        if "eval_set" in adapted:
            adapted["eval_group"] = [Queries.from_qid(qid).sizes for qid in arguments["eval_qid"]]
            if "eval_X" in accepted:  # new versions of LightGBM
                adapted["eval_X"], adapted["eval_y"] = zip(*adapted.pop("eval_set"), strict=True)
    if unknown := sorted(set(adapted) - set(accepted) - {"X", "y"}):
        kind = type(ranker).__name__
        raise ArgumentError(unknown[0], f"must be None: the fit of {kind} has no such parameter")
    return adapted


def scores_on(ranker: Any, rows: Documents) -> Vector:
    """Score rows, and add initial scores, which are not part of a ranker."""
    scores: Vector = predicted(ranker, rows.X, rows.queries.qid)
    return scores if rows.init_score is None else scores + rows.init_score
