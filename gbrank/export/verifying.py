"""Whether an exported file gives the scores of its ranker."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from gbrank.boosters.tree import LARGEST, Leaf, Membership, Threshold, at_most
from gbrank.common.argument_error import ArgumentError, ArgumentTypeError
from gbrank.common.arrays import Matrix, Vector
from gbrank.common.checks import check_choice, quoted
from gbrank.data.schema import as_dense
from gbrank.export.forest import FeatureNames, Forest, forest_of, names_of
from gbrank.export.formats import format_of
from gbrank.export.probes import Probes
from gbrank.export.readers import DocumentRows, ReadTrees
from gbrank.export.refusals import LIGHTGBM_ZERO
from gbrank.fit.arguments import TableLike
from gbrank.ranker import GBRanker

SCORED = 2000  # of the rows that try splits, how many are scored by all trees
BLOCK = 4096  # rows that are scored at once
UNIT = 2.0**-24  # half of the distance of two numbers of single precision beside 1
UNKNOWN = "\N{REPLACEMENT CHARACTER}"  # a category that nobody has


@dataclass(frozen=True)
class Verification:
    """How near the scores of an exported file are to those of its ranker.

    Attributes
    ----------
    n_rows : int
        On how many rows they were compared.
    difference : float
        The largest difference.
    row : dict of str to float
        The row on which it is, by the names of the features; categories are codes.
    """

    n_rows: int
    difference: float
    row: dict[str, float]


def verify_export(
    ranker: GBRanker,
    path: str | os.PathLike[str],
    format: str,
    *,
    feature_names: FeatureNames | None = None,
    missing_as_zero: bool = False,
    X: TableLike | None = None,
) -> Verification:
    """Read an exported file as its engine does, and compare its scores with the ranker's.

    For each split of each tree there are rows that reach it with its threshold, the next numbers
    in the precision of the format, zero, a missing value, and for categories with those that it
    names, others, and an unknown one. On them the leaves of that tree must be equal. On some
    of them, and on X, the scores may differ by ``2 (n_trees + 1) 2**-24 Σ|leaf|``, which is what
    sums in single precision explain.

    Parameters
    ----------
    ranker : GBRanker
    path : path
        The file.
    format, feature_names, missing_as_zero
        What `export_model` was told.
    X : array-like, sparse matrix or data frame, shape (n_documents, n_features), optional
        More rows. Their numbers are rounded as the engine holds them, for both.

    Returns
    -------
    Verification

    Raises
    ------
    ValueError
        If a leaf or a score differs; it names the row. If the file is not in the format.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from gbrank import GBRanker, export_model, make_cubic
    >>> from gbrank.export import verify_export
    >>> X, y, qid = make_cubic(20, n_documents=10, n_features=2, random_state=0)
    >>> ranker = GBRanker(n_estimators=2, random_state=0).fit(X, y, qid=qid)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "model.json")
    ...     export_model(ranker, file, "opensearch")
    ...     found = verify_export(ranker, file, "opensearch", X=X)
    >>> found.difference < 1e-6
    True
    """
    forest = named_forest(ranker, path, format, feature_names, missing_as_zero)
    comparison = FileCheck(Path(path).read_bytes(), forest, format, ranker, missing_as_zero)
    return comparison.run(None if X is None else as_dense(ranker._schema.transform(X)))


def named_forest(
    ranker: GBRanker,
    path: str | os.PathLike[str],
    format: str,
    feature_names: FeatureNames | None,
    missing_as_zero: bool,
) -> Forest:
    """Return the trees of a ranker as they are to be written."""
    if not isinstance(ranker, GBRanker):
        raise ArgumentTypeError("ranker", "must be a GBRanker", repr(ranker))
    if feature_names is not None and not format_of(format).named:
        raise ValueError(
            f"feature_names must be None for {format}, which goes by the order of the columns."
        )
    check_choice(missing_as_zero, "missing_as_zero", [False, True])
    forest = forest_of(ranker, Path(path).stem, names_of(ranker, feature_names))
    if missing_as_zero:
        return forest.changed(lambda split: replace(split, missing_left=split.zero_left))
    return forest


class FileCheck:
    """A file beside the trees, and the predictions, that it should have."""

    def __init__(
        self, content: bytes, forest: Forest, format: str, ranker: GBRanker, missing_as_zero: bool
    ) -> None:
        self._forest, self._ranker, self._zero = forest, ranker, missing_as_zero
        self._content, self._name, self._format = content, format, format_of(format)
        self._own = ReadTrees(forest.trees, _step, double=True)
        self._found = Verification(0, -1.0, {})
        # Numbers between a threshold and what the format reaches of it may go either way.
        reached = self._format.reached
        thresholds = {(s.threshold, s.feature) for s in forest.splits() if isinstance(s, Threshold)}
        ends = {(at_most(high), reached(high), column) for high, column in thresholds}
        self._gaps = sorted((end for end in ends if end[1] < end[0]), reverse=True)

    def run(self, given: Matrix | None = None) -> Verification:
        """Compare the leaves of each tree, then scores; rows are given as numbers and codes."""
        try:
            self._file = self._format.read(self._content, self._forest.features)
            return self._run(given)
        except (ArgumentError, ImportError, MemoryError):
            raise
        except Exception as error:  # a file may hold anything
            demand = f"must be a file of format {self._name}"
            raise ArgumentError("path", demand, quoted(error)) from error

    def _run(self, given: Matrix | None) -> Verification:
        trees = self._forest.trees
        if self._file.n_trees != len(trees):
            raise ArgumentError("path", f"must have {len(trees)} trees", str(self._file.n_trees))
        probes, each = Probes(self._forest, self._format.double), ceil(SCORED / len(trees))
        scored = [] if given is None else [given]
        for number, tree in enumerate(trees):
            X = probes.of(tree)
            self._compare_leaves(number, X)
            scored.append(X[:: ceil(len(X) / each)])
        X = np.concatenate(scored)
        for start in range(0, len(X), BLOCK):
            self._compare_scores(X[start : start + BLOCK])
        return self._found

    def _compare_leaves(self, tree: int, X: Matrix) -> None:
        X = self._held(X, self._format.nearest)
        own = self._own.leaves(tree, self._known(X)).astype(self._format.leaf).astype(float)
        found = self._file.leaves(tree, self._documents(X))
        self._compare(X, own, found, np.zeros(len(X)), f"leaf of tree {tree + 1}")

    def _compare_scores(self, X: Matrix) -> None:
        X = self._held(X, max(self._format.nearest, LIGHTGBM_ZERO))
        known, trees = self._known(X), range(self._own.n_trees)
        sizes = np.sum([np.abs(self._own.leaves(tree, known)) for tree in trees], axis=0)
        allowed = 2 * (len(trees) + 1) * UNIT * sizes
        scores = self._ranker.predict(self._given(known))
        self._compare(X, scores, self._file.scores(self._documents(X)), allowed, "score")

    def _compare(self, X: Matrix, own: Vector, found: Vector, allowed: Vector, what: str) -> None:
        """Note the largest difference; refuse one that is not allowed."""
        differences = np.abs(own - found)
        wrong = ~(differences <= allowed)
        worst = int(np.argmax(np.where(wrong, np.inf, differences)))
        row = dict(zip(self._forest.features, X[worst].tolist(), strict=True))
        if wrong[worst]:
            demand = f"must give the ranker's {what}, {own[worst]}, for the row {row}"
            raise ArgumentError("path", demand, str(found[worst]))
        difference = float(differences[worst])
        if difference <= self._found.difference:
            difference, row = self._found.difference, self._found.row
        self._found = Verification(self._found.n_rows + len(X), difference, row)

    def _held(self, X: Matrix, nearest: float) -> Matrix:
        """Return numbers as the engine holds them."""
        if not self._format.double:
            X = np.clip(X, -LARGEST, LARGEST).astype(np.float32).astype(float)
        X = np.where(np.abs(X) <= nearest, 0.0, X)
        for high, low, column in self._gaps:
            values = X[:, column]
            values[(values > low) & (values <= high)] = low
        return X

    def _known(self, X: Matrix) -> Matrix:
        """Return rows in which unknown categories are missing, as in a data frame."""
        X = X.copy()
        for column, known in self._forest.categories.items():
            X[X[:, column] >= len(known), column] = np.nan
        return X

    def _given(self, X: Matrix) -> DocumentRows:
        """Return rows as a user gives them to the ranker."""
        words = {column: [*known].__getitem__ for column, known in self._forest.categories.items()}
        return _with_words(np.nan_to_num(X) if self._zero else X, words)

    def _documents(self, X: Matrix) -> DocumentRows:
        """Return rows as the engine has them."""
        if self._format.categories != "texts":
            return self._known(X)
        words: dict[int, Callable[[int], Any]] = {
            split.feature: str for split in self._forest.splits() if isinstance(split, Membership)
        }
        for column, known in self._forest.categories.items():
            words[column] = [*map(str, known), UNKNOWN].__getitem__
        return _with_words(X, words)


def _step(node: Any, X: DocumentRows) -> Any:
    """Walk the ranker's own trees."""
    if isinstance(node, Leaf):
        return float(node.value)
    values = X[:, node.feature]
    is_member = isinstance(node, Membership)
    left = np.isin(values, node.categories) if is_member else values <= node.threshold
    return np.where(np.isnan(values), node.missing_left, left), node.left, node.right


def _with_words(X: Matrix, words: Mapping[int, Callable[[int], Any]]) -> DocumentRows:
    """Return rows in which the codes of some columns are words, and None where they are missing."""
    if not words:
        return X
    rows = X.astype(object)
    for column, word in words.items():
        rows[:, column] = [None if np.isnan(code) else word(int(code)) for code in X[:, column]]
    return rows
