"""Numbers at the edges of formats: their readers go the same way as the model at each threshold."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from engines import F
from exported_models import (
    CODES,
    RNG,
    WHOLE,
    D,
    N,
    Y,
    assert_same,
    boosters,
    exported,
    fitted,
    fitted_to,
    formats,
    scores_in,
)
from gbrank import export_model
from gbrank.boosters.tree import above, at_most, splits
from gbrank.export.formats import FORMATS
from gbrank.export.solr import _before_slack


@boosters
def test_double_precision(booster: str, tmp_path: Path) -> None:
    """Formats that keep it send every number where the ranker does, however close to a threshold.

    XGBoost rounds to single precision first, and LightGBM reads what is within 1e-35 of 0 as 0.
    """
    ranker = fitted_to("whole", booster)
    thresholds = [split.threshold for tree in ranker._model.trees() for split in splits(tree)]
    columns = [split.feature for tree in ranker._model.trees() for split in splits(tree)]
    near = []
    for towards in (-np.inf, 0.0, np.inf):
        X = np.zeros((len(thresholds), D))
        values = np.array(thresholds)
        X[np.arange(len(X)), columns] = np.nextafter(values, towards) if towards else values
        near.append(X)
    X = np.concatenate(near)
    X[np.abs(X) <= np.float32(1e-35)] = 0
    path = tmp_path / "model"
    assert_allclose(exported(ranker, "vespa-lightgbm", X, path), ranker.predict(X), atol=1e-5)


LARGEST = float(np.finfo(F).max)

OFTEN = RNG.random(N) < np.array([0.6, 0.4, 0.1, 0.05, 0.0, 0.0])[Y.astype(int)]

VALUES = RNG.normal(size=N) + Y

EXTREME: dict[str, Any] = {
    "missing or a number": np.where(OFTEN, np.nan, VALUES),
    "missing or the largest": np.where(OFTEN, np.nan, LARGEST),
    "missing or the smallest": np.where(OFTEN, np.nan, -LARGEST),
    "largest": np.where(OFTEN, LARGEST, VALUES),
    "smallest": np.where(OFTEN, -LARGEST, VALUES),
    "largest or smallest": np.where(OFTEN, -LARGEST, LARGEST),
    "signs": np.sign(VALUES - 1).round(),
    "times": 1.7e9 + (VALUES * 30).round(),
    "beside 1": 1 + VALUES * 1e-9,
    **{e: VALUES * float(e) for e in ("1e300", "1e307", "1e-8", "1e-10", "1e-20", "1e-40")},
    "denormal": (VALUES * 2).round() * 2.0**-149,
}

SINGLE = set(FORMATS) - {"vespa-lightgbm"}

# Formats that refuse a column, of LightGBM's and of XGBoost's models.
TOO_FINE: dict[str, tuple[set[str], set[str]]] = {
    # XGBoost itself has single precision
    **dict.fromkeys(("times", "beside 1", "1e300", "1e307"), (SINGLE, set[str]())),
    **dict.fromkeys(("1e-8", "1e-10", "1e-20"), ({"solr"}, {"solr"})),
    # to LightGBM these are zeros
    **dict.fromkeys(("1e-40", "denormal"), (set[str](), {"solr"})),
}


@boosters
@pytest.mark.parametrize("column", EXTREME)
def test_numbers_that_formats_cannot_hold(booster: str, column: str, tmp_path: Path) -> None:
    """They are refused by name; all others are written, and decide alike."""
    X = np.c_[RNG.permutation(VALUES), EXTREME[column]]
    params = {"n_estimators": 6, "learning_rate": 0.3, "extra_trees": False, "colsample": 1.0}
    if booster == "xgboost" and column in ("1e300", "1e307"):
        return  # it takes no such numbers
    ranker = fitted(X, booster, min_child_samples=2, **params)
    refused = TOO_FINE.get(column, (set(), set()))[booster == "xgboost"]
    for format, known in FORMATS.items():
        names = {"feature_names": ["a", "b"]} if known.named else {}
        path = tmp_path / "model"
        if format in refused:
            with pytest.raises(ValueError, match=r"hold the model's thresholds, .*'(b|f1)'"):
                export_model(ranker, path, format, **names)
        else:
            export_model(ranker, path, format, **names)
            rows = X if format == "vespa-lightgbm" else X.astype(F)
            scores = scores_in(path, format, rows, ["a", "b"])
            assert_allclose(scores, ranker.predict(rows), atol=1e-5, err_msg=format)


@boosters
def test_thresholds_beyond_all_numbers(booster: str, tmp_path: Path) -> None:
    """Where a split is by missing or not alone; no number of JSON is infinite."""
    noise = np.where(OFTEN, np.nan, np.random.default_rng(0).permutation(VALUES))
    X = np.column_stack([noise, EXTREME["missing or the largest"]])
    X = X[:, :1] if booster == "lightgbm" else X
    ranker = fitted(X, booster, min_child_samples=2, num_leaves=40, extra_trees=False)
    assert np.inf in {split.threshold for tree in ranker._model.trees() for split in splits(tree)}

    def no_number(text: str) -> None:
        raise AssertionError(text)

    for format in ("elasticsearch", "opensearch", "vespa-lightgbm", "solr"):
        export_model(ranker, tmp_path / "model", format)
        text = (tmp_path / "model").read_text()
        json.loads(text, parse_constant=no_number)
        assert '"inf"' not in text


@boosters
@formats
def test_neighbours_in_single_precision(booster: str, format: str, tmp_path: Path) -> None:
    """Values with no room for a threshold between them that is rounded the wrong way."""
    X = WHOLE.copy()
    ladder = [F(0.3)]
    for _ in range(7):
        ladder.append(np.nextafter(ladder[-1], F(1)))
    X[:, 0] = np.array(ladder)[CODES % 8]
    X[:, 1:] = 0
    X[:, 1] = CODES > 3
    ranker = fitted(X, booster)
    assert len(np.unique(ranker.predict(X))) > 2
    assert_same(ranker, format, X, tmp_path / "model", missing_as_zero=True)


@given(st.floats(-1e30, 1e30) | st.floats(-1, 1) | st.floats(-1e-5, 1e-5))
def test_thresholds_in_single_precision(threshold: float) -> None:
    """The neighbours of a threshold go the same way."""
    low, high = F(at_most(threshold)), F(above(threshold))
    assert float(low) <= threshold < float(high)
    assert high == np.nextafter(low, F(np.inf))


@given(st.floats(-1e30, 1e30) | st.floats(-1, 1) | st.floats(-1e-4, 1e-4))
def test_thresholds_of_solr(threshold: float) -> None:
    """With its slack they are exact, or the next number that single precision reaches."""
    wanted = F(at_most(threshold))
    given = F(_before_slack(threshold))
    reached, next_one = given + F(1e-6), np.nextafter(given, F(np.inf)) + F(1e-6)
    assert reached == wanted or reached < wanted < next_one


@boosters
def test_numbers_beside_zero_in_solr(booster: str, tmp_path: Path) -> None:
    """It adds 1e-6 in single precision: no number goes another way but those that are nearly 0."""
    X = np.column_stack([np.sign(Y - 2) * RNG.integers(0, 2, N), RNG.normal(size=N)])
    ranker = fitted(X, booster, n_estimators=4, extra_trees=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for format in FORMATS:
            export_model(ranker, tmp_path / "model", format, missing_as_zero=True)
    export_model(ranker, tmp_path / "model", "solr", feature_names=["a", "b"])
    sizes = 10.0 ** np.arange(-44, 1, 0.25)
    rows = np.zeros((2 * len(sizes) + 1, 2), F)
    rows[1:, 0] = np.concatenate([-sizes, sizes])
    found = scores_in(tmp_path / "model", "solr", rows, ["a", "b"])
    wrong = np.abs(found - ranker.predict(rows)) > 1e-5
    assert wrong.any()
    assert not wrong[0]
    assert -1.2e-13 < rows[wrong, 0].min() <= rows[wrong, 0].max() <= F(1e-35)
