"""Writing a ranker in another format, and the check of the file: it gives the ranker's scores."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from math import inf, isfinite
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from gbrank.boosters.tree import LARGEST, Leaf, Membership, Tree
from gbrank.common.checks import (
    ArgumentError,
    ArgumentTypeError,
    Matrix,
    Vector,
    check_choice,
    quoted,
)
from gbrank.common.files import StrPath, replace_file
from gbrank.data.feature_matrix import Features, dense_blocks
from gbrank.fit.arguments import TableLike
from gbrank.fit.chain import scores_by
from gbrank.fit.estimator import BaseRanker
from gbrank.linear.linear_ranker import LinearModel
from gbrank.ranker import GBRanker, opened_ranker

from .elasticsearch import Extractors
from .forest import FeatureNames, Forest, names_of, trees_of
from .formats import LIGHTGBM_ZERO, Format, format_of
from .linear import linear_content

N_ROWS = 2000  # that try splits
MISSING = 0.1  # share of values in them
UNIT = 2.0**-24  # half of the distance of two numbers of single precision beside 1
Predict: TypeAlias = Callable[[Matrix], Vector]  # of rows of numbers, and codes of categories


def export_model(
    model: Any,
    path: StrPath,
    format: str,
    *,
    feature_names: FeatureNames | None = None,
    missing_as_zero: bool = False,
    extractors: Extractors | None = None,
    verify: bool = True,
) -> None:
    """Write a model to a file that a search engine or an inference library loads.

    The exported scores are those of `predict`; for a booster, the raw scores of its best iteration.
    A model that the format cannot represent raises an error. The trees of an `init` are included.
    `verify_export` verifies the file before it is written.

    Parameters
    ----------
    model : GBRanker, LinearRanker, SLAMPerceptron, booster or path
        A fitted ranker, or a model of LightGBM or XGBoost: `lightgbm.Booster`, `LGBMModel`,
        `xgboost.Booster` or `XGBModel`; or the folder or file of one.
    path : path
        The file; an existing one is replaced. Its name without the suffix is the model's, if the
        format has one.
    format : str
        For trees, "elasticsearch" (its own learning to rank), "opensearch" (model/xgboost+json, for
        the LTR plugins of OpenSearch and Elasticsearch), "solr", "vespa-lightgbm" or "onnx", which
        requires the package onnx. For linear rankers, "opensearch" (model/linear), "solr" or
        "vespa" (an expression), which read a missing feature as 0. Elasticsearch, OpenSearch and
        Solr may have the engine's version, as in "opensearch:3.5"; by default the newest.
    feature_names : sequence of str, or mapping of str to str, optional
        The engine's names of the columns of X: one for each, or new names for some; by default
        their names in the data frame, or "f0", "f1", ... ONNX uses the order of the columns; a
        category is its position in the list of its column in the file's metadata "categories", a
        JSON object, and any other number is an unknown category.
    missing_as_zero : bool
        Send missing values where zeros go, for models that were trained without missing values;
        required for formats without missing values.
    extractors : sequence of dict, optional
        With "elasticsearch": the `feature_extractors` of the model, a query for each feature.
    verify : bool
        Whether to re-read the file and compare its scores.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid, the format cannot represent the model, or the file has other
        scores.
    ImportError
        If the package for the format is not installed.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> from gbrank import GBRanker, export_model, make_cubic
    >>> X, y, qid = make_cubic(20, n_documents=10, n_features=2, random_state=0)
    >>> ranker = GBRanker(n_estimators=1, num_leaves=2, random_state=0).fit(X, y, qid=qid)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "model.json")
    ...     export_model(ranker, file, "opensearch", feature_names=["title", "body"])
    ...     tree = json.loads(file.read_text())[0]
    >>> tree["split"] in ("title", "body"), tree["yes"], tree["no"]
    (True, 1, 2)
    """
    ranker = opened_ranker(model)
    if isinstance(ranker, LinearModel):
        for name, value in (("missing_as_zero", missing_as_zero), ("extractors", extractors)):
            if value not in (False, None):
                raise ArgumentError(name, "must not be set for a linear ranker")
        content = linear_content(ranker, Path(path).stem, format, feature_names, verify)
    else:
        chosen = format_of(format)
        forest, predict = exportable(ranker, path, chosen, feature_names, missing_as_zero)
        content = chosen.write(forest, **({} if extractors is None else {"extractors": extractors}))
        if verify:
            verified(content, forest, chosen, predict)
    replace_file(Path(path), content)


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
    model: Any,
    path: StrPath,
    format: str,
    *,
    feature_names: FeatureNames | None = None,
    missing_as_zero: bool = False,
    X: TableLike | None = None,
) -> Verification:
    """Read an exported file of trees as its engine does, and compare its scores with the model's.

    The trees must be the ranker's: each split and leaf, as the engine holds them. On 2,000 rows of
    thresholds, the next numbers in the precision of the format, zeros, missing values and
    categories with an unknown one, and on X, the scores may differ by ``2 (n_trees + 1) 2**-24
    Σ|leaf|``, which is what sums in single precision explain.

    Parameters
    ----------
    model : GBRanker, booster or path
    path : path
        The file.
    format, feature_names, missing_as_zero
        As in `export_model`.
    X : array-like, sparse matrix or data frame, shape (n_documents, n_features), optional
        More rows. Their numbers are rounded as the engine holds them, for both.

    Returns
    -------
    Verification

    Raises
    ------
    ValueError
        If a tree differs, or a score; it names the row. If the file is not in the format.

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
    ...     verification = verify_export(ranker, file, "opensearch", X=X)
    >>> verification.difference < 1e-6
    True
    """
    ranker = opened_ranker(model)
    chosen = format_of(format)
    forest, predict = exportable(ranker, path, chosen, feature_names, missing_as_zero)
    blocks = () if X is None else dense_blocks(ranker._schema.transform(X))
    return verified(Path(path).read_bytes(), forest, chosen, predict, blocks)


def exportable(
    ranker: BaseRanker[Any],
    path: StrPath,
    format: Format,
    feature_names: FeatureNames | None,
    missing_as_zero: bool,
) -> tuple[Forest, Predict]:
    """Prepare the trees of a ranker for a format, or refuse them; return also its scores."""
    if not isinstance(ranker, GBRanker):
        raise ArgumentTypeError(
            "model",
            "must be a ranker of gbrank, a trained booster, or the path of one",
            repr(ranker),
        )
    if feature_names is not None and not format.named:
        raise ArgumentError(
            "feature_names",
            f"must be None for {format.name}, which identifies features by column order",
        )
    check_choice(missing_as_zero, "missing_as_zero", [False, True])
    names = names_of(ranker, feature_names)
    forest = Forest(Path(path).stem, names, trees_of(ranker), ranker._schema.categories)
    coded = forest.by_category() - forest.categories.keys()
    if coded and format.categories == "texts" and not ranker.training_data_:
        raise ArgumentError(
            "format",
            "must be another: the words of a booster's categories are known to its library",
            format.name,
        )
    if missing_as_zero:
        forest = forest.changed(lambda split: replace(split, missing_left=split.zero_left))

    def predict(X: Matrix) -> Vector:
        rows = np.nan_to_num(X) if missing_as_zero else X
        return scores_by(ranker._served(), ranker._schema, rows, rows)

    return format.prepare(format.expressible(forest)), predict


def verified(
    content: bytes,
    forest: Forest,
    format: Format,
    predict: Predict,
    blocks: Iterable[Features] = (),
) -> Verification:
    """Compare the trees of a file with a forest, and their sums with the scores of rows."""
    try:
        trees = format.trees(content, forest)
    except (ImportError, MemoryError):
        raise
    except Exception as error:  # a file may hold anything
        raise ArgumentError(
            "path", f"must be a file of format {format.name}", quoted(error)
        ) from error
    held = forest.changed(format.held)
    for number, (ours, theirs) in enumerate(zip_longest(held.trees, trees), 1):
        if ours != theirs:
            raise ArgumentError(
                "path", f"must have the ranker's trees, of which tree {number} is another"
            )
    results = []
    for block in chain([_rows_beside(held, format.precision)], blocks):
        rows = np.clip(block, -format.largest, format.largest)
        rows = rows.astype(format.precision).astype(np.float64)
        results.append(_compared(rows, forest, held, predict))
    worst = max(results, key=lambda result: result.difference)
    return replace(worst, n_rows=sum(result.n_rows for result in results))


def _compared(rows: Matrix, forest: Forest, held: Forest, predict: Predict) -> Verification:
    """Measure how far sums of trees are from scores; refuse more than rounding explains."""
    rows[np.abs(rows) <= LIGHTGBM_ZERO] = 0.0
    known = rows.copy()  # to the ranker, unknown categories are missing
    for column, categories in forest.categories.items():
        known[known[:, column] >= len(categories), column] = np.nan
    exact, sizes, sums = np.zeros((3, len(rows)))
    for ours, theirs in zip(forest.trees, held.trees, strict=True):
        values = leaves(ours, known)
        exact += values
        sizes += np.abs(values)
        sums += leaves(theirs, rows)
    scores = predict(known)
    differences = np.abs(scores - sums)
    # Single precision explains the sums; thresholds that the format cannot hold, the rest.
    allowed = 2 * (len(held.trees) + 1) * UNIT * sizes + np.abs(sums - exact)
    wrong = ~(differences <= allowed)
    worst = int(np.argmax(np.where(wrong, inf, differences)))
    row = dict(zip(forest.features, rows[worst].tolist(), strict=True))
    if wrong[worst]:
        raise ArgumentError(
            "path",
            f"must give the ranker's score, {scores[worst]}, for the row {row}",
            str(sums[worst]),
        )
    return Verification(len(rows), float(differences[worst]), row)


def leaves(tree: Tree, X: Matrix) -> Vector:
    """Find the value of the leaf that each row reaches."""
    values = np.empty(len(X))
    todo = [(tree, np.arange(len(X)))]
    while todo:
        node, rows = todo.pop()
        if isinstance(node, Leaf):
            values[rows] = node
            continue
        column = X[rows, node.feature]
        if isinstance(node, Membership):
            left = np.isin(column, node.categories)
        else:
            left = column <= node.threshold
        left = np.where(np.isnan(column), node.missing_left, left)
        todo += [(node.left, rows[left]), (node.right, rows[~left])]
    return values


def _rows_beside(forest: Forest, precision: Any) -> Matrix:
    """Draw rows of values on which the sides of splits could be confused.

    These are thresholds, the next numbers, zero, missing, and all categories with an unknown one.
    """
    values: dict[int, set[float]] = defaultdict(set)
    for split in forest.splits():
        if isinstance(split, Membership):
            n_known = len(forest.categories.get(split.feature, ()))
            n_codes = n_known or 1 + max(split.categories, default=0)
            values[split.feature].update(range(n_codes + 1))
        elif isfinite(split.threshold):
            at = precision(split.threshold)
            values[split.feature].update((at, *np.nextafter(at, precision([-LARGEST, LARGEST]))))
    rng = np.random.default_rng(0)
    rows = np.zeros((N_ROWS, len(forest.features)))
    for column, tried in values.items():
        rows[:, column] = rng.choice([*sorted(tried), 0.0], N_ROWS)
    rows[rng.random(rows.shape) < MISSING] = np.nan
    return rows
