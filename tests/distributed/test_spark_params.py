"""Parameters of SparkGBRanker, which need no session."""

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from gbrank import GBRanker
from gbrank.distributed import SparkGBRanker


def test_parameters_are_set_by_name() -> None:
    """`setParams` returns the estimator, as Spark's do; those of GBRanker keep their defaults."""
    ranker = SparkGBRanker(qidCol="query", n_estimators=7)
    assert ranker.setParams(labelCol="grade", num_leaves=5, weightCol=None) is ranker
    values = {param.name: value for param, value in ranker.extractParamMap().items()}
    assert values == {
        **GBRanker().get_params(),
        "n_estimators": 7, "num_leaves": 5, "labelCol": "grade", "qidCol": "query",
        "featuresCol": "features", "predictionCol": "prediction", "checkpoint": None,
        "checkpoint_rounds": 50, "numTasks": None, "labels": None,
    }  # fmt: skip
    assert not ranker.isDefined("weightCol")


def test_an_unknown_parameter_is_refused() -> None:
    with pytest.raises(AttributeError, match="num_leafs"):
        SparkGBRanker().setParams(num_leafs=3)
