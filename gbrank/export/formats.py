"""Writing a ranker in another format; the formats, each with what it can express."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from gbrank.boosters.tree import Membership, with_missing_as_zero
from gbrank.common.checks import unknown_name
from gbrank.common.files import replace_file
from gbrank.export.forest import FeatureNames, Forest, forest_of, names_of
from gbrank.export.lightgbm_json import write_lightgbm_json
from gbrank.export.onnx import write_onnx
from gbrank.export.ranklib import write_ranklib
from gbrank.export.solr import write_solr
from gbrank.export.treelite import write_treelite
from gbrank.export.xgboost_json import write_xgboost_json
from gbrank.ranker import GBRanker


@dataclass(frozen=True)
class Format:
    """A format in which models can be written, with what it can express."""

    summary: str  # what the format is, and who loads it
    write: Callable[[Forest], bytes]  # returns the content of the file
    named: bool = True  # whether features go by name, or else by position
    categories: bool = False  # whether splits may be by category
    missing: bool = True  # whether it can tell missing values from zeros


FORMATS = {
    "elasticsearch": Format(
        "model/xgboost+json, for the LTR plugins of Elasticsearch and OpenSearch",
        write_xgboost_json,
    ),
    "ranklib": Format(
        "model/ranklib (XML), for the same plugins and for RankLib",
        write_ranklib,
        named=False,
        missing=False,
    ),
    "solr": Format("MultipleAdditiveTreesModel (JSON), for Solr", write_solr),
    "vespa-lightgbm": Format(
        "LightGBM's JSON as Vespa reads it", write_lightgbm_json, categories=True
    ),
    "vespa-xgboost": Format("XGBoost's JSON as Vespa reads it", write_xgboost_json),
    "treelite": Format(
        "a Treelite checkpoint, for Treelite, TL2cgen and cuML",
        write_treelite,
        named=False,
        categories=True,
    ),
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
    format : {"elasticsearch", "ranklib", "solr", "vespa-lightgbm", "vespa-xgboost", "treelite", \
"onnx"}
        "elasticsearch" is model/xgboost+json, also for OpenSearch. "treelite" needs the package
        treelite, "onnx" the package onnx.
    feature_names : sequence of str, or mapping of str to str, optional
        What the engine calls the columns of X: one name for each, or new names for some; by
        default their names in the data frame, or "f0", "f1", ... RankLib, Treelite and ONNX go by
        the order of the columns.
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
        forest = replace(forest, trees=list(map(with_missing_as_zero, forest.trees)))
    _refuse_inexpressible(forest, format, chosen)
    replace_file(Path(path), chosen.write(forest))


def _refuse_inexpressible(forest: Forest, name: str, format: Format) -> None:
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
