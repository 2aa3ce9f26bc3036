"""`gbrank info`, and what it and others refuse."""

import json
import re
from datetime import date
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pytest

import gbrank
from command import Output
from gbrank import GBRanker, write_letor


def test_info(model: str, output: Output) -> None:
    """Text shows what JSON has: features as exports call them, largest gain first."""
    ranker = GBRanker.load(model)
    found = json.loads(output("info", "--model", model, "--json"))
    assert (found["gbrank"], found["format"]) == (gbrank.__version__, 3)
    assert (found["booster"], found["rounds"], found["features"]) == ("lightgbm", 5, 6)
    assert found["data"]["train"] == ranker.training_data_["train"]
    assert found["validation"] == {}
    shares = dict(found["importances"])
    assert [shares[f"f{i}"] for i in range(1, 7)] == ranker.feature_importances_.tolist()
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    text = output("info", "--model", model)
    name, share = found["importances"][0]
    assert f"  {name}  {share:.4f}\n" in text
    assert re.search(r"^  n_estimators +5$", text, re.MULTILINE)
    assert "  validation     none\n" in text
    assert f"  learning_rate  {ranker.learning_rate_:.4g}\n" in text
    assert found["learning_rate"] == ranker.learning_rate_
    saved = Path(model, "gbrank.json").stat().st_mtime
    assert found["saved"] == f"{date.fromtimestamp(saved)}"
    assert found["versions"] == {"numpy": np.__version__, "lightgbm": lgb.__version__}


@pytest.mark.parametrize("more", [[], ["--sparse"], ["--booster", "xgboost"]])
def test_features_have_the_numbers_of_their_file(
    more: list[str], tmp_path: Path, output: Output
) -> None:
    """Feature 3 of a LETOR file alone orders documents, and is f3 wherever it is named."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    X[:, 4] = np.repeat(np.arange(60) % 2, 10)
    path, model, page = tmp_path / "train.txt", tmp_path / "model", tmp_path / "page.html"
    write_letor(path, X, np.digitize(X[:, 2], [0, 1]), np.repeat(np.arange(60), 10))
    options = ["--n-estimators", "3", "--learning-rate", "0.01", "--quiet", *more]
    output("train", path, "--model", model, *options)
    assert json.loads(output("info", "--model", model, "--json"))["importances"][0][0] == "f3"
    asked = ["--model", model, "--query", "7", "--pair", "1", "10"]
    assert "| f3 |" in output("explain", path, *asked).replace("`", "")
    output("report", path, "--model", model, "--by", "f5", "--html", page)
    assert "f5" in page.read_text()
    assert "f0" not in page.read_text()
    exported = tmp_path / "model.json"
    form = ["--format", "opensearch", "--output", exported, "--missing-as-zero"]
    output("export", "--model", model, *form)
    assert '"f3"' in exported.read_text()
