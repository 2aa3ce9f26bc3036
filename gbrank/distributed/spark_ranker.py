"""SparkGBRanker, GBRanker as an estimator of pyspark.ml."""

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.ml import Estimator, Model, util
from pyspark.ml.functions import vector_to_array
from pyspark.ml.linalg import VectorUDT
from pyspark.ml.param import Param, Params, shared
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, BooleanType, FloatType, NumericType

from gbrank.common.checks import check_integer
from gbrank.data.documents import check_column_names
from gbrank.data.queries import Queries
from gbrank.ranker import GBRanker

from .barrier import n_slots, run_in_stage
from .parts import Data, each_column, fit_part, portable

RANKER_PARAMS = GBRanker().get_params(deep=False)
OWN_DEFAULTS = {
    "featuresCol": "features",
    "labelCol": "label",
    "qidCol": "qid",
    "predictionCol": "prediction",
    "labels": None,
    "numTasks": None,
    "checkpoint": None,
    "checkpoint_rounds": 50,
}
# Parameters that name columns, and what tasks call them.
CALLED = {
    "featuresCol": "X",
    "labelCol": "y",
    "qidCol": "qid",
    "weightCol": "sample_weight",
    "queryWeightCol": "query_weight",
    "validationIndicatorCol": "held_out",
}


declare: Any = partial(Param, Params._dummy())  # the name and the description of a parameter


class _HasColumns(shared.HasPredictionCol):
    """The columns that a model needs."""

    featuresCol: Param[Any] = declare(
        "featuresCol", "a column of vectors or arrays, or a list of columns"
    )

    def _features(self, dataset: DataFrame) -> Column:
        """Pack the features in one column of arrays, in single precision where they have it."""
        columns = self.getOrDefault(self.featuresCol)
        names = [columns] if isinstance(columns, str) else columns
        kinds = [_kind(dataset, "featuresCol", name) for name in names]
        if isinstance(columns, str) and isinstance(kinds[0], VectorUDT):
            return vector_to_array(_of_name(columns))
        if isinstance(columns, str) and isinstance(kinds[0], ArrayType):
            kinds = [kinds[0].elementType]
            features = _of_name(columns)
        else:
            features = F.array(*(_of_name(name).cast("double") for name in names))
        for name, kind in zip(names, kinds, strict=True):
            if not isinstance(kind, NumericType | BooleanType):
                raise TypeError(
                    "featuresCol must be a column of vectors or arrays of numbers, or a list of "
                    f"columns of numbers, got {name!r} of type {kind.simpleString()}."
                )
        single = all(isinstance(kind, FloatType) for kind in kinds)
        return features.cast("array<float>" if single else "array<double>")


class SparkGBRanker(
    Estimator,
    _HasColumns,
    shared.HasLabelCol,
    shared.HasWeightCol,
    shared.HasValidationIndicatorCol,
    util.DefaultParamsWritable,
    util.DefaultParamsReadable,
):
    """Gradient-boosted tree ranker, trained in the tasks of a Spark cluster.

    Each task of a barrier stage holds some of the queries, whole, and computes their gradients;
    the boosters' own distributed algorithms grow one tree on all of them. At equal scores all
    gradients are those of a fit on one machine, to the last bit.

    Parameters
    ----------
    featuresCol : str or list of str
        A column of vectors or arrays, or several columns of numbers, whose names the model
        keeps. NaN and null are missing.
    labelCol : str
        Relevance labels, at least 0.
    qidCol : str
        The query of each row. Rows may be in any order.
    weightCol : str, optional
        Document weights.
    queryWeightCol : str, optional
        The weight of each row's query, the same in all its rows.
    validationIndicatorCol : str, optional
        A column of booleans: true in all rows of the queries to validate on.
    labels : list of str, optional
        Columns of other labels, by whose names objectives and measures know them: see
        `GBRanker.fit`.
    predictionCol : str
        Where `transform` writes scores; higher ranks earlier within a query.
    numTasks : int, optional
        How many tasks train together; by default as many as the cluster runs at once.
    checkpoint : str, optional
        A folder that all machines share, as for `GBRanker.fit`: a stage that Spark repeats,
        because a task was lost, resumes from there, and so does the same call.
    checkpoint_rounds : int
        Rounds between two checkpoints.
    **params
        Those of `GBRanker`, by the same names. `n_jobs` are threads of each task, by default
        ``spark.task.cpus``.

    Raises
    ------
    ValueError, TypeError
        If a parameter or a column is not usable; the message names it.
    RuntimeError
        From `fit`, if a task was lost and Spark gave up.

    Examples
    --------
    >>> from gbrank.distributed import SparkGBRanker
    >>> ranker = SparkGBRanker(objective="lambda:ndcg@10", qidCol="query", n_estimators=100)
    >>> ranker.getOrDefault("n_estimators")
    100
    """

    qidCol: Param[str] = declare("qidCol", "the query of each row")
    queryWeightCol: Param[str] = declare("queryWeightCol", "the weight of each row's query")
    labels: Param[Any] = declare("labels", "columns of other labels")
    numTasks: Param[Any] = declare("numTasks", "tasks that train together")
    checkpoint: Param[Any] = declare("checkpoint", "a folder that machines share")
    checkpoint_rounds: Param[int] = declare("checkpoint_rounds", "rounds between two checkpoints")

    def __init__(self, **params: object) -> None:
        super().__init__()
        self._setDefault(**OWN_DEFAULTS, **RANKER_PARAMS)
        self.setParams(**params)

    def setParams(self, **params: object) -> "SparkGBRanker":
        """Set parameters by name, as for the class; return the estimator itself."""
        for name, value in params.items():
            if value is not None or not name.endswith("Col"):
                self.set(self.getParam(name), value)
        return self

    def _fit(self, dataset: DataFrame) -> "SparkGBRankerModel":
        ranker = portable(GBRanker(**{name: self.getOrDefault(name) for name in RANKER_PARAMS}))
        chosen = {name: self.getOrDefault(name) for name in CALLED if self.isDefined(name)}
        columns = [self._features(dataset).alias("X")]
        columns += [
            _column(dataset, param, column).alias(CALLED[param])
            for param, column in chosen.items()
            if param != "featuresCol"
        ]
        names = check_column_names(self.getOrDefault(self.labels) or [])
        # Spark takes no dots in the columns that it passes to tasks.
        labels = {f"label_{number}": name for number, name in enumerate(names)}
        columns += [_column(dataset, "labels", labels[alias]).alias(alias) for alias in labels]
        if not (slots := n_slots(dataset)):
            raise RuntimeError(
                "the Spark cluster must have an executor, got none that is ready: run a job first."
            )
        n_tasks = self.getOrDefault("numTasks") or slots
        check_integer(n_tasks, "numTasks", 1, slots)
        threads = int(dataset.sparkSession.conf.get("spark.task.cpus", "1"))
        # Sorted: a checkpoint needs the same rows in the same order.
        rows = dataset.select(*columns).repartition(n_tasks, "qid")
        rows = rows.sortWithinPartitions(*rows.columns)
        checkpoint, every = map(self.getOrDefault, ("checkpoint", "checkpoint_rounds"))

        def task(table: pa.Table | None, rank: int) -> GBRanker:
            """Fit on one task's rows."""
            folder = checkpoint and Path(checkpoint) / f"task-{rank}"
            parts = _parts(table, chosen, labels)
            return fit_part(ranker, threads, *parts, checkpoint=folder, checkpoint_rounds=every)

        return self._copyValues(SparkGBRankerModel(run_in_stage(rows, task)))


for _name in RANKER_PARAMS:
    setattr(SparkGBRanker, _name, declare(_name, f"as for GBRanker: {_name}"))


class SparkGBRankerModel(
    Model, _HasColumns, util.MLWritable, util.MLReadable["SparkGBRankerModel"]
):
    """A fitted ranker, made by `SparkGBRanker.fit`: `transform` adds a column of scores.

    Parameters
    ----------
    ranker : GBRanker
        The fitted ranker, which needs no Spark.
    """

    def __init__(self, ranker: GBRanker) -> None:
        super().__init__()
        names = ("featuresCol", "predictionCol")
        self._setDefault(**{name: OWN_DEFAULTS[name] for name in names})
        self.ranker = ranker

    def _transform(self, dataset: DataFrame) -> DataFrame:
        model = self.ranker

        @F.pandas_udf("double")
        def score(features: pd.Series) -> pd.Series:
            rows = features.to_list()
            return pd.Series(model.predict(np.stack(rows)) if rows else np.empty(0))

        return dataset.withColumn(self.getPredictionCol(), score(self._features(dataset)))

    def write(self) -> util.MLWriter:
        """Make a writer of the model to a folder."""
        return _ModelWriter(self)

    @classmethod
    def read(cls) -> util.MLReader["SparkGBRankerModel"]:
        """Make a reader of a model from a folder."""
        return _ModelReader()


class _ModelWriter(util.DefaultParamsWriter):
    """Writes the parameters as Spark does, and the files of `GBRanker.save` as one table."""

    instance: SparkGBRankerModel

    def saveImpl(self, path: str) -> None:
        super().saveImpl(path)
        with tempfile.TemporaryDirectory() as folder:
            self.instance.ranker.save(folder)
            files = [(file.name, file.read_bytes()) for file in Path(folder).iterdir()]
        table = self.sparkSession.createDataFrame(files, "name string, content binary")
        table.write.parquet(f"{path}/ranker")


class _ModelReader(util.MLReader["SparkGBRankerModel"]):
    """Reads what `_ModelWriter` wrote."""

    def load(self, path: str) -> SparkGBRankerModel:
        metadata = util.DefaultParamsReader.loadMetadata(path, self.sc)
        with tempfile.TemporaryDirectory() as folder:
            for file in self.sparkSession.read.parquet(f"{path}/ranker").collect():
                (Path(folder) / Path(file.name).name).write_bytes(file.content)
            model = SparkGBRankerModel(GBRanker.load(folder))
        model._resetUid(metadata["uid"])
        util.DefaultParamsReader.getAndSetParams(model, metadata)
        return model


def _of_name(column: str) -> Column:
    """Get the column of a name, which may hold dots."""
    return F.col(f"`{column.replace('`', '``')}`")


def _column(dataset: DataFrame, param: str, column: str) -> Column:
    """Get a column that a parameter names, of the type that it must have."""
    kind = _kind(dataset, param, column)
    values = _of_name(column)
    if param == "qidCol":
        return values
    if param == "validationIndicatorCol":
        kinds = BooleanType
        what = "booleans"
        values = F.coalesce(values, F.lit(False))
    else:
        kinds = NumericType | BooleanType
        what = "numbers"
        values = values.cast("double")
    if not isinstance(kind, kinds):
        raise TypeError(
            f"{param} must be a column of {what}, got {column!r} of type {kind.simpleString()}."
        )
    return values


def _kind(dataset: DataFrame, param: str, column: str) -> Any:
    if column not in dataset.columns:
        raise ValueError(
            f"{param} must be one of the columns {', '.join(dataset.columns)}, got {column!r}."
        )
    return dataset.schema[column].dataType


def _parts(table: pa.Table | None, chosen: dict[str, Any], labels: dict[str, str]) -> list[Data]:
    """Split rows into those to train on and those to validate on."""
    if table is None or not table.num_rows:
        raise _too_few([0])
    for param, column in chosen.items():
        if nulls := table.column(CALLED[param]).null_count:
            raise ValueError(f"{param} must not be null, got {nulls} nulls in column {column!r}.")
    values = {name: table.column(name).to_numpy() for name in table.column_names if name != "X"}
    X = _matrix(table.column("X").combine_chunks())
    names = chosen["featuresCol"]
    if labels:
        values["labels"] = {name: values.pop(alias) for alias, name in labels.items()}
    values["X"] = pd.DataFrame(X, columns=names, copy=False) if isinstance(names, list) else X
    if (held_out := values.pop("held_out", None)) is None:
        return [values]
    Queries.from_qid(values["qid"]).one_each(held_out, "validationIndicatorCol")
    sides = [~held_out, held_out]
    if not all(side.any() for side in sides):
        raise _too_few([int(side.sum()) for side in sides])
    return [each_column(lambda _, column: column[side], values) for side in sides]  # noqa: B023


def _too_few(rows: list[int]) -> ValueError:
    return ValueError(
        "qidCol must give each task a query to train on, and one to validate on where there is a "
        f"validationIndicatorCol, got {rows} rows in one task: lower numTasks."
    )


def _matrix(arrays: pa.ListArray) -> NDArray[Any]:
    widths = np.diff(arrays.offsets.to_numpy())
    if len(widths) and (widths != widths[0]).any():
        raise ValueError(
            "featuresCol must have as many features in each row, got "
            f"{widths.min()} and {widths.max()}."
        )
    return arrays.flatten().to_numpy(zero_copy_only=False).reshape(len(arrays), -1)
