"""Wrong exports are found: files of every format in which one thing is another."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engines import F
from gbrank import GBRanker, export_model
from gbrank.boosters.tree import Leaf, Threshold, Tree
from gbrank.export import verify_export
from gbrank.export.exporting import exportable
from gbrank.export.formats import FORMATS, Format, format_of
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


def moved(split: Threshold, format: Format) -> Threshold:
    """Return a split at the next number that the format tells apart, or near it beside zero."""
    number, other = format.precision(split.threshold), split
    step = np.copysign(np.spacing(abs(number)), -number)
    while format.held(other) == format.held(split):
        number, step = number + step, 2 * step
        other = replace(split, threshold=float(number))
    return other


def longer(leaf: Leaf, format: Format) -> Leaf:
    """Return a leaf of the next value; ONNX has single precision."""
    kind: Any = F if format.name == "onnx" else np.float64
    return Leaf(float(np.nextafter(kind(leaf), kind(np.inf))))


CHANGES: dict[str, tuple[type, Callable[[Any, Format], Tree]]] = {
    "threshold": (Threshold, moved),
    "children": (Threshold, lambda split, _: replace(split, left=split.right, right=split.left)),
    "default": (Threshold, lambda split, _: replace(split, missing_left=not split.missing_left)),
    "leaf": (Leaf, longer),
}


def nodes_of(tree: Tree, kind: type) -> list[Tree]:
    """Return the splits, or the leaves, of a tree."""
    inner = [] if isinstance(tree, Leaf) else [tree.left, tree.right]
    below = [node for side in inner for node in nodes_of(side, kind)]
    return [tree, *below] if isinstance(tree, kind) else below


def with_other(tree: Tree, old: Tree, new: Tree) -> Tree:
    """Return a tree in which another node stands in the place of one."""
    if tree is old or isinstance(tree, Leaf):
        return new if tree is old else tree
    sides = (with_other(side, old, new) for side in (tree.left, tree.right))
    return replace(tree, **dict(zip(("left", "right"), sides, strict=True)))


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("what", CHANGES)
def test_one_change_is_found(booster: str, name: str, what: str, tmp_path: Path) -> None:
    """Of a threshold and a leaf the smallest one, at any place of any tree."""
    ranker, path, format = fitted(booster, True), tmp_path / "model", format_of(name)
    export_model(ranker, path, name)
    assert verify_export(ranker, path, name).n_rows == 2000
    forest, _ = exportable(ranker, path, format, None, False)
    kind, change = CHANGES[what]
    for number in range(12):
        trees = [*forest.trees]
        nodes = nodes_of(trees[number % 8], kind)
        node = nodes[5 * number % len(nodes)]
        trees[number % 8] = with_other(trees[number % 8], node, change(node, format))
        path.write_bytes(format.write(forest._replace(trees=trees)))
        with pytest.raises(ValueError, match=f"path must have .* tree {number % 8 + 1} is another"):
            verify_export(ranker, path, name)


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
            with pytest.raises(ValueError, match=r"path must (be a file of format|have the)"):
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
    other = partial(moved, format=format)
    wrong = format._replace(write=lambda forest: format.write(forest.changed(other)))
    monkeypatch.setitem(FORMATS, "opensearch", wrong)
    with pytest.raises(ValueError, match="path must have the ranker's trees, of which tree 1"):
        export_model(ranker, path, "opensearch")
    assert path.read_text() == "older"
    export_model(ranker, path, "opensearch", verify=False)
    assert path.read_text() != "older"


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


def test_rows_beyond_single_precision(tmp_path: Path) -> None:
    """They have its largest numbers, which engines have in their place."""
    ranker, path = fitted("xgboost", True), tmp_path / "model"
    export_model(ranker, path, "elasticsearch")
    assert verify_export(ranker, path, "elasticsearch", X=X * np.float64(1e300)).n_rows == 2000 + N


def test_missing_values_are_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ranker that scores them otherwise than its trees do is found."""
    ranker, path = fitted("lightgbm", True), tmp_path / "model"
    export_model(ranker, path, "onnx")
    (link,) = ranker._served()
    other = Link(link.schema, lambda X: link.score(X) + np.isnan(X).any(axis=1))
    monkeypatch.setattr(GBRanker, "_served", lambda _: [other])
    with pytest.raises(ValueError, match=r"path must give the ranker's score, .* nan"):
        verify_export(ranker, path, "onnx")


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
    served = GBRanker._served

    def scaled(ranker: GBRanker) -> list[Link]:
        (link,) = served(ranker)
        return [Link(link.schema, lambda X: link.score(X) * (1 + factor * 2.0**-22))]

    monkeypatch.setattr(GBRanker, "_served", scaled)
    if factor != 0.5:
        with pytest.raises(ValueError, match="path must give the ranker's score"):
            verify_export(ranker, path, "vespa-lightgbm")
        return
    found = verify_export(ranker, path, "vespa-lightgbm", X=X)
    row = np.array([[*found.row.values()]])
    alone = verify_export(ranker, path, "vespa-lightgbm")
    least = X[[np.abs(scores).argmin()]]
    assert verify_export(ranker, path, "vespa-lightgbm", X=least).difference == alone.difference
    monkeypatch.undo()
    assert found.difference == pytest.approx(2.0**-23 * abs(ranker.predict(row)[0]), rel=1e-3)
    assert found.difference >= 2.0**-23 * np.abs(scores).max() * 0.999
