"""Writing a ranker in another format; the formats, each with what it can express."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import inf, isfinite
from pathlib import Path

import numpy as np

from gbrank.boosters.tree import LARGEST, Membership, Split, Threshold, at_most
from gbrank.common.checks import listed, unknown_name
from gbrank.common.files import replace_file
from gbrank.common.warnings import warn_user
from gbrank.export.forest import FeatureNames, Forest, forest_of, names_of
from gbrank.export.lightgbm_json import write_lightgbm_json
from gbrank.export.onnx import write_onnx
from gbrank.export.ranklib import write_ranklib
from gbrank.export.solr import reached_by_solr, write_solr
from gbrank.export.xgboost_json import write_xgboost_json
from gbrank.ranker import GBRanker

LIGHTGBM_ZERO = float(np.float32(1e-35))
# How far a threshold may move: by two numbers of single precision.
PRECISION = 2.0**-22
SMALLEST = float(np.finfo(np.float32).smallest_subnormal)


@dataclass(frozen=True)
class Format:
    """A format in which models can be written, with what it can express."""

    summary: str  # what the format is, and who loads it
    write: Callable[[Forest], bytes]  # returns the content of the file
    named: bool = True  # whether features go by name, or else by position
    categories: bool = False  # whether splits may be by category
    missing: bool = True  # whether it can tell missing values from zeros
    less: bool = False  # whether documents go left if they are less than a number, not at most
    reached: Callable[[float], float] = at_most  # the largest number that goes left of a threshold
    largest: float = LARGEST  # of its numbers


FORMATS = {
    "elasticsearch": Format(
        "model/xgboost+json, for the LTR plugins of Elasticsearch and OpenSearch",
        write_xgboost_json,
        less=True,
    ),
    "ranklib": Format(
        "model/ranklib (XML), for the same plugins and for RankLib",
        write_ranklib,
        named=False,
        missing=False,
    ),
    "solr": Format(
        "MultipleAdditiveTreesModel (JSON), for Solr", write_solr, reached=reached_by_solr
    ),
    "vespa-lightgbm": Format(
        "LightGBM's JSON as Vespa reads it",
        write_lightgbm_json,
        categories=True,
        less=True,
        reached=float,
        largest=sys.float_info.max,
    ),
    "vespa-xgboost": Format("XGBoost's JSON as Vespa reads it", write_xgboost_json, less=True),
    "onnx": Format(
        "an ONNX graph of one TreeEnsemble, for ONNX Runtime",
        write_onnx,
        named=False,
        categories=True,
    ),
}


def export_model(
    ranker: GBRanker,
    path: str | os.PathLike[str],
    format: str,
    *,
    feature_names: FeatureNames | None = None,
    missing_as_zero: bool = False,
) -> None:
    """Write a ranker's trees to a file that a search engine or an inference library loads.

    The file gives the scores of `predict`. A model that the format cannot express is refused. The
    trees of an `init` that is a GBRanker are part of it.

    Parameters
    ----------
    ranker : GBRanker
        A fitted ranker, of either booster.
    path : path
        The file; it replaces what is there. Its name without the suffix is the model's, where the
        format has one.
    format : {"elasticsearch", "ranklib", "solr", "vespa-lightgbm", "vespa-xgboost", "onnx"}
        "elasticsearch" is model/xgboost+json, also for OpenSearch. "onnx" needs the package onnx.
    feature_names : sequence of str, or mapping of str to str, optional
        What the engine calls the columns of X: one name for each, or new names for some; by
        default their names in the data frame, or "f0", "f1", ... RankLib and ONNX go by the order
        of the columns.
    missing_as_zero : bool
        Send missing values where zeros go, for models that were trained without missing values;
        needed with formats that know none.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, or the format cannot express something of the model.
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
    ...     export_model(ranker, file, "elasticsearch", feature_names=["title", "body"])
    ...     tree = json.loads(file.read_text())[0]
    >>> tree["split"] in ("title", "body"), tree["yes"], tree["no"]
    (True, 1, 2)
    """
    if not isinstance(ranker, GBRanker):
        raise TypeError(f"ranker must be a GBRanker, got {ranker!r}.")
    if format not in FORMATS:
        raise unknown_name("format", format, FORMATS)
    chosen = FORMATS[format]
    if feature_names is not None and not chosen.named:
        raise ValueError(
            f"feature_names must be None for {format}, which goes by the order of the columns."
        )
    forest = forest_of(ranker, Path(path).stem, [])
    forest = replace(forest, features=names_of(ranker, feature_names))
    if missing_as_zero:
        forest = forest.changed(lambda split: replace(split, missing_left=split.zero_left))
    _refuse_inexpressible(forest, format, chosen)
    replace_file(Path(path), chosen.write(forest.changed(partial(_within, chosen))))


def _within(format: Format, split: Split) -> Split:
    """Return an equal split whose threshold the format can write.

    Where all numbers go left of a threshold beyond them, none is less than the smallest one, with
    the sides exchanged; and the other way round.
    """
    if isinstance(split, Membership):
        return split
    beyond = split.threshold >= format.largest if format.less else split.threshold < -format.largest
    if not beyond:
        return split
    return replace(
        split,
        threshold=-inf if format.less else inf,
        missing_left=not split.missing_left,
        left=split.right,
        right=split.left,
    )


def _refuse_inexpressible(forest: Forest, name: str, format: Format) -> None:
    thresholds: dict[tuple[int, float], float] = {}  # by feature and by what the format has
    near: dict[str, set[float]] = {}  # beside 0, where the format has others than the model
    for split in forest.splits():
        feature = forest.features[split.feature]
        if isinstance(split, Membership) and not format.categories:
            raise ValueError(
                f"format must have splits by category, as the model has of feature {feature!r}; "
                f"{name} has none. Encode the categories as numbers, or choose another format."
            )
        if not format.missing and split.missing_left != split.zero_left:
            raise ValueError(
                f"format must tell missing values from zeros, as the model does for feature "
                f"{feature!r}; {name} reads missing values as zeros. If there are none, or zero is "
                "what they mean, set missing_as_zero."
            )
        if not isinstance(split, Threshold):
            continue
        threshold, reached = split.threshold, format.reached(split.threshold)
        if _is_zero(threshold):
            if at_most(reached) != at_most(threshold):
                near.setdefault(feature, set()).update((reached, threshold))
        else:
            first = thresholds.setdefault((split.feature, reached), threshold)
            moved = abs(reached - threshold) if isfinite(threshold) else 0.0
            if first != threshold or moved > PRECISION * abs(threshold) + SMALLEST:
                raise ValueError(
                    f"format must hold the model's thresholds, as {threshold!r} for feature "
                    f"{feature!r}, which is {reached!r} in {name}. Train on a column that is "
                    "shifted and scaled to numbers around 1, or on X.astype('float32')."
                )
    if near:
        ends = set[float]().union(*near.values())
        warn_user(
            f"{name} is less fine beside 0 than the model: numbers from {min(ends):.2g} to "
            f"{max(ends):.2g}, but not 0 itself, may go another way, of {listed(near)}."
        )


def _is_zero(threshold: float) -> bool:
    """Say whether a threshold lies beside 0: XGBoost's next number, or LightGBM's 1e-35."""
    return abs(threshold) < SMALLEST or abs(threshold) == LIGHTGBM_ZERO
