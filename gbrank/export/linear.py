"""Linear models: the weight of each feature, for LTR plugins, Solr and Vespa.

OpenSearch's and Elasticsearch's plugins call it model/linear, Solr LinearModel; Vespa has an
expression. All read a missing feature as 0.
"""

import json
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from gbrank.common.checks import ArgumentError, check_known_name
from gbrank.linear.linear_ranker import LinearModel, LinearRanker

from .forest import FeatureNames, names_of
from .vespa import check_expressions

Weights: TypeAlias = dict[str, float]
N_ROWS = 2000  # of which scores are compared
CLASS = "org.apache.solr.ltr.model.LinearModel"


class LinearFormat(NamedTuple):
    """A format of weights."""

    write: Callable[[str, Weights], str]  # of a model of this name
    read: Callable[[str], Weights]


def _solr(name: str, weights: Weights) -> str:
    features = [{"name": feature} for feature in weights]
    content = {"class": CLASS, "name": name, "features": features, "params": {"weights": weights}}
    return json.dumps(content, indent=1)


def _vespa(_: str, weights: Weights) -> str:
    check_expressions(weights)
    return " + ".join(f"{weight!r} * {feature}" for feature, weight in weights.items())


def _read_vespa(expression: str) -> Weights:
    products = [product.split(" * ") for product in expression.split(" + ")]
    return {feature: float(weight) for weight, feature in products}


LINEAR_FORMATS = {
    "opensearch": LinearFormat(lambda _, weights: json.dumps(weights), json.loads),
    "solr": LinearFormat(_solr, lambda content: dict(json.loads(content)["params"]["weights"])),
    "vespa": LinearFormat(_vespa, _read_vespa),
}


def linear_content(
    ranker: LinearModel, name: str, format: str, feature_names: FeatureNames | None, verify: bool
) -> bytes:
    """Write the weights of a ranker, but not those of z-scores.

    After the format's name may be a colon and the version of the engine. To verify a file is to
    check that it has these weights, and that they give the scores of the ranker.
    """
    base = str(format).partition(":")[0]
    check_known_name("format of linear rankers", base, LINEAR_FORMATS)
    if isinstance(ranker, LinearRanker) and ranker._fitted.by_query:
        raise ArgumentError(
            "by_query",
            "must be False for a linear ranker to be exported: its weights are of z-scores over "
            "all documents of a query, which engines compute over what each sub-query retrieves",
        )
    weights = dict(zip(names_of(ranker, feature_names), ranker.coef_.tolist(), strict=True))
    text = LINEAR_FORMATS[base].write(name, weights)
    if verify:
        written = LINEAR_FORMATS[base].read(text)
        if written != weights:
            raise ArgumentError("path", "must have the ranker's weights", str(written))
        rows = np.random.default_rng(0).normal(size=(N_ROWS, len(weights)))
        if not np.allclose(rows @ [*weights.values()], ranker.predict(rows)):
            raise ArgumentError("path", "must give the ranker's scores", str(written))
    return text.encode()
