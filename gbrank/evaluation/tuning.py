"""The best ranker for some minutes: a search by Optuna, and the mean of the best rankers."""

from __future__ import annotations

import functools
import hashlib
import math
import os
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.argument_error import ArgumentError, ArgumentTypeError, found_in
from gbrank.common.arrays import Vector
from gbrank.common.checks import check_number, quoted
from gbrank.common.describe import describe
from gbrank.common.extras import needed
from gbrank.common.files import replaced
from gbrank.common.progress import Bar
from gbrank.common.table import Table, Tabular
from gbrank.common.warnings import warn_user
from gbrank.data.splitting import QueryKFold
from gbrank.data.spread import spread_within_queries
from gbrank.evaluation.averaging import averaged
from gbrank.evaluation.cross_validation import check_measures
from gbrank.evaluation.dataset import Dataset, Folds
from gbrank.evaluation.search_space import VARIANTS, own_place, placed, suggested
from gbrank.evaluation.trial import fit_on_rows, scores_on
from gbrank.fit.arguments import Ids
from gbrank.fit.estimator import check_seed
from gbrank.fit.loop import FitInterrupted
from gbrank.fit.rounds import Round
from gbrank.measures.measure import bind_to_rows
from gbrank.ranker import GBRanker

if TYPE_CHECKING:
    import optuna

# Chosen on validation queries: benchmarks/results/tuned.md.
FIRST, VOTES = 5, 20  # the mean begins with so many of the best, and has so many in all
PARTS, KEPT = 10, 75.0  # of a first fold's rounds; percentage of trials that go on after each
UNTUNED = ("init", "baseline", "early_stopping_rounds", "validation_fraction")


@functools.cache
def code_version() -> list[str]:
    """Return a hash of gbrank's source, and the versions of what it trains with."""
    source = hashlib.sha256()
    for file in sorted(Path(__file__).parents[1].rglob("*.py")):
        source.update(file.read_bytes())
    versions = []
    for package in ("lightgbm", "xgboost", "catboost", "numpy"):
        with suppress(PackageNotFoundError):
            versions.append(f"{package} {version(package)}")
    return [source.hexdigest(), *versions]


def finished(study: optuna.Study, *states: str) -> list[optuna.trial.FrozenTrial]:
    """Return the trials that were judged on all folds, of the default first, or those of states."""
    return [trial for trial in study.trials if trial.state.name in (states or ("COMPLETE",))]


class _OutOfTime(Exception):
    """The minutes are over."""


@dataclass(frozen=True, eq=False)
class Tuned(Tabular):
    """What `tune` found. Its table says which parameters mattered.

    Parameters
    ----------
    ranker : GBRanker
        The best ranker, fitted: one, or the mean of `members`, which saves, loads, explains and
        exports as one. Its parameters are those of the best trial; `best_iteration_` counts all
        trees, and one member's come after the other's.
    members : list of (float, GBRanker)
        What it is the weighted sum of. Weights are in units of a member's own spread of scores.
    measure : str
        What rankers were judged by: the first `eval_metric`.
    values : dict of str to float
        What the rankers with the "default" parameters, of the "best trial", and the final "ranker"
        are worth on queries that were held out. The last two were chosen for it, and are worth a
        little less on others.
    study : optuna.Study
        All trials, for Optuna's pictures.
    """

    ranker: GBRanker
    members: list[tuple[float, GBRanker]]
    measure: str
    values: dict[str, float]
    study: optuna.Study

    def _table(self) -> Table:
        """Return importances (Optuna's fANOVA), and values that are the default or best."""
        from optuna.importance import FanovaImportanceEvaluator, get_param_importances

        judged = finished(self.study)
        first, best = judged[0].params, self.study.best_trial.params
        shares = dict.fromkeys(first, float("nan"))
        if len(judged) > 1:
            judge = FanovaImportanceEvaluator(seed=0)
            shares |= get_param_importances(self.study, evaluator=judge)
        ordered = sorted(shares, key=lambda name: -shares[name])
        rows = [
            (name, f"{shares[name]:.2f}", *(_shown(place[name]) for place in (first, best)))
            for name in ordered
        ]
        return Table(("parameter", "importance", "default", "best trial"), rows)


def _shown(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class _Store:
    """The files of a search in the folder of results; `key` is a hash of all it depends on."""

    folder: Path
    key: str

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)

    def journal(self) -> optuna.storages.BaseStorage:
        """Return Optuna's file of trials."""
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

        file = str(self.folder / f"{self.key}.log")
        return JournalStorage(JournalFileBackend(file, JournalFileOpenLock(file)))

    def scores(self, number: int) -> Path:
        """Return the file of the scores of a trial."""
        return self.folder / f"{self.key}-{number}.npy"

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Say what to do if a file is damaged."""
        try:
            yield
        except (EOFError, KeyError, OSError, TypeError, ValueError) as error:
            hint = f" Delete {self.folder / self.key}* to begin anew."
            demand = "must be a folder whose files are whole"
            raise ArgumentError("results", demand, quoted(str(error)), hint) from None


@dataclass(eq=False)
class _Search:
    """Trials, and the scores of held-out documents by those that were finished."""

    ranker: GBRanker
    data: Dataset
    places: Sequence[dict[str, Any]]  # to be tried first; the ranker's own is the first
    study: optuna.Study
    store: _Store | None
    end: float
    scores: dict[int, Vector] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)  # of those that were finished here

    def __post_init__(self) -> None:
        self.parts = [[self.data.rows(rows) for rows in fold[::2]] for fold in self.data.splits]
        measure, *_ = self.ranker._measures()
        self.measure = str(measure)
        self.judges = [bind_to_rows(measure, held, 1) for _, held in self.parts]
        self.ends = np.cumsum([len(held.y) for _, held in self.parts])[:-1]
        if self.store is not None:
            numbers = [trial.number for trial in finished(self.study)]
            with self.store.reading():
                self.scores = {number: np.load(self.store.scores(number)) for number in numbers}

    def worth(self, scores: Vector) -> float:
        """Return the mean over folds of what scores of the held-out documents are worth."""
        parts = zip(self.judges, np.split(scores, self.ends), strict=True)
        return float(np.mean([judge.mean(part) for judge, part in parts]))

    def run(self, n_trials: float, progress: bool) -> None:
        """Run trials, so many in all, until time is up."""
        import optuna

        states = optuna.trial.TrialState
        done = len(finished(self.study, "COMPLETE", "PRUNED"))
        with Bar(initial=done, disable=not progress, unit="trial") as bar:
            while done < n_trials and not (self.scores and self.kept_time() > self.end):
                trial = self.next_trial()
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")  # the final fits themselves warn
                        value = self.value_of(trial)
                except optuna.TrialPruned:
                    self.study.tell(trial, state=states.PRUNED)
                except BaseException as error:
                    self.study.tell(trial, state=states.FAIL)
                    if isinstance(error, _OutOfTime):
                        return
                    raise
                else:
                    self.study.tell(trial, value)
                done += 1
                first, best = finished(self.study)[0].value, self.study.best_value
                bar.set_postfix_str(f"{self.measure} {best:.4f}, default {first:.4f}")
                bar.update()

    def next_trial(self) -> optuna.Trial:
        """Return a trial of a place that is to be tried first, or else of one that Optuna chooses.

        One that a killed process had begun is tried anew.
        """
        tried = [trial.params for trial in finished(self.study, "COMPLETE", "PRUNED")]
        for place in self.places:
            if place not in tried:
                self.study.enqueue_trial(place)
                break
        return self.study.ask()

    def kept_time(self) -> float:
        """Return when the minutes would be over if the final rankers were trained now."""
        fits = min(2 * FIRST, len(self.scores)) / max(1, len(self.parts) - 1)
        return monotonic() + fits * float(np.mean(self.seconds or [0.0]))

    def value_of(self, trial: optuna.Trial) -> float:
        """Train and judge a trial's ranker on each fold, and keep its scores."""
        begin, place = monotonic(), suggested(trial, self.places[0])
        found: list[Vector] = []
        for number, (train, held) in enumerate(self.parts):
            watched = self._watch(trial, is_first=number == 0)
            ranker = placed(self.ranker, place, train.queries)
            valid = [held] if number == 0 else []
            fit_on_rows(ranker, self.data, train, valid, callbacks=[watched])
            found.append(scores_on(ranker, held))
            values = [judge.mean(own) for judge, own in zip(self.judges, found, strict=False)]
            if number:
                self._report(trial, float(np.mean(values)), PARTS + number)
        self.scores[trial.number] = np.concatenate(found)
        if self.store is not None:
            with replaced(self.store.scores(trial.number)) as file:
                np.save(file, self.scores[trial.number])
        self.seconds.append(monotonic() - begin)
        return float(np.mean(values))

    def _watch(self, trial: optuna.Trial, is_first: bool) -> Callable[[Round], None]:
        """Return what ends a fit: the time, or a curve that falls behind in the first fold."""

        def watch(round: Round) -> None:
            if self.scores and self.kept_time() > self.end:
                raise _OutOfTime
            before, now = (
                PARTS * done // round.rounds for done in (round.number, round.number + 1)
            )
            if is_first and now > before:
                self._report(trial, round.values["valid_0"][self.measure], now)

        return watch

    def _report(self, trial: optuna.Trial, value: float, step: int) -> None:
        import optuna

        trial.report(value, step)
        if trial.should_prune():
            raise optuna.TrialPruned

    def spread(self, scores: Vector) -> float:
        """Return how far scores lie apart within queries, the unit in which they are averaged."""
        parts = zip(self.parts, np.split(scores, self.ends), strict=True)
        spreads = [spread_within_queries(part, held.queries) for (_, held), part in parts]
        return float(np.mean(spreads)) or 1.0

    def votes(self, average: bool) -> dict[int, float]:
        """Return the weights of the trials whose mean is best, by number."""
        best = sorted(self.scores, key=lambda number: -self.worth(self.scores[number]))
        if not average:
            return {best[0]: 1.0}
        spread = {number: self.spread(scores) for number, scores in self.scores.items()}
        unit = {number: self.scores[number] / spread[number] for number in best}
        chosen = best[:FIRST]
        total = np.sum([unit[number] for number in chosen], axis=0)
        while len(chosen) < VOTES:
            worth = {number: self.worth(total + unit[number]) for number in best}
            chosen.append(max(worth, key=lambda number: worth[number]))
            total += unit[chosen[-1]]
        if self.worth(total) <= self.worth(unit[best[0]]):
            return {best[0]: 1.0}
        counts = sorted(Counter(chosen).items())
        return {number: count / len(chosen) / spread[number] for number, count in counts}

    def finish(self, average: bool) -> Tuned:
        """Train the chosen rankers on all documents, and return their mean."""
        first, best = finished(self.study)[0], self.study.best_trial
        rows = self.data.rows(np.arange(self.data.queries.n_documents))

        def at(number: int) -> GBRanker:
            params = self.study.trials[number].params
            return placed(self.ranker, params, rows.queries)

        votes = self.votes(average)
        weights = list(votes.values())
        rankers = [fit_on_rows(at(number), self.data, rows, []) for number in votes]
        pairs = [weight * self.scores[number] for number, weight in votes.items()]
        scores = np.sum(pairs, axis=0)
        trials = {"default": self.scores[first.number], "best trial": self.scores[best.number]}
        values = {name: self.worth(own) for name, own in {**trials, "ranker": scores}.items()}
        ranker = rankers[0]
        if len(rankers) > 1:
            params = at(best.number).get_params(deep=False)
            ranker = averaged(rankers, weights, params, values["ranker"])
        members = list(zip(weights, rankers, strict=True))
        return Tuned(ranker, members, self.measure, values, self.study)


def tune(
    X: Any,
    y: ArrayLike,
    *,
    qid: Ids,
    ranker: GBRanker | None = None,
    minutes: float = 10.0,
    n_trials: int | None = None,
    folds: Folds = 4,
    average: bool = True,
    keep: Collection[str] = (),
    results: str | os.PathLike[str] | None = None,
    progress: bool = True,
    **columns: Any,
) -> Tuned:
    """Find the best ranker in some minutes: search its parameters, and average the best rankers.

    The first trial has the parameters of `ranker`, by default GBRanker's own; the next ones are
    known to help often, and Optuna's TPE chooses all others. A trial trains a ranker on each fold
    and judges it on the fold's other queries; it ends early where it falls behind three quarters
    of the others. In the end, the chosen rankers are trained on all queries.

    The mean is chosen by greedy selection with replacement on the queries that were held out. It
    begins with the five best trials: the best one alone is partly luck. Scores are averaged in
    units of their standard deviation within queries. What is averaged are LightGBM's trees, which
    become one model; with XGBoost, which keeps leaves in single precision, or with `init_score`,
    which a mean would have in another unit, `tune` returns the best ranker alone.

    Parameters
    ----------
    X, y, qid, **columns
        As for `GBRanker.fit`: labels, weights, categorical_feature and the other columns.
    ranker : GBRanker, optional
        Where the search starts. Its first `eval_metric` is the goal; its booster, seed and what is
        not tuned stay as they are.
    minutes : float above 0
        How long this may take. The first trial, and training the final rankers, may take longer.
    n_trials : int, optional
        Largest number of trials, with those that `results` holds.
    folds : int, splitter or sequence of (train, valid)
        How many folds of whole queries; or a splitter, such as `QueryTimeSeriesSplit`, which judges
        on queries that are later than those that are trained on; or row numbers of your own, such
        as one pair for a single validation set.
    average : bool
        Whether to return a mean of several rankers. One alone is several times as fast.
    keep : collection of str
        What is not to be tuned: names of parameters, or "rate", the factor on the learning rate.
    results : path, optional
        A folder that keeps the trials: a call that was stopped goes on from there.
    progress : bool
        Whether to show a bar on standard error, with the best so far.

    Returns
    -------
    Tuned

    Raises
    ------
    ImportError
        If Optuna is not installed.
    ValueError, TypeError
        If an argument is not usable.
    KeyboardInterrupt
        On Ctrl-C in the first trial, or while the final rankers are trained. Later trials end with
        a warning, and the best so far is returned.

    References
    ----------
    R. Caruana, A. Niculescu-Mizil, G. Crew, A. Ksikes. Ensemble selection from libraries of
    models. ICML 2004.

    T. Akiba, S. Sano, T. Yanase, T. Ohta, M. Koyama. Optuna: a next-generation hyperparameter
    optimization framework. KDD 2019.

    Examples
    --------
    >>> from gbrank import GBRanker, make_cubic, tune
    >>> X, y, qid = make_cubic(40, n_documents=10, random_state=0)
    >>> ranker = GBRanker(n_estimators=10, random_state=0, n_jobs=1)
    >>> tuned = tune(X, y, qid=qid, ranker=ranker, n_trials=3, folds=2, progress=False)
    >>> tuned.values["ranker"] >= tuned.values["default"]
    True
    >>> tuned.ranker.predict(X).shape
    (400,)
    """
    optuna = needed("optuna", "tune")
    ranker = _checked(ranker)
    check_number(minutes, "minutes", 0, open_low=True)
    check_number(n_trials, "n_trials", 1, integer=True, optional=True)
    end, seed = monotonic() + 60 * minutes, check_seed(ranker.random_state)
    if isinstance(folds, str) or not (hasattr(folds, "split") or isinstance(folds, Iterable)):
        folds = check_number(folds, "folds", 2, integer=True)
        folds = QueryKFold(folds, shuffle=True, random_state=seed)
    data = Dataset("data", X, y, qid, folds, **columns)
    _check_folds(data, ranker)
    own = own_place(ranker, data.queries, keep)
    known = [{name: value for name, value in place.items() if name in own} for place in VARIANTS]
    store = None
    if results is not None:
        content = [ranker, own, data.fingerprint, data.splits, code_version()]
        store = _Store(Path(results), joblib.hash(describe(content)))
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        with nullcontext() if store is None else store.reading():
            study = optuna.create_study(
                storage=None if store is None else store.journal(),
                study_name=None if store is None else store.key,
                pruner=optuna.pruners.PercentilePruner(KEPT, n_startup_trials=FIRST),
                direction="maximize",
                load_if_exists=True,
            )
        study.sampler = optuna.samplers.TPESampler(seed=seed + len(study.trials))
        places = [own, *(own | place for place in known)]
        search = _Search(ranker, data, places, study, store, end)
        return _searched(search, n_trials or math.inf, average, progress)
    finally:
        optuna.logging.set_verbosity(verbosity)


def _searched(search: _Search, n_trials: float, average: bool, progress: bool) -> Tuned:
    """Return what a search finds; Ctrl-C ends it."""
    try:
        search.run(n_trials, progress)
    except KeyboardInterrupt:
        if not search.scores:
            raise
        warn_user(
            f"Tuning interrupted after {len(search.scores)} trials: the best of them are kept.",
            FitInterrupted,
        )
    of_trees = search.ranker.booster == "lightgbm" and "init_score" not in search.data.columns
    return search.finish(average and of_trees)


def _checked(ranker: GBRanker | None) -> GBRanker:
    """Return the ranker that the search starts with."""
    ranker = GBRanker(random_state=0) if ranker is None else ranker
    if not isinstance(ranker, GBRanker):
        raise ArgumentTypeError("ranker", "must be a GBRanker", quoted(ranker))
    for name in UNTUNED:
        if getattr(ranker, name) is not None:
            demand = "must be None in the ranker that is tuned"
            raise ArgumentError(name, demand, quoted(getattr(ranker, name)))
    return ranker


def _check_folds(data: Dataset, ranker: GBRanker) -> None:
    """Refuse folds of three parts, or on whose queries the measure has no value."""
    for number, fold in enumerate(data.splits, 1):
        if len(fold.valid):
            demand = "must hold pairs of rows, to train on and to validate on"
            raise ArgumentError("folds", demand, f"a third part in fold {number}")
        with found_in(f"validation queries of fold {number}: "):
            check_measures(ranker._measures()[:1], data.rows(fold.test))
