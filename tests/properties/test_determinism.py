"""The same data and seed give the same bits, on any number of threads and in any process."""

import os
import subprocess
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from gbrank import GBRanker, Queries, make_cubic
from gbrank.boosters import BOOSTERS, TreeSettings
from gbrank.boosters.interface import bin_sample
from gbrank.data.documents import Documents
from gbrank.data.schema import Schema
from gbrank.schedules import geometric

X, Y, QID = make_cubic(100, n_documents=20, n_features=6, random_state=0)
TRAIN = QID < 80
boosters = pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])

CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "documents": {"subsample": 0.6, "colsample": 0.7},
    "queries": {"subsample": 0.5, "subsample_by": "query"},
    "annealed": {"objective": "approx:ndcg", "sigma": geometric(1.0, 0.1, unit="spread")},
    "noise": {"objective": "noisy:ndcg"},
    "draws": {"objective": "tie(sample=3):ndcg", "init": "regression"},
    "mixture": {"objective": "lambda:ap+listmle", "init": "regression"},
}
# Each case by one booster in every run, by the other in a full one.
SOME = {
    "lightgbm": ("plain", "annealed", "mixture", "documents"),
    "xgboost": ("queries", "noise", "draws"),
}


def of_cases(cases: Iterable[str]) -> pytest.MarkDecorator:
    """Run a test on these cases with both boosters."""
    every = [
        pytest.param(booster, case, marks=[] if case in SOME[booster] else pytest.mark.slow)
        for booster in BOOSTERS
        for case in cases
    ]
    return pytest.mark.parametrize(("booster", "case"), every)


# What draws documents, draws them by their place, or breaks ties by it.
SHUFFLED = {name: case for name, case in CASES.items() if name not in ("documents", "draws")}


def fit(
    booster: str, rows: Any = TRAIN, table: Any = X, n_jobs: int = 1, **params: Any
) -> GBRanker:
    """Return a small ranker, fitted on some of the rows, judged on the others."""
    defaults = {"n_estimators": 12, "random_state": 5, "min_child_samples": 5}
    ranker = GBRanker(**{**defaults, **params}, booster=booster, n_jobs=n_jobs)
    return ranker.fit(
        table[rows], Y[rows], qid=QID[rows], eval_set=[(table[~TRAIN], Y[~TRAIN])],
        eval_qid=[QID[~TRAIN]],
    )  # fmt: skip


def trees(ranker: GBRanker) -> bytes:
    """Return the booster's file, but for the parameters, which say how many threads there were."""
    return ranker._model.dump().partition(b"\nparameters:")[0]


def assert_same(a: GBRanker, b: GBRanker) -> None:
    """Assert that two fits came to the same bits."""
    assert trees(a) == trees(b)
    assert_array_equal(a.predict(X), b.predict(X))
    assert_array_equal(a.sigmas_, b.sigmas_)
    assert a.evals_result_ == b.evals_result_


# --- threads and processes ----------------------------------------------------------------------


@of_cases(CASES)
def test_threads(booster: str, case: str) -> None:
    """One and four."""
    assert_same(fit(booster, n_jobs=4, **CASES[case]), fit(booster, **CASES[case]))


@boosters
def test_threads_that_share_the_rows(booster: str) -> None:
    """So many rows that every thread has work to do, in the trees and in the gradient."""
    features, labels, qid = make_cubic(600, n_documents=25, n_features=5, random_state=1)
    rankers = [
        GBRanker(booster=booster, n_estimators=4, random_state=0, n_jobs=jobs) for jobs in (1, 2, 4)
    ]
    for ranker in rankers:
        ranker.fit(features, labels, qid=qid)
        assert trees(ranker) == trees(rankers[0])
        assert_array_equal(ranker.predict(features), rankers[0].predict(features))


IN_ANOTHER_PROCESS = """
import sys
import test_determinism as own
own.save_some(sys.argv[1])
"""


def save_some(folder: str | Path) -> None:
    """Save each case by one booster."""
    for booster, cases in SOME.items():
        for case in cases:
            fit(booster, **CASES[case]).save(Path(folder, case))


@pytest.mark.slow
def test_processes(tmp_path: Path) -> None:
    """A process that hashes strings differently saves the same files."""
    paths = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    subprocess.run(
        [sys.executable, "-c", IN_ANOTHER_PROCESS, str(tmp_path / "there")],
        env=os.environ | {"PYTHONHASHSEED": "1", "PYTHONPATH": paths},
        check=True,
    )
    save_some(tmp_path / "here")
    files = [path for path in (tmp_path / "here").rglob("*.*") if path.is_file()]
    assert len(files) == len(CASES)
    for file in files:
        there = tmp_path / "there" / file.relative_to(tmp_path / "here")
        assert file.read_bytes() == there.read_bytes()


GRADIENT_IN_ANOTHER_PROCESS = """
import sys
from gbrank import Queries, get_objective, make_cubic
_, labels, qid = make_cubic(6, n_documents=70, random_state=0)
scores = make_cubic(6, n_documents=70, random_state=1)[0][:, 0]
for row in get_objective("listnet").bind(labels, Queries.from_qid(qid)).gradients(scores):
    sys.stdout.buffer.write(row.tobytes())
"""


@pytest.mark.slow
def test_compiled_or_loaded(tmp_path: Path) -> None:
    """A process that compiles a kernel computes the bits of one that finds it on disk."""
    compiled, loaded = (
        subprocess.run(
            [sys.executable, "-c", GRADIENT_IN_ANOTHER_PROCESS],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            check=True,
        ).stdout
        for _ in range(2)
    )
    assert len(compiled) == 2 * 6 * 70 * 8
    assert compiled == loaded


# --- kinds of input -----------------------------------------------------------------------------


NAMES_OF_COLUMNS = [f"f{i}" for i in range(X.shape[1])]
KINDS: dict[str, Any] = {
    "frame": partial(pd.DataFrame, columns=NAMES_OF_COLUMNS),
    "polars": partial(pl.DataFrame, schema=NAMES_OF_COLUMNS),
    "csr": sp.csr_matrix,
    "fortran": np.asfortranarray,
    "list": np.ndarray.tolist,
}


@of_cases(["documents", "queries", "plain"])
def test_kinds_of_input(booster: str, case: str) -> None:
    """pandas, polars, sparse and other matrices of the same numbers, a third of them zeros."""
    table = np.where(np.abs(X) < 0.4, 0.0, X)
    params = {"n_estimators": 6, "random_state": 5, "booster": booster, "n_jobs": 1}
    params |= CASES[case]
    expected = GBRanker(**params).fit(table, Y, qid=QID).predict(table)
    for kind, convert in KINDS.items():
        ranker = GBRanker(**params).fit(convert(table), Y, qid=QID)
        assert_array_equal(ranker.predict(convert(table)), expected, err_msg=kind)


# --- the order of rows --------------------------------------------------------------------------


def shuffled_queries(qid: Any, rng: np.random.Generator) -> Any:
    """Return the rows with their queries in another order."""
    return np.concatenate(
        [np.flatnonzero(qid == query) for query in rng.permutation(qid.max() + 1)]
    )


def shuffled_documents(qid: Any, rng: np.random.Generator) -> Any:
    """Return the rows with documents inside of queries in another order."""
    return np.lexsort((rng.random(len(qid)), qid))


ORDERS = [shuffled_queries, shuffled_documents]


@of_cases(SHUFFLED)
def test_predictions_do_not_depend_on_the_order(booster: str, case: str) -> None:
    """Bit for bit, after many rounds at the highest rate: boosters' sums are exact."""
    rng, rows = np.random.default_rng(4), np.flatnonzero(TRAIN)
    for shuffled in ORDERS:
        rows = rows[shuffled(QID[rows], rng)]
    params = CASES[case] | {"n_estimators": 60, "learning_rate": 0.2}
    expected = fit(booster, **params).predict(X)
    assert_array_equal(fit(booster, rows, **params).predict(X), expected)


def binned(booster: str, most: int, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Have bins made of so many rows only, as they are in large data; return booster_params."""
    monkeypatch.setattr(
        "gbrank.boosters.xgboost.trainer.bin_sample", partial(bin_sample, most=most)
    )
    return {"bin_construct_sample_cnt": most} if booster == "lightgbm" else {}


@boosters
@pytest.mark.parametrize("most", [200_000, 1500])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix])
def test_bins_do_not_depend_on_the_order(
    booster: str, most: int, convert: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of so many rows that XGBoost's own would, and of a sample."""
    rng = np.random.default_rng(6)
    features = rng.standard_normal((12_000, 3))
    features[rng.random(features.shape) < 0.3] = 0
    labels, qid = rng.integers(0, 4, 12_000), np.repeat(np.arange(600), 20)
    params = binned(booster, most, monkeypatch)
    expected, actual = (
        GBRanker(booster=booster, n_estimators=10, random_state=0, n_jobs=1, booster_params=params)
        .fit(convert(features[rows]), labels[rows], qid=qid[rows])
        .predict(features)
        for rows in (np.arange(12_000), rng.permutation(12_000))
    )
    assert_array_equal(actual, expected)


@boosters
def test_rows_beyond_the_sample(booster: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers and categories that the bins' rows lack go the same way in training and after it."""
    rng = np.random.default_rng(7)
    features = np.column_stack([rng.standard_normal(4000), rng.integers(0, 5, 4000)])
    features[rng.random(4000) < 0.3, 0] = np.nan
    features[:40] = [50.0, 30.0]
    target = np.isnan(features[:, 0]) + 0.1 * features[:, 1]
    rows = Documents(features, np.zeros(4000), Queries.from_sizes([4000]))
    schema = Schema.learn(features, categorical_feature=[1])
    params = binned(booster, 20, monkeypatch)
    settings = TreeSettings(0.5, 31, None, 1, 1.0, 1.0, False, 0.0, 0, 1, params, False, False)
    trainer = BOOSTERS[booster].trainer([rows], schema, settings, None)
    for _ in range(5):
        trainer.step(lambda scores: (scores - target, np.ones(4000)))
    trained = trainer.scores(0)
    assert np.ptp(trained) > 0.5
    assert_allclose(trainer.finish(5).predict(features, 1), trained, rtol=1e-6)
