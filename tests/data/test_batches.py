"""Features in batches: the same models as in memory, and what is refused."""

import itertools
import os
import signal
import tempfile
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from checkpointed import Killed
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from gbrank import GBRanker, LinearRanker, SLAMPerceptron, custom_measure
from gbrank.boosters.bins import bin_sample
from gbrank.boosters.xgboost import matrices
from gbrank.data.batches import blocks, feature_columns
from gbrank.data.schema import Schema
from gbrank.datasets import FeatureBatches
from gbrank.fit.rounds import Round

BOOSTERS = ("lightgbm", "xgboost")
SMALL: dict[str, Any] = {
    "n_estimators": 8,
    "num_leaves": 7,
    "monotone": "free",
    "random_state": 0,
    "n_jobs": 1,
}


def make(n: int, seed: int) -> tuple[Any, Any, Any]:
    """Return features with missing values, grades, and queries whose rows are no neighbours."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    y = np.digitize(X[:, 0] + rng.normal(size=n), [0, 1.5]).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y, rng.integers(0, n // 20, n)


X, Y, QID = make(3000, 0)
X_VALID, Y_VALID, QID_VALID = make(900, 1)


def batches(X: Any, size: int = 700) -> FeatureBatches:
    """Return a matrix or a frame in batches."""

    def read() -> Iterator[Any]:
        return (X[start : start + size] for start in range(0, X.shape[0], size))

    return FeatureBatches(read, X.shape)


def assert_same(made: Callable[[Callable[[Any], Any]], GBRanker], table: Any = X) -> None:
    """A fit and its predictions are, to the bit, those in memory."""
    in_memory, in_batches = made(lambda table: table), made(batches)
    assert in_batches.evals_result_ == in_memory.evals_result_
    assert in_batches.calibration_ == in_memory.calibration_
    assert_array_equal(in_batches.predict(batches(table)), in_memory.predict(table))
    assert np.ptp(in_memory.predict(table)) > 0


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"objective": "approx:ndcg"},
        {"validation_fraction": 0.3, "early_stopping_rounds": 3},
        {"subsample": 0.5, "subsample_by": "query"},
        {"init": GBRanker("regression", **SMALL)},
        {"booster_params": {"max_bin": 15}},
    ],
    ids=str,
)
def test_same_model(booster: str, parameters: dict[str, Any]) -> None:
    """As in memory, whatever needs the features."""

    def made(given: Callable[[Any], Any]) -> GBRanker:
        data: dict[str, Any] = {}
        if "validation_fraction" not in parameters:
            data = {"eval_set": [(given(X_VALID), Y_VALID)], "eval_qid": [QID_VALID]}
        ranker = GBRanker(**SMALL | {"booster": booster} | parameters)
        return ranker.fit(given(X), Y, qid=QID, sample_weight=Y + 1, **data)

    assert_same(made)


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize(
    "change", [lambda X: X.astype(np.float32), lambda X: sparse.csr_matrix(np.nan_to_num(X))],
    ids=["single precision", "sparse"],
)  # fmt: skip
def test_kinds_of_arrays(booster: str, change: Callable[[Any], Any]) -> None:
    """What bins are made of is kept as it is."""
    table = change(X)
    ranker = GBRanker(booster=booster, **SMALL)
    assert_same(lambda given: ranker.fit(given(table), Y, qid=QID), table)


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("library", [pd, pl])
def test_frames(booster: str, library: Any) -> None:
    """Names, and categories that no batch has all of."""
    shop = np.sort(np.random.default_rng(0).choice(list("pqrs"), len(Y)))
    frame = library.DataFrame({"a": X[:, 0], "shop": shop, "b": X[:, 1]})

    def made(given: Callable[[Any], Any]) -> GBRanker:
        ranker = GBRanker(booster=booster, **SMALL)
        return ranker.fit(given(frame), Y, qid=QID, categorical_feature=["shop"])

    assert_same(made, frame)
    assert made(batches)._schema.categories == {1: ["p", "q", "r", "s"]}


def test_a_measure_with_columns() -> None:
    """It gets them, in fit and in score."""

    def price(labels: Any, ranks: Any, prices: Any) -> float:
        return float(prices[ranks == ranks.min()].mean())

    filled = np.nan_to_num(X)
    measure = custom_measure(price, columns=[2])
    ranker = GBRanker(eval_metric=measure, **SMALL, validation_fraction=0.2)
    assert_same(lambda given: ranker.fit(given(filled), Y, qid=QID), filled)
    assert ranker.score(batches(filled), Y, qid=QID) == ranker.score(filled, Y, qid=QID)


@pytest.mark.parametrize("booster", BOOSTERS)
def test_more_rows_than_bins_are_made_of(booster: str) -> None:
    """The sample is that of memory, and so are the bins."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(230_000, 2))
    y = np.digitize(table[:, 0], [0.5]).astype(float)
    ranker = GBRanker(booster=booster, **SMALL | {"n_estimators": 2})
    assert_same(
        lambda given: ranker.fit(given(table), y, group=[10] * 23_000, init_score=table[:, 1]),
        table,
    )


@pytest.mark.parametrize("booster", BOOSTERS)
def test_a_killed_fit_goes_on(booster: str, tmp_path: Path) -> None:
    """To the same model; the checkpoint is also that of the fit in memory."""
    ranker = GBRanker(booster=booster, **SMALL)
    whole = ranker.fit(X, Y, qid=QID).predict(X)
    data: dict[str, Any] = {"qid": QID, "checkpoint": tmp_path, "checkpoint_rounds": 2}

    def kill(told: Round) -> None:
        if told.number == 5:
            raise Killed

    with pytest.raises(Killed):
        ranker.fit(batches(X), Y, callbacks=[kill], **data)
    assert (tmp_path / "checkpoint.gbrank").exists()
    assert_array_equal(ranker.fit(batches(X, 311), Y, **data).predict(X), whole)
    with pytest.raises(ValueError, match="X"):
        ranker.fit(batches(X + 1), Y, **data)


def test_predictions() -> None:
    """Scores, probabilities, positions and explanations."""
    ranker = GBRanker(**SMALL).fit(X, Y, qid=QID)
    assert_array_equal(ranker.rank(batches(X), QID), ranker.rank(X, QID))
    assert_array_equal(ranker.explain(batches(X)), ranker.explain(X))
    found = ranker.predict(batches(X), output="probability")
    assert_array_equal(found, ranker.predict(X, output="probability"))


@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=8),
    size=st.integers(1, 20),
    data=st.data(),
)
def test_rows_and_blocks(sizes: list[int], size: int, data: st.DataObject) -> None:
    """Any cut gives all rows once; some rows of some rows are those of the matrix."""
    table = np.arange(2.0 * sum(sizes)).reshape(-1, 2)
    ends = np.cumsum(sizes)[:-1]
    X = FeatureBatches(lambda: iter(np.split(table, ends)), table.shape)
    found = list(blocks(X, size))
    assert_array_equal(np.concatenate(found), table)
    assert {len(block) for block in found[:-1]} <= {size}
    assert len(found[-1]) <= size
    chosen = np.array(sorted(data.draw(st.sets(st.sampled_from(range(len(table))), min_size=1))))
    again = np.array(sorted(data.draw(st.sets(st.sampled_from(range(len(chosen))), min_size=1))))
    part = X[chosen][again]
    assert part.shape == (len(again), 2)
    assert_array_equal(np.concatenate(list(part)), table[chosen][again])


@pytest.mark.parametrize("most", [1, 2, 7, 31])
def test_a_sample_has_at_least_as_many_rows_as_asked_for(most: int) -> None:
    """Where products of shares round, too: 49 · (1 / 49) is below 1."""
    for n in range(most, 120):
        assert most <= len(bin_sample(np.arange(n, dtype=float)[:, None], most)) <= most + 1


def test_bins_reach_to_the_largest_value(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In whatever block it is, and whether or not it is sampled."""
    monkeypatch.setattr(matrices, "bin_sample", partial(bin_sample, most=40))
    schema = Schema.learn(X)
    for place in (5, 1500, 2999):
        table = X.copy()
        table[place] = 99.0
        options = matrices._options(schema, 1) | {"max_bin": 8}
        cuts = [
            matrices._binned(part, options, str(tmp_path)).get_quantile_cut()
            for part in (table, batches(table))
        ]
        (first, values), (_, others) = cuts
        assert_array_equal(values, others)
        assert (values[first[1:].astype(int) - 1] > 99.0).all()


def test_a_sample_in_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is that of the whole, and most batches are gone when the last one comes."""
    table = np.random.default_rng(0).normal(size=(5000, 3))
    alive: list[Any] = []
    most = 0

    def read() -> Iterator[Any]:
        nonlocal most
        for start in range(0, len(table), 100):
            batch = table[start : start + 100].copy()
            alive.append(weakref.ref(batch))
            most = max(most, sum(item() is not None for item in alive))
            yield batch
            del batch

    monkeypatch.setattr("gbrank.data.batches.BLOCK", 300)
    sample = bin_sample(FeatureBatches(read, table.shape), 200)
    assert_array_equal(sample, bin_sample(table, 200))
    assert most <= 2


def test_files_of_a_fit_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a fit, and after one that failed."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    seen = []
    ranker = GBRanker(booster="xgboost", **SMALL)

    def look(_: Any) -> None:
        seen.append(sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file()))

    ranker.fit(batches(X), Y, qid=QID, callbacks=[look])
    assert min(seen) >= X.size  # a byte a number
    assert not list(tmp_path.iterdir())
    with pytest.raises(ZeroDivisionError):
        ranker.fit(batches(X), Y, qid=QID, callbacks=[lambda _: 1 // 0])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("booster", BOOSTERS)
def test_ctrl_c_in_a_pass(booster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is Ctrl-C, and not what becomes of it where XGBoost asks for batches."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    passes = {"lightgbm": 3, "xgboost": 4}[booster]  # the first batch, the sample, then these
    calls = 0

    def read() -> Iterator[Any]:
        nonlocal calls
        calls += 1
        for start in range(0, len(X), 500):
            if calls == passes and start == 1000:
                os.kill(os.getpid(), signal.SIGINT)
            yield X[start : start + 500]

    ranker = GBRanker(booster=booster, **SMALL)
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(FeatureBatches(read, X.shape), Y, qid=QID)
    assert calls == passes
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda: iter([X[:2000]]), "X must have batches of 3000 rows together, got 2000"),
        (lambda: iter([X, X[:1]]), "X must have batches of 3000 rows together, got more"),
        (lambda: iter([X[:10], X[10:, :2]]), r"of 5 columns, got one of shape \(2990, 2\)"),
        (lambda: iter([X[:10], X[10:] / 0]), "rows 10 to 2999: X must not hold infinite values"),
        (lambda: iter([X[:10].astype(str)]), "X must hold real numbers"),
        (lambda: iter([]), "X must have at least one row"),
    ],
)  # fmt: skip
def test_batches_of_another_shape(booster: str, read: Any, message: str) -> None:
    """Found before the first round."""
    ranker = GBRanker(booster=booster, **SMALL)
    rounds = []
    with pytest.raises(ValueError, match=message), np.errstate(divide="ignore"):
        ranker.fit(FeatureBatches(read, X.shape), Y, qid=QID, callbacks=[rounds.append])
    assert not rounds


def test_rankers_that_need_memory() -> None:
    """They say so."""
    for ranker in (LinearRanker(), SLAMPerceptron(), GBRanker(init=LinearRanker(), **SMALL)):
        with pytest.raises(TypeError, match="X must be in memory here, got FeatureBatches"):
            ranker.fit(batches(X), Y, qid=QID)
    linear = LinearRanker(max_iter=2).fit(np.nan_to_num(X), Y, qid=QID)
    with pytest.raises(TypeError, match="X must be in memory here"):
        linear.predict(batches(X))


@pytest.mark.parametrize("booster", BOOSTERS)
def test_own_objectives(booster: str) -> None:
    """They need queries one after the other; LightGBM's model is then that of memory."""
    objective = {"lightgbm": "lightgbm:lambdarank", "xgboost": "xgboost:rank:ndcg"}[booster]
    ranker = GBRanker(objective, booster=booster, **SMALL)
    with pytest.raises(ValueError, match="X must be in memory where its rows change their order"):
        ranker.fit(batches(X), Y, qid=QID)
    qid = np.sort(QID)
    if booster == "lightgbm":
        assert_same(lambda given: ranker.fit(given(X), Y, qid=qid))
    else:  # its own bins are of all rows, in memory
        gap = ranker.fit(batches(X), Y, qid=qid).score(X, Y, qid) - ranker.fit(X, Y, qid=qid).score(
            X, Y, qid
        )
        assert abs(gap) < 0.02


def test_other_tree_methods() -> None:
    """They look at numbers, not at bins."""
    ranker = GBRanker(booster="xgboost", booster_params={"tree_method": "exact"}, **SMALL)
    with pytest.raises(ValueError, match="tree_method in booster_params must be XGBoost's own"):
        ranker.fit(batches(X), Y, qid=QID)


def test_progress(capsys: pytest.CaptureFixture[str]) -> None:
    """A bar for each pass, which knows its end."""
    list(FeatureBatches(lambda: iter([X]), X.shape, progress=True))
    assert "3.00k/3.00k" in capsys.readouterr().err


@pytest.mark.parametrize("first", [True, False])
def test_a_batch_without_a_value(first: bool) -> None:
    """Of a number, of codes and of a category, whose type only other batches say."""
    frame = pd.DataFrame({"a": X[:, 0], "code": 1, "shop": "x"})
    frame.loc[1::2, ["code", "shop"]] = [0, "y"]
    without = 0 if first else 1400
    empty = frame[without:][:700].assign(a=None, code=None, shop=None)

    def read() -> Iterator[Any]:
        for start in range(0, 3000, 700):
            yield empty if start == without else frame[start:][:700]

    whole = frame.copy()
    whole.loc[empty.index] = np.nan
    ranker = GBRanker(**SMALL)
    asked = {"categorical_feature": ["code", "shop"]}
    expected = ranker.fit(whole, Y, qid=QID, **asked).predict(whole)
    given = FeatureBatches(read, frame.shape)
    assert_array_equal(ranker.fit(given, Y, qid=QID, **asked).predict(given), expected)
    assert (ranker._schema.categorical, ranker._schema.categories) == ([1, 2], {2: ["x", "y"]})
    found = feature_columns(given, ["a", "code"])
    assert_array_equal(found, whole[["a", "code"]].T.to_numpy(float))


def test_a_first_batch_that_leaves_a_type_open() -> None:
    """All batches are read for it."""
    shops = pd.Categorical(np.where(X[:, 0] > 0, "x", "y"))
    frame = pd.DataFrame({"a": X[:, 1], "shop": shops})
    parts = [frame[:1000].assign(shop=None), frame[1000:]]
    given = FeatureBatches(lambda: parts, frame.shape)
    ranker = GBRanker(**SMALL).fit(given, Y, qid=QID)
    assert ranker._schema.categories == {1: ["x", "y"]}


def test_an_endless_reader() -> None:
    """It is stopped where all rows should have been read."""
    given = FeatureBatches(lambda: itertools.repeat(X[:700]), X.shape)
    with pytest.raises(ValueError, match="X must have batches of 3000 rows together, got more"):
        list(given)


@pytest.mark.parametrize("rows", [[1, 0], [0, 0]])
def test_rows_in_another_order(rows: list[int]) -> None:
    """Or twice: batches give rows once, in their order."""
    with pytest.raises(ValueError, match="X must be in memory where its rows change their order"):
        batches(X)[np.array(rows)]
