"""Each worker of a cluster has whole queries, no row is lost, and errors are those of the cause."""

import os
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from gbrank import Queries
from gbrank.common.collective import WorkersLostError
from gbrank.data.sampling import sampled
from gbrank.distributed import DaskGBRanker
from gbrank.distributed import shards as module
from gbrank.distributed.shards import _place, assign, distribute
from gbrank.extend import custom_objective
from on_workers import QID, X, Y, dask

distributed = pytest.importorskip("distributed")


# --- Queries are never split ------------------------------------------------------------------


@settings(deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 50), unique=True), min_size=1, max_size=8), st.integers(1, 4)
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
        module._wait(client, futures, tracker)
    assert freed == [0]


def test_a_fit_has_the_threads_of_its_worker(monkeypatch: Any) -> None:
    told: dict[str, Any] = {}

    def fit_part(ranker: Any, n_jobs: int, *parts: Any, **others: Any) -> Any:
        told.update(n_jobs=n_jobs, parts=parts, **others)
        return SimpleNamespace(_fitted="fitted")

    worker = SimpleNamespace(state=SimpleNamespace(nthreads=3))
    monkeypatch.setattr("distributed.get_worker", lambda: worker)
    for name, function in {
        "fit_part": fit_part,
        "distribute": lambda *_: ({"X": 0}, {"X": 1}),
        "run_on_workers": lambda _, task, parts: task(*parts),
    }.items():
        monkeypatch.setattr(f"gbrank.distributed.dask_ranker.{name}", function)
    monkeypatch.setattr("distributed.get_client", lambda: None)
    ranker = DaskGBRanker().fit(dask(X), dask(Y), qid=dask(QID), categorical_feature=[1])
    assert ranker._published == "fitted"  # type: ignore[comparison-overlap]
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


def test_a_fit_hands_on_which_queries_are_held_out(client: Any, monkeypatch: Any) -> None:
    """By their share and the seed."""
    told: list[Any] = []

    def distributed(client: Any, sets: Any, *held_out: Any) -> None:
        told.extend(held_out)
        raise InterruptedError

    monkeypatch.setattr("gbrank.distributed.dask_ranker.distribute", distributed)
    with pytest.raises(InterruptedError):
        DaskGBRanker(validation_fraction=0.3, random_state=7).fit(dask(X), dask(Y), qid=dask(QID))
    assert told == [0.3, 7]


def test_every_worker_has_queries_to_train_on_and_to_validate_on(client: Any) -> None:
    """Also where those that are held out lie in one worker's partitions."""
    ids = np.arange(8)
    keys = Queries.from_qid(ids).id_keys
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


# --- What goes wrong --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"y": dask(Y, 90)}, "y must have as many rows as X in each partition"),
        ({"qid": dask(QID, 360)}, "must have the same partitions"),
        ({"qid": dask(np.zeros(len(Y)))}, "at least one query for each of the 2"),
        ({"qid": dask(np.where(QID < 9, np.nan, QID))}, "qid must not be missing"),
        ({"query_weight": dask(X[:, 0] ** 2)}, "the same in all rows of a query"),
    ],
)
def test_bad_data(client: Any, changed: dict[str, Any], message: str) -> None:
    given = {"X": dask(X), "y": dask(Y), "qid": dask(QID)} | changed
    with pytest.raises(ValueError, match=message):
        DaskGBRanker(n_estimators=2).fit(given.pop("X"), given.pop("y"), **given)


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_an_error_on_one_worker(client: Any, booster: str) -> None:
    def fails(scores: Any, labels: Any, sigma: float) -> Any:
        if scores.any() and labels.max() == 9:
            raise ZeroDivisionError("in the second round")
        return 0.0, scores - labels, np.ones(len(labels))

    ranker = DaskGBRanker(custom_objective(fails), booster=booster, n_estimators=5)
    marked = np.where(np.arange(len(Y)) == 0, 9, Y)  # in one query, so that one worker fails
    # An error that Dask cannot pickle arrives as an Exception of its name and text.
    with pytest.raises(Exception, match="in the second round") as caught:
        ranker.fit(dask(X), dask(marked), qid=dask(QID))
    assert "ZeroDivisionError('in the second round')" in repr(caught.value)
    DaskGBRanker(booster=booster, n_estimators=1).fit(dask(X), dask(Y), qid=dask(QID))


@pytest.mark.slow
@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_a_killed_worker(processes: Any, booster: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "GRACE_SECONDS", 2)
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
