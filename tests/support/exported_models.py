"""Models and documents that the tests of exports share, and the engines' scores.

Documents hold single-precision numbers, as engines keep them.
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from engines import ENGINES, F
from gbrank import GBRanker, export_model
from gbrank.export.formats import FORMATS

Vector = NDArray[np.float64]

N, D = 1000, 5

RNG = np.random.default_rng(0)

WHOLE = RNG.normal(size=(N, D)).astype(F)

WHOLE[:, 3] = RNG.integers(0, 4, N)  # values that are thresholds too

WHOLE[:, 4] = np.maximum(WHOLE[:, 4], 0)  # with zeros

HOLES = np.where(RNG.random((N, D)) < 0.2, F(np.nan), WHOLE)

CODES = RNG.integers(0, 9, N)

Y = (WHOLE[:, 0] > 0) + (WHOLE[:, 1] * WHOLE[:, 4] > 0.1) + 1.0 * (WHOLE[:, 3] > 1) + CODES % 2

Y = Y + np.isnan(HOLES[:, 0])  # so that missing values matter

QID = np.arange(N) // 20

NAMES = ["attribute(a)", "b", "c & <d>", "e", 'f"g']

OF_VESPA = ["attribute(a)", "b", "matches(c, 1.5).d", "e", "f(g(h))"]

boosters = pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])


@cache
def fitted_to(data: str, booster: str = "lightgbm") -> GBRanker:
    """Return a small ranker of documents with or without missing values."""
    return fitted({"whole": WHOLE, "holes": HOLES}[data], booster)


def fitted(X: Any, booster: str = "lightgbm", **params: Any) -> GBRanker:
    """Return a small ranker."""
    defaults = {"n_estimators": 25, "num_leaves": 12, "random_state": 0, "n_jobs": 1}
    fit = {"categorical_feature": params.pop("categorical_feature", None)}
    return GBRanker(booster=booster, **{**defaults, **params}).fit(X, Y, qid=QID, **fit)


formats = pytest.mark.parametrize("format", FORMATS)

expresses_categories = pytest.mark.parametrize(
    "format", [name for name, format in FORMATS.items() if format.categories]
)


def exported(ranker: GBRanker, format: str, X: Any, path: Path, **options: Any) -> Vector:
    """Return the scores that the engine of a format gives."""
    if FORMATS[format].named:
        options.setdefault("feature_names", names_in(format))
    export_model(ranker, path, format, **options)
    return scores_in(path, format, X, names_in(format))


def names_in(format: str) -> list[str]:
    """Return names that a format can hold."""
    return OF_VESPA if format == "vespa-lightgbm" else NAMES


def scores_in(path: Path, format: str, X: Any, names: list[str]) -> Vector:
    """Return the scores of a file."""
    return ENGINES[format](path.read_bytes(), names).scores(X)


def assert_same(
    ranker: GBRanker, format: str, X: Any, path: Path, read_as: Any = None, **options: Any
) -> None:
    """Assert that the engine of a format gives the ranker's scores."""
    read = exported(ranker, format, X if read_as is None else read_as, path, **options)
    assert_allclose(read, ranker.predict(X), atol=1e-5, rtol=0)
