"""What is not exported: the error says why, and the file that was there stays."""

import re
from functools import cache, partial
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from exported_models import (
    CODES,
    NAMES,
    QID,
    WHOLE,
    Y,
    boosters,
    fitted,
    fitted_to,
    formats,
    scores_in,
)
from gbrank import GBRanker, export_model
from gbrank.export.formats import FORMATS

model = cache(partial(fitted, WHOLE, n_estimators=2))  # not at import: every worker collects

EXPRESSIONS = [
    *("a - b", "price usd", "c & <d>", "2nd", "1e5", "log(price)", "max(a, b)", "if(a < b, 1, 2)"),
    *("foo(log(x))", "size[0]", "a.", "foo()", "f(x)y", "true", "größe", " a", "f(x", "(x)"),
]


@pytest.mark.parametrize("format", ["vespa-lightgbm"])
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions_are_no_names(name: str, format: str, tmp_path: Path) -> None:
    """Vespa would compute them, or could not read the file."""
    with pytest.raises(ValueError, match=f"features to Vespa.* got {re.escape(repr(name))}"):
        export_model(model(), tmp_path / "model", format, feature_names=[name, *"bcde"])
    assert not list(tmp_path.iterdir())


def deep(depth: int) -> GBRanker:
    """Return a ranker of one tree that is a chain of splits, x <= 1, x <= 2, and so on."""
    ranker = fitted(WHOLE[:, [0]], "lightgbm", n_estimators=1, num_leaves=2)
    numbers = [*range(depth)]
    head, tree = ranker._model.native.model_to_string().split("Tree=0\n")
    lines = {
        "num_leaves": [depth + 1], "num_cat": [0], "split_feature": [0] * depth,
        "threshold": numbers, "decision_type": [2] * depth,
        "left_child": [~number for number in numbers], "right_child": [*numbers[1:], ~depth],
        "leaf_value": [*numbers, depth],
    }  # fmt: skip
    text = "".join(f"{name}={' '.join(map(str, line))}\n" for name, line in lines.items())
    _, end = tree.split("\nend of trees")
    head = re.sub("tree_sizes=.*\n", "", head)
    native = lgb.Booster(model_str=f"{head}Tree=0\n{text}shrinkage=1\n\n\nend of trees{end}")
    ranker._model.native = native
    return ranker


def test_deep_trees(tmp_path: Path) -> None:
    """They are exported, up to hundreds of levels."""
    rows = np.arange(-0.5, 310)[:, None]
    ranker = deep(300)
    assert_array_equal(ranker.predict(rows), np.minimum(np.arange(311), 300))
    for format in FORMATS:
        export_model(ranker, tmp_path / format, format, missing_as_zero=True)
        assert_array_equal(scores_in(tmp_path / format, format, rows, ["f0"]), ranker.predict(rows))


@boosters
@pytest.mark.parametrize("format", ["opensearch:3.2.9", "solr:8.11", "solr:9.1.9"])
def test_missing_values_are_refused(booster: str, format: str, tmp_path: Path) -> None:
    """Where they are read as zeros; at the last versions before a change of that, too."""
    with pytest.raises(ValueError, match=f"{format} reads missing values as zeros. If there are"):
        export_model(fitted_to("holes", booster), tmp_path / "model", format)


@pytest.mark.parametrize("format", ["opensearch:3.3", "opensearch:3.7.9"])
def test_missing_values_that_go_right_are_refused(format: str, tmp_path: Path) -> None:
    """Between two changes of OpenSearch they do, whatever the file says."""
    with pytest.raises(ValueError, match=f"{format} sends all missing values right. Take version"):
        export_model(fitted_to("holes"), tmp_path / "model", format)


@pytest.mark.parametrize("format", ["opensearch:3.8", "solr:9.2", "elasticsearch:8.13"])
def test_the_first_versions_that_know_missing_values(format: str, tmp_path: Path) -> None:
    """And all later ones."""
    export_model(fitted_to("holes"), tmp_path / "model", format)


@pytest.mark.parametrize("format", ["opensearch:1.9", "solr:6.3.9", "elasticsearch:8.12.9"])
def test_versions_before_the_first_are_refused(format: str, tmp_path: Path) -> None:
    """The error names the first."""
    with pytest.raises(ValueError, match=r"format must be of version (2|6\.4|8\.13) or later"):
        export_model(fitted_to("whole"), tmp_path / "model", format)


@boosters
@pytest.mark.parametrize("format", [n for n, format in FORMATS.items() if not format.categories])
def test_categories_are_refused(booster: str, format: str, tmp_path: Path) -> None:
    """Where splits are by threshold."""
    X = WHOLE.copy()
    X[:, 4] = CODES
    ranker = fitted(X, booster, categorical_feature=[4])
    with pytest.raises(ValueError, match=rf"splits by category, .*'f4'; {format} has none"):
        export_model(ranker, tmp_path / "model", format, missing_as_zero=True)


@formats
def test_zeros_as_missing_values_are_refused(format: str, tmp_path: Path) -> None:
    """Where they are sent past the numbers next to them; elsewhere the scores are the same."""
    y = Y + 2 * (WHOLE[:, 4] == 0)
    params = {"booster_params": {"zero_as_missing": True}, "n_estimators": 10, "n_jobs": 1}
    ranker = GBRanker(**params).fit(WHOLE[:, 3:], y, qid=QID)
    with pytest.raises(ValueError, match=r"zero_as_missing it sends those of column [01] to"):
        export_model(ranker, tmp_path / "model", format)


@pytest.mark.parametrize(
    "change",
    [
        {"feature_names": frozenset("abcde")},
        {"missing_as_zero": "no"},
        {"extractors": [{"query_extractor": {"feature_name": name}} for name in NAMES]},
        {
            "extractors": [
                {"query_extractor": {"feature_name": name, "query": {}}} for name in NAMES
            ]
        },
    ],
)
def test_a_file_that_would_be_wrong_is_not_written(change: Any, tmp_path: Path) -> None:
    """Names without an order, a text for a truth value, extractors without queries."""
    with pytest.raises((ValueError, TypeError), match=f"^{next(iter(change))} must"):
        export_model(model(), tmp_path / "model", "elasticsearch", **change)
    assert not list(tmp_path.iterdir())


def test_linear_leaves_are_refused(tmp_path: Path) -> None:
    """No format has them."""
    ranker = fitted(WHOLE, booster_params={"linear_tree": True}, n_estimators=3)
    with pytest.raises(ValueError, match="constants in its leaves, got the linear functions"):
        export_model(ranker, tmp_path / "model", "onnx")


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    """A model that is refused leaves what was there."""
    path = tmp_path / "model"
    export_model(model(), path, "solr:8.11")
    before = path.read_bytes()
    with pytest.raises(ValueError, match="reads missing values as zeros"):
        export_model(fitted_to("holes"), path, "solr:8.11")
    assert path.read_bytes() == before
    assert_array_equal(sorted(tmp_path.iterdir()), [path])
