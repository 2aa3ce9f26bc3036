"""XGBoost: custom objective, custom metrics. The only file that knows its signatures."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gbrank.boosters.gradient_hook import GradientHook, MeasureHook, Parts, StagedStopping, callers
from gbrank.boosters.interface import GradientPair
from gbrank.common.checks import ArgumentError

from .library import xgb


class xgboost_obj(GradientHook):
    """A custom objective for `xgb.train` and `xgb.cv`.

    Pass ``base_score=0`` in the parameters to start at score 0 (XGBoost starts at 0.5, which makes
    no difference to shift-invariant objectives). XGBoost makes no split that gains less than 1e-6:
    a sigma below 0.001 may be too narrow for it, but not for `GBRanker`, which scales gradients.

    Parameters
    ----------
    objective, sigma, start, rounds, curvature, n_jobs, watch
        As for `lightgbm_fobj`.

    Attributes
    ----------
    sigmas : ndarray
        The sigma of each round of the last training; NaN before the first one of this hook.

    Examples
    --------
    >>> import xgboost as xgb
    >>> from gbrank import make_cubic, xgboost_obj
    >>> X, y, qid = make_cubic(20, n_documents=10, random_state=0)
    >>> data = xgb.DMatrix(X, y, qid=qid)
    >>> booster = xgb.train({"base_score": 0}, data, 3, obj=xgboost_obj("lambda:map"))
    >>> booster.num_boosted_rounds()
    3
    """

    def __call__(self, scores: ArrayLike, data: xgb.DMatrix) -> GradientPair:
        """Compute gradient and curvature in the round of the booster that is calling.

        The data have labels and qid or group. XGBoost allows one weight per query.
        """
        round = None
        if (booster := callers("self", xgb.Booster)) is not None:
            round = booster.num_boosted_rounds()
            callbacks = callers("callbacks", list) or []
            theirs = (call for call in callbacks if type(call) is xgb.callback.EarlyStopping)
            self.warn_of_stopping(round, (call.rounds for call in theirs))
        return self.at_round(round, scores, data)

    def early_stopping(
        self, rounds: int, *, verbose: bool = True, **options: Any
    ) -> xgb.callback.EarlyStopping:
        """Make a callback for `xgb.train` and `xgb.cv` that stops as `GBRanker` does.

        As `lightgbm_fobj.early_stopping`, but by the last metric on the last set, as XGBoost does.

        Parameters
        ----------
        rounds, verbose
            As for LightGBM.
        **options
            Those of `xgb.callback.EarlyStopping`. Here higher values are better, unless
            ``maximize=False``, and the model is cut to its best round, unless ``save_best=False``.

        Returns
        -------
        xgboost.callback.EarlyStopping
            For ``callbacks=[...]``.
        """
        return _EarlyStopping(self, rounds, verbose, **options)

    def at_round(self, round: int | None, scores: ArrayLike, data: xgb.DMatrix) -> GradientPair:
        """Compute gradient and curvature in a round, for training loops of your own.

        Parameters
        ----------
        round : int or None
            The round, from 0. None, an unknown one, is allowed only if sigma is constant.
        scores : array-like, shape (n_documents,)
            What the documents have.
        data : xgboost.DMatrix
            The data, with labels and qid or group.

        Returns
        -------
        gradient, curvature : ndarray, shape (n_documents,)
        """
        parts = _parts(data)
        for name in ("label_lower_bound", "label_upper_bound"):
            if len(data.get_float_info(name)):
                raise ArgumentError(name, "must not be in the DMatrix: labels have no bounds here")
        return self.of_data(data, parts, scores, round)


class _EarlyStopping(xgb.callback.EarlyStopping):
    """XGBoost's early stopping, which notes the best round; the stages say when training ends."""

    def __init__(self, hook: GradientHook, rounds: int, verbose: bool, **options: Any) -> None:
        super().__init__(rounds=rounds, **{"maximize": True, "save_best": True, **options})
        self._stages = StagedStopping(hook, rounds, verbose)

    def before_training(self, model: Any) -> Any:
        """Begin anew."""
        self.stopping_history = {}
        self.save_best = self.save_best and isinstance(model, xgb.Booster)  # cv has no model
        return super().before_training(model)

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Note the best round; return whether training ends."""
        super().after_iteration(model, epoch, evals_log)
        return self._stages.ends(*_done_and_best(model))

    def after_training(self, model: Any) -> Any:
        """Print what the model keeps, and cut it."""
        self._stages.say(*_done_and_best(model))
        return super().after_training(model)


def _done_and_best(model: Any) -> tuple[int, int]:
    return model.num_boosted_rounds(), int(model.attr("best_iteration")) + 1


class xgboost_feval(MeasureHook):
    """Custom metrics for `xgb.train` and `xgb.cv` (custom_metric).

    For early stopping pass ``maximize=True``: XGBoost guesses the direction from the name.

    Parameters
    ----------
    *metrics : str, Measure or callable
        Such as "ndcg@10", or a function that `custom_measure` takes.

    Examples
    --------
    >>> import numpy as np, xgboost as xgb
    >>> from gbrank import xgboost_feval
    >>> data = xgb.DMatrix(np.zeros((2, 1)), [1, 0], qid=[0, 0])
    >>> xgboost_feval("ndcg@1", "map")(np.array([0.0, 1.0]), data)
    [('ndcg@1', 0.0), ('map', 0.5)]
    """

    def __call__(self, scores: ArrayLike, data: xgb.DMatrix) -> list[tuple[str, float]]:
        """Compute (name, value) for each measure, named without spaces, where XGBoost splits."""
        values = self.of_data(data, _parts(data), scores)
        return [("".join(name.split()), value) for name, value in values]


def _parts(data: xgb.DMatrix) -> Parts:
    if not isinstance(data, xgb.DMatrix):
        raise TypeError(
            f"data must be an xgb.DMatrix, which knows the queries, got {type(data).__name__}. "
            "XGBRanker passes arrays to its eval_metric and objective: call xgb.train."
        )
    pointers = data.get_uint_info("group_ptr")
    weight = data.get_weight()
    if len(pointers) == 0:
        raise ValueError("qid or group must be given: xgb.DMatrix(X, y, qid=qid), got neither.")
    sizes = np.diff(pointers.astype(np.int64))
    return data.get_label(), sizes, None, weight if len(weight) else None
