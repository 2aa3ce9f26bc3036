"""Trees that are read from files, by tiny files whose scores are worked out by hand.

Two trees of two features "a" and "b": the first is 1 where a goes left of 0.5, else 2 or 4 by b at
-1; the second is 0.25 for all.
"""

import json
from typing import Any

import numpy as np
import pytest

from engines import ENGINES, F
from gbrank.boosters.tree import Threshold
from gbrank.export.exporting import leaves
from gbrank.export.forest import Forest
from gbrank.export.formats import FORMATS, format_of

NAMES = ["a", "b"]
ROWS = np.array([
    [0.25, 9.0], [0.5, -1.0], [0.75, -1.0], [0.75, -2.0], [0.75, 5.0], [np.nan, 5.0],
    [0.75, np.nan], [0.0, 0.0],
])  # fmt: skip
# With missing values of a to the right, and of b to the left.
LESS = [1.25, 4.25, 4.25, 2.25, 4.25, 4.25, 2.25, 1.25]  # left: x < threshold


def dump(text: bool = False) -> list[dict[str, Any]]:
    """Return XGBoost's dump of the trees."""
    ends = [{"nodeid": 3, "leaf": 2.0}, {"nodeid": 4, "leaf": 4.0}]
    inner = {"nodeid": 2, "depth": 1, "split": "b", "split_condition": -1.0, "yes": 3, "no": 4}
    inner |= {"missing": 3, "children": ends}
    root = {"nodeid": 0, "depth": 0, "split": "a", "split_condition": 0.5, "yes": 1, "no": 2}
    root |= {"missing": 2, "children": [{"nodeid": 1, "leaf": 1.0}, inner]}
    return [root, {"nodeid": 0, "leaf": 0.25}]


def lightgbm() -> dict[str, Any]:
    """Return LightGBM's dump of the trees."""

    def split(feature: int, threshold: float, left: Any, right: Any) -> dict[str, Any]:
        sides = {"left_child": left, "right_child": right, "missing_type": "NaN"}
        decision = {"decision_type": "<=", "threshold": threshold, "default_left": feature == 1}
        return {"split_feature": feature, **decision, **sides}

    two, four = {"leaf_value": 2.0}, {"leaf_value": 4.0}
    root = split(0, 0.5, {"leaf_value": 1.0}, split(1, -1.0, two, four))
    trees = [{"tree_structure": tree} for tree in (root, {"leaf_value": 0.25})]
    head = {"objective": "regression", "feature_names": NAMES}
    return {**head, "pandas_categorical": [], "tree_info": trees}


def changed(scores: list[float], **rows: float) -> list[float]:
    """Return scores of which some rows have others."""
    places = {int(row.removeprefix("row")): score for row, score in rows.items()}
    return [places.get(row, score) for row, score in enumerate(scores)]


ZERO_A, ZERO_B = 1.25, 4.25  # of the rows in which they are missing
# The other formats read all that their writers write: see test_exported_scores.py.
CASES: list[tuple[str, Any, list[float]]] = [
    ("opensearch", dump(), LESS),
    ("opensearch:3.8", dump(), LESS),
    ("opensearch:3.7", dump(), changed(LESS, row6=4.25)),
    ("opensearch:3.3.1", dump(), changed(LESS, row6=4.25)),
    ("opensearch:3.1", dump(), changed(LESS, row5=ZERO_A, row6=ZERO_B)),
    ("opensearch:2.19", dump(), changed(LESS, row5=ZERO_A, row6=ZERO_B)),
    ("vespa-lightgbm", lightgbm(), LESS),
]


FOREST = Forest("m", NAMES, [], {})


@pytest.mark.parametrize(("format", "file", "expected"), CASES)
def test_scores(format: str, file: Any, expected: list[float]) -> None:
    """On both sides of thresholds, on them, and where values are missing; as the engine does."""
    content = json.dumps(file).encode()
    first, second = format_of(format).trees(content, FOREST)
    assert (leaves(first, ROWS) + 0.25).tolist() == expected
    assert leaves(second, ROWS).tolist() == [0.25] * len(ROWS)
    if ":" not in format:
        assert ENGINES[format](content, NAMES).scores(ROWS).tolist() == expected


def test_precision() -> None:
    """Thresholds are those of the engine's precision."""
    for number, single, double in ((0.5 + 1e-12, 0.5, 0.5 + 1e-12), (0.1, F(0.1), 0.1)):
        file = dump()
        file[0]["split_condition"] = number
        (root, _) = FORMATS["opensearch"].trees(json.dumps(file).encode(), FOREST)
        assert isinstance(root, Threshold)
        assert np.nextafter(F(root.threshold), F(np.inf)) == F(single)
        model = lightgbm()
        model["tree_info"][0]["tree_structure"]["threshold"] = number
        (root, _) = FORMATS["vespa-lightgbm"].trees(json.dumps(model).encode(), FOREST)
        assert isinstance(root, Threshold)
        assert np.nextafter(root.threshold, np.inf) == double


def test_categories_of_vespa() -> None:
    """Texts, one that is unknown, and a missing one, which goes where the split says."""
    model = lightgbm()
    split = model["tree_info"][0]["tree_structure"]["right_child"]
    split |= {"decision_type": "==", "threshold": "w||u"}
    rows = np.array([[1.0, word] for word in ("u", "v", "w", "x", None)], object)
    codes = np.array([[1.0, code] for code in (0, 1, 2, 3, np.nan)])
    forest = Forest("m", NAMES, [], {1: ["u", "v", "w"]})
    for default_left, last in ((True, 2.25), (False, 4.25)):
        split["default_left"] = default_left
        content, expected = json.dumps(model).encode(), [2.25, 4.25, 2.25, 4.25, last]
        assert ENGINES["vespa-lightgbm"](content, NAMES).scores(rows).tolist() == expected
        (tree, _) = FORMATS["vespa-lightgbm"].trees(content, forest)
        assert (leaves(tree, codes) + 0.25).tolist() == expected
