"""scikit-learn's own checks of estimators."""

from typing import Any

import pytest
import sklearn
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.fixes import parse_version

from gbrank import GBRanker, LinearRanker, SLAMPerceptron, make_cubic
from one_list import LinearOfOneList, PerceptronOfOneList, TreesOfOneList

X, Y, _ = make_cubic(6, n_documents=10, n_features=4, random_state=0)

TREES: dict[str, Any] = {"n_estimators": 5, "min_child_samples": 1, "n_jobs": 1}
NO_DOUBLE = (
    "a document of weight 2 is not the document twice, which would give the others new ranks"
)
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": NO_DOUBLE,
    "check_sample_weight_equivalence_on_sparse_data": NO_DOUBLE,
}
BY_QUERY = {
    "check_sample_weights_not_overwritten": "solver='cg' minimizes one loss per query, and refuses "
    "weights that differ within one"
}


RANKERS = {
    "lightgbm": TreesOfOneList(**TREES),
    "xgboost": TreesOfOneList(**TREES, booster="xgboost"),
    "linear": LinearOfOneList("lambdarank", solver="sgd", n_steps=3, n_jobs=1),
    "smoothrank": LinearOfOneList(n_steps=2, max_iter=5, n_jobs=1),
    "perceptron": PerceptronOfOneList(),
}


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.6"),
    reason="check_estimator takes no expected failures",
)
@pytest.mark.parametrize(
    "name",
    [
        "lightgbm", "linear", "perceptron",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("xgboost", "smoothrank")),
    ],
)  # fmt: skip
def test_checks(name: str) -> None:
    """All pass but those that are listed, and those do not."""
    expected = EXPECTED | (BY_QUERY if name == "smoothrank" else {})
    results = check_estimator(
        RANKERS[name], expected_failed_checks=expected, on_fail=None, on_skip=None
    )
    by_status: dict[str, set[str]] = {status: set() for status in ("passed", "xfail", "failed")}
    for item in results:
        by_status.setdefault(item["status"], set()).add(item["check_name"])
    assert by_status["failed"] == set()
    assert len(by_status["passed"]) > 38
    assert by_status["xfail"] <= set(expected)
    if name in ("lightgbm", "xgboost", "smoothrank"):
        assert by_status["xfail"] == set(expected)


@pytest.mark.parametrize("ranker", [GBRanker(**TREES), LinearRanker(), SLAMPerceptron()], ids=str)
def test_without_queries(ranker: Any) -> None:
    """An error says what to pass; scikit-learn's checks pass over such an estimator."""
    with pytest.raises(ValueError, match=r"fit needs qid=.* a single list: group=\[len\(y\)\]"):
        clone(ranker).fit(X, Y)
    fitted = clone(ranker).fit(X, Y, group=[60])
    with pytest.raises(ValueError, match=r"score needs qid=.*enable_metadata_routing=True"):
        fitted.score(X, Y)
    with pytest.warns(match="Explicit SKIP"):
        check_estimator(ranker)
