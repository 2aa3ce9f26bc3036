"""Rankers in MLflow 3: logged, registered and served as the data that `save` writes, no pickles.

It needs ``pip install 'gbrank[mlflow]'``, and is imported by itself: ``import gbrank.mlflow``.
"""

from __future__ import annotations

import os
import re
import sys
from contextvars import ContextVar
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

try:
    import mlflow
    from mlflow.models import EvaluationMetric, Model, ModelSignature, infer_signature, make_metric
    from mlflow.models.model import ModelInfo
    from mlflow.utils.autologging_utils import autologging_integration, safe_patch
except ImportError as error:
    raise ImportError(f"{error}: pip install 'gbrank[mlflow]'.") from None

from gbrank.common.argument_error import ArgumentError, ArgumentTypeError
from gbrank.common.arrays import Vector
from gbrank.common.checks import listed, quoted
from gbrank.common.version import __version__
from gbrank.fit.estimator import BaseRanker
from gbrank.fit.pretrained import PretrainedRanker
from gbrank.fit.rounds import Callback, Round
from gbrank.measures.measure_registry import Metric, get_measure
from gbrank.ranker import GBRanker, load_ranker
from gbrank.serving import load_predictor, refuse_boosters

__all__ = ["autolog", "load_model", "log_model", "log_rounds", "ranking_metric", "save_model"]

FLAVOR, FOLDER = "gbrank", "ranker"
PINNED = ("lightgbm", "xgboost", "numpy")  # what the bits of scores depend on

_fitting = ContextVar("_fitting", default=False)  # inside a fit that is logged


def save_model(
    ranker: BaseRanker[Any],
    path: str | os.PathLike[str],
    *,
    query: str | None = None,
    signature: ModelSignature | None = None,
    input_example: Any = None,
    mlflow_model: Model | None = None,
    pip_requirements: list[str] | None = None,
    **options: Any,
) -> None:
    """Write a fitted ranker as a model of MLflow.

    Its pyfunc takes a data frame with the columns of `fit` and gives one score a row. Categories
    are words to it, of dtype object or string: signatures of MLflow have no dtype "category". No
    code is in the model, and nothing that is pickled.

    Parameters
    ----------
    ranker : GBRanker or other ranker of gbrank
    path : path
        The folder, which must not exist.
    query : str, optional
        A column of what the pyfunc is given that says each row's query; it is no feature. Without,
        all rows are one list. It counts with `context` only, whose features depend on the list.
    signature : mlflow.models.ModelSignature, optional
        The columns and the scores; by default those of the example.
    input_example : data frame or array, optional
        Some rows of what the pyfunc is given, with the column of queries.
    mlflow_model : mlflow.models.Model, optional
        The description to add to.
    pip_requirements : list of str, optional
        By default this gbrank, NumPy and the boosters, in their versions.
    **options
        Other options of ``mlflow.pyfunc.save_model``, such as `metadata`.

    Raises
    ------
    TypeError
        If it is not a ranker of gbrank.
    ValueError
        If `query` is a feature, the ranker was fitted to an array, without names, or it begins with
        a booster that has categories of its own.

    Examples
    --------
    >>> import tempfile, gbrank.mlflow
    >>> from gbrank import GBRanker, make_cubic
    >>> X, y, qid = make_cubic(20, n_documents=10, random_state=0)
    >>> ranker = GBRanker(n_estimators=5).fit(X, y, qid=qid)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gbrank.mlflow.save_model(ranker, f"{folder}/model")
    ...     same = gbrank.mlflow.load_model(f"{folder}/model")
    >>> bool((same.predict(X) == ranker.predict(X)).all())
    True
    """
    if not isinstance(ranker, BaseRanker) or isinstance(ranker, PretrainedRanker):
        demand = "must be a ranker of gbrank; mlflow.lightgbm and mlflow.xgboost save boosters"
        raise ArgumentTypeError("ranker", demand, quoted(ranker))
    refuse_boosters(ranker._to_saved())
    model = mlflow_model or Model()
    model.add_flavor(FLAVOR, gbrank_version=__version__, data=f"data/{FOLDER}", query=query)
    pins = [f"gbrank=={__version__}", *(f"{name}=={version(name)}" for name in PINNED)]
    if hasattr(input_example, "select_dtypes"):
        words = input_example.select_dtypes("category")
        input_example = input_example.astype(dict.fromkeys(words, object))
    config = {"query": query} if query else None
    with TemporaryDirectory() as temporary:
        folder = os.path.join(temporary, FOLDER)
        ranker.save(folder)
        names = ranker._schema.names or []
        if query is not None and (query in names or not names):
            demand = f"must be a column beside those of the data frame in fit, {listed(names)}"
            raise ArgumentError("query", demand, quoted(query))
        if signature is None and input_example is not None:
            scores = _load_pyfunc(folder, config).predict(input_example)
            signature = infer_signature(input_example, scores)
        mlflow.pyfunc.save_model(
            path=path,
            loader_module=__name__,
            data_path=folder,
            mlflow_model=model,
            model_config=config,
            signature=signature,
            input_example=input_example,
            pip_requirements=pins if pip_requirements is None else pip_requirements,
            **options,
        )


def log_model(
    ranker: BaseRanker[Any],
    name: str = FOLDER,
    *,
    registered_model_name: str | None = None,
    **options: Any,
) -> ModelInfo:
    """Log a fitted ranker as a model of the active run, or of a new one.

    Parameters
    ----------
    ranker : GBRanker or other ranker of gbrank
    name : str
        What the model is called in the run.
    registered_model_name : str, optional
        Under which name the registry gets a version of it.
    **options
        As for `save_model`, such as `query`, `signature` and `input_example`.

    Returns
    -------
    mlflow.models.model.ModelInfo
        Its `model_uri` is what `load_model` takes.
    """
    return Model.log(
        artifact_path=None,
        name=name,
        flavor=sys.modules[__name__],
        registered_model_name=registered_model_name,
        ranker=ranker,
        **options,
    )


def load_model(model_uri: str, dst_path: str | None = None) -> BaseRanker[Any]:
    """Return the ranker of a model of MLflow, as `load_ranker` does.

    Parameters
    ----------
    model_uri : str
        Such as ``runs:/.../ranker``, ``models:/name/1``, or a folder.
    dst_path : str, optional
        An existing folder to download to.

    Returns
    -------
    GBRanker, LinearRanker or SLAMPerceptron
    """
    folder = mlflow.artifacts.download_artifacts(artifact_uri=str(model_uri), dst_path=dst_path)
    return load_ranker(Path(folder) / Model.load(folder).flavors[FLAVOR]["data"])


class _Served:
    """What MLflow calls a pyfunc."""

    def __init__(self, path: str, query: str | None) -> None:
        self._predictor, self._query = load_predictor(path), query

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> Vector:
        """Return the score of each row."""
        if not self._query:
            return self._predictor.predict(model_input)
        if self._query not in getattr(model_input, "columns", ()):
            demand = f"must be a data frame with the column {self._query!r} of queries"
            raise ArgumentError("model_input", demand, quoted(model_input))
        return self._predictor.predict(model_input, qid=model_input[self._query])


def _load_pyfunc(path: str, model_config: dict[str, Any] | None = None) -> _Served:
    """Return what MLflow serves."""
    return _Served(path, (model_config or {}).get("query"))


def ranking_metric(measure: Metric) -> EvaluationMetric:
    """Return a measure for the `extra_metrics` of ``mlflow.models.evaluate``.

    The data need a column "qid" of queries; under another name, say
    ``evaluator_config={"col_mapping": {"qid": name}}``.

    Parameters
    ----------
    measure : str, Measure or callable
        Such as "ndcg@10".

    Returns
    -------
    mlflow.models.EvaluationMetric
        The mean over queries; MLflow calls it ``ndcg_at_10``.

    Raises
    ------
    ValueError
        If there is no such measure.

    Examples
    --------
    >>> import gbrank.mlflow
    >>> gbrank.mlflow.ranking_metric("ndcg@10").name
    'ndcg_at_10'
    """
    judge = get_measure(measure)

    def mean(predictions: Any, targets: Any, qid: Any) -> float:
        return judge(np.asarray(targets), np.asarray(predictions), qid=np.asarray(qid))

    return make_metric(eval_fn=mean, greater_is_better=True, name=_allowed(str(judge)))


def log_rounds() -> Callback:
    """Return a callback of `fit` that logs each round's measures, and its sigma, as metrics.

    They are called ``valid_0-ndcg_at_10``, as by ``mlflow.lightgbm``: MLflow allows no "@".

    Returns
    -------
    callable
        For ``fit(..., callbacks=[log_rounds()])`` inside a run.
    """

    def log(round: Round) -> None:
        metrics = {
            _allowed(f"{name}-{measure}"): value
            for name, values in round.values.items()
            for measure, value in values.items()
        }
        if round.sigma is not None:
            metrics["sigma"] = round.sigma
        mlflow.log_metrics(metrics, step=round.number)

    return log


@autologging_integration(FLAVOR)
def autolog(log_models: bool = True, disable: bool = False, silent: bool = False) -> None:
    """Log each fit of a GBRanker from now on: parameters, rounds, the best one, and the model.

    Parameters
    ----------
    log_models : bool
        Whether to log the model, too.
    disable : bool
        Whether to log no more.
    silent : bool
        Whether MLflow says nothing of it.
    """

    def fit(original: Any, ranker: GBRanker, *args: Any, **options: Any) -> GBRanker:
        if _fitting.get():  # of what the ranker begins with
            return original(ranker, *args, **options)
        mlflow.log_params(ranker.get_params(deep=False))
        callbacks = [*(options.pop("callbacks", None) or ()), log_rounds()]
        token = _fitting.set(True)
        try:
            fitted: GBRanker = original(ranker, *args, **options, callbacks=callbacks)
        finally:
            _fitting.reset(token)
        mlflow.log_metric("best_iteration", fitted.best_iteration_)
        if log_models:
            log_model(fitted)
        return fitted

    safe_patch(FLAVOR, GBRanker, "fit", fit, manage_run=True)


def _allowed(name: str) -> str:
    """Return the name of a measure as MLflow takes it."""
    return re.sub(r"[^\w\-. :/]+", "_", name.replace("@", "_at_"))
