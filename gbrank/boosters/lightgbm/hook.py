"""LightGBM: custom objective, custom metrics. The only file that knows its signatures."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from gbrank.boosters.gradient_hook import GradientHook, MeasureHook, Parts, StagedStopping, callers
from gbrank.boosters.interface import GradientPair
from gbrank.common.checks import ArgumentError
from gbrank.data.queries import Queries

from .library import lgb

Second: TypeAlias = ArrayLike | lgb.Dataset  # the scores of LGBMRanker, or the data set
MaybeArray: TypeAlias = ArrayLike | None


class lightgbm_fobj(GradientHook):
    """A custom objective for `lgb.train`, `lgb.cv` and `LGBMRanker`.

    Pass ``folds=GroupKFold(5)`` to `lgb.cv`: with a custom objective, its own folds split queries,
    which raises an error. Positions in the Dataset raise an error, too: use `GBRanker` for them.

    Parameters
    ----------
    objective : str, Objective or callable
        The objective, such as "lambda:ndcg@10", or a function of one query.
    sigma : float, schedule, callable or str, optional
        Width of the smoothing by round, such as ``geometric(1.0, 0.1)``; by default the objective's
        own. The round is the booster's: it is correct in every fold, and when training continues
        from an existing model.
    start : bool
        Whether the first half of the rounds trains RankNet if the objective begins with it, as
        ApproxRank, SmoothRank, TieRank and SoftRank do; False if training continues from the scores
        of a model.
    rounds : int, optional
        Total number of rounds, required for schedules and starts.
    curvature : {"own", "unit"}
        "unit" passes ones as second derivatives: plain gradient boosting, whose learning rate is in
        units of the gradient, with weights divided by their mean.
    n_jobs : int, optional
        Threads for the gradient; all by default.
    watch : callable, optional
        Called with the `RoundGradients` of each round, such as a `GradientWatch`.

    Attributes
    ----------
    sigmas : ndarray
        The sigma of each round of the last training; NaN before the first one of this hook.

    Examples
    --------
    >>> import lightgbm as lgb
    >>> from gbrank import lightgbm_fobj, make_cubic
    >>> from gbrank.schedules import geometric
    >>> X, y, qid = make_cubic(20, n_documents=10, random_state=0)
    >>> fobj = lightgbm_fobj("lambda:ndcg@10", sigma=geometric(1.0, 0.1), rounds=3)
    >>> data = lgb.Dataset(X, y, group=[10] * 20)
    >>> booster = lgb.train({"objective": fobj, "verbose": -1}, data, num_boost_round=3)
    >>> fobj.sigmas.round(3)
    array([1.   , 0.316, 0.1  ])
    """

    def __call__(
        self, first: ArrayLike, second: Second, weight: MaybeArray = None, group: MaybeArray = None
    ) -> GradientPair:
        """Compute gradient and curvature in the round of the booster that is calling.

        Called as ``(scores, dataset)`` by `lgb.train` and `lgb.cv`, and as ``(labels, scores,
        weight, group)`` by `LGBMRanker`; `group` are sizes of consecutive queries.
        """
        round = None
        if (booster := callers("self", lgb.Booster)) is not None:
            if booster.params.get("bagging_by_query") in (True, "true", "+"):
                raise ValueError(
                    "bagging_by_query must not be set: with a custom objective, LightGBM ends at "
                    "the first tree. GBRanker samples queries: subsample=, subsample_by='query'."
                )
            round = booster.current_iteration()
            callbacks = callers("callbacks_after_iter", list) or []
            patience = [getattr(callback, "stopping_rounds", 0) for callback in callbacks]
            self.warn_of_stopping(round, patience)
        return self.at_round(round, first, second, weight, group)

    def early_stopping(self, rounds: int, *, verbose: bool = True) -> Callable[[Any], None]:
        """Make a callback for `lgb.train` and `lgb.cv` that stops as `GBRanker` does.

        Training ends after some rounds without a better first metric on the first set that is not
        the training data. They count from the round in which the objective itself begins; where
        the metric stops rising before that, the objective begins at once, and trains for as many
        rounds as RankNet did. A message says how many rounds of each the model keeps.

        Parameters
        ----------
        rounds : int
            How many rounds without a better metric end the training.
        verbose : bool
            Whether to print what the model keeps; where that is RankNet alone, there is a warning.

        Returns
        -------
        callable
            For ``callbacks=[...]``.
        """
        return _EarlyStopping(self, rounds, verbose)

    def at_round(
        self,
        round: int | None,
        first: ArrayLike,
        second: Second,
        weight: MaybeArray = None,
        group: MaybeArray = None,
    ) -> GradientPair:
        """Compute gradient and curvature in a round, for training loops of your own.

        Parameters
        ----------
        round : int or None
            The round, from 0. None, an unknown one, is allowed only if sigma is constant.
        first, second, weight, group
            What LightGBM passes: ``(scores, dataset)``, or ``(labels, scores, weight, group)``,
            `group` being sizes of consecutive queries.

        Returns
        -------
        gradient, curvature : ndarray, shape (n_documents,)
        """
        if isinstance(second, lgb.Dataset) and second.get_position() is not None:
            raise ArgumentError(
                "position",
                "must not be in the Dataset, since hooks do not correct position bias",
                hint=" GBRanker does: fit(..., position=).",
            )
        return self.of_data(*_arguments(first, second, weight, group), round)


@dataclass(eq=False)
class _EarlyStopping(StagedStopping):
    """A callback of LightGBM's; `order` is that of its own early stopping."""

    order: int = 30  # LightGBM reads it of the object, not of its class
    before_iteration = False

    def __call__(self, env: lgb.callback.CallbackEnv) -> None:
        """Raise LightGBM's exception where training ends."""
        results = env.evaluation_result_list or []
        done = env.iteration + 1
        train = ("train", getattr(env.model, "_train_data_name", "train"))
        judged = [
            result
            for result in results
            if result[0] not in train and not result[1].startswith("train ")  # LightGBM 4.5's cv
        ]
        if not judged or env.params.get("boosting") == "dart":
            raise ValueError(
                "early stopping needs a validation set and a metric, and no boosting='dart', whose "
                "later rounds rescale earlier trees."
            )
        value = judged[0][2] if judged[0][3] else -judged[0][2]
        if env.iteration == env.begin_iteration or value > self._value:
            self._best = done
            self._value: float = value
            self._results = results
        if self.ends(done, self._best) or done == env.end_iteration:
            self.say(done, self._best)
            raise lgb.callback.EarlyStopException(self._best - 1, self._results)


class lightgbm_feval(MeasureHook):
    """Custom metrics for `lgb.train` (feval) and `LGBMRanker.fit` (eval_metric).

    Parameters
    ----------
    *metrics : str, Measure or callable
        Such as "ndcg@10", or a function that `custom_measure` takes. The first decides early
        stopping if first_metric_only is set.

    Examples
    --------
    >>> from gbrank import lightgbm_feval
    >>> lightgbm_feval("ndcg@1", "map")([1, 0], [0.0, 1.0], None, [2])
    [('ndcg@1', 0.0, True), ('map', 0.5, True)]
    """

    def __call__(
        self, first: ArrayLike, second: Second, weight: MaybeArray = None, group: MaybeArray = None
    ) -> list[tuple[str, float, bool]]:
        """Compute (name, value, True: higher is better) for each measure; called as the hook is."""
        values = self.of_data(*_arguments(first, second, weight, group))
        return [(name, value, True) for name, value in values]


def _arguments(first: Any, second: Any, weight: Any, group: Any) -> tuple[Any, Parts, Any]:
    """Identify the data set, its content, and the scores.

    Refuse a subset, such as a fold of `lgb.cv`, that has some documents of a query only.
    """
    owner: Any = np.asarray(first)
    labels = owner
    scores = second
    if isinstance(second, lgb.Dataset):
        owner = second
        scores = first
        labels = second.get_label()
        weight = second.get_weight()
        group = second.get_group()
        whole: Any = second.reference
        if second.used_indices is not None and (sizes := whole.get_group()) is not None:
            counts = Queries.from_sizes(sizes).count(np.asarray(second.used_indices))
            if cut := int(((counts > 0) & (counts < sizes)).sum()):
                raise ArgumentError(
                    "Dataset",
                    "must hold whole queries",
                    f"a subset that cuts {cut} of {len(sizes)}",
                    " lgb.cv splits rows where the objective is a function: pass "
                    "folds=sklearn.model_selection.GroupKFold(5).",
                )
    if group is None:
        raise ValueError("group must be given: lgb.Dataset(X, y, group=sizes), got none.")
    return owner, (labels, group, weight, None), scores
