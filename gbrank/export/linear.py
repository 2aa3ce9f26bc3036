"""Linear models: the weight of each feature, for LTR plugins, Solr and Vespa.

OpenSearch's and Elasticsearch's plugins call it model/linear, Solr LinearModel; Vespa has an
expression. All read a missing feature as 0.
"""

import json
from typing import TypeAlias

from gbrank.common.checks import unknown_name
from gbrank.common.errors import ArgumentError
from gbrank.export.forest import FeatureNames, names_of
from gbrank.export.vespa import check_expressions
from gbrank.linear.linear_model import LinearModel
from gbrank.linear.linear_ranker import LinearRanker

Weights: TypeAlias = dict[str, float]
CLASS = "org.apache.solr.ltr.model.LinearModel"


def _opensearch(_: str, weights: Weights) -> str:
    return json.dumps(weights)


def _solr(name: str, weights: Weights) -> str:
    features = [{"name": feature} for feature in weights]
    content = {"class": CLASS, "name": name, "features": features, "params": {"weights": weights}}
    return json.dumps(content, indent=1)


def _vespa(_: str, weights: Weights) -> str:
    check_expressions(weights)
    return " + ".join(f"{weight!r} * {feature}" for feature, weight in weights.items())


LINEAR_FORMATS = {"opensearch": _opensearch, "solr": _solr, "vespa": _vespa}


def write_linear(
    ranker: LinearModel, name: str, format: str, feature_names: FeatureNames | None
) -> bytes:
    """Write the weights of a ranker; refuse those of z-scores."""
    base = str(format).partition(":")[0]  # before the version of the engine
    if base not in LINEAR_FORMATS:
        raise unknown_name("format of linear rankers", base, LINEAR_FORMATS)
    if isinstance(ranker, LinearRanker) and ranker._fitted.by_query:
        raise ArgumentError(
            "by_query",
            "must be False for a linear ranker to be exported: its weights are of z-scores over "
            "all documents of a query, which engines compute over what each sub-query retrieves",
        )
    weights = dict(zip(names_of(ranker, feature_names), ranker.coef_.tolist(), strict=True))
    return LINEAR_FORMATS[base](name, weights).encode()
