"""What exported files call features, and names that they cannot hold."""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from exported_models import NAMES, WHOLE, fitted, fitted_to
from gbrank import export_model
from gbrank.boosters import BOOSTERS


def used_names(path: Path) -> set[str]:
    """Return the names in a file for the LTR plugins."""

    def names(node: Any) -> set[str]:
        if "leaf" in node:
            return set()
        return {node["split"]}.union(*map(names, node["children"]))

    return set().union(*map(names, json.loads(path.read_text())))


def test_names_of_features(tmp_path: Path) -> None:
    """The frame's, new ones for some, or for all; numbered without a frame."""
    path = tmp_path / "model.json"
    framed = fitted(pd.DataFrame(WHOLE, columns=list("abcde")))
    export_model(framed, path, "opensearch")
    assert used_names(path) == set("abcde")
    export_model(framed, path, "opensearch", feature_names={"b": "body", "c": "b"})
    assert used_names(path) == {"a", "body", "b", "d", "e"}
    export_model(fitted_to("whole"), path, "opensearch")
    assert used_names(path) == {"f0", "f1", "f2", "f3", "f4"}


def test_columns_that_are_called_as_lines_of_lightgbms_text(tmp_path: Path) -> None:
    """They are named after the trees, too."""
    columns = ["threshold", "left_child", "split_feature", "d", "e"]
    ranker = fitted(pd.DataFrame(WHOLE, columns=columns))
    BOOSTERS[ranker.booster].model.load(ranker._model.dump())
    export_model(ranker, tmp_path / "model.json", "opensearch")
    assert used_names(tmp_path / "model.json") == set(columns)


def test_solr_asks_for_the_features_that_it_needs(tmp_path: Path) -> None:
    """Others would be computed for nothing."""
    X = WHOLE.copy()
    X[:, 1:3] = 0
    export_model(fitted(X), tmp_path / "model", "solr", feature_names=NAMES)
    content = json.loads((tmp_path / "model").read_text())
    assert [feature["name"] for feature in content["features"]] == [NAMES[i] for i in (0, 3, 4)]
