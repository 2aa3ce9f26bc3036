"""`gbrank info`, and what it and others refuse."""

import json
from datetime import date
from pathlib import Path

import lightgbm as lgb
import numpy as np
from command import Output

import gbrank
from gbrank import GBRanker, LinearRanker, make_cubic, read_letor


def test_what_needs_trees(data: Path, tmp_path: Path, fault: Output) -> None:
    X, y, qid = read_letor(data / "train.txt")
    model = tmp_path / "linear"
    LinearRanker("regression").fit(X, y, qid=qid).save(model)
    expected = f"--model must hold a GBRanker, got {model} with a LinearRanker."
    assert expected in fault("info", "--model", model)
    command = ["explain", data / "test.txt", "--query", "112", "--document", "1"]
    assert expected in fault(*command, "--model", model)
    export = ["--format", "solr", "--output", tmp_path / "m.json"]
    assert expected in fault("export", "--model", model, *export)


def test_info(model: str, output: Output) -> None:
    """Text shows what JSON has: features as exports call them, largest gain first."""
    ranker = GBRanker.load(model)
    found = json.loads(output("info", "--model", model, "--json"))
    assert (found["gbrank"], found["format"]) == (gbrank.__version__, 3)
    assert (found["booster"], found["rounds"], found["features"]) == ("lightgbm", 5, 6)
    assert found["data"]["train"] == ranker.training_data_["train"]
    assert found["validation"] == {}
    shares = dict(found["importances"])
    assert [shares[f"f{i}"] for i in range(6)] == ranker.feature_importances_.tolist()
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    text = output("info", "--model", model)
    name, share = found["importances"][0]
    assert f"  {name}  {share:.4f}\n" in text
    assert "  n_estimators           5\n" in text
    assert "  validation     none\n" in text
    assert f"  learning_rate  {ranker.learning_rate_:.4g}\n" in text
    assert found["learning_rate"] == ranker.learning_rate_
    saved = Path(model, "gbrank.json").stat().st_mtime
    assert found["saved"] == f"{date.fromtimestamp(saved)}"
    assert found["versions"] == {"numpy": np.__version__, "lightgbm": lgb.__version__}


def test_info_of_a_frame(tmp_path: Path, output: Output) -> None:
    """Features have the names of their columns, and the validation measure is there."""
    import pandas as pd

    X, y, qid = make_cubic(12, n_documents=10, n_features=2, random_state=0)
    ranker = GBRanker(n_estimators=2, min_child_samples=2, n_jobs=1, validation_fraction=0.3)
    ranker.fit(pd.DataFrame(X, columns=["age", "price"]), y, qid=qid).save(tmp_path)
    found = json.loads(output("info", "--model", tmp_path, "--json"))
    assert {name for name, _ in found["importances"]} == {"age", "price"}
    assert found["validation"] == {"ndcg@10": ranker.best_score_}
    assert f"ndcg@10 {ranker.best_score_:.4f}" in output("info", "--model", tmp_path)
    card = output("info", "--model", tmp_path, "--markdown")
    assert card.startswith(f"# {ranker.objective}\n")
    assert "| `train` | 80 documents in 8 queries |" in card
    curve = ranker.evals_result_["valid_0"]["ndcg@10"]
    assert f"| valid_0 | ndcg@10 | {curve[0]:.4f} | {max(curve):.4f} |" in card
    assert card == output("info", "--model", tmp_path, "--markdown")


def test_info_of_a_model_that_stopped_early(tmp_path: Path, output: Output) -> None:
    """The measure is that of the rounds that are kept; of many features, the first ten."""
    X, y, qid = make_cubic(20, n_documents=10, n_features=12, random_state=0)
    ranker = GBRanker(learning_rate=1.0, validation_fraction=0.3, early_stopping_rounds=2, n_jobs=1)
    ranker.set_params(random_state=0, min_child_samples=2).fit(X, y, qid=qid).save(tmp_path)
    curve = ranker.evals_result_["valid_0"]["ndcg@10"]
    assert ranker.best_score_ == max(curve) > curve[-1] + 1e-4
    text = output("info", "--model", tmp_path)
    assert f"  rounds         {ranker.best_iteration_}\n" in text
    assert f"  validation     ndcg@10 {max(curve):.4f}\n" in text
    shares = text.partition("share of the gain, 10 of 12 features\n")[2].splitlines()
    largest = sorted(ranker.feature_importances_, reverse=True)[:10]
    assert [line.split()[1] for line in shares] == [f"{share:.4f}" for share in largest]
