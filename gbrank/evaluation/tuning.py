"""The best ranker in some minutes: an Optuna study of the parameters that matter."""

from __future__ import annotations  # short signatures in the documentation

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gbrank.boosters import BOOSTERS
from gbrank.common.checks import ArgumentError, warn_user
from gbrank.common.describe import hash_of
from gbrank.common.runtime import import_optional
from gbrank.data.splitting import Fold, QueryKFold
from gbrank.fit.boosted_ranker import chosen_trees
from gbrank.fit.estimator import draw_seed
from gbrank.fit.interrupted import FitInterrupted
from gbrank.measures.measure import bind_to_rows
from gbrank.ranker import GBRanker

from .dataset import Dataset, check_known, fit_on_fold, scores_on

CHOICES = {"objective": ("ranknet", "listmle", "lambda:ndcg"), "extra_trees": (True, False)}
RANGES: Any = {
    "num_leaves": (8, 127),
    "min_child_samples": (5, 100),
    "rate": (0.25, 4.0),
    "colsample": (0.2, 1.0),
}
VARIANTS: Any = (  # tried after the ranker itself, as they often help
    {"objective": "ranknet", "num_leaves": 15}, {"rate": 0.5},
    {"objective": "listmle", "extra_trees": False},
)  # fmt: skip


def tune(
    X: Any,
    y: ArrayLike,
    *,
    qid: ArrayLike,
    ranker: GBRanker | None = None,
    minutes: float = 10.0,
    n_trials: int | None = None,
    folds: Any = 4,
    study: Any = None,
    callbacks: Sequence[Callable[..., None]] = (),
    progress: bool = False,
    **columns: Any,
) -> tuple[GBRanker, Any]:
    """Search for the best ranker within a time limit, by an Optuna study.

    The first trial has the parameters of `ranker`, by default GBRanker's own; three variants that
    often help come next, and the study's sampler chooses all others. A trial trains a ranker on
    each fold and evaluates it on the fold's other queries; after each fold the study's pruner may
    end it. A variant that raises an error, for example for a booster's parameter, is a failed
    trial. Finally, the best ranker is trained on all queries.

    Parameters
    ----------
    X, y, qid, **columns
        As for `GBRanker.fit`: labels, weights, categorical_feature and the other columns.
    ranker : GBRanker, optional
        The start of the search. Its first `eval_metric` is the goal; its booster, seed and all
        parameters that are not tuned stay unchanged.
    minutes : float above 0
        No trial begins later. The last one, and training the final ranker, are not cut off.
    n_trials : int, optional
        Largest number of trials of this call.
    folds : int, splitter or sequence of (train, valid)
        Number of folds of whole queries, the same in each call; or a splitter, such as
        `QueryTimeSeriesSplit`, which validates on later queries than it trains on; or row numbers,
        such as one pair for a single validation set.
    study : optuna.Study, optional
        Its storage keeps the trials, so that an interrupted call can resume and several processes
        can share one study. Its direction is "maximize"; it belongs to one data set, folds and
        ranker.
    callbacks : sequence of callable
        Called with the study and the trial after each trial, as by `optuna.Study.optimize`.
    progress : bool
        Whether to show Optuna's progress bar on standard error.

    Returns
    -------
    ranker : GBRanker
        The ranker of the best trial, fitted on all queries.
    study : optuna.Study
        All trials, for Optuna's tables and plots. `study.best_value` is the value of the best one
        on held-out queries; since it was selected by this value, expect a little less on other
        queries. The first trial has the value of `ranker`.

    Raises
    ------
    ImportError
        If Optuna is not installed.
    ValueError, TypeError
        If an argument is invalid, or the study belongs to other data.
    KeyboardInterrupt
        On Ctrl-C before any trial is finished, or while the final ranker is trained. At other
        times, Ctrl-C ends the trials with a warning, and the best ranker so far is returned.

    References
    ----------
    T. Akiba, S. Sano, T. Yanase, T. Ohta, M. Koyama. Optuna: a next-generation hyperparameter
    optimization framework. KDD 2019.

    Examples
    --------
    >>> import optuna
    >>> from gbrank import GBRanker, make_cubic, tune
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> X, y, qid = make_cubic(40, n_documents=10, random_state=0)
    >>> ranker = GBRanker(n_estimators=10, random_state=0, n_jobs=1)
    >>> best, study = tune(X, y, qid=qid, ranker=ranker, n_trials=3, folds=2)
    >>> study.best_value >= study.trials[0].value
    True
    >>> best.predict(X).shape
    (400,)
    """
    check_known(columns, tune)
    optuna = import_optional("optuna", "tune")
    ranker = GBRanker(random_state=0) if ranker is None else ranker
    if not isinstance(ranker, GBRanker) or ranker.init is not None:
        raise ArgumentError("ranker", "must be a GBRanker without init", f"{ranker!r}")
    if isinstance(folds, int | np.integer):
        folds = QueryKFold(folds, shuffle=True, random_state=0)
    data = Dataset("data", X, y, qid, folds, **columns)
    if any(len(fold.valid) for fold in data.splits):
        raise ArgumentError("folds", "must hold pairs of rows, to train on and to validate on")
    if study is None:
        sampler = optuna.samplers.TPESampler(seed=draw_seed(ranker.random_state))
        study = optuna.create_study(direction="maximize", sampler=sampler)
    documents = replace(data.documents, X=None)
    key = hash_of([ranker, documents.arguments(), data.queries.index, data.splits, data.X])
    if study.direction.name != "MAXIMIZE" or study.user_attrs.get("gbrank", key) != key:
        demand = "must maximize, and be of the same data, folds and ranker"
        raise ArgumentError("study", demand, repr(study.study_name))
    study.set_user_attr("gbrank", key)  # by which a later call knows it
    search = _Search(ranker, data)
    _enqueue(study, search.start)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the final fit itself warns
            study.optimize(
                search,
                n_trials,
                60 * minutes,
                catch=Exception,
                callbacks=callbacks,
                show_progress_bar=progress,
            )
    except KeyboardInterrupt:
        if not any(trial.state.name == "COMPLETE" for trial in study.trials):
            raise
        warn_user("Tuning interrupted: training the best ranker so far.", FitInterrupted)
    if search.refusals:
        raise search.refusals[0]
    whole = data.splits[0]._replace(train=np.arange(len(data.y)))
    return search.trained(study.best_params, whole), study


class _Search:
    """The value of a trial, as Optuna asks for it: the mean measure of the folds' other queries."""

    def __init__(self, ranker: GBRanker, data: Dataset) -> None:
        self.ranker = ranker
        self.data = data
        self.measure = ranker._measures()[0]
        self.refusals: list[Exception] = []  # of the ranker's own parameters
        params = ranker.get_params() | chosen_trees(ranker, data.queries) | {"rate": 1.0}
        self.start = {name: params[name] for name in ("n_estimators", *RANGES, *CHOICES)}
        if not BOOSTERS[ranker.booster].random_thresholds:
            del self.start["extra_trees"]
        if not isinstance(ranker.objective, str) or ranker.sigma is not None:
            del self.start["objective"]  # which goes with its sigma, or has no name

    def __call__(self, trial: Any) -> float:
        """Average the measure over folds, and report it fold by fold.

        A variant that is refused is a failed trial, the ranker ends all.
        """
        params = self.start
        values = list[float]()
        try:
            params = _suggested(trial, self.start)
            for fold in self.data.splits:
                held_out = self.data.rows(fold.test)
                scores = scores_on(self.trained(params, fold), held_out)
                values.append(bind_to_rows(self.measure, held_out, 1).mean(scores))
                trial.report(np.mean(values), len(values))
                if params != self.start and trial.should_prune():
                    raise import_optional("optuna", "tune").TrialPruned
        except Exception as error:
            if params == self.start:
                self.refusals.append(error)
                trial.study.stop()
            raise
        return float(np.mean(values))

    def trained(self, params: dict[str, Any], fold: Fold) -> GBRanker:
        """Train the ranker with tuned parameters on a fold."""
        params = {**self.ranker.get_params(deep=False), **params, "verbose": 0}
        rate = params.pop("rate")
        ranker = type(self.ranker)(**params)
        if rate != 1:
            queries = self.data.rows(fold.train).queries
            usual = chosen_trees(ranker, queries)["learning_rate"]
            ranker.set_params(learning_rate=min(rate * usual, 0.3))
        return fit_on_fold(ranker, self.data, fold)


def _enqueue(study: Any, start: dict[str, Any]) -> None:
    """Put first what has not been tried, or was begun by a process that was killed."""
    finished = [trial for trial in study.trials if trial.state.name not in ("RUNNING", "FAIL")]
    tried = [trial.params or trial.system_attrs.get("fixed_params") for trial in finished]
    for variant in ({}, *VARIANTS):
        params = start | {name: value for name, value in variant.items() if name in start}
        if params not in tried:
            study.enqueue_trial(params)
            tried.append(params)


def _suggested(trial: Any, start: dict[str, Any]) -> dict[str, Any]:
    """Suggest a trial's parameters, from the space around the ranker's own."""
    params: dict[str, Any] = {}
    for name, value in start.items():
        if name in CHOICES:
            params[name] = trial.suggest_categorical(name, sorted({value, *CHOICES[name]}))
        else:
            low, high = RANGES.get(name, (value, 2 * value))
            suggest = trial.suggest_float if isinstance(low, float) else trial.suggest_int
            low = min(low, value)
            params[name] = suggest(name, low, max(high, value), log=low > 0)
    return params
