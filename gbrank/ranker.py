"""GBRanker, the scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .clicks import PositionReport
from .common.checks import (
    ArgumentError,
    ArgumentTypeError,
    Vector,
    check_choice,
    check_integer,
    check_jobs,
    quoted,
    shortened,
)
from .common.files import StrPath, is_path
from .common.runtime import interrupts_held, usable_threads
from .data.documents import Labels
from .data.queries import QueryWeights
from .data.schema import Schema
from .fit.arguments import EvalSet, Ids, TableLike, training_documents, validation_documents
from .fit.boosted_ranker import BoostedRanker, is_start_name
from .fit.chain import Link, scores_of
from .fit.estimator import WEIGHTS, BaseRanker
from .fit.explanations import Explanation, explain_gap, explain_scores
from .fit.fitted import FittedTrees, Published, TrainedInRounds
from .fit.known_elsewhere import explains_parameters, explains_words
from .fit.pretrained import PretrainedRanker, as_pretrained, pretrained_of_file
from .fit.rounds import Callbacks, EvalsResult
from .fit.storage import Saved, model_of, read_saved, restoring, saved_booster
from .serving import Predictor


@explains_parameters
class GBRanker(BoostedRanker, TrainedInRounds):
    """Gradient-boosted tree ranker, a scikit-learn estimator on LightGBM or XGBoost.

    Parameters
    ----------
    objective : str, Objective or callable
        The objective: "lambdarank", "lambda:map", "ranknet", ... (see `list_objectives`), or a
        function of one query (see `custom_objective`). The default, "noisy:ndcg", is LambdaRank
        with pair weights averaged over noisy rankings (docs/defaults.md).
    booster : {"lightgbm", "xgboost"}
        The library that grows the trees.
    n_estimators : int
        Largest number of rounds (trees). 500 take three times as long (docs/defaults.md).
    learning_rate : float, optional
        Factor on each tree. By default 15 √(N / 70,000) / T, between 0.01 and 0.2, for N training
        documents, at most 70 of each query, and T rounds, including those of a GBRanker as `init`.
        Labels without noise need larger steps.
    num_leaves : int
        Largest number of leaves of a tree. Labels without noise need more, such as 63.
    max_depth : int, optional
        Largest depth of a tree; unlimited by default.
    min_child_samples : int
        Smallest number of documents in a leaf, counted by their curvature, whose mean is 1.
    subsample : float in ]0, 1]
        Fraction of the documents, or queries, used for each tree.
    subsample_by : {"document", "query"}
        Whether documents or whole queries are sampled.
    colsample : float in ]0, 1], optional
        Fraction of the features used for each tree. By default 0.5 with fewer than 100,000 training
        documents, else 1.
    extra_trees : bool, optional
        Whether a split considers one random threshold per feature, which varies trees and reduces
        overfitting (Geurts, Ernst & Wehenkel 2006). By default with LightGBM and fewer than 100,000
        training documents; XGBoost has no such option.
    reg_lambda : float
        L2 penalty on leaf values, in documents of mean curvature.
    position_regularization : {"auto", None}
        Regularization of the biases that `fit` learns from positions. ``"auto"`` shrinks each as
        far as the clicks do not separate it from relevance; with None the features alone separate
        them, which helps after a poor ranking and harms after a good one (docs/howto/clicks.md).
    sigma : float, schedule, callable or str, optional
        Width of the smoothing: a number, or a function of (round, rounds) of the objective itself,
        such as ``geometric(1.0, 0.1)``; by default the objective's own schedule.
    curvature : {"own", "unit"}
        Second derivatives: the objective's own, for Newton steps; or 1 for each document, for steps
        along the gradient (Friedman's boosting). Their size then depends on `learning_rate` alone:
        weights are divided by their mean.
    init : {"regression", "zero"}, GBRanker, path, lightgbm.Booster or xgboost.Booster, optional
        The model to continue. ``"regression"`` first grows trees on the gains, for a tenth of
        `n_estimators`. A fitted GBRanker, or its folder, contributes its scores; a model of
        LightGBM or XGBoost, or its file, contributes its raw scores up to its best iteration.
        ``"zero"`` is no model. Clones keep names, paths and boosters.
        By default, and without an init_score, smoothed objectives (ApproxRank, SmoothRank,
        TieRank, SoftRank, SmoothAP) begin with RankNet, which is convex, for the first half of
        `n_estimators`; other objectives begin with zero scores. After a GBRanker with the same
        objective and `sigma`, on the same data, the schedule continues where that model's rounds
        ended; on other data all of it is repeated, RankNet included.
    eval_metric : str, Measure, callable, or sequence of them
        Metrics on validation data; the first decides early stopping and is what `score` returns.
        A callable is a function of one query, (scores, labels) to a number: see `custom_measure`.
    early_stopping_rounds : int or "auto", optional
        Stop after this many rounds without an improvement of the first metric on the first
        validation set that is not the training data. ``"auto"`` compares means over w =
        min(n_estimators / 4, 3 / learning_rate) rounds, and stops after w / 2. An initial stage of
        RankNet ends in the same way.
    validation_fraction : float in ]0, 1[, optional
        Fraction of the queries to hold out for validation if no eval_set is passed.
    baseline : str or int, optional
        A numeric column in which larger values rank first, by name or position, such as "bm25", or
        "f3" for X[:, 3] of an array, which is feature 4 of a LETOR file. A fit warns if it, or the
        best single feature, ranks the validation queries no worse than the ranker. Without
        validation queries, three more fits compare it with rankers trained on two thirds of the
        training queries, on the other third.
    random_state : int, RandomState or None
        Seed of all sampling; with None, every fit draws another one.
    n_jobs : int, optional
        Number of threads; −1 uses all. By default one per million feature values. The model is the
        same, bit for bit, for any number (docs/differences.md).
    verbose : int
        1 shows a progress bar, and records the training metric in `evals_result_`; 0 is silent.
    booster_params : dict, optional
        Further parameters of the booster, under its own names. `monotone_constraints` may map
        columns to 1 or −1, and `interaction_constraints` may list columns, by name ("f0", "f1", ...
        of arrays; feature 1 of a LETOR file is "f1" on the command line) or position.

    Attributes
    ----------
    booster_ : lightgbm.Booster or xgboost.Booster
        The trees, up to the best round.
    best_iteration_, best_score_ : int, float
        Number of rounds of the model, and the first metric after them; NaN without validation data.
    evals_result_ : dict
        ``evals_result_["valid_0"]["ndcg@10"]`` is a list with one value per round. Its methods
        `to_pandas` and `to_markdown` make tables: all rounds; the first, best and last one.
    training_data_ : dict
        Documents and queries of each set, ``{"train": {"documents": ..., "queries": ...}, ...}``.
    learning_rate_, colsample_, extra_trees_, sigmas_
        The values used in the fit; `sigmas_` by round.
    position_bias_ : dict of int, or of tuple, to float, or None
        The contribution of each position to the scores of the objective, not of `predict`; 0 for
        the first position.
    position_report_ : PositionReport or None
        What the clicks identify about positions: see `gbrank.clicks.position_report`.
    init_ : ranker or None
        The fitted initial model, to whose scores the trees add.
    feature_importances_, n_features_in_, feature_names_in_
        Shares of the total gain; the number of columns; their names if X was a data frame.

    Examples
    --------
    >>> from gbrank import GBRanker, make_cubic
    >>> X, y, qid = make_cubic(60, n_documents=20, random_state=0)
    >>> ranker = GBRanker("lambda:ndcg@10", n_estimators=20, random_state=0)
    >>> ranker = ranker.fit(X[:800], y[:800], qid=qid[:800])
    >>> ranker.score(X[800:], y[800:], qid[800:]) > 0.4
    True
    """

    __metadata_request__fit = WEIGHTS

    _allows_missing = True
    _makes = FittedTrees

    learning_rate_ = Published[float]()
    colsample_ = Published[float]()
    extra_trees_ = Published[bool]()
    position_bias_ = Published[dict[Any, float] | None]()
    position_report_ = Published[PositionReport | None]()

    @explains_words
    def fit(
        self,
        X: TableLike,
        y: ArrayLike | str,
        qid: Ids | None = None,
        *,
        group: ArrayLike | None = None,
        sample_weight: ArrayLike | str | None = None,
        query_weight: QueryWeights | str | None = None,
        eval_set: EvalSet | None = None,
        eval_qid: Sequence[Ids] | None = None,
        eval_group: Sequence[ArrayLike] | None = None,
        eval_init_score: Sequence[ArrayLike] | None = None,
        labels: Labels | None = None,
        eval_labels: Sequence[Mapping[str, ArrayLike]] | None = None,
        init_score: ArrayLike | str | None = None,
        position: ArrayLike | str | Mapping[str, ArrayLike | str] | None = None,
        categorical_feature: Sequence[int | str] | None = None,
        checkpoint: StrPath | None = None,
        checkpoint_rounds: int = 50,
        callbacks: Callbacks | None = None,
    ) -> GBRanker:
        """Train the ranker.

        If X is a data frame, y, qid, weights, init_score and position may name columns of it, which
        are then not used as features: ``fit(frame, "label", qid="query_id")``.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame, shape (n_documents, n_features)
            Features; NaN is missing. Data frames of pandas, Polars, PyArrow and others.
        y : array-like, shape (n_documents,)
            Nonnegative relevance labels.
        qid : array-like, shape (n_documents,)
            Query id of each row, in any order.
        group : array-like of int, shape (n_queries,)
            Sizes of consecutive queries, in place of qid; ``[len(y)]`` for a single list.
        sample_weight : array-like, shape (n_documents,), optional
            Document weights.
        query_weight : array-like, shape (n_queries,), or mapping of query to weight, optional
            Query weights, in the order in which queries first appear, or by query id: a mapping, or
            a pandas Series with the ids as its index.
        eval_set : list of (X, y), optional
            Validation sets, "valid_0", "valid_1", ... in `evals_result_`. The first one decides
            early stopping. A set that equals the training data, with rows in any order, is
            evaluated but decides nothing.
        eval_qid, eval_group, eval_init_score : list of array-like, optional
            Their queries, and their initial scores, which are required with `init_score`.
        labels : mapping of str to array-like, shape (n_documents,), or list of str, optional
            Further labels by name, such as ``{"margin": ...}``, to which objectives and metrics can
            refer: "ndcg@10[margin]". They are nonnegative; NaN, or −1 with a warning, marks an
            unjudged document, which is excluded from its list for this label. A list names columns
            of a data frame X, which are then not used as features.
        eval_labels : list of mapping, optional
            Those of the validation sets, if `labels` is a mapping.
        init_score : array-like, shape (n_documents,), optional
            Initial scores. They are not part of the model (unlike those of `init`): add them to its
            predictions.
        position : array-like of int, shape (n_documents,), or mapping of str to such, optional
            Position at which each document was shown, from 1, if labels are clicks; or
            ``{"position": ..., "device": ...}``, this and further contexts of attention, numbered
            from 1: each of their combinations has its own bias. Biases are estimated together with
            the trees, and are in `position_bias_` instead of the scores. Validation sets have no
            positions: evaluate on labels that do not depend on them.
        categorical_feature : sequence of int or str, optional
            Categorical columns, in addition to a data frame's columns of categories.
        checkpoint : path, optional
            A folder in which the fit writes, every `checkpoint_rounds`, what it needs to resume: if
            the process is killed, the same call resumes, and gives the same model bit for bit.
            `callbacks` receive the last round again: one that ended the fit may end it there;
            without it, the fit continues. Checkpoints of another fit raise an error, and so do
            parameters under which a booster keeps a hidden state, such as ``boosting="dart"``.
            Delete the folder once the model is saved.
        checkpoint_rounds : int
            Rounds between two checkpoints. Each one writes all trees and, with LightGBM, 8 bytes
            per document of training and validation; the data are hashed once. The initial model is
            fitted again.
        callbacks : list of callable, optional
            Functions called after each round with a `Round`. One that returns True ends the fit
            after this round; an error in one ends it without a model, and an earlier one is kept.

        Returns
        -------
        GBRanker
            The ranker itself.

        Raises
        ------
        ValueError, TypeError
            If an argument is invalid; the message names it.
        RuntimeError
            If the objective returns numbers that are not finite; the message names the round.
        OSError
            If a checkpoint cannot be written; the previous one is unchanged.
        """
        from .fit.boost import boost  # what only trains is not loaded to predict

        train = training_documents(
            X,
            y,
            qid,
            group,
            sample_weight=sample_weight,
            query_weight=query_weight,
            init_score=init_score,
            position=position,
            labels=labels,
        )
        valid = validation_documents(
            eval_set,
            eval_qid=eval_qid,
            eval_group=eval_group,
            eval_init_score=eval_init_score,
            eval_labels=eval_labels,
            labels=labels,
        )
        ranker = self._frozen()
        ranker.init = opened_init(ranker.init)
        return self._publish(
            boost(
                ranker,
                [train, *valid],
                categorical_feature,
                callbacks,
                folder=checkpoint,
                every=checkpoint_rounds,
            )
        )

    def refit(self, X: TableLike, y: ArrayLike, qid: Ids | None = None, **columns: Any) -> GBRanker:
        r"""Refit leaf values on new data, with the same tree structure (as LightGBM's `refit`).

        From this ranker's scores of the documents, the trees are processed in order, as in a fit
        without new splits. With G and H the sums of gradient and curvature in a leaf, at the scores
        so far, its value v becomes

        .. math:: v - \eta \frac{G}{H + \lambda},

        where η is the learning rate for this number of documents. Trees whose rates sum to 0.3 use
        the same gradient. On other data than those of the fit, the schedule of sigma is repeated,
        and so is the beginning by RankNet. The initial model stays unchanged.

        Parameters
        ----------
        X, y, qid
            As for `fit`.
        **columns
            group, sample_weight, query_weight and labels, as for `fit`.

        Returns
        -------
        GBRanker
            A new ranker. Importances and shares of the gain are those of the fit.

        Raises
        ------
        ValueError, TypeError
            If an argument is invalid; or if leaves are not Newton steps, as with monotone
            constraints, DART, linear trees, positions or multipliers.

        Examples
        --------
        >>> from gbrank import GBRanker, make_cubic
        >>> X, y, qid = make_cubic(60, n_documents=20, random_state=0)
        >>> ranker = GBRanker(n_estimators=20, random_state=0).fit(X[:600], y[:600], qid=qid[:600])
        >>> newer = ranker.refit(X[600:], y[600:], qid=qid[600:])
        >>> newer.score(X[600:], y[600:], qid[600:]) > ranker.score(X[600:], y[600:], qid[600:])
        True
        """
        from .fit.boost import refit  # what only trains is not loaded to predict

        table = training_documents(X, y, qid, columns.pop("group", None), **columns)
        return self._frozen()._publish(refit(self, table))

    @explains_words
    def predict(self, X: TableLike, *, num_iteration: int | None = None) -> Vector:
        """Return the score of each row; higher ranks earlier within its query.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame, shape (n_documents, n_features)
            In a data frame, the columns of `fit` are found by name, and others are ignored. With
            categorical columns, an array of objects works too.
        num_iteration : int, optional
            Use only the first `num_iteration` trees, on top of `init`; all by default.

        Returns
        -------
        ndarray, shape (n_documents,)
        """
        return scores_of(self._links(num_iteration), X)

    def _links(self, num_iteration: int | None = None) -> list[Link]:
        """Return the chain of models whose scores are summed."""
        fitted = self._fitted  # once: another thread may publish the next fit meanwhile
        check_integer(num_iteration, "num_iteration", 1, fitted.best_iteration, optional=True)
        threads = usable_threads(check_jobs(self.n_jobs))
        score = partial(fitted.model.predict, n_jobs=threads, n_trees=num_iteration)
        link = Link(fitted.schema, interrupts_held()(score))
        return [link] if fitted.init is None else [link, *fitted.init._links()]

    def _served(self, _: Schema | None = None) -> list[Link]:
        """Return the chain for a service, on one thread."""
        fitted = self._fitted
        link = Link(fitted.schema, partial(fitted.model.predict, n_jobs=1))
        return [link] if fitted.init is None else [link, *fitted.init._served(fitted.schema)]

    def _to_saved(self) -> Saved:
        """Return what `save` writes; the description of `init_` is nested inside."""
        fitted = self._fitted
        saved = self._description(fitted)
        start = None if fitted.init is None else fitted.init._to_saved()
        if start is not None and start["estimator"] not in SAVED:
            raise ArgumentTypeError(
                "init",
                "must be of a class of gbrank: custom ranker classes cannot be saved",
                quoted(fitted.init),
            )
        if "init" in self.get_params(deep=False) and not is_start_name(self.init):
            saved["params"]["init"] = type(self.init).__name__  # loading puts in the model
        return {**saved, "init": start, **saved_booster(fitted.model)}

    @classmethod
    def _from_saved(cls, saved: Saved) -> GBRanker:  # type: ignore[override]
        """Return the ranker that a folder holds."""
        params = saved["params"]
        nested = saved["init"]
        start = nested and class_of_saved(nested["estimator"])._from_saved(nested)
        if not is_start_name(params.get("init")):
            saved = {**saved, "params": {**params, "init": start}}
        return super()._from_saved(saved, model=model_of(saved), init=start)

    def predictor(self) -> Predictor:
        """Return a predictor, which computes the scores of `predict` faster for single lists.

        Returns
        -------
        Predictor
            See `gbrank.serving`, which loads it from a folder in a serving process.

        Examples
        --------
        >>> from gbrank import GBRanker, make_cubic
        >>> X, y, qid = make_cubic(20, n_documents=10, random_state=0)
        >>> ranker = GBRanker(n_estimators=5).fit(X, y, qid=qid)
        >>> bool((ranker.predictor().predict(X[:10]) == ranker.predict(X[:10])).all())
        True
        """
        return Predictor(self._served())

    def explain(self, X: TableLike, *, output: str = "array") -> Any:
        r"""Return what each feature adds to the score of each row (SHAP values).

        They are the booster's own, exact for its trees: a feature's share is its mean effect on
        the score over all orders in which the features may become known. Those of an `init` are
        added.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame, shape (n_documents, n_features)
        output : {"array", "shap"}
            ``"shap"`` gives what the pictures of the package shap take.

        Returns
        -------
        ndarray, shape (n_documents, n_features + 1), or shap.Explanation
            One column for each feature, and the mean score of the training documents in the last.
            A row's sum is its score, up to rounding.

        Raises
        ------
        ValueError
            If `init` is a booster, and X has categories; or as `predict`.
        ImportError
            If shap is requested and not installed.

        References
        ----------
        S. Lundberg, G. Erion, S.-I. Lee. Consistent individualized feature attribution for tree
        ensembles. arXiv:1802.03888, 2018.

        Examples
        --------
        >>> from gbrank import GBRanker, make_cubic
        >>> X, y, qid = make_cubic(20, n_documents=10, n_features=4, random_state=0)
        >>> ranker = GBRanker(n_estimators=5, n_jobs=1).fit(X, y, qid=qid)
        >>> shares = ranker.explain(X)
        >>> shares.shape
        (200, 5)
        >>> bool(abs(shares.sum(axis=1) - ranker.predict(X)).max() < 1e-9)
        True
        """
        return explain_scores(self, X, output)

    def explain_document(
        self,
        X: TableLike,
        document: Any,
        *,
        qid: Ids | None = None,
        group: ArrayLike | None = None,
        query: object = None,
        docid: ArrayLike | None = None,
    ) -> Explanation:
        """Explain the rank of a document among those of its query.

        The gap between its score and the mean score of its query's documents is split into what
        each feature adds to it: its share in the score (see `explain`), beside the mean share.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame, shape (n_documents, n_features)
            All documents of the query, and perhaps of others.
        document : int, or what `docid` holds
            The document: its row, from 0; with `query` alone, its rank, from 1; with `docid`, its
            name.
        qid, group
            The queries, as for `fit`; with neither, all rows are one query.
        query : object, optional
            The query whose rank, or name, is meant.
        docid : array-like, shape (n_documents,), optional
            What documents are called.

        Returns
        -------
        Explanation

        Raises
        ------
        ValueError
            If there is no such document or query; or as `explain`.

        Examples
        --------
        >>> from gbrank import GBRanker, make_cubic
        >>> X, y, qid = make_cubic(20, n_documents=10, n_features=4, random_state=0)
        >>> ranker = GBRanker(n_estimators=5, n_jobs=1).fit(X, y, qid=qid)
        >>> why = ranker.explain_document(X, 1, qid=qid, query=0)  # the first of query 0
        >>> why.gap > 0
        True
        """
        names = {"document": document}
        return explain_gap(self, X, names, qid=qid, group=group, query=query, docid=docid)

    def explain_pair(
        self,
        X: TableLike,
        first: Any,
        second: Any,
        *,
        qid: Ids | None = None,
        group: ArrayLike | None = None,
        query: object = None,
        docid: ArrayLike | None = None,
    ) -> Explanation:
        """Explain why one document of a query is above another, or below.

        The gap of their scores is split into what each feature adds to it: the difference of its
        shares in both scores (see `explain`).

        Parameters
        ----------
        X, qid, group, query, docid
            As for `explain_document`.
        first, second : int, or what `docid` holds
            Both documents: their rows, from 0; with `query` alone, their ranks, from 1; with
            `docid`, their names.

        Returns
        -------
        Explanation

        Raises
        ------
        ValueError
            If the documents are of two queries; or as `explain_document`.

        Examples
        --------
        >>> from gbrank import GBRanker, make_cubic
        >>> X, y, qid = make_cubic(20, n_documents=10, n_features=4, random_state=0)
        >>> ranker = GBRanker(n_estimators=5, n_jobs=1).fit(X, y, qid=qid)
        >>> why = ranker.explain_pair(X, 3, 7, qid=qid)
        >>> why.features[why.largest[0]] in ("f0", "f1", "f2", "f3")
        True
        """
        names = {"first": first, "second": second}
        return explain_gap(self, X, names, qid=qid, group=group, query=query, docid=docid)

    @property
    def training_data_(self) -> dict[str, dict[str, int]]:
        """Documents and queries of each set."""
        return self._fitted.data

    @property
    def booster_(self) -> Any:
        """The booster's own object."""
        return self._fitted.model.native

    @property
    def feature_importances_(self) -> Vector:
        """Each feature's share of the total gain."""
        return self.importances("gain")

    def importances(self, kind: str = "gain") -> Vector:
        """Return the importance of each feature to the trees, as a share of the total.

        Parameters
        ----------
        kind : {"gain", "split"}
            By the total gain of a feature's splits in training, or by their number.

        Returns
        -------
        ndarray, shape (n_features,)
            They sum to 1, or are 0 where no tree has a split.

        Examples
        --------
        >>> from gbrank import GBRanker, make_cubic
        >>> X, y, qid = make_cubic(40, n_documents=10, n_features=5, random_state=0)
        >>> ranker = GBRanker(n_estimators=10, random_state=0).fit(X, y, qid=qid)
        >>> shares = ranker.importances("split")
        >>> bool(abs(shares.sum() - 1) < 1e-12)
        True
        """
        check_choice(kind, "kind", ["gain", "split"])
        totals = self._model.importances(kind)
        return totals / (totals.sum() or 1.0)


# The modules of the classes that can be saved.
SAVED = {
    "GBRanker": ".ranker",
    "LinearRanker": ".linear.linear_ranker",
    "PretrainedRanker": ".fit.pretrained",
    "SLAMPerceptron": ".linear.perceptron",
}


def class_of_saved(name: str) -> Any:
    """Import the class that a saved model names."""
    return getattr(import_module(SAVED[name], __package__), name)


def load_ranker(path: StrPath) -> BaseRanker[Any]:
    """Load a model of any class from the folder that `save` wrote.

    Parameters
    ----------
    path : path
        The folder.

    Returns
    -------
    GBRanker, LinearRanker, SLAMPerceptron or PretrainedRanker

    Raises
    ------
    FileNotFoundError
        If there is no model.
    ValueError
        If a file is truncated or damaged, or the model's class is not one of gbrank.

    Examples
    --------
    >>> import tempfile
    >>> from gbrank import LinearRanker, load_ranker, make_cubic
    >>> X, y, qid = make_cubic(20, n_documents=10, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     LinearRanker("regression").fit(X, y, qid=qid).save(folder)
    ...     load_ranker(folder)
    LinearRanker(objective='regression')
    """
    saved = read_saved(path)
    name = saved["estimator"]
    if name not in SAVED:
        raise ValueError(
            f"{path} must hold one of {', '.join(SAVED)}, got a {name}: use {name}.load."
        )
    with restoring(path, saved):
        ranker: BaseRanker[Any] = class_of_saved(name)._from_saved(saved)
    return ranker


def opened_ranker(model: Any) -> Any:
    """Open what exports and explanations take: a ranker, a trained booster, or the path of one.

    A booster becomes a GBRanker of its trees.
    """
    if is_path(model):
        path = Path(model)
        model = (path.is_file() and pretrained_of_file(path)) or load_ranker(path)
    model = as_pretrained(model)
    return of_booster(model) if isinstance(model, PretrainedRanker) else model


def opened_init(init: object) -> Any:
    """Open the GBRanker, the folder, the booster or the file that `init` may be."""
    demand = (
        'must be "regression", "zero", a fitted GBRanker or the folder that one was saved in, or '
        "a model that LightGBM or XGBoost trained, or its file"
    )
    if is_start_name(init):
        return init
    if is_path(init):
        if Path(init).is_file() and (ranker := pretrained_of_file(Path(init))):
            return ranker
        try:
            return GBRanker.load(init)
        except (OSError, ValueError) as error:
            raise ArgumentError(
                "init", demand, f"{quoted(init)}: {shortened(str(error).rstrip('.'), 150)}"
            ) from None
    init = as_pretrained(init)
    if isinstance(init, GBRanker | PretrainedRanker) and init.__sklearn_is_fitted__():
        return init
    raise ArgumentTypeError(
        "init",
        demand,
        f"{quoted(init)}, which is not fitted" if isinstance(init, GBRanker) else quoted(init),
        " Cross-validation clones init, and clones are not fitted: pass a folder or a booster."
        if hasattr(init, "fit")
        else "",
    )


def of_booster(pretrained: PretrainedRanker) -> GBRanker:
    """Make a fitted GBRanker of a trained booster."""
    model = pretrained._model
    ranker = GBRanker(booster=model.booster)
    ranker._published = FittedTrees(
        schema=pretrained._schema,
        model=model,
        init=None,
        best_iteration=len(model.trees()),
        best_score=np.nan,
        evals_result=EvalsResult(),
        sigmas=np.empty(0),
        learning_rate=np.nan,
        data_key="",
        position_bias=None,
        position_report=None,
        colsample=np.nan,
        extra_trees=False,
        progress=None,
        data={},
    )
    return ranker
