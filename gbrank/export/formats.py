"""The formats, each with what it can express."""

from collections.abc import Callable
from dataclasses import dataclass

from gbrank.export.forest import Forest
from gbrank.export.lightgbm_json import write_lightgbm_json
from gbrank.export.onnx import write_onnx
from gbrank.export.ranklib import write_ranklib
from gbrank.export.solr import write_solr
from gbrank.export.treelite import write_treelite
from gbrank.export.xgboost_json import write_xgboost_json

__all__ = ["FORMATS", "Format"]


@dataclass(frozen=True)
class Format:
    """A format in which models can be written.

    Parameters
    ----------
    summary : str
        What the format is, and who loads it.
    write : callable
        From a `Forest`, the content of the file.
    named : bool
        Whether features are called by name; by their place otherwise.
    categories : bool
        Whether splits may be by category.
    missing : bool
        Whether missing values are anything else than zeros.
    """

    summary: str
    write: Callable[[Forest], bytes]
    named: bool = True
    categories: bool = False
    missing: bool = True


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
