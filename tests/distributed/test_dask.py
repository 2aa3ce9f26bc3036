"""DaskGBRanker: on a cluster of two workers, the model of one machine."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from plain_trees import PLAIN

from gbrank import (
    GBRanker,
    LambdaRank,
    Mixture,
    Multiplier,
    custom_objective,
    load_ranker,
    make_cubic,
)
from gbrank.common.collective import WorkersLostError
from gbrank.data.sampling import query_keys, sampled
from gbrank.distributed import DaskGBRanker, dask_ranker, workers
from gbrank.distributed.shards import _place, assign, distribute
from gbrank.objectives.on_label import OnLabel
from gbrank.schedules import geometric

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

X, Y, QID = make_cubic(60, n_documents=12, n_features=8, random_state=0)
# Few values, so that both boosters have the same bins wherever rows are.
X = X.round(1)
# Trees agree about values that their nodes have seen.
VALID = tuple(part[QID < 20] for part in (X, Y, QID))

# LightGBM knows how many documents are in a leaf only where it has all of them.
LEAVES: dict[str, dict[str, Any]] = {
    "lightgbm": {
        **PLAIN,  # each worker draws thresholds of its own
        "min_child_samples": 0,
        "booster_params": {"min_sum_hessian_in_leaf": 5},
    },
    "xgboost": {**PLAIN, "min_child_samples": 5},
}


def dask(values: Any, rows: int = 100) -> Any:
    """Cut an array into blocks, most of which end amid a query."""
    return da.from_array(values, chunks=(rows, *values.shape[1:]))


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


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
        held_out = sampled(query_keys(np.arange(60)), 0.3, 3, 0)
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
    with pytest.raises(TypeError, match="labels must be a mapping of name to Dask array"):
        found.fit(dask(X), dask(Y), qid=dask(QID), labels=["margin"])


@pytest.mark.parametrize(
    ("objective", "booster", "init"),
    [
        ("listnet", "xgboost", "regression"),
        ("listnet", "lightgbm", GBRanker("ranknet", n_estimators=4).fit(X, Y, qid=QID)),
    ],
)
def test_other_starts(client: Any, objective: str, booster: str, init: Any) -> None:
    params = {"booster": booster, "init": init, "n_estimators": 5} | LEAVES[booster]
    local = GBRanker(objective, n_jobs=1, **params).fit(X, Y, qid=QID)
    found = DaskGBRanker(objective, **params).fit(dask(X), dask(Y), qid=dask(QID))
    assert_allclose(found.predict(X), local.predict(X), rtol=1e-6, atol=1e-6)


def test_the_same_model_again(client: Any) -> None:
    def fit() -> Any:
        ranker = DaskGBRanker(n_estimators=5, subsample=0.7, colsample=0.5, random_state=1)
        return ranker.fit(dask(VALID[0]), dask(VALID[1]), qid=dask(VALID[2]))

    assert_array_equal(fit().predict(X), fit().predict(X))


@pytest.mark.letor
@pytest.mark.slow
@pytest.mark.skipif("GBRANK_LETOR" not in os.environ, reason="GBRANK_LETOR is not set")
@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("objective", ["lambdarank", "approx:ndcg"])
def test_as_good_on_real_data(client: Any, objective: str, booster: str) -> None:
    from benchmarks.letor_folders import read_folds

    data = read_folds(Path(os.environ["GBRANK_LETOR"]) / "mq2008")
    # Rounded, for XGBoost to have the bins of one machine: other bins alone change a mean by 0.005.
    x, y, qid = np.asarray(data.X).round(2), np.asarray(data.y), np.asarray(data.qid)
    differences = []
    for fold in data.splits:
        rows = np.concatenate([fold.train, fold.valid])
        params: dict[str, Any] = {
            "booster": booster, "n_estimators": 60, "num_leaves": 7, "random_state": 0,
            "extra_trees": False,
        }  # fmt: skip
        local = GBRanker(objective, n_jobs=1, **params).fit(x[rows], y[rows], qid=qid[rows])
        found = DaskGBRanker(objective, **params).fit(
            dask(x[rows], 1000), dask(y[rows], 1000), qid=dask(qid[rows], 1000)
        )
        test = (x[fold.test], y[fold.test], qid[fold.test])
        differences.append(found.score(*test) - local.score(*test))
    assert abs(np.mean(differences)) < 0.005


# --- Queries are never split ------------------------------------------------------------------


@settings(deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 50), unique=True), min_size=1, max_size=8),
    st.integers(1, 4),
)
def test_each_query_has_one_shard(queries: list[list[int]], n_shards: int) -> None:
    keys = [np.array(some, dtype=np.uint64) for some in queries]
    every = [query for some in queries for query in some]
    if len(set(every)) < n_shards:
        with pytest.raises(ValueError, match="at least one query for each of the"):
            assign(keys, n_shards, "")
        return
    owners = assign(keys, n_shards, "")
    assert [len(own) for own in owners] == [len(some) for some in queries]
    pairs = set(zip(every, np.concatenate(owners).tolist(), strict=True))
    assert len(pairs) == len(set(every))
    assert {shard for _, shard in pairs} == set(range(n_shards))


def test_partitions_that_split_nothing_stay_whole() -> None:
    keys = [np.arange(i * 10, i * 10 + 10, dtype=np.uint64) for i in range(4)]
    assert [set(own) for own in assign(keys, 2, "")] == [{0}, {0}, {1}, {1}]


@pytest.mark.parametrize("order", [1, -1])
def test_the_error_that_ended_a_fit_is_raised(order: int) -> None:
    """Whichever worker has it: the others' say only that one is gone."""
    freed: list[int] = []
    errors = [ValueError("own"), WorkersLostError("gone")][::order]
    futures: Any = {
        f"worker {place}": SimpleNamespace(status="error", exception=lambda error=error: error)
        for place, error in enumerate(errors)
    }
    client: Any = SimpleNamespace(nthreads=lambda: futures)
    tracker: Any = SimpleNamespace(free=lambda: freed.append(0))
    with pytest.raises(ValueError, match="own"):
        workers._wait(client, futures, tracker)
    assert freed == [0]


def test_a_fit_has_the_threads_of_its_worker(monkeypatch: Any) -> None:
    told: dict[str, Any] = {}

    def fit_part(ranker: Any, n_jobs: int, *parts: Any, **others: Any) -> Any:
        told.update(n_jobs=n_jobs, parts=parts, **others)
        return SimpleNamespace(_fitted="fitted")

    worker = SimpleNamespace(state=SimpleNamespace(nthreads=3))
    monkeypatch.setattr("distributed.get_worker", lambda: worker)
    monkeypatch.setattr("gbrank.distributed.dask_ranker.fit_part", fit_part)
    assert dask_ranker._fit(GBRanker(), [1], {"X": 0}, {"X": 1}) == "fitted"
    assert told == {"n_jobs": 3, "parts": ({"X": 0}, {"X": 1}), "categorical_feature": [1]}


def test_shards_go_where_most_of_their_queries_are() -> None:
    parts = [SimpleNamespace(key=key) for key in "abc"]
    held = {"a": ["one"], "b": ["two", "elsewhere"], "c": ["one"]}
    client: Any = SimpleNamespace(who_has=lambda _: held)
    owners = [np.array([1, 1, 0]), np.array([0, 0]), np.array([1])]
    assert _place(client, parts, owners, ["one", "two"]) == ["two", "one"]
    assert _place(client, parts, [1 - own for own in owners], ["one", "two"]) == ["one", "two"]


@pytest.mark.parametrize("chunks", [50, 720])
def test_no_row_is_lost(client: Any, chunks: int) -> None:
    order = np.random.default_rng(0).permutation(len(Y))
    names = np.array([f"query {i}" for i in QID[order]])
    rows = {"X": X[order], "y": Y[order], "qid": names, "sample_weight": order.astype(float)}
    cut = {name: dask(values, chunks) for name, values in rows.items()}
    shards = distribute(client, {"": cut})
    assert sorted(shards) == sorted(client.nthreads())
    parts = client.gather([part for (part,) in shards.values()])
    assert not set(parts[0]["qid"]) & set(parts[1]["qid"])
    found = np.concatenate([part["sample_weight"] for part in parts]).astype(int)
    assert_array_equal(np.sort(found), np.arange(len(Y)))
    original = np.argsort(order)[found]
    for name, values in rows.items():
        assert_array_equal(np.concatenate([p[name] for p in parts]), values[original])


def test_every_worker_has_queries_to_train_on_and_to_validate_on(client: Any) -> None:
    """Also where those that are held out lie in one worker's partitions."""
    ids = np.arange(8)
    keys = query_keys(ids)
    seed = next(s for s in range(10_000) if (sampled(keys, 0.5, s, 0) == (ids < 4)).all())
    qid = np.repeat(ids, 3)
    cut = {
        name: dask(values, 12) for name, values in {"X": X[:24], "y": Y[:24], "qid": qid}.items()
    }
    shards = distribute(client, {"": cut}, validation_fraction=0.5, seed=seed)
    for part in client.gather([part for (part,) in shards.values()]):
        assert {bool(query < 4) for query in part["qid"]} == {True, False}
    given = distribute(client, {"": cut, "eval_set[0]: ": cut}, validation_fraction=0.5, seed=seed)
    for part in client.gather([part for part, _ in given.values()]):
        assert len(set(part["qid"])) == 4


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


def test_predict_is_lazy(fitted: Any) -> None:
    def fail(block: Any) -> Any:
        raise AssertionError("computed")

    fitted.predict(dask(X).map_blocks(fail, dtype=float, meta=np.empty((0, 0))))
    scores = fitted.predict(dask(X).rechunk((100, 3)), num_iteration=2)
    assert scores.chunks == ((100,) * 7 + (20,),)
    assert_array_equal(scores.compute(), fitted.predict(X, num_iteration=2))


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


def test_it_becomes_a_gbranker(fitted: Any, tmp_path: Path) -> None:
    fitted.save(tmp_path)
    for local in (fitted.to_local(), GBRanker.load(tmp_path), load_ranker(tmp_path)):
        assert type(local) is GBRanker
        assert_array_equal(local.predict(X), fitted.predict(X))
        assert local.get_params() == fitted.get_params()
    with pytest.raises(ValueError, match=r"load it by GBRanker\.load"):
        DaskGBRanker.load(tmp_path)


# --- What goes wrong --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"y": Y}, TypeError, "y must be a Dask array"),
        ({"y": dask(Y, 90)}, ValueError, "y must have as many rows as X in each partition"),
        ({"qid": dask(QID, 360)}, ValueError, "must have the same partitions"),
        ({"qid": dask(np.zeros(len(Y)))}, ValueError, "at least one query for each of the 2"),
        ({"qid": dask(np.where(QID < 9, np.nan, QID))}, ValueError, "qid must not be missing"),
        ({"y": dask(Y - 1)}, ValueError, "y must be at least 0"),
        ({"query_weight": dask(X[:, 0] ** 2)}, ValueError, "the same in all rows of a query"),
        ({"eval_set": [(dask(X), dask(Y))]}, ValueError, "eval_qid must have one entry"),
    ],
)
def test_bad_data(
    client: Any, changed: dict[str, Any], error: type[Exception], message: str
) -> None:
    given = {"X": dask(X), "y": dask(Y), "qid": dask(QID)} | changed
    with pytest.raises(error, match=message):
        DaskGBRanker(n_estimators=2).fit(given.pop("X"), given.pop("y"), **given)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"objective": "lamda"}, "unknown objective"),
        ({"init": GBRanker()}, r"init must be .*GBRanker\(\), which is not fitted"),
        ({"booster_params": {"machines": "a:1"}}, "must not hold 'machines'"),
        ({"early_stopping_rounds": 3}, "early_stopping_rounds needs validation data"),
    ],
)
def test_bad_parameters(client: Any, params: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DaskGBRanker(**params).fit(dask(X), dask(Y), qid=dask(QID))


def test_ranks(fitted: Any) -> None:
    """Those of the same rows in memory, wherever a query's rows lie."""
    found = fitted.rank(dask(X), dask(QID))
    assert_array_equal(found, fitted.to_local().rank(X, QID))


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_an_error_on_one_worker(client: Any, booster: str) -> None:
    def fails(scores: Any, labels: Any, sigma: float) -> Any:
        if scores.any() and labels.max() == 9:
            raise ZeroDivisionError("in the second round")
        return 0.0, scores - labels, np.ones(len(labels))

    ranker, marked = (
        DaskGBRanker(custom_objective(fails), booster=booster, n_estimators=5),
        Y.copy(),
    )
    marked[0] = 9  # in one query only, so that one worker fails
    # An error that Dask cannot pickle arrives as an Exception of its name and text.
    with pytest.raises(Exception, match="in the second round") as caught:
        ranker.fit(dask(X), dask(marked), qid=dask(QID))
    assert "ZeroDivisionError('in the second round')" in repr(caught.value)
    DaskGBRanker(booster=booster, n_estimators=1).fit(dask(X), dask(Y), qid=dask(QID))


@pytest.mark.slow
@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_a_killed_worker(processes: Any, booster: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(workers, "GRACE_SECONDS", 2)
    victim, pid = sorted(processes.run(os.getpid).items())[0]

    def kill() -> None:
        while not any("take_part" in str(keys) for keys in processes.processing().values()):
            time.sleep(0.1)
        time.sleep(2)
        os.kill(pid, 9)

    thread = threading.Thread(target=kill)
    thread.start()
    ranker = DaskGBRanker("listnet", booster=booster, n_estimators=1_000_000)
    with pytest.raises(RuntimeError, match=f"a worker was lost: .*{victim}"):
        ranker.fit(dask(X), dask(Y), qid=dask(QID))
    thread.join()


@pytest.fixture
def processes() -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
        client.as_current(),
    ):
        yield client


@pytest.mark.slow
def test_dask_is_not_imported_for_nothing() -> None:
    """Unless a booster does so itself, as older versions of LightGBM do."""
    code = """if True:
        import sys, lightgbm, xgboost
        before = "dask" in sys.modules
        import gbrank.distributed
        sys.exit("dask" in sys.modules and not before)
    """
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_without_dask(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install 'gbrank\[dask\]'"):
        DaskGBRanker().fit(X, Y, qid=QID)
