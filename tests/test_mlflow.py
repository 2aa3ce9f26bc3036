"""Rankers in MLflow: what is logged, what the registry and a pyfunc give back, and the measures."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest

pytest.importorskip("mlflow")

import mlflow

import gbrank.mlflow
from gbrank import GBRanker, make_cubic

X, Y, QID = make_cubic(12, n_documents=8, n_features=3, random_state=0)
FRAME = pd.DataFrame(X, columns=["bm25", "price", "age"]).assign(
    shop=np.array(["wood", "stone", "iron"])[np.arange(len(X)) % 3]
)
GIVEN = FRAME.assign(query_id=QID)


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep runs and models in a folder of the test."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    yield
    gbrank.mlflow.autolog(disable=True, silent=True)
    mlflow.set_tracking_uri("")


def small(**options: Any) -> GBRanker:
    """Return a ranker of a few trees, unfitted."""
    return GBRanker(n_estimators=4, min_child_samples=1, n_jobs=1, random_state=0, **options)


def fitted(**options: Any) -> GBRanker:
    """Return a fitted one, with a column of words."""
    return small(**options).fit(FRAME, Y, qid=QID, categorical_feature=["shop"])


def test_the_registry_gives_back_what_scores_the_same(tmp_path: Path) -> None:
    """By a pyfunc that is told the queries, and as a ranker; no file holds a pickle."""
    ranker = fitted(context={"rank": ["bm25"]})
    example = GIVEN.assign(shop=pd.Categorical(GIVEN["shop"])).head(4)
    info = gbrank.mlflow.log_model(
        ranker, query="query_id", input_example=example, registered_model_name="shop"
    )
    assert info.signature.inputs.input_names() == [*GIVEN]
    served = mlflow.pyfunc.load_model("models:/shop/1")
    shuffled = GIVEN.sample(frac=1, random_state=0)
    expected = ranker.predict(FRAME, qid=QID)
    assert np.array_equal(served.predict(shuffled), expected[shuffled.index])
    again = gbrank.mlflow.load_model("models:/shop/1")
    assert isinstance(again, GBRanker)
    assert np.array_equal(again.predict(FRAME, qid=QID), expected)
    folder = Path(mlflow.artifacts.download_artifacts("models:/shop/1"))
    kinds = {path.suffix for path in folder.rglob("*") if path.is_file()}
    assert kinds <= {"", ".json", ".txt", ".yaml"}
    stated = (folder / "requirements.txt").read_text()
    assert f"gbrank=={gbrank.__version__}" in stated
    assert "lightgbm==" in stated


def test_all_rows_are_one_list_without_a_column_of_queries(tmp_path: Path) -> None:
    """Of an array, too."""
    ranker = small(context="zscore").fit(X, Y, qid=QID)
    gbrank.mlflow.save_model(ranker, tmp_path / "model")
    served = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    assert np.array_equal(served.predict(X[:8]), ranker.predict(X[:8], group=[8]))
    with pytest.raises(TypeError, match=r"ranker must be a ranker of gbrank; .*, got 'trees'"):
        gbrank.mlflow.save_model("trees", tmp_path / "other")  # type: ignore[arg-type]


def test_boosters_are_not_logged(tmp_path: Path) -> None:
    """One alone has its own flavour; one with categories below a ranker could not be served."""
    booster = lgb.LGBMRanker(n_estimators=2, min_child_samples=1).fit(X, Y, group=[8] * 12)
    start = small(init=booster).fit(X, Y, qid=QID)
    gbrank.mlflow.save_model(start, tmp_path / "start")
    served = mlflow.pyfunc.load_model(str(tmp_path / "start"))
    assert np.array_equal(served.predict(X), start.predict(X))
    with pytest.raises(TypeError, match=r"mlflow\.xgboost save boosters, got Pre"):
        gbrank.mlflow.save_model(start.init_, tmp_path / "booster")
    words = FRAME.astype({"shop": "category"})
    booster = lgb.LGBMRanker(n_estimators=2, min_child_samples=1).fit(words, Y, group=[8] * 12)
    ranker = small(init=booster).fit(words, Y, qid=QID)
    with pytest.raises(ValueError, match="init must have no categories of its own"):
        gbrank.mlflow.save_model(ranker, tmp_path / "words")
    assert not {path.name for path in tmp_path.iterdir()} & {"booster", "words"}


def test_a_column_of_queries_that_is_none(tmp_path: Path) -> None:
    """One that is a feature, or that X does not have."""
    with pytest.raises(ValueError, match=r"query must be a column beside those .*, got 'bm25'"):
        gbrank.mlflow.save_model(fitted(), tmp_path / "model", query="bm25")
    with pytest.raises(ValueError, match=r"query must be a column beside those .* got 'query_id'"):
        gbrank.mlflow.save_model(small().fit(X, Y, qid=QID), tmp_path / "model", query="query_id")
    assert not list(tmp_path.iterdir())
    gbrank.mlflow.save_model(fitted(), tmp_path / "model", query="query_id")
    served = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    with pytest.raises(ValueError, match=r"model_input must be .* with the column 'query_id'"):
        served.predict(FRAME)


def test_evaluation_by_query(tmp_path: Path) -> None:
    """The mean of `score`, whatever the column of queries is called."""
    ranker = fitted()
    gbrank.mlflow.save_model(ranker, tmp_path / "model")
    result = mlflow.models.evaluate(
        str(tmp_path / "model"),
        GIVEN.assign(label=Y),
        targets="label",
        extra_metrics=[gbrank.mlflow.ranking_metric("ndcg@10")],
        evaluator_config={"col_mapping": {"qid": "query_id"}},
    )
    assert result.metrics == {"ndcg_at_10": ranker.score(FRAME, Y, QID)}


def test_rounds_are_logged() -> None:
    """Every one, under names that MLflow takes."""
    with mlflow.start_run() as run:
        ranker = small(eval_metric=["ndcg@3", "ndcg(gain=linear)"]).fit(
            X, Y, qid=QID, eval_set=[(X, Y)], eval_qid=[QID], callbacks=[gbrank.mlflow.log_rounds()]
        )
    client, curves = mlflow.MlflowClient(), ranker.evals_result_["valid_0"]
    for measure, name in zip(curves, ("ndcg_at_3", "ndcg_gain_linear_"), strict=True):
        history = client.get_metric_history(run.info.run_id, f"valid_0-{name}")
        values = [entry.value for entry in sorted(history, key=lambda entry: entry.step)]
        assert values == curves[measure]


def test_autolog(caplog: pytest.LogCaptureFixture) -> None:
    """Of a fit, and not of the one that it begins with; nothing once it is disabled."""
    gbrank.mlflow.autolog(silent=True)
    ranker = small(init=small()).fit(X, Y, qid=QID)
    assert "unexpected error" not in caplog.text
    (run,) = mlflow.MlflowClient().search_runs(["0"])
    assert run.info.status == "FINISHED"
    assert run.data.params["n_estimators"] == "4"
    assert run.data.metrics["best_iteration"] == 4
    (logged,) = mlflow.search_logged_models(output_format="list")
    again = gbrank.mlflow.load_model(logged.model_uri)
    assert np.array_equal(again.predict(X), ranker.predict(X))
    gbrank.mlflow.autolog(disable=True, silent=True)
    small().fit(X, Y, qid=QID)
    assert len(mlflow.MlflowClient().search_runs(["0"])) == 1


def test_what_is_asked_of_a_log(tmp_path: Path) -> None:
    """Its own packages; no model with the runs; callbacks beside its own; sigma."""
    gbrank.mlflow.save_model(fitted(), tmp_path / "model", pip_requirements=["gbrank", "pandas"])
    stated = (tmp_path / "model" / "requirements.txt").read_text().split()
    assert stated[-2:] == ["gbrank", "pandas"]
    assert gbrank.mlflow.ranking_metric("map").greater_is_better
    gbrank.mlflow.autolog(log_models=False, silent=True)
    rounds: list[int] = []
    ranker = small(objective="soft:ndcg", sigma=2.0)
    ranker.fit(X, Y, qid=QID, callbacks=[lambda round: rounds.append(round.number)])
    assert rounds == [0, 1, 2, 3]
    (run,) = mlflow.MlflowClient().search_runs(["0"])
    history = mlflow.MlflowClient().get_metric_history(run.info.run_id, "sigma")
    history.sort(key=lambda entry: entry.step)
    assert [entry.step for entry in history] == [0, 1, 2, 3]
    assert history[-1].value == 2.0
    assert not mlflow.search_logged_models(output_format="list")
