"""A script: a fit on executors of Spark that are processes, one of which is killed.

    python local_cluster.py FOLDER

The folder keeps checkpoints, and gets the scores as scores.npy; see test_spark.py.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyspark
from plain_trees import PLAIN
from pyspark.sql import SparkSession

from gbrank import custom_objective, make_cubic, staircase
from gbrank.distributed import SparkGBRanker

X, Y, QID = make_cubic(30, n_documents=12, n_features=4, random_state=0)
X = X.round(1)  # few values, so that bins are the same wherever rows are
PARAMS: dict[str, Any] = {
    **PLAIN, "booster": "xgboost", "min_child_samples": 5, "n_estimators": 8, "random_state": 0,
    "sigma": staircase(128, 0.5, 1),
}  # fmt: skip


def kill_executor() -> None:
    """Kill the Java that started Python's daemon, from which this process was forked."""
    daemon = Path(f"/proc/{os.getppid()}/stat").read_text()
    os.kill(int(daemon.rpartition(")")[2].split()[1]), signal.SIGKILL)


def main(folder: Path) -> None:
    """Fit on two executors of one core each."""
    marker = folder / "killed"

    def squares(scores: Any, labels: Any, sigma: float) -> Any:
        if sigma == 4 and not marker.exists():
            marker.touch()
            kill_executor()
        error = scores - labels
        return 0.5 * (error @ error), error, np.ones(len(labels))

    os.environ["SPARK_HOME"] = pyspark.__path__[0]  # where executors are started from
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for name, value in {
        "ui.enabled": "false", "cores.max": "2", "scheduler.minRegisteredResourcesRatio": "1",
    }.items():  # fmt: skip
        builder = builder.config(f"spark.{name}", value)
    spark = builder.getOrCreate()
    spark.range(1).count()  # begins once both executors are there
    rows = [(i, X[i].tolist(), float(Y[i]), int(QID[i])) for i in range(len(Y))]
    data = spark.createDataFrame(rows, "id int, features array<double>, label double, qid long")
    ranker = SparkGBRanker(
        objective=custom_objective(squares), checkpoint=str(folder / "kept"), checkpoint_rounds=3,
        **PARAMS,
    )  # fmt: skip
    found = ranker.fit(data).transform(data).select("id", "prediction").collect()
    np.save(folder / "scores.npy", [row.prediction for row in sorted(found)])
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
