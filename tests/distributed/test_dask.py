"""DaskGBRanker: on a cluster of two workers, the model of one machine."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from gbrank import GBRanker, LambdaRank, Mixture, Multiplier, Queries
from gbrank.data.sampling import sampled
from gbrank.distributed import DaskGBRanker
from gbrank.objectives.on_label import OnLabel
from gbrank.schedules import geometric
from on_workers import LEAVES, QID, X, Y, dask

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

# Trees agree about values that their nodes have seen.
VALID = tuple(part[QID < 20] for part in (X, Y, QID))


def evaluated(cut: Any) -> dict[str, Any]:
    """Return the arguments for a validation set."""
    return {"eval_set": [(cut(VALID[0]), cut(VALID[1]))], "eval_qid": [cut(VALID[2])]}


# --- The model of one machine -----------------------------------------------------------------

CASES: list[tuple[str, dict[str, Any]]] = [
    ("lambdarank", {}),
    ("approx:ndcg", {"sigma": geometric(1, 0.1, unit="spread"), "early_stopping_rounds": 4}),
    ("smooth:ndcg", {"eval_metric": ["ap", "ndcg@3"]}),
    ("lambda:ndcg+ranknet", {"subsample": 0.5, "subsample_by": "query"}),
    ("lambdarank", {"validation_fraction": 0.3, "early_stopping_rounds": "auto"}),
]


# Each case by one booster in every run, by the other in a full one.
BY_BOOSTER = [
    pytest.param(*case, booster, marks=[pytest.mark.slow] if number % 2 == place else [])
    for number, case in enumerate(CASES)
    for place, booster in enumerate(["xgboost", "lightgbm"])
]


@pytest.mark.parametrize(("objective", "given", "booster"), BY_BOOSTER)
def test_the_same_trees(client: Any, booster: str, objective: str, given: dict[str, Any]) -> None:
    params = {"n_estimators": 15, "random_state": 3} | LEAVES[booster] | given
    rng = np.random.default_rng(0)
    per_document, per_query = rng.uniform(0.5, 2, len(Y)), rng.uniform(0.5, 2, 60)
    validate = "validation_fraction" not in given
    local = GBRanker(objective, booster=booster, n_jobs=1, **params).fit(
        X, Y, qid=QID, sample_weight=per_document, query_weight=per_query,
        **evaluated(np.asarray) if validate else {},
    )  # fmt: skip
    found = DaskGBRanker(objective, booster=booster, **params).fit(
        dask(X), dask(Y), qid=dask(QID), sample_weight=dask(per_document),
        query_weight=dask(per_query[QID]), **evaluated(dask) if validate else {},
    )  # fmt: skip
    if not validate:
        held_out = sampled(Queries.from_qid(np.arange(60)).id_keys, 0.3, 3, 0)
        trained = X[~held_out[QID]]
        same = np.isclose(found.predict(trained), local.predict(trained), rtol=1e-6, atol=1e-6)
        assert same.mean() > 0.99  # splits of equal gain
        return
    assert_allclose(found.predict(X), local.predict(X), rtol=1e-6, atol=1e-6)
    assert_allclose(found.sigmas_, local.sigmas_, rtol=1e-6)
    assert found.best_iteration_ == local.best_iteration_
    assert found.learning_rate_ == local.learning_rate_
    assert_allclose(found.best_score_, local.best_score_, rtol=1e-6)
    assert found.evals_result_.keys() == local.evals_result_.keys()
    for measure, by_round in local.evals_result_["valid_0"].items():
        assert_allclose(found.evals_result_["valid_0"][measure], by_round, rtol=1e-6)


def test_the_largest_gradient_is_that_of_all_workers(client: Any) -> None:
    """XGBoost's tiny gradients are scaled by it: here that of a heavy query on one worker."""
    params: dict[str, Any] = {"n_estimators": 4, "random_state": 3, "booster": "xgboost"}
    params |= LEAVES["xgboost"] | {"sigma": 0.0215}
    weight = np.where(np.arange(60) == 5, 8.0, 1.0)
    local = GBRanker("ranknet", n_jobs=1, **params).fit(X, Y, qid=QID, query_weight=weight)
    distributed = DaskGBRanker("ranknet", **params).fit(
        dask(X), dask(Y), qid=dask(QID), query_weight=dask(weight[QID])
    )
    assert_allclose(distributed.predict(X), local.predict(X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("booster", ["xgboost", pytest.param("lightgbm", marks=pytest.mark.slow)])
def test_multipliers_and_labels_by_name(client: Any, booster: str) -> None:
    """Each worker moves the weights by the measures of all."""
    margin = np.where(X[:, 0] > 0.8, np.nan, np.round(np.abs(3 * X[:, 0])))
    terms = [LambdaRank(), OnLabel(LambdaRank(), "margin")]
    params: dict[str, Any] = {
        "objective": Mixture(terms, [1, Multiplier("ndcg@5[margin]", 0.8)]),
        "n_estimators": 10, "random_state": 3, "booster": booster, **LEAVES[booster],
        "eval_metric": ["ndcg@5", "ndcg@5[margin]"],
    }  # fmt: skip
    local = GBRanker(n_jobs=1, **params).fit(
        X, Y, qid=QID, labels={"margin": margin}, **evaluated(np.asarray),
        eval_labels=[{"margin": margin[QID < 20]}],
    )  # fmt: skip
    found = DaskGBRanker(**params).fit(
        dask(X), dask(Y), qid=dask(QID), labels={"margin": dask(margin)}, **evaluated(dask),
        eval_labels=[{"margin": dask(margin[QID < 20])}],
    )  # fmt: skip
    assert_allclose(found.predict(X), local.predict(X), rtol=1e-6, atol=1e-6)
    found.set_params(eval_metric="ndcg@5[margin]")
    score = found.score(dask(X), dask(Y), dask(QID), labels={"margin": dask(margin)})
    local.set_params(eval_metric="ndcg@5[margin]")
    assert_allclose(score, local.score(X, Y, QID, labels={"margin": margin}), rtol=1e-6)
    with pytest.raises(TypeError, match="labels must be a Dask array, data frame or series"):
        found.fit(dask(X), dask(Y), qid=dask(QID), labels=["margin"])


@pytest.mark.parametrize(
    ("objective", "booster", "init"),
    [
        ("listnet", "xgboost", "regression"),
        ("listnet", "lightgbm", "ranknet"),  # which is trained first
    ],
)
def test_other_starts(client: Any, objective: str, booster: str, init: Any) -> None:
    if init == "ranknet":
        init = GBRanker(init, n_estimators=4).fit(X, Y, qid=QID)
    params = {"booster": booster, "init": init, "n_estimators": 5} | LEAVES[booster]
    local = GBRanker(objective, n_jobs=1, **params).fit(X, Y, qid=QID)
    found = DaskGBRanker(objective, **params).fit(dask(X), dask(Y), qid=dask(QID))
    assert_allclose(found.predict(X), local.predict(X), rtol=1e-6, atol=1e-6)


# --- Kinds of data ----------------------------------------------------------------------------


def test_data_frames(client: Any) -> None:
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    town = np.where(QID < 30, "Bath", np.where(Y > 1, "York", "Ely"))
    frame = pd.DataFrame(X[:, :3], columns=["a", "b", "c"]).assign(town=town, y=Y, qid=QID)
    frame["town"] = frame["town"].astype("category")
    parts = dd.from_pandas(frame, npartitions=5)
    features = ["a", "b", "c", "town"]
    params: dict[str, Any] = {"booster": "xgboost", "n_estimators": 8, "random_state": 0}
    local = GBRanker(n_jobs=1, **params).fit(frame[features], Y, qid=QID)
    found = DaskGBRanker(**params).fit(parts[features], parts["y"], qid=parts["qid"])
    assert list(found.feature_names_in_) == features
    scores = found.predict(parts[features])
    assert isinstance(scores, dd.Series)
    assert scores.npartitions == 5
    assert parts.divisions == scores.divisions
    assert_allclose(scores.compute(), local.predict(frame[features]), rtol=1e-6)
    assert scores.compute().index.equals(frame.index)


def test_sparse_blocks(client: Any) -> None:
    dense = np.where(X > 0.5, X, 0.0)
    blocks = dask(dense).map_blocks(sp.csr_matrix)
    ranker = DaskGBRanker(n_estimators=5, **LEAVES["lightgbm"])
    sparse = ranker.fit(blocks, dask(Y), qid=dask(QID)).predict(dense)
    local = GBRanker(n_estimators=5, n_jobs=1, **LEAVES["lightgbm"]).fit(dense, Y, qid=QID)
    assert_allclose(sparse, local.predict(dense), rtol=1e-6)


@pytest.fixture(scope="module")
def fitted(client: Any) -> Any:
    ranker = DaskGBRanker(n_estimators=5, random_state=0)
    return ranker.fit(dask(X), dask(Y), qid=dask(QID))


def test_partitions_without_rows(fitted: Any) -> None:
    """As a filter leaves them: they have no scores."""
    expected = fitted.predict(X[:200])
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=4)
    few = frame.map_partitions(lambda part: part[part.index < 200])
    assert (few.map_partitions(len).compute() == 0).any()
    assert_array_equal(fitted.predict(few).compute(), expected)
    blocks = da.concatenate([dask(X[:200]), dask(X[:0])])
    assert_array_equal(fitted.predict(blocks).compute(), expected)


def test_score(fitted: Any) -> None:
    weight = np.arange(1.0, 61)
    expected = fitted.score(X, Y, QID, query_weight=weight)
    found = fitted.score(dask(X), dask(Y), dask(QID), query_weight=dask(weight[QID]))
    assert_allclose(found, expected, rtol=1e-12)


def test_leaves_without_documents(client: Any) -> None:
    """LightGBM's workers stop at a split that leaves one; the error says what to do."""
    params = {"n_estimators": 20, "min_child_samples": 0}
    by_query = pd.DataFrame(X).groupby(QID)
    mean, size = by_query.transform("mean"), by_query.transform("size")
    data = dask(np.column_stack([X, X - mean, mean, size])), dask(Y)
    with pytest.raises(ValueError, match="had no documents: set min_child_samples to at least 1"):
        DaskGBRanker(**params).fit(*data, qid=dask(QID))
    params["min_child_samples"] = 1
    assert DaskGBRanker(**params).fit(*data, qid=dask(QID)).best_iteration_ == 20


# --- What goes wrong --------------------------------------------------------------------------


def test_ranks(fitted: Any) -> None:
    """Those of the same rows in memory, wherever a query's rows lie."""
    found = fitted.rank(dask(X), dask(QID))
    assert_array_equal(found, fitted.to_local().rank(X, QID))
