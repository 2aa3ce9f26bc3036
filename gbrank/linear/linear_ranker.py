"""Linear rankers: their base class, and LinearRanker, which is trained on a smooth measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from gbrank.boosters.interface import Plan, RoundRecord
from gbrank.boosters.staged_objective import Stage, make_stage
from gbrank.common.checks import (
    ArgumentError,
    Function,
    Vector,
    check_choice,
    check_finite,
    check_jobs,
)
from gbrank.common.fields import Boolean, Choice, Integer, Parameter, Real, checked_fields
from gbrank.data.documents import Documents
from gbrank.data.feature_matrix import n_rows
from gbrank.data.queries import Queries, QueryWeights
from gbrank.data.spread import unit_width
from gbrank.fit.arguments import (
    EvalSet,
    Ids,
    TableLike,
    take_named_columns,
    training_documents,
    validation_documents,
)
from gbrank.fit.estimator import WEIGHTS, BaseRanker, F, check_seed, check_verbose, draw_seed
from gbrank.fit.fitted import FittedRounds, Published, TrainedInRounds, saved, vector_of
from gbrank.fit.known_elsewhere import explains_parameters
from gbrank.fit.loop import judges_of, run_rounds, warn_of_data
from gbrank.fit.rounds import Callbacks, History, Stopping, check_callbacks
from gbrank.measures.gains import gain_values
from gbrank.measures.measure import Measure
from gbrank.measures.measure_registry import Metrics
from gbrank.measures.per_query import labels_differ, nothing_to_learn
from gbrank.objectives.objective import Objective
from gbrank.objectives.objective_registry import get_objective
from gbrank.schedules import Sigma, as_schedule, unit_of

from . import solvers
from .features import learn_numbers, weighted_sum, with_numbers, z_scores

SIGMA = {"cg": "staircase(64, 0.5, 1)", "sgd": "1"}
STEPS = {"cg": 13, "sgd": 200}


class LinearModel(BaseRanker[F]):
    """Base class of linear rankers: a score is the sum of features times weights."""

    coef_ = Published[Vector]()


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedSteps(FittedRounds):
    """Results of a fit of a LinearRanker."""

    coef: Vector = saved(vector_of)
    init_coef: Vector = saved(vector_of)
    by_query: bool = saved(bool)


@explains_parameters
@dataclass(eq=False, repr=False)
class LinearRanker(LinearModel[FittedSteps], TrainedInRounds):
    """Linear ranker: the score of a document is w·x, the weighted sum of its features.

    ``solver="cg"`` is SmoothRank's learner: starting from a regression on the gains, it minimizes
    the mean loss over queries plus λ ‖w − w0‖² by conjugate gradient, for one sigma after another,
    each time from the last minimum; by default w0 is that regression too (see `center`).
    ``solver="sgd"`` is ApproxRank's: a step is a pass over the shuffled queries, one by one.

    Features should have similar scales, for example through `by_query`. There is no intercept,
    because it would not change any ranking.

    Parameters
    ----------
    objective : str, Objective or callable
        The objective: "smooth:ndcg", "approx:ndcg", "ranksvm", ... (see `list_objectives`). "cg"
        requires an objective whose gradient is the derivative of its loss; "sgd" accepts any. With
        "cg", "regression" returns the initial weights themselves.
    solver : {"cg", "sgd"}
        The optimizer.
    reg_lambda : float
        λ, for a mean over queries. (The paper has a sum: its λ is n_queries times this one.)
    sigma : float, schedule, callable or str, optional
        Width of the smoothing: a number, or a function of (step, steps). By default it is halved
        from 2⁶ to 2⁻⁶ with "cg", and 1 with "sgd".
    n_steps : int, optional
        Number of sigmas of "cg", 13 by default; number of passes of "sgd" over the queries, 200 by
        default.
    init : {"regression", "zero"} or array-like, shape (n_features,)
        The initial weights.
    center : {"init", "zero"} or array-like, shape (n_features,)
        w0, the center of the penalty: the initial weights, 0, or other weights. With 0 and
        SmoothRank, λ and σ are one parameter: multiplying λ by c and σ by 1/c divides w by √c,
        which does not change any ranking (section 5.4 of the paper).
    ridge : float
        Strength of the penalty in the regression, which minimizes the mean squared difference to
        the gains plus ridge ‖w‖².
    balanced : bool
        Whether the regression gives the relevant documents the same total weight as the others.
    max_iter : int
        Largest number of iterations of "cg" at one sigma.
    tol : float
        "cg" proceeds to the next sigma when no derivative is larger.
    learning_rate : float
        Length of a step of "sgd".
    by_query : bool
        Whether to use z-scores of the features within each query. A missing value (NaN), as of a
        document that a retriever did not return, is then 1 below the lowest of its query, and
        `predict` needs the queries.
    eval_metric : str, Measure, callable, or sequence of them
        Metrics after each step, on training and validation data; the first decides early stopping
        and is what `score` returns.
    early_stopping_rounds : int, optional
        Stop after this many steps without an improvement of the first metric on the first
        validation set that is not the training data, and retain the best weights. By default, all
        steps are made; then "cg" retains the last weights, and "sgd" the best on validation data,
        if there are any, as in the papers.
    random_state : int, RandomState or None
        Seed of the shuffle.
    n_jobs : int, optional
        Threads for gradients in "cg"; all by default. They do not change the result, while those of
        NumPy's linear algebra change the last bits (see docs/differences.md).
    verbose : int
        1 shows a progress bar with sigma, training and validation metric; 0 or a negative number is
        silent.

    Attributes
    ----------
    coef_ : ndarray, shape (n_features,)
        The weights w.
    init_coef_ : ndarray, shape (n_features,)
        The initial weights.
    best_iteration_ : int
        Number of steps after which the weights were `coef_`.
    evals_result_ : dict
        ``evals_result_["valid_0"]["ndcg@10"]`` is a list with one value per step, and so is
        ``evals_result_["train"]["ndcg@10"]``.
    best_score_, sigmas_, n_features_in_, feature_names_in_
        As for `GBRanker`; rounds are steps here.

    References
    ----------
    Chapelle & Wu 2010, "Gradient descent optimization of smoothed information retrieval
    metrics", algorithm 1; Qin, Liu & Li 2010, "A general approximation framework for direct
    optimization of information retrieval measures", algorithm 1.

    Examples
    --------
    >>> from gbrank import LinearRanker, make_cubic
    >>> X, y, qid = make_cubic(60, n_documents=20, n_features=5, random_state=0)
    >>> start = LinearRanker("regression").fit(X[:800], y[:800], qid=qid[:800])
    >>> ranker = LinearRanker("smooth:ndcg", n_steps=7).fit(X[:800], y[:800], qid=qid[:800])
    >>> ranker.score(X[800:], y[800:], qid[800:]) > start.score(X[800:], y[800:], qid[800:])
    True
    """

    __metadata_request__fit = WEIGHTS
    __metadata_request__predict: ClassVar[dict[str, bool]] = {"qid": True}

    _makes = FittedSteps

    objective: str | Objective | Function = "smooth:ndcg"
    _: KW_ONLY
    solver: str = Choice("cg", STEPS)
    reg_lambda: float = Real(0.001, 0)
    sigma: Sigma | None = None
    n_steps: int | None = Integer(None, low=1)
    init: str | ArrayLike = "regression"
    center: str | ArrayLike = "init"
    ridge: float = Real(0.01, above=0)
    balanced: bool = Boolean(False)
    max_iter: int = Integer(200, low=1)
    tol: float = Real(1e-5, 0)
    learning_rate: float = Real(0.01, above=0)
    by_query: bool = Boolean(False)
    eval_metric: Metrics = "ndcg@10"
    early_stopping_rounds: int | None = Integer(None, low=1)
    random_state: int | np.random.RandomState | None = Parameter(None, check_seed)
    n_jobs: int | None = Parameter(None, check_jobs)
    verbose: int = Parameter(0, check_verbose)

    init_coef_ = Published[Vector]()

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
        callbacks: Callbacks | None = None,
    ) -> LinearRanker:
        """Train the ranker.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame, shape (n_documents, n_features)
            Features, none missing unless `by_query` is set.
        sample_weight : array-like, shape (n_documents,), optional
            Document weights. Weights that differ within a query need "sgd", or the objective
            "regression": "cg" minimizes one loss per query.
        y, qid, group, query_weight, eval_set, eval_qid, eval_group, callbacks
            As for `GBRanker.fit`.

        Returns
        -------
        LinearRanker
            Itself.

        Raises
        ------
        ValueError, TypeError
            If an argument is not usable; the message names it. Nothing has been trained then.

        Warns
        -----
        UserWarning
            If the scales of the features differ so much that the regression may be inaccurate.
        """
        train = training_documents(
            X, y, qid, group, sample_weight=sample_weight, query_weight=query_weight
        )
        valid = validation_documents(eval_set, eval_qid=eval_qid, eval_group=eval_group)
        return self._publish(self._frozen()._descend([train, *valid], callbacks))

    def predict(self, X: TableLike, qid: Ids | None = None, *, group: Any = None) -> Vector:
        """Return the score of each row; higher ranks earlier within its query.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame, shape (n_documents, n_features)
            Features, none missing unless `by_query` is set.
        qid, group : optional
            The queries, as for `fit`; needed where `by_query` is set: ``group=[len(X)]`` for a
            single list.

        Returns
        -------
        ndarray, shape (n_documents,)
        """
        fitted = self._fitted  # once: another thread may publish the next fit meanwhile
        if not n_rows(X):
            return np.empty(0)
        X, named = take_named_columns(X, {"qid": qid})
        features = fitted.schema.transform(X)
        if not fitted.by_query:
            return weighted_sum(features, fitted.coef)
        if qid is None and group is None:
            raise ArgumentError("qid", "or group is required, since by_query is set", "None")
        return (
            z_scores(features, Queries.resolve(features.shape[0], named["qid"], group))
            @ fitted.coef
        )

    def _predicted(self, X: TableLike, qid: Ids | None, group: Any = None) -> Vector:
        return self.predict(X, qid, group=group)

    def _descend(self, tables: list[Documents], callbacks: Callbacks | None) -> FittedSteps:
        """Train the weights, and return all that the fit makes; the first table is to train on."""
        params = checked_fields(self)
        params["seed"] = draw_seed(self.random_state)
        stage, n_steps = self._settings()
        watched = {"callbacks": check_callbacks(callbacks), "progress": params["verbose"]}
        schema = learn_numbers(tables[0].X)
        sets = [with_numbers(schema, part, i, self.by_query) for i, part in enumerate(tables)]
        rows, *valid = sets
        warn_of_data(rows, schema)
        if self.early_stopping_rounds is not None and not valid:
            raise ValueError("early_stopping_rounds needs validation data: pass eval_set=.")
        # "sgd" with validation data keeps the best step anyway.
        patience = self.early_stopping_rounds or (n_steps if self.solver == "sgd" else None)
        judges = judges_of(self, rows, valid, schema, Stopping(patience), training=True)
        start = self._start(stage.objective, rows)
        center = _weights(self.center, "center", "init", start.copy, len(start))
        move = solvers.SOLVERS[self.solver](stage.objective, rows, center, n_steps, params)
        coefs = [start]  # then those after each step

        def scores(place: int) -> Vector:
            return sets[place].X @ coefs[-1]

        def step(round: int, plan: Plan) -> RoundRecord:
            sigma = stage.sigma(round)
            if unit_of(stage.schedule) == "spread":
                sigma *= unit_width(scores(0), rows.queries, stage.objective.facts.sigma_unit)
            coefs.append(move(coefs[-1], sigma, round))
            return RoundRecord(sigma, coef=coefs[-1].copy())

        history = History(Plan(begin=0, end=n_steps))
        run_rounds(step, scores, judges, history, **watched)
        return FittedSteps(
            schema=schema,
            coef=coefs[history.best_round],
            init_coef=start,
            by_query=self.by_query,
            **history.published(judges.decisive),
        )

    def _settings(self) -> tuple[Stage, int]:
        """Check the parameters; return the objective with its sigma, and how many steps to take."""
        objective = get_objective(self.objective)
        n_steps = self.n_steps or STEPS[self.solver]
        if self.solver == "cg" and objective.facts.closed_form:
            n_steps = 1
        elif self.solver == "cg" and not objective.facts.differentiable:
            raise ArgumentError(
                "objective",
                "must have a gradient that is the derivative of its loss for solver='cg'",
                str(objective),
                " Use solver='sgd'.",
            )
        schedule = as_schedule(SIGMA[self.solver] if self.sigma is None else self.sigma)
        return make_stage(objective, schedule, 0, n_steps), n_steps

    def _start(self, objective: Objective, rows: Documents) -> Vector:
        """Return the first weights: a regression on the gains of the objective or its measure."""
        measure = getattr(objective, "measure", None)
        if isinstance(measure, Measure):
            targets = measure.terms(rows.y, rows.queries).gains
        else:
            targets = gain_values(getattr(objective, "gain", "exp2"), rows.y)
        if not labels_differ(targets, rows.queries).any():
            raise nothing_to_learn(rows.queries)
        learned = partial(solvers.regression_on_gains, rows, targets, self.ridge, self.balanced)
        start = _weights(self.init, "init", "regression", learned, rows.X.shape[1])
        if objective.facts.needs_start and not start.any():
            raise ArgumentError(
                "init", f"must not be zero with {objective}, whose gradient is zero there"
            )
        return start


def _weights(
    weights: str | ArrayLike, name: str, word: str, named: Callable[[], Vector], n_features: int
) -> Vector:
    """Return weights of the user's, zeros, or those that a word stands for."""
    if isinstance(weights, str):
        zero = check_choice(weights, name, [word, "zero"]) == "zero"
        return np.zeros(n_features) if zero else named()
    return check_finite(weights, name, n_features).copy()
