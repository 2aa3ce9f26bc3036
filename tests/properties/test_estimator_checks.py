"""scikit-learn's own checks of estimators."""

from typing import Any

import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.fixes import parse_version

from gbrank import GBRanker, LinearRanker, SLAMPerceptron, make_cubic

X, Y, _ = make_cubic(6, n_documents=10, n_features=4, random_state=0)

TREES: dict[str, Any] = {"n_estimators": 5, "min_child_samples": 1, "n_jobs": 1}
RANKERS = {
    "lightgbm": GBRanker(**TREES),
    "xgboost": GBRanker(**TREES, booster="xgboost"),
    "linear": LinearRanker("lambdarank", solver="sgd", n_steps=3, n_jobs=1),
    "smoothrank": LinearRanker(n_steps=2, max_iter=5, n_jobs=1),
    "perceptron": SLAMPerceptron(),
}


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.6"),
    reason="check_estimator takes no expected failures",
)
@pytest.mark.filterwarnings("ignore:fit got neither qid")
@pytest.mark.parametrize("name", RANKERS)
def test_checks(name: str) -> None:
    """All pass but those that the ranker lists, and those do not."""
    ranker = RANKERS[name]
    expected = ranker.expected_failed_checks
    results = check_estimator(ranker, expected_failed_checks=expected, on_fail=None, on_skip=None)
    by_status: dict[str, set[str]] = {status: set() for status in ("passed", "xfail", "failed")}
    for item in results:
        by_status.setdefault(item["status"], set()).add(item["check_name"])
    assert by_status["failed"] == set()
    assert len(by_status["passed"]) > 36
    assert by_status["xfail"] <= set(expected)
    assert len(expected) <= 5
    if name in ("lightgbm", "xgboost", "smoothrank"):
        assert by_status["xfail"] == set(expected)


@pytest.mark.parametrize("name", RANKERS)
def test_without_queries(name: str) -> None:
    """All rows are one query, which a warning says; there is no score."""
    ranker, given = clone(RANKERS[name]), clone(RANKERS[name])
    with pytest.warns(UserWarning, match=r"neither qid=.* nor group=.* all 60 rows are one query"):
        ranker.fit(X, Y)
    assert_array_equal(ranker.predict(X), given.fit(X, Y, group=[60]).predict(X))
    with pytest.raises(ValueError, match=r"score needs qid=.*enable_metadata_routing=True"):
        ranker.score(X, Y)
