"""Linear rankers: their weights in the formats of engines."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from gbrank import LinearRanker, SLAMPerceptron, export_model, make_cubic
from gbrank.export.linear import LINEAR_FORMATS

X, Y, QID = make_cubic(20, n_documents=10, n_features=3, random_state=0)
FRAME = pd.DataFrame(X, columns=["bm25(title)", "price", "age"])


def ranker(**params: Any) -> LinearRanker:
    return LinearRanker("regression", **params).fit(FRAME, Y, qid=QID)


def test_weights_by_engine(tmp_path: Path) -> None:
    """The model of a plugin, of Solr, and an expression that sums to the score."""
    linear = ranker()
    weights = dict(zip(FRAME.columns, linear.coef_.tolist(), strict=True))
    export_model(linear, tmp_path / "os.json", "opensearch")
    assert json.loads((tmp_path / "os.json").read_text()) == weights
    export_model(linear, tmp_path / "my-model.json", "solr", feature_names={"age": "days"})
    content = json.loads((tmp_path / "my-model.json").read_text())
    assert content["class"] == "org.apache.solr.ltr.model.LinearModel"
    assert content["name"] == "my-model"
    assert [feature["name"] for feature in content["features"]] == ["bm25(title)", "price", "days"]
    assert [*content["params"]["weights"].values()] == [*weights.values()]
    export_model(linear, tmp_path / "vespa", "vespa", feature_names=["a", "b", "c"])
    expression = (tmp_path / "vespa").read_text()
    scores = [eval(expression, dict(zip("abc", row, strict=True))) for row in X.tolist()]
    assert_allclose(scores, linear.predict(FRAME), rtol=1e-12)


@pytest.mark.parametrize("format", ["opensearch", "solr", "vespa"])
def test_wrong_files_are_found(
    format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong weight, and weights in another order than that of the columns of predict."""
    linear = ranker()
    file = tmp_path / "model"
    right = LINEAR_FORMATS[format]

    def write(name: str, weights: dict[str, float]) -> str:
        return right.write(name, weights | {"age": float(np.nextafter(weights["age"], 1))})

    with monkeypatch.context() as patch:
        patch.setitem(LINEAR_FORMATS, format, right._replace(write=write))
        with pytest.raises(ValueError, match="path must have the ranker's weights"):
            export_model(linear, file, format)
        assert not file.exists()
        export_model(linear, file, format, verify=False)
        assert file.exists()
    with monkeypatch.context() as patch:
        patch.setattr(LinearRanker, "predict", lambda self, X: X[:, ::-1] @ self.coef_)
        with pytest.raises(ValueError, match="path must give the ranker's scores"):
            export_model(linear, file, format)


def test_folders_and_perceptrons(tmp_path: Path) -> None:
    perceptron = SLAMPerceptron().fit(X, Y, qid=QID)
    perceptron.save(tmp_path / "folder")
    export_model(tmp_path / "folder", tmp_path / "model", "opensearch")
    weights = json.loads((tmp_path / "model").read_text())
    assert weights == dict(zip(["f0", "f1", "f2"], perceptron.coef_.tolist(), strict=True))


def test_refusals(tmp_path: Path) -> None:
    """Each with its reason; nothing is written."""
    with pytest.raises(ValueError, match=r"by_query must be False .* of z-scores over all"):
        export_model(ranker(by_query=True), tmp_path / "model", "opensearch")
    with pytest.raises(ValueError, match=r"unknown format of linear rankers 'onnx'\. Known: open"):
        export_model(ranker(), tmp_path / "model", "onnx")
    with pytest.raises(ValueError, match=r"feature_names must be features to Vespa.*got 'a b'"):
        export_model(ranker(), tmp_path / "model", "vespa", feature_names=["a b", "b", "c"])
    options: list[dict[str, Any]] = [{"missing_as_zero": True}, {"extractors": []}]
    for option in options:
        (name,) = option
        with pytest.raises(ValueError, match=f"{name} must not be set for a linear ranker"):
            export_model(ranker(), tmp_path / "model", "solr", **option)
    assert not [*tmp_path.iterdir()]
