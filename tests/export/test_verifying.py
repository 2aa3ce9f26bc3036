"""Wrong exports are found: files of every format in which one thing was changed."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pandas as pd
import pytest
from engines import F

from gbrank import GBRanker, export_model
from gbrank.boosters.tree import Leaf, Membership, Threshold
from gbrank.export import verify_export
from gbrank.export.forest import Forest
from gbrank.export.formats import FORMATS
from gbrank.export.trees import rows_beside
from gbrank.fit.chain import Link

N, D = 600, 4
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D)).astype(F)
X[:, 1] = RNG.integers(0, 4, N)
X[RNG.random((N, D)) < 0.2] = np.nan
Y = (X[:, 0] > 0) + (X[:, 1] > 1) + 1.0 * np.isnan(X[:, 2])
QID = np.arange(N) // 20


@cache
def fitted(booster: str, missing: bool) -> GBRanker:
    """Return a small ranker."""
    params: dict[str, Any] = {"n_estimators": 8, "num_leaves": 8, "n_jobs": 1}
    return GBRanker(booster=booster, random_state=0, **params).fit(
        X if missing else np.nan_to_num(X), Y, qid=QID
    )


def nodes_of(tree: Any) -> Iterator[Any]:
    """Yield the objects of a tree in JSON that are nodes, the root first."""
    if isinstance(tree, dict):
        yield tree
        for value in tree.values():
            yield from nodes_of(value)
    elif isinstance(tree, list):
        for item in tree:
            yield from nodes_of(item)


# Where the trees of a file are, and what it calls threshold, leaf and sides.
Words = tuple[Callable[[Any], Any], str, str, tuple[str, str], str]
WORDS: dict[str, Words] = {
    "elasticsearch": (
        lambda file: [
            model["tree"]["tree_structure"]
            for model in file["definition"]["trained_model"]["ensemble"]["trained_models"]
        ],
        *("threshold", "leaf_value", ("left_child", "right_child"), "default_left"),
    ),
    "opensearch": (lambda file: file, "split_condition", "leaf", ("yes", "no"), "missing"),
    "solr": (
        lambda file: [tree["root"] for tree in file["params"]["trees"]],
        *("threshold", "value", ("left", "right"), "missing"),
    ),
    "vespa-lightgbm": (
        lambda file: [tree["tree_structure"] for tree in file["tree_info"]],
        *("threshold", "leaf_value", ("left_child", "right_child"), "default_left"),
    ),
}


def moved(number: Any, format: str) -> Any:
    """Return the next number that the format tells apart."""
    if FORMATS[format].precision is np.float64:
        return float(np.nextafter(number, np.inf))
    step = float(np.nextafter(F(number), F(np.inf)))
    if format == "solr":
        while F(step) + F(1e-6) == F(number) + F(1e-6):
            step = float(np.nextafter(F(step), F(np.inf)))
    return type(number)(step)


def changed_json(content: bytes, format: str, what: str, tree: int, place: int) -> bytes:
    """Return a file in JSON with one thing changed in one tree."""
    roots, threshold, leaf, sides, default = WORDS[format]
    file = json.loads(content)
    nodes = [*nodes_of(roots(file)[tree])]
    splits = [node for node in nodes if threshold in node]
    leaves = [node for node in nodes if leaf in node and threshold not in node]
    split, end = splits[place % len(splits)], leaves[place % len(leaves)]
    if what == "threshold":
        # Below a split by the same feature, a threshold may be one that no number reaches.
        feature = next(key for key in ("split_feature", "split", "feature") if key in split)
        split = splits[1] if splits[1][feature] != splits[0][feature] else splits[0]
        split[threshold] = moved(split[threshold], format)
    elif what == "leaf":
        end[leaf] = type(end[leaf])(np.nextafter(float(end[leaf]), np.inf))
    elif what == "default":
        split = splits[0]
        if default == "missing" and format != "solr":
            split[default] = split["yes"] + split["no"] - split[default]
        else:
            flip = {True: False, False: True, "left": "right", "right": "left"}
            split[default] = flip[split[default]]
    elif "children" in split:
        ends = split["children"]
        ends[0], ends[1] = ends[1], ends[0]
        split["yes"], split["no"] = split["no"], split["yes"]
    else:
        first, second = sides
        split[first], split[second] = split[second], split[first]
    return json.dumps(file).encode()


def changed_onnx(content: bytes, what: str, place: int) -> bytes:
    """Return a graph with one thing changed."""
    model = onnx.load_from_string(content)
    fields = {field.name: field for field in model.graph.node[0].attribute}
    root = fields["tree_roots"].ints[place % 8]
    if np.isinf(onnx.numpy_helper.to_array(fields["nodes_splits"].t)[root]):
        root += 1  # the root was added
    if what in ("threshold", "leaf"):
        field = fields["nodes_splits" if what == "threshold" else "leaf_weights"]
        numbers = onnx.numpy_helper.to_array(field.t).copy()
        # Below a split by the same feature, a threshold may be one that no number reaches.
        at = root if what == "threshold" else place % len(numbers)
        numbers[at] = np.nextafter(numbers[at], F(np.inf))
        field.t.CopyFrom(onnx.numpy_helper.from_array(numbers, field.t.name))
    elif what == "default":
        ends = fields["nodes_missing_value_tracks_true"].ints
        ends[root] = 1 - ends[root]
    else:
        at = place % len(fields["nodes_featureids"].ints)
        for kind in ("nodeids", "leafs"):
            sides = [fields[f"nodes_{side}{kind}"].ints for side in ("true", "false")]
            sides[0][at], sides[1][at] = sides[1][at], sides[0][at]
    return model.SerializeToString()


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("what", ["threshold", "children", "default", "leaf"])
def test_one_change_is_found(booster: str, format: str, what: str, tmp_path: Path) -> None:
    """Of a threshold and a leaf the smallest one, at any place of any tree."""
    ranker, path = fitted(booster, True), tmp_path / "model"
    export_model(ranker, path, format)
    content = path.read_bytes()
    assert verify_export(ranker, path, format).n_rows == 2000
    for number in range(12):
        tree, place = number % 8, 5 * number
        if format == "onnx":
            change = changed_onnx(content, what, 7 * place)
        else:
            change = changed_json(content, format, what, tree, place)
        path.write_bytes(change)
        with pytest.raises(ValueError, match=r"path must (have the ranker's|be a file of)"):
            verify_export(ranker, path, format)


def test_other_files(tmp_path: Path) -> None:
    """Those of other formats and of other models, and files that are cut."""
    ranker, path = fitted("lightgbm", False), tmp_path / "model"
    for format in FORMATS:
        export_model(ranker, path, format, missing_as_zero=True)
        content = path.read_bytes()
        with pytest.raises(ValueError, match="path must"):
            verify_export(fitted("xgboost", False), path, format, missing_as_zero=True)
        for wrong in (content[: len(content) // 2], b"", b"[]", b"{}"):
            path.write_bytes(wrong)
            with pytest.raises(ValueError, match=r"path must (be a file of format|have 8 trees)"):
                verify_export(ranker, path, format, missing_as_zero=True)


DAMAGE: list[tuple[str, str, str]] = [
    ("elasticsearch", r'"left_child": \d+', '"left_child": 0'),  # without an end
    ("elasticsearch", r'"split_feature": 0', '"split_feature": -4'),  # the last but three
    ("elasticsearch", r'"node_index": 3', '"node_index": 4'),
    ("elasticsearch", r'"leaf_value": [^}]+', '"leaf_value": 1' + "0" * 400),
    ("vespa-lightgbm", r'"split_feature": 0', '"split_feature": -4'),
    ("vespa-lightgbm", r'"pandas_categorical": \[\]', '"pandas_categorical": [["u"]]'),
    ("solr", r"(?s)^.*$", "[" * 100_000),
    ("solr", r'"threshold": "[^"]+"', '"threshold": 1' + "0" * 400),
    ("onnx", "(?s)^.*$", "\N{REPLACEMENT CHARACTER}"),
]


@pytest.mark.parametrize(("format", "part", "damage"), DAMAGE)
def test_damaged_files(format: str, part: str, damage: str, tmp_path: Path) -> None:
    """Ids from the end, circles, huge numbers and nests are errors that name the path."""
    ranker, path = fitted("xgboost", False), tmp_path / "model"
    export_model(ranker, path, format, missing_as_zero=True)
    text, count = re.subn(part, damage, path.read_bytes().decode("latin-1"), count=1)
    assert count == 1
    path.write_bytes(text.encode())
    with pytest.raises(ValueError, match=f"path must be a file of format {format}, got"):
        verify_export(ranker, path, format, missing_as_zero=True)


def test_a_wrong_writer_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file appears after it was tried, unless nobody wants that."""
    ranker, path = fitted("lightgbm", True), tmp_path / "model"
    path.write_text("older")
    format = FORMATS["opensearch"]
    wrong = replace(format, write=lambda forest: format.write(forest.changed(_wrong)))
    monkeypatch.setitem(FORMATS, "opensearch", wrong)
    with pytest.raises(ValueError, match="path must have the ranker's trees, of which tree 1"):
        export_model(ranker, path, "opensearch")
    assert path.read_text() == "older"
    export_model(ranker, path, "opensearch", verify=False)
    assert path.read_text() != "older"


def _wrong(split: Any) -> Any:
    return type(split)(split.feature, not split.missing_left, split.left, split.right,
                       split.threshold)  # fmt: skip


def test_rows_of_a_user(tmp_path: Path) -> None:
    """A data frame with categories; the row of the largest difference has the engine's names."""
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["d"] = pd.Categorical(np.array(list("uvwxyz"))[RNG.integers(0, 6, N)])
    y = Y + 2.0 * frame["d"].isin(["v", "x"])
    ranker = GBRanker(booster="xgboost", n_estimators=5, random_state=0).fit(frame, y, qid=QID)
    path = tmp_path / "model"
    export_model(ranker, path, "vespa-lightgbm", feature_names={"a": "bm25(a)"})
    names: Any = {"feature_names": {"a": "bm25(a)"}}
    alone = verify_export(ranker, path, "vespa-lightgbm", **names)
    other = frame.assign(d=pd.Categorical(["new"] * N))
    found = verify_export(ranker, path, "vespa-lightgbm", X=other, **names)
    assert found.n_rows == alone.n_rows + N
    assert [*found.row] == ["bm25(a)", "b", "c", "d"]
    assert 0 <= found.difference < 1e-5


def test_rows_that_try_splits() -> None:
    """Thresholds, the next numbers, zero, missing values, and all codes with an unknown one."""
    leaf = Leaf(1.0)
    by_codes = Membership(2, False, leaf, leaf, (0, 3))
    tree = Threshold(0, True, leaf, by_codes, 5.0)
    forest = Forest("model", ["a", "b", "c"], [tree], {2: list(range(9))})
    for precision in (np.float32, np.float64):
        rows = rows_beside(forest, precision, 500)
        assert rows.shape == (500, 3)
        next_ones = [float(np.nextafter(precision(5), precision(end))) for end in (0, 9)]
        for column, expected in ((0, {0.0, 5.0, *next_ones}), (1, {0.0}), (2, {*range(10)})):
            values, missing = rows[:, column], np.isnan(rows[:, column])
            assert {*values[~missing].tolist()} == expected
            assert 20 < missing.sum() < 100


@pytest.mark.parametrize("factor", [0.5, 1.5, np.nan])
def test_scores_may_differ_as_sums_in_single_precision_do(
    factor: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By 2 (n_trees + 1) 2**-24 times the leaf of one tree, and no more; the largest is told."""
    path = tmp_path / "model"
    params: dict[str, Any] = {"n_estimators": 1, "n_jobs": 1}
    ranker = GBRanker(**params, random_state=0).fit(X, Y, qid=QID)
    export_model(ranker, path, "vespa-lightgbm")
    scores = ranker.predict(X)
    links = GBRanker._links

    def scaled(ranker: GBRanker) -> list[Link]:
        (link,) = links(ranker)
        return [Link(link.schema, lambda X: link.score(X) * (1 + factor * 2.0**-22))]

    monkeypatch.setattr(GBRanker, "_links", scaled)
    if factor != 0.5:
        with pytest.raises(ValueError, match="path must give the ranker's score"):
            verify_export(ranker, path, "vespa-lightgbm")
        return
    found = verify_export(ranker, path, "vespa-lightgbm", X=X)
    row = np.array([[*found.row.values()]])
    monkeypatch.undo()
    assert found.difference == pytest.approx(2.0**-23 * abs(ranker.predict(row)[0]), rel=1e-3)
    assert found.difference >= 2.0**-23 * np.abs(scores).max() * 0.999
