"""Writing a ranker in another format."""

import os
from functools import partial
from pathlib import Path

from gbrank.common.argument_error import ArgumentError
from gbrank.common.files import replace_file
from gbrank.export.elasticsearch import Extractors
from gbrank.export.forest import FeatureNames
from gbrank.export.formats import format_of
from gbrank.export.refusals import expressible
from gbrank.export.verifying import FileCheck, named_forest
from gbrank.ranker import GBRanker


def export_model(
    ranker: GBRanker,
    path: str | os.PathLike[str],
    format: str,
    *,
    feature_names: FeatureNames | None = None,
    missing_as_zero: bool = False,
    extractors: Extractors | None = None,
    verify: bool = True,
) -> None:
    """Write a ranker's trees to a file that a search engine or an inference library loads.

    The file gives the scores of `predict`. A model that the format cannot express is refused. The
    trees of an `init` that is a GBRanker are part of it. Before the file appears, `verify_export`
    tries it.

    Parameters
    ----------
    ranker : GBRanker
        A fitted ranker, of either booster.
    path : path
        The file; it replaces what is there. Its name without the suffix is the model's, where the
        format has one.
    format : str
        "elasticsearch" (its own learning to rank), "opensearch" (model/xgboost+json, for the LTR
        plugins of OpenSearch and Elasticsearch), "solr", "vespa-lightgbm" or "onnx", which needs
        the package onnx. Those of Elasticsearch, OpenSearch and Solr may say the engine's version,
        as "opensearch:3.5"; without one, it is the newest.
    feature_names : sequence of str, or mapping of str to str, optional
        What the engine calls the columns of X: one name for each, or new names for some; by
        default their names in the data frame, or "f0", "f1", ... ONNX goes by the order of the
        columns.
    missing_as_zero : bool
        Send missing values where zeros go, for models that were trained without missing values;
        needed with formats that know none.
    extractors : sequence of dict, optional
        With "elasticsearch": the `feature_extractors` of the model, a query for each feature.
    verify : bool
        Whether to read the file again and to compare its scores.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, the format cannot express something of the model, or
        the file has other scores.
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
    chosen = format_of(format)
    write = chosen.write
    if extractors is not None:
        if not format.startswith("elasticsearch"):
            raise ArgumentError("extractors", "must be None", f"some with format={format!r}")
        write = partial(write, extractors=extractors)
    forest = named_forest(ranker, path, format, feature_names, missing_as_zero)
    content = write(expressible(forest, format, chosen))
    if verify:
        FileCheck(content, forest, format, ranker, missing_as_zero).run()
    replace_file(Path(path), content)
