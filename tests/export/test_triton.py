"""The folder for Triton's FIL backend; the backend itself reads models by Treelite."""

import re
from pathlib import Path

import lightgbm
import numpy as np
import pytest
import treelite

from gbrank import GBRanker, make_cubic
from gbrank.export import write_triton

X, Y, QID = make_cubic(40, n_documents=15, n_features=4, random_state=0)
ROWS = X.astype(np.float32)
ROWS[::7, 1] = np.nan


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_scores(booster: str, tmp_path: Path) -> None:
    """In single precision too, without what a classifier would do to them."""
    ranker = GBRanker(booster=booster, n_estimators=20, random_state=0).fit(ROWS, Y, qid=QID)
    write_triton(ranker, tmp_path / "m")
    config = (tmp_path / "m" / "config.pbtxt").read_text()
    assert "dims: [ 4 ]" in config
    kinds = {"lightgbm": ("lightgbm", "model.txt"), "xgboost": ("xgboost_json", "xgboost.json")}
    kind, name = kinds[booster]
    assert f'value: {{ string_value: "{kind}" }}' in config
    file = tmp_path / "m" / "1" / name
    model = getattr(treelite.frontend, f"load_{booster}_model")(file)
    scores = treelite.gtil.predict(model, ROWS).ravel()
    np.testing.assert_allclose(scores, ranker.predict(ROWS), atol=1e-5)
    if booster == "lightgbm":
        np.testing.assert_array_equal(
            lightgbm.Booster(model_file=file).predict(ROWS), ranker.predict(ROWS)
        )
        for line in re.findall("^threshold=(.*)$", file.read_text(), re.MULTILINE):
            numbers = np.array(line.split(), float)
            np.testing.assert_array_equal(numbers.astype(np.float32), numbers)


def test_other_starts(tmp_path: Path) -> None:
    """Their trees are not in the booster's file."""
    start = GBRanker(n_estimators=2, random_state=0).fit(X, Y, qid=QID)
    ranker = GBRanker(n_estimators=2, init=start, random_state=0).fit(X, Y, qid=QID)
    with pytest.raises(ValueError, match="init must be None for the booster's own file"):
        write_triton(ranker, tmp_path / "m")
    assert not list(tmp_path.iterdir())
