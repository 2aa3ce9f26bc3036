"""`gbrank train --context`: commands find the queries by themselves."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from command import SMALL, Output
from numpy.testing import assert_array_equal

from gbrank import GBRanker, read_letor


@pytest.fixture
def model(data: Path, tmp_path: Path, output: Output) -> Path:
    """Train on LETOR data with two kinds."""
    path = tmp_path / "model"
    output("train", data / "train.txt", "--model", path, "--context", "rank", "size", *SMALL)
    return path


def test_scores_measures_and_facts(data: Path, model: Path, output: Output) -> None:
    """They are those of Python."""
    X, y, qid = read_letor(data / "test.txt", n_features=6)
    ranker = GBRanker.load(model)
    assert ranker.context == ["rank", "size"]
    scores = ranker.predict(X, qid=qid)
    said = output("predict", data / "test.txt", "--model", model)
    assert_array_equal(np.array(said.split(), float), scores)
    found = json.loads(
        output("evaluate", data / "test.txt", "--model", model, "--metric", "ndcg@10", "--json")
    )
    assert found["measures"]["ndcg@10"]["mean"] == ranker.score(X, y, qid)
    facts = json.loads(output("info", "--model", model, "--json"))
    assert facts["added"] == ranker.added_features_
    assert "rank(f0), rank(f1)" in output("info", "--model", model)


def test_tables(tmp_path: Path, output: Output, fault: Output) -> None:
    """Queries need not be adjacent."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    frame["label"], frame["qid"] = (frame["a"] > 0).astype(int), rng.permutation(200) % 20
    frame.to_parquet(tmp_path / "train.parquet")
    options: Any = ["--model", tmp_path / "model", "--context", "difference", *SMALL]
    output("train", tmp_path / "train.parquet", *options)
    ranker = GBRanker.load(tmp_path / "model")
    expected = ranker.predict(frame[list("abc")], qid=frame["qid"])
    said = output("predict", tmp_path / "train.parquet", "--model", tmp_path / "model")
    assert_array_equal(np.array(said.split(), float), expected)
    frame.drop(columns="qid").to_parquet(tmp_path / "bare.parquet")
    message = fault("predict", tmp_path / "bare.parquet", "--model", tmp_path / "model")
    assert "--qid must name a column" in message
