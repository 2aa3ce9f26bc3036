"""LightGBM's dump of trees as JSON: the parts that Vespa reads, written for how it reads them.

Vespa tests x < threshold, where LightGBM tests x ≤ threshold, both in double precision. Categories
are strings, and stand in the splits: which columns Vespa gives the lists of "pandas_categorical"
depends on its version. Its LightGBMParser reads the file.
"""

import json
import math
import re
from collections.abc import Iterable
from typing import Any

from gbrank.boosters.tree import Leaf, Membership, Node, Split, Threshold, Tree, read_tree
from gbrank.common.checks import ArgumentError
from gbrank.common.words import WORDS

from .forest import Forest, expect

# Of Vespa's grammar, RankingExpressionParser.jj: a name, what is behind it, and a call of names,
# numbers and texts that is none of a function.
NAME = r"[A-Za-z_@][\w@$]*"
OUTPUTS = r"(\.[\w@$]+)*"
ARGUMENT = rf"""\s*(-?[\w@$]+{OUTPUTS}|"[^"]*"|'[^']*')\s*"""
FUNCTIONS = "|".join(WORDS["vespa"]["functions"])
CALL = re.compile(
    rf"(?<![\w@$.])(?!({FUNCTIONS})\(){NAME}\({ARGUMENT}(,{ARGUMENT})*\)(?![\w@$])", re.ASCII
)
FEATURE = re.compile(rf"(?!(true|false)$){NAME}{OUTPUTS}", re.ASCII)


def _is_feature(name: str) -> bool:
    """Tell whether Vespa reads a name as a feature, and not as another expression."""
    while (shorter := CALL.sub("_", name)) != name:  # the innermost calls
        name = shorter
    return FEATURE.fullmatch(name) is not None


def check_expressions(names: Iterable[str]) -> None:
    """Refuse names that Vespa reads as expressions."""
    if wrong := sorted(name for name in names if not _is_feature(name)):
        raise ArgumentError(
            "feature_names",
            "must be features to Vespa, such as price or bm25(title)",
            repr(wrong[0]),
            " Call one as a function of the rank profile, which may have any expression.",
        )


def prepare_vespa(forest: Forest) -> Forest:
    """Make an equal forest: what is unknown is missing to the ranker, and goes right in Vespa."""
    check_expressions({forest.features[split.feature] for split in forest.splits()})

    def change(split: Split) -> Tree:
        if not isinstance(split, Membership):
            return split
        known = range(len(forest.categories.get(split.feature, ())))
        if split.missing_left and known:
            others = tuple(sorted({*known} - {*split.categories}))
            split = Membership(split.feature, False, split.right, split.left, others)
        # Vespa's list of no categories would hold the empty text.
        return split if split.categories or split.missing_left else split.right

    return forest.changed(change)


def write_vespa(forest: Forest) -> bytes:
    """Write the content of the file."""
    categories = _texts(forest)

    def node(tree: Tree) -> Node:
        if isinstance(tree, Leaf):
            return {"leaf_value": tree}
        decision: Node
        if isinstance(tree, Membership):
            known = categories.get(tree.feature)
            # An empty text is first: Java drops it at the end of what it splits.
            texts = sorted(known[code] if known else str(code) for code in tree.categories)
            decision = {"decision_type": "==", "threshold": "||".join(texts)}
        else:
            threshold = math.nextafter(tree.threshold, math.inf)  # of −∞, the smallest number
            decision = {"decision_type": "<=", "threshold": threshold}
        return {
            "split_feature": tree.feature,
            **decision,
            "default_left": tree.missing_left,
            "missing_type": "NaN",
            "left_child": node(tree.left),
            "right_child": node(tree.right),
        }

    content = {
        "name": "tree",
        "objective": "regression",  # so that nothing is done to the sum
        "feature_names": forest.features,
        "tree_info": [
            {"tree_index": number, "tree_structure": node(tree)}
            for number, tree in enumerate(forest.trees)
        ],
        "pandas_categorical": [],
    }
    return json.dumps(content, allow_nan=False).encode()


def read_vespa(content: bytes, forest: Forest) -> list[Tree]:
    """Read the trees of a file."""
    model = json.loads(content)
    categories = _texts(forest)
    expect(model["objective"] == "regression", "an objective that changes nothing")
    expect(model["feature_names"] == forest.features, f"the features {forest.features}")
    expect(model["pandas_categorical"] == [], "no lists of categories")

    def split(node: Any) -> Split:
        column = node["split_feature"]
        missing_left = node["default_left"]
        expect(column >= 0, "a feature's place")
        sides = node["left_child"], node["right_child"]
        if node["decision_type"] != "==":
            below = math.nextafter(float(node["threshold"]), -math.inf)
            return Threshold(column, missing_left, *sides, threshold=below)
        texts = node["threshold"].split("||")
        known = categories.get(column)
        codes = sorted(known.index(text) if known else int(text) for text in texts)
        return Membership(column, missing_left, *sides, categories=tuple(codes))

    return [read_tree(tree["tree_structure"], "leaf_value", split) for tree in model["tree_info"]]


def _texts(forest: Forest) -> dict[int, list[str]]:
    """Convert what codes stand for to texts, by column."""
    return {column: [*map(str, known)] for column, known in forest.categories.items()}
