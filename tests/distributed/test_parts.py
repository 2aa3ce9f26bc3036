"""Tests of what Dask and Spark share."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from gbrank import GBRanker, make_cubic
from gbrank.common.collective import BoosterError, WorkersLostError
from gbrank.distributed.parts import fit_part, true_cause


def test_the_cause_is_no_consequence_of_another_error() -> None:
    lost, booster, own = WorkersLostError("lost"), BoosterError("booster"), ValueError("own")
    for errors in permutations([lost, booster, own]):
        assert true_cause(errors) is own
    for errors in permutations([lost, booster, lost]):
        assert true_cause(errors) is booster
    assert true_cause([lost, lost]) is lost


@pytest.mark.parametrize("n_jobs", [None, 1])
def test_a_part_is_a_fit_with_the_threads_of_its_ranker(n_jobs: int | None) -> None:
    """Else with those of the worker; weights of queries stand in each row."""
    X, y, qid = make_cubic(20, n_documents=8, n_features=3, random_state=0)
    weights = np.arange(1.0, 21.0)
    params: dict[str, Any] = {"n_estimators": 3, "random_state": 0}
    part = {"X": X, "y": y, "qid": qid, "query_weight": weights[qid]}
    valid = {"X": X[:80], "y": y[:80], "qid": qid[:80]}
    ranker = fit_part(GBRanker(n_jobs=n_jobs, **params), 2, part, valid)
    assert ranker.n_jobs == (n_jobs or 2)
    whole = GBRanker(n_jobs=1, **params).fit(
        X, y, qid=qid, query_weight=weights, eval_set=[(X[:80], y[:80])], eval_qid=[qid[:80]]
    )
    assert_array_equal(ranker.predict(X), whole.predict(X))
    assert ranker.evals_result_ == whole.evals_result_
    with pytest.raises(ValueError, match="query_weight must be the same in all rows of a query"):
        fit_part(GBRanker(**params), 1, part | {"query_weight": np.arange(len(y))})
