"""Files that people take for a run or a model: the error says what they are."""

import json
import pickle
from pathlib import Path

import joblib
import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

from gbrank import GBRanker, load_ranker, make_cubic
from gbrank.evaluation import scores_from
from gbrank.export import export_model
from gbrank.serving import load_predictor

X, Y, QID = make_cubic(20, n_documents=8, n_features=3, random_state=0)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (pickle.dumps({"a": 1}), r"is a pickle: load it, by joblib\.load"),
        (json.dumps({"trees": [1, 2]}, indent=1).encode(), "is JSON, but no model file of"),
        (json.dumps([{"nodeid": 0, "leaf": 0.5}]).encode(), "is JSON, but no model file of"),
        (json.dumps({"q": {"d": 0.5}}).encode(), r"\{document: score\}\}, read by json\.load"),
    ],
)
def test_what_is_no_run(content: bytes, error: str, tmp_path: Path) -> None:
    file = tmp_path / "model"
    file.write_bytes(content)
    with pytest.raises((TypeError, ValueError), match=error):
        scores_from(file, X)


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("name", ["gbrank.json", "renamed"])
def test_the_file_in_the_folder_of_a_ranker(name: str, booster: str, tmp_path: Path) -> None:
    """It holds a booster, and is not taken for the booster's own file."""
    ranker = GBRanker("ranknet", booster=booster, n_estimators=2, n_jobs=1).fit(X, Y, qid=QID)
    ranker.save(tmp_path)
    file = (tmp_path / "gbrank.json").rename(tmp_path / name)
    with pytest.raises(FileNotFoundError, match="is a file: pass the folder that holds"):
        load_ranker(file)
    with pytest.raises((FileNotFoundError, TypeError), match=r"[Pp]ass the (folder|rank)"):
        scores_from(file, X)


@pytest.mark.parametrize("booster", ["LightGBM", "XGBoost"])
def test_a_model_of_another_library(booster: str, tmp_path: Path) -> None:
    """`load_ranker` names the library; what the error says to do works."""
    file = tmp_path / "model"
    if booster == "LightGBM":
        lgb.train({"verbosity": -1}, lgb.Dataset(X, Y), 2).save_model(file)
    else:
        xgb.train({}, xgb.DMatrix(X, Y), 2).save_model(file)
    with pytest.raises(
        FileNotFoundError, match=rf"is a model file of {booster}.*as init= or to ex"
    ):
        load_ranker(file)
    GBRanker("ranknet", init=file, n_estimators=2, n_jobs=1).fit(X, Y, qid=QID)
    export_model(file, tmp_path / "exported", "opensearch")


def test_a_pickled_ranker(tmp_path: Path) -> None:
    file = tmp_path / "ranker.pkl"
    ranker = GBRanker("ranknet", n_estimators=2, n_jobs=1).fit(X, Y, qid=QID)
    joblib.dump(ranker, file)
    for take in (load_ranker, load_predictor, lambda file: export_model(file, "model", "solr")):
        with pytest.raises(FileNotFoundError, match=r"is a pickle: load it, by joblib\.load"):
            take(file)
    np.testing.assert_array_equal(joblib.load(file).predict(X), ranker.predict(X))


def test_a_run_whose_first_name_is_in_braces(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.write_text("{1} Q0 a 1 2.0 mine\n{1} Q0 b 2 1.0 mine\n")
    scores = scores_from(run, qid=["{1}", "{1}"], docid=["b", "a"])
    np.testing.assert_array_equal(scores, [1.0, 2.0])
