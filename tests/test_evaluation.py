"""Comparisons of rankers: folds, units of work, files of results, intervals and tests."""

import gzip
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.base import BaseEstimator, clone

from gbrank import (
    NDCG,
    Dataset,
    GBRanker,
    LambdaRank,
    Queries,
    compare_rankers,
    cross_validate_rankers,
    custom_objective,
    get_measure,
    make_cubic,
    ranker_from_name,
    read_folds,
    split_folds,
    write_letor,
)
from gbrank.evaluation.catboost import CatBoostPeer
from gbrank.evaluation.folds import rotate
from gbrank.evaluation.statistics import holm, interval, randomisation_test, t_test

X, Y, QID = make_cubic(12, n_documents=8, n_features=4, random_state=0)
QUIET: dict[str, Any] = {"n_jobs": 1, "progress": False}
TINY: dict[str, Any] = {"n_estimators": 5, "min_child_samples": 3}


class Noisy(BaseEstimator):
    """Scores the first feature plus noise of its seed; counts its fits."""

    fits = 0

    def __init__(self, noise: float = 0.0, random_state: int = 0) -> None:
        self.noise = noise
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, qid: Any, eval_set: Any, eval_qid: Any) -> "Noisy":
        """Check that the parts do not share a query."""
        Noisy.fits += 1
        assert not set(qid) & set(eval_qid[0])
        self.seen_ = set(qid)
        return self

    def predict(self, X: Any) -> Any:
        """Return the same scores for the same rows and seed."""
        draws = np.random.default_rng(self.random_state).normal(size=len(X))
        return np.asarray(X)[:, 0] + self.noise * draws


NOISY = {"clean": Noisy(), "noisy": Noisy(1.0), "worse": Noisy(5.0)}

# --- Folds ------------------------------------------------------------------------------------

QIDS = st.lists(st.integers(0, 12), min_size=3, max_size=60).filter(lambda q: len(set(q)) >= 3)


@given(QIDS, st.integers(3, 8), st.integers(0, 3), st.booleans())
def test_folds_never_split_or_leak_a_query(
    qid: list[int], n_folds: int, seed: int, text: bool
) -> None:
    """Each query is wholly in one part of a fold, and tested and validated exactly once."""
    ids = np.array([f"q{query}" for query in qid] if text else qid)
    n_folds = min(n_folds, len(set(qid)))
    folds = split_folds(ids, n_folds, random_state=seed)
    assert len(folds) == n_folds
    for fold in folds:
        assert sorted(np.concatenate(fold)) == list(range(len(ids)))
        train, valid, test = ({*ids[rows]} for rows in fold)
        assert train
        assert valid
        assert test
        assert not train & valid | train & test | valid & test
    for part in ("valid", "test"):
        rows = np.concatenate([getattr(fold, part) for fold in folds])
        assert sorted(rows) == list(range(len(ids)))
    sizes = [len({*ids[fold.test]}) for fold in folds]
    assert max(sizes) - min(sizes) <= 1


@given(QIDS, st.randoms(use_true_random=False))
def test_folds_do_not_depend_on_the_order_of_rows(qid: list[int], random: Any) -> None:
    """Whatever the order of rows and queries, a query is tested by the same fold."""
    shuffled = list(qid)
    random.shuffle(shuffled)
    a, b = (
        [{*np.array(ids)[fold.test]} for fold in split_folds(ids, 3)] for ids in (qid, shuffled)
    )
    assert a == b


def test_seeds_shuffle_differently() -> None:
    """And the same seed shuffles in the same way."""
    tests = [split_folds(QID, 3, random_state=seed)[0].test.tolist() for seed in (0, 0, 1)]
    assert tests[0] == tests[1] != tests[2]


def test_rotation_is_that_of_letor() -> None:
    """Fold 1 trains on S1, S2, S3, validates on S4, tests on S5; fold 2 on S2, S3, S4; S5; S1."""
    folds = [[rows.tolist() for rows in fold] for fold in rotate(np.arange(5))]
    assert folds[:2] == [[[0, 1, 2], [3], [4]], [[1, 2, 3], [4], [0]]]


R = np.arange(96).reshape(12, 8)  # the rows of each query
GOOD = (R[:6].ravel(), R[6:9].ravel(), R[9:].ravel())


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        ([], "at least one fold"),
        ([GOOD[:2]], r"folds\[0\] must be \(train, valid, test\), got 2"),
        ([GOOD, (GOOD[0], GOOD[1], GOOD[1])], r"folds\[1\] must not split a query: 6 is both"),
        ([(R[0], R[1][:4], R[1][4:])], "must not split a query: 1 is both in valid and in test"),
        ([(R[0], R[1], [])], r"folds\[0\].test must be a list of row numbers that is not empty"),
        ([(R[0], R[1], R[2] + 0.5)], r"folds\[0\].test must be a list of row numbers.*float64"),
        ([(R[0], R[1], [96])], r"folds\[0\].test must hold rows from 0 to 95, got 96"),
        ([(R[0], R[1], [-1])], r"folds\[0\].test must hold rows from 0 to 95, got -1"),
        ([(R[0], R[1], [16, 16])], r"folds\[0\].test must not hold a row twice"),
        (2, "folds must be an integer of at least 3, got 2"),
        (13, "folds must be at most the number of queries, 12, got 13"),
        (3.0, "folds must be an integer"),
    ],
)  # fmt: skip
def test_bad_folds(folds: Any, message: str) -> None:
    """The message says which, and why."""
    with pytest.raises((ValueError, TypeError), match=message):
        Dataset("data", X, Y, QID, folds)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": ""}, "name must be a text that is not empty"),
        ({"y": Y[:-1]}, "labels must have 96 entries, got 95"),
        ({"y": -Y}, "labels must be at least 0"),
        ({"qid": QID[:-1]}, "qid must have one entry per row, 96, got 95"),
        ({"qid": [1, "1"] * 48}, "qid must not hold ids that differ but read the same"),
    ],
)
def test_bad_data_sets(change: dict[str, Any], message: str) -> None:
    """Before anything is trained."""
    with pytest.raises(ValueError, match=message):
        Dataset(**({"name": "data", "X": X, "y": Y, "qid": QID} | change))


# --- LETOR's layouts --------------------------------------------------------------------------


def write_parts(folder: Path, suffix: str = "") -> None:
    """Write parts S1 to S4 of three queries each."""
    folder.mkdir(exist_ok=True)
    for part in range(4):
        own = part == QID // 3
        path = folder / f"S{part + 1}.txt"
        write_letor(path, X[own], Y[own], QID[own])
        if suffix:
            (folder / f"{path.name}{suffix}").write_bytes(gzip.compress(path.read_bytes()))
            path.unlink()


def write_fold_folders(folder: Path, valid: str = "vali") -> None:
    """Write the same as folders of folds."""
    for number, fold in enumerate(rotate(QID // 3), 1):
        (folder / f"Fold{number}").mkdir(parents=True)
        for name, rows in zip(("train", valid, "test"), fold, strict=True):
            write_letor(folder / f"Fold{number}" / f"{name}.txt", X[rows], Y[rows], QID[rows])


@pytest.mark.parametrize("layout", ["parts", "parts.gz", "folders", "folders.valid"])
def test_layouts(layout: str, tmp_path: Path) -> None:
    """All give the same documents in the same folds, each document once."""
    folder = tmp_path / "cubic"
    if layout.startswith("parts"):
        write_parts(folder, layout.removeprefix("parts"))
    else:
        write_fold_folders(folder, "valid" if layout.endswith("valid") else "vali")
    data = read_folds(folder)
    assert data.name == "cubic"
    assert data.X.shape == X.shape
    expected = rotate(QID // 3)
    assert len(data.splits) == len(expected)
    for own, true in zip(data.splits, expected, strict=True):
        for rows, true_rows in zip(own, true, strict=True):
            by_query = np.argsort(data.queries.ids[data.queries.index[rows]], kind="stable")
            assert_array_equal(data.X[rows][by_query], X[true_rows])
            assert_array_equal(data.labels[rows][by_query], Y[true_rows])


def test_last_features_may_be_missing(tmp_path: Path) -> None:
    """Parts, and files of folds, need not mention the last features."""
    for number in (1, 2, 3):
        line = f"1 qid:{number} 1:0.5" + " 3:0.25" * (number == 2)
        (tmp_path / f"S{number}.txt").write_text(f"{line}\n")
    assert read_folds(tmp_path).X[:, 2].tolist() == [0, 0.25, 0]


def test_a_query_that_differs_between_folds_is_kept_twice(tmp_path: Path) -> None:
    """As where each fold normalises features by its own training data."""
    write_fold_folders(tmp_path)
    path = tmp_path / "Fold2" / "test.txt"
    path.write_text(path.read_text().replace(" 1:", " 1:1", 1))
    assert len(read_folds(tmp_path).labels) == len(Y) + 8


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "it holds neither"),
        (["S1.txt", "S2.txt"], "at least 3 parts, got 2"),
        (["S1.txt", "S2.txt", "S4.txt"], "without gaps, got S1.txt, S2.txt, S4.txt"),
        (["S1.txt", "S1.txt.gz", "S2.txt"], "must not hold both S1.txt and S1.txt.gz"),
        (["Fold1/train.txt", "Fold1/test.txt"], "Fold1 must hold one file valid.txt, got none"),
        (["Fold1/train.txt", "Fold1/vali.txt", "Fold1/valid.txt", "Fold1/test.txt"],
         "Fold1 must hold one file valid.txt, got vali.txt, valid.txt"),
        (["S1.txt", "S2.txt", "S3.txt"], "query 1 is both in .*S1.txt and in .*S2.txt"),
        (["Fold1/train.txt", "Fold1/vali.txt", "Fold1/test.txt"], "must not split a query: 1"),
    ],
)  # fmt: skip
def test_bad_layouts(names: list[str], message: str, tmp_path: Path) -> None:
    """The message says what the folder must hold."""
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("1 qid:1 1:0.5\n")
    with pytest.raises(ValueError, match=message):
        read_folds(tmp_path)


def test_no_folder(tmp_path: Path) -> None:
    """The operating system's own error."""
    with pytest.raises(FileNotFoundError):
        read_folds(tmp_path / "missing")


@pytest.mark.letor
@pytest.mark.skipif("GBRANK_LETOR" not in os.environ, reason="GBRANK_LETOR is not set")
def test_mq2008() -> None:
    """Fold 1 trains on S1, S2 and S3: the published sizes."""
    data = read_folds(Path(os.environ["GBRANK_LETOR"], "mq2008"))
    assert (data.name, data.X.shape, data.queries.n_queries) == ("mq2008", (15211, 46), 784)
    sizes = [len(rows) for rows in data.splits[0]]
    assert sizes == [9630, 2707, 2874]


# --- Statistics -------------------------------------------------------------------------------

DIFFERENCES = st.lists(st.integers(-4, 4).map(lambda value: value / 8), min_size=1, max_size=6)


@given(st.lists(DIFFERENCES, min_size=1, max_size=2))
@settings(max_examples=60)
def test_randomisation_is_the_share_of_all_sign_flips(strata: list[list[float]]) -> None:
    """Against every flip, one by one."""

    def mean(signs: Any) -> float:
        left = iter(signs)
        return sum(sum(next(left) * d for d in own) / len(own) for own in strata)

    n = sum(map(len, strata))
    observed = abs(mean([1] * n))
    flips = [abs(mean(signs)) >= observed - 1e-12 for signs in itertools.product([-1, 1], repeat=n)]
    p = randomisation_test([np.array([own]) for own in strata])
    assert_allclose(p, [np.mean(flips)], rtol=1e-12)


def test_randomisation_of_many_queries_is_that_of_scipy() -> None:
    """Up to the noise of 9999 random flips."""
    d = np.random.default_rng(1).normal(0.05, 1, (3, 200))
    expected = stats.permutation_test(
        (d,),
        lambda x, axis: x.mean(axis),
        permutation_type="samples",
        vectorized=True,
        axis=-1,
        random_state=np.random.default_rng(0),
    ).pvalue
    assert_allclose(randomisation_test([d]), expected, atol=0.02)


def test_t_test_of_one_data_set_is_the_paired_t_test() -> None:
    """SciPy's."""
    a, b = np.random.default_rng(2).uniform(size=(2, 4, 30))
    assert_allclose(t_test([a - b]), stats.ttest_rel(a, b, axis=1).pvalue, rtol=1e-10)


def test_t_test_of_two_data_sets_is_that_of_welch() -> None:
    """The mean of a + the mean of b is the mean of a − that of −b."""
    generator = np.random.default_rng(3)
    a, b = generator.normal(0.2, 1, (4, 30)), generator.normal(0.1, 3, (4, 12))
    expected = stats.ttest_ind(a, -b, axis=1, equal_var=False).pvalue
    assert_allclose(t_test([a, b]), expected, rtol=1e-10)


def test_equal_rankers_do_not_differ() -> None:
    """Where all differences are zero, p is 1 and the interval a point."""
    zeros = [np.zeros((2, 20)), np.zeros((2, 5))]
    assert_array_equal(randomisation_test(zeros), 1)
    assert_array_equal(t_test(zeros), 1)
    assert_array_equal(interval(zeros), 0)
    assert np.isnan(t_test([np.array([[0.5]])])).all()


@pytest.mark.parametrize("test", [randomisation_test, t_test])
def test_one_null_hypothesis_in_twenty_is_rejected(test: Any) -> None:
    """At 0.05, of 2000 true ones: 100 ± 29, three standard deviations."""
    generator = np.random.default_rng(4)
    strata = [generator.normal(0, 1, (2000, 40)), generator.normal(0, 5, (2000, 20))]
    assert abs((test(strata) <= 0.05).sum() - 100) < 35


def test_intervals_are_those_of_the_normal_distribution() -> None:
    """Of a mean over many queries of two data sets, each half of it."""
    generator = np.random.default_rng(5)
    strata = [generator.normal(1, 1, (1, 2000)), generator.normal(3, 2, (1, 500))]
    mean = sum(values.mean() for values in strata) / 2
    error = np.sqrt(sum(values.var() / values.size for values in strata)) / 2
    expected = [[mean - 1.96 * error], [mean + 1.96 * error]]
    assert_allclose(interval(strata), expected, atol=0.05 * error)


def test_holm_by_hand() -> None:
    """4 × 0.005, 3 × 0.01, 2 × 0.03 and, not below that, 1 × 0.04; never above 1."""
    assert_allclose(holm(np.array([0.01, 0.04, 0.03, 0.005])), [0.03, 0.06, 0.06, 0.02])
    assert holm(np.array([0.7, 0.8])).tolist() == [1.0, 1.0]


# --- The comparison ---------------------------------------------------------------------------


def without_seconds(records: dict[str, list[Any]]) -> pd.DataFrame:
    """Return records but for what differs from run to run."""
    return pd.DataFrame(records).drop(columns="seconds")


def test_summary_is_what_a_loop_gives() -> None:
    """Means, deviations and differences, by hand, from rankers fitted by hand."""
    y = Y.copy()
    y[QID == 5] = 0  # skipped
    names = ("lambdarank", "ranknet")
    rankers = {name: GBRanker(name, **TINY, subsample=0.5) for name in names}
    comparison = cross_validate_rankers(
        rankers, X, y, QID, folds=3, seeds=[3, 8], measures=["ndcg@3", "rr"], **QUIET
    )
    values: dict[str, Any] = {name: {3: {}, 8: {}} for name in names}
    for name, seed, fold in itertools.product(names, (3, 8), split_folds(QID, 3)):
        train, valid, test = fold
        ranker = clone(rankers[name]).set_params(random_state=seed, n_jobs=1)
        ranker.fit(X[train], y[train], qid=QID[train])
        for part, rows in {"valid": valid, "test": test}.items():
            measure = NDCG(k=3).per_query(y[rows], ranker.predict(X[rows]), qid=QID[rows])
            own = values[name][seed].setdefault(part, {})
            own.update(zip(Queries.from_qid(QID[rows]).ids, measure, strict=True))
    for part in ("valid", "test"):
        table = np.array([
            [[values[name][seed][part][q] for q in range(12) if q != 5] for seed in (3, 8)]
            for name in names
        ])  # fmt: skip
        rows = [row for row in comparison.summary(part) if row.measure == "ndcg@3"]
        assert [(row.data, row.ranker) for row in rows] == [("data", name) for name in names]
        for row, own in zip(rows, table, strict=True):
            assert (row.n_queries, row.n_skipped, row.rounds) == (11, 1, 5)
            assert_allclose(row.mean, own.mean(), rtol=1e-12)
            assert_allclose(row.seed_deviation, own.mean(axis=1).std(ddof=1), rtol=1e-9)
            assert row.low < row.mean < row.high
            assert row.seconds > 0
        difference = (table[1] - table[0]).mean(axis=0)
        assert_allclose(rows[1].difference, difference.mean(), rtol=1e-9)
        assert rows[1].difference_low < rows[1].difference < rows[1].difference_high
        assert_allclose(rows[1].p_t, stats.ttest_1samp(difference, 0).pvalue, rtol=1e-9)
        assert np.isnan([rows[0].p_t, rows[0].p_randomisation]).all()


def test_pooled_means_give_each_data_set_the_same_weight() -> None:
    """Whatever their sizes; seeds and tests too are those of the data sets' means."""
    small = make_cubic(6, n_documents=8, n_features=4, random_state=1)
    datasets = [Dataset("large", X, Y, QID, 3), Dataset("small", *small, 3)]
    comparison = compare_rankers(NOISY, datasets, seeds=3, baseline="noisy", **QUIET)
    rows = {(row.data, row.ranker): row for row in comparison.summary()}
    assert len(rows) == 9
    records = pd.DataFrame(comparison.records).query("part == 'test'")
    by_seed = records.groupby(["ranker", "seed", "data"])["ndcg@10"].mean().groupby(level=[0, 1])
    for ranker in NOISY:
        pooled = rows["pooled", ranker]
        parts = [rows[name, ranker] for name in ("large", "small")]
        assert_allclose(pooled.mean, np.mean([part.mean for part in parts]), rtol=1e-12)
        assert_allclose(pooled.difference, np.mean([part.difference for part in parts]), atol=1e-12)
        assert_allclose(pooled.seed_deviation, by_seed.mean()[ranker].std(ddof=1), rtol=1e-9)
        assert pooled.n_queries == 18
    assert rows["pooled", "noisy"].difference == 0
    assert np.isnan(rows["pooled", "noisy"].p_t)


def test_a_query_tested_twice_counts_once() -> None:
    """With the mean of its scores over folds."""
    folds = [(R[:4].ravel(), R[4:8].ravel(), R[8:].ravel()),
             (R[:4].ravel(), R[4:8].ravel(), R[8:10].ravel())]  # fmt: skip
    comparison = cross_validate_rankers({"a": Noisy(1.0)}, X, Y, QID, folds=folds, seeds=1, **QUIET)
    records = pd.DataFrame(comparison.records).query("part == 'test'")
    assert len(records) == 6
    (row,) = comparison.summary()
    assert row.n_queries == 4
    assert_allclose(row.mean, records.groupby("query")["ndcg@10"].mean().mean(), rtol=1e-12)
    assert np.isnan(row.rounds)
    assert np.isnan(row.seed_deviation)


def test_data_frames_and_sparse_matrices() -> None:
    """Rows of any kind of table can be taken."""
    from scipy import sparse

    results = [
        cross_validate_rankers(
            {"a": GBRanker(**TINY)}, table, Y, QID, folds=3, seeds=1, **QUIET
        ).summary()[0].mean
        for table in (X, pd.DataFrame(X), sparse.csr_matrix(X), X.tolist())
    ]  # fmt: skip
    assert len(set(results)) == 1


def test_number_of_processes_changes_nothing() -> None:
    """Not a bit of what a query is worth."""
    rankers = {
        "lambda": GBRanker(**TINY, subsample=0.5),
        "yeti": "lightgbm:rank_xendcg",
        "own": LambdaRank(),
    }
    rankers["own"] = GBRanker(rankers["own"], **TINY)
    tables = [
        without_seconds(
            cross_validate_rankers(
                rankers, X, Y, QID, folds=3, seeds=2, n_jobs=jobs, progress=False
            ).records
        )
        for jobs in (1, 2)
    ]
    pd.testing.assert_frame_equal(*tables, check_exact=True)


def test_progress_is_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    """One step a fit, with what was done last."""
    cross_validate_rankers({"a": Noisy()}, X, Y, QID, folds=3, seeds=1, n_jobs=1)
    out, error = capsys.readouterr()
    assert not out
    assert "3/3" in error
    assert "a on data, seed 0, fold 3" in error


# --- Files of results -------------------------------------------------------------------------


def noisy_comparison(folder: Path, **options: Any) -> Any:
    """Compare the noisy rankers with a folder of results."""
    arguments = {"folds": 3, "seeds": 2, "results": folder, **QUIET}
    return cross_validate_rankers(NOISY, X, Y, QID, **(arguments | options))


def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    """Files read back give the same bits; a file that is gone is made again."""
    Noisy.fits = 0
    first = noisy_comparison(tmp_path / "results")
    files = sorted((tmp_path / "results").iterdir())
    assert Noisy.fits == len(files) == 18
    second = noisy_comparison(tmp_path / "results")
    assert Noisy.fits == 18
    assert first.records == second.records
    files[4].unlink()
    third = noisy_comparison(tmp_path / "results")
    assert Noisy.fits == 19
    pd.testing.assert_frame_equal(without_seconds(first.records), without_seconds(third.records))
    assert sorted((tmp_path / "results").iterdir()) == files
    fresh = noisy_comparison(tmp_path / "other")
    assert sorted(file.name for file in files) == sorted(os.listdir(tmp_path / "other"))
    pd.testing.assert_frame_equal(without_seconds(first.records), without_seconds(fresh.records))


def test_more_seeds_and_rankers_only_add(tmp_path: Path) -> None:
    """What is there is used, whatever comparison it is from."""
    noisy_comparison(tmp_path)
    Noisy.fits = 0
    noisy_comparison(tmp_path, seeds=3)
    assert Noisy.fits == 9


@pytest.mark.parametrize(
    "change",
    [
        {"measures": ["ap"]},
        {"y": np.where(np.arange(96) == 3, 4, Y)},
        {"X": X + np.eye(96, 4)},
        {"qid": QID + 1},
        {"folds": 4},
        {"rankers": {"clean": Noisy(2.0)}},
        {"rankers": {"clean": GBRanker(**TINY)}},
        {"name": "other"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_results_of_other_data_or_parameters_are_not_used(
    change: dict[str, Any], tmp_path: Path
) -> None:
    """Not even of the same names."""
    arguments: dict[str, Any] = {"rankers": {"clean": Noisy()}, "X": X, "y": Y, "qid": QID}
    arguments |= {"folds": 3, "seeds": 1, "results": tmp_path, **QUIET}
    cross_validate_rankers(**arguments)
    before = set(tmp_path.iterdir())
    cross_validate_rankers(**(arguments | change))
    assert len(set(tmp_path.iterdir()) - before) == change.get("folds", 3)


def test_results_of_another_version_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """gbrank's source and the boosters' versions are part of the fingerprint."""
    noisy_comparison(tmp_path)
    monkeypatch.setattr("gbrank.evaluation.fingerprints.code_version", lambda: ["another"])
    Noisy.fits = 0
    noisy_comparison(tmp_path)
    assert Noisy.fits == 18


def test_the_code_of_a_function_counts(tmp_path: Path) -> None:
    """What it holds and its constants too; compiled or not; local functions can be used."""

    def made(step: float) -> Any:
        def objective(scores: Any, labels: Any, sigma: float) -> Any:
            return 0.0, step * (scores - labels), np.ones_like(scores)

        return objective

    def other(scores: Any, labels: Any, sigma: float) -> Any:
        return 0.0, 2.0 * (scores - labels), np.ones_like(scores)

    functions = [made(1.0), made(2.0), other, numba.njit(made(3.0)), made(1.0), numba.njit(other)]
    for function in functions:
        rankers = {"own": GBRanker(custom_objective(function, name=None), **TINY)}
        cross_validate_rankers(rankers, X, Y, QID, folds=3, seeds=1, results=tmp_path, **QUIET)
    assert len(list(tmp_path.iterdir())) == 3 * 4


def test_files_are_tables(tmp_path: Path) -> None:
    """Which data frames read, and which hold what `records` does."""
    comparison = noisy_comparison(tmp_path, measures=["ndcg@10(no_relevant=0,gain='linear')", "ap"])
    files = pd.concat(map(pd.read_csv, sorted(tmp_path.iterdir())))
    keys = ["ranker", "seed", "fold", "part", "query"]
    types = {"query": int, "calibration_error": float, "rounds": float}
    expected = pd.DataFrame(comparison.records).astype(types)
    assert list(files.columns) == [
        "data", *keys, "ndcg@10(no_relevant=0,gain='linear')", "ap", "calibration_error", "rounds",
        "seconds",
    ]  # fmt: skip
    pd.testing.assert_frame_equal(
        files.sort_values(keys, ignore_index=True), expected.sort_values(keys, ignore_index=True)
    )


@pytest.mark.parametrize("damage", ["", "data\n1\n", "cut"])
def test_damaged_files_are_named(damage: str, tmp_path: Path) -> None:
    """Files that somebody changed."""
    noisy_comparison(tmp_path)
    file = min(tmp_path.iterdir())
    file.write_text(file.read_text()[:-200] if damage == "cut" else damage)
    with pytest.raises(ValueError, match=f"{file.name} is damaged"):
        noisy_comparison(tmp_path)


SCRIPT = """
import sys
from gbrank import GBRanker, cross_validate_rankers, make_cubic

X, y, qid = make_cubic(12, n_documents=8, n_features=4, random_state=0)
rankers = {"ranknet": GBRanker("ranknet", n_estimators=30, min_child_samples=3, subsample=0.5)}

def compare(folder, jobs):
    return cross_validate_rankers(
        rankers, X, y, qid, folds=3, seeds=30, n_jobs=jobs, results=folder, progress=False
    )

if __name__ == "__main__":
    compare(sys.argv[1], int(sys.argv[2]))
"""
N_FITS = 90


def run_script(folder: Path, jobs: int) -> "subprocess.Popen[str]":
    """Start the comparison in a process group of its own, and wait until some fits are done."""
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(folder), str(jobs)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while len(list(folder.glob("*.csv"))) < 5:
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.002)
    return process


@pytest.fixture
def compare() -> Any:
    """Return the comparison of the script, to be run in this process."""
    names: dict[str, Any] = {"__name__": "script"}
    exec(SCRIPT, names)
    return names["compare"]


def test_a_killed_comparison_goes_on(compare: Any, tmp_path: Path) -> None:
    """After SIGKILL, files are whole; the rest is done, and the numbers are those of no kill."""
    process = run_script(tmp_path, 2)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    done = {file: file.stat().st_mtime_ns for file in tmp_path.glob("*.csv")}
    assert 5 <= len(done) < N_FITS
    resumed = compare(tmp_path, 1)
    assert {file: file.stat().st_mtime_ns for file in done} == done
    assert len(list(tmp_path.glob("*.csv"))) == N_FITS
    whole = compare(None, 1)
    pd.testing.assert_frame_equal(
        without_seconds(resumed.records), without_seconds(whole.records), check_exact=True
    )


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_stops(jobs: int, tmp_path: Path) -> None:
    """At once and quietly, with what is done in whole files."""
    process = run_script(tmp_path, jobs)
    os.killpg(process.pid, signal.SIGINT)
    error = process.communicate(timeout=60)[1]
    assert process.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in error
    assert "leaked" not in error
    files = list(tmp_path.glob("*.csv"))
    assert 5 <= len(files) < N_FITS
    assert all(len(pd.read_csv(file)) == 8 for file in files)


def test_an_interrupted_fit_is_no_result(tmp_path: Path) -> None:
    """Though GBRanker keeps the rounds that were done."""
    calls = itertools.count()

    def stops(scores: Any, labels: Any, sigma: float) -> Any:
        if next(calls) == 3 * 4:  # in the fourth round of four training queries
            raise KeyboardInterrupt
        return 0.0, scores - labels, np.ones_like(scores)

    rankers = {"stops": GBRanker(custom_objective(stops), **TINY)}
    with pytest.raises(KeyboardInterrupt):
        cross_validate_rankers(rankers, X, Y, QID, folds=3, seeds=1, results=tmp_path, **QUIET)
    assert not list(tmp_path.iterdir())


# --- Rankers by name --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "booster", "objective"),
    [
        ("lambda:ndcg@10", "lightgbm", LambdaRank(NDCG(k=10))),
        ("lightgbm:lambdarank", "lightgbm", "lightgbm:lambdarank"),
        ("xgboost:rank:ndcg", "xgboost", "xgboost:rank:ndcg"),
    ],
)
def test_names_of_gbranks_rankers(name: str, booster: str, objective: Any) -> None:
    """They have the protocol's budget, or the one that is given."""
    ranker = ranker_from_name(name, num_leaves=7, eval_metric="ap")
    expected = GBRanker(
        objective, booster=booster, n_estimators=500, learning_rate=0.05, num_leaves=7,
        min_child_samples=20, subsample=0.8, colsample=0.7, early_stopping_rounds=100,
        eval_metric="ap",
    )  # fmt: skip
    assert ranker.get_params() == expected.get_params()


@pytest.mark.parametrize("name", ["nonsense", "lightgbm", "catboost", "lambda:nonsense"])
def test_unknown_names(name: str) -> None:
    """Refused before anything is trained."""
    with pytest.raises(ValueError, match="unknown"):
        ranker_from_name(name)


def test_catboost_is_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it, the message says what to install."""
    monkeypatch.setitem(sys.modules, "catboost", None)
    with pytest.raises(ImportError, match=r"pip install 'gbrank\[catboost\]'"):
        ranker_from_name("catboost:YetiRank")


def test_optional_packages_are_not_imported() -> None:
    """Not until they are needed."""
    code = "import sys, gbrank; print([m for m in ('catboost', 'matplotlib') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# --- CatBoost ---------------------------------------------------------------------------------

XV, YV, QV = make_cubic(8, n_documents=8, n_features=4, random_state=1)
VALID: dict[str, Any] = {"eval_set": [(XV, YV)], "eval_qid": [QV]}


@pytest.mark.parametrize("loss", ["YetiRank", "YetiRank:mode=NDCG", "StochasticRank:metric=NDCG"])
def test_catboost_stops_by_our_measure_and_patience(loss: str) -> None:
    """Its rounds are judged by `measure`; those after the best are cut off."""
    pytest.importorskip("catboost")
    budget: dict[str, Any] = {"n_estimators": 60, "num_leaves": 15, "eval_metric": "ndcg@3"}
    budget |= {"subsample": 0.8, "colsample": 0.7, "random_state": 3, "n_jobs": 1}
    whole = CatBoostPeer(loss, **budget).fit(X, Y, qid=QID)
    assert whole.best_iteration_ == whole.model_.tree_count_ == 60
    measure = get_measure("ndcg@3")
    curve = [measure(YV, scores, qid=QV) for scores in whole.model_.staged_predict(XV)]
    best, patience = 0, 7
    for round, value in enumerate(curve):
        if value > curve[best]:
            best = round
        if round - best >= patience:
            break
    peer = CatBoostPeer(loss, **budget, early_stopping_rounds=patience).fit(X, Y, qid=QID, **VALID)
    assert peer.best_iteration_ == peer.model_.tree_count_ == best + 1
    assert peer.best_score_ == curve[best]
    assert peer.evals_result_["valid_0"]["ndcg@3"] == curve[: round + 1]
    assert_array_equal(peer.predict(XV), whole.model_.predict(XV, ntree_end=best + 1))
    assert peer.model_.get_all_params()["depth"] == 4


def test_catboost_takes_queries_in_any_order() -> None:
    """Rows of a query need not be neighbours; scores come in the order of the rows."""
    pytest.importorskip("catboost")
    order = np.arange(96).reshape(12, 8).T.ravel()  # the first documents, then the second ones
    peer = CatBoostPeer(n_estimators=5, random_state=0, n_jobs=1)
    expected = clone(peer).fit(X, Y, qid=QID).predict(X)
    assert_array_equal(peer.fit(X[order], Y[order], qid=QID[order]).predict(X), expected)


def test_catboost_refuses() -> None:
    """What CatBoost, or gbrank, cannot use."""
    pytest.importorskip("catboost")
    with pytest.raises(ValueError, match=r"CatBoost refuses the parameters or data.*Nonsense"):
        CatBoostPeer("Nonsense").fit(X, Y, qid=QID)
    with pytest.raises(ValueError, match="labels must have 96 entries, got 95"):
        CatBoostPeer().fit(X, Y[:-1], qid=QID)
    frame = pd.DataFrame(X).assign(kind=pd.Categorical(["a", "b"] * 48))
    with pytest.raises(ValueError, match="X must hold numbers only, got categories"):
        CatBoostPeer().fit(frame, Y, qid=QID)


# --- Bad input --------------------------------------------------------------------------------

DATA = Dataset("data", X, Y, QID, 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rankers": {}}, "rankers must be a dict of name to ranker, got {}"),
        ({"rankers": ["lambdarank"]}, "rankers must be a dict"),
        ({"rankers": {"a": 3}}, "rankers must map names to unfitted estimators.*'a': 3"),
        ({"rankers": {1: Noisy()}}, "rankers must map names.*1: Noisy"),
        ({"rankers": {"a": "nonsense"}}, "unknown objective 'nonsense'"),
        ({"datasets": []}, "datasets must be a list of at least one Dataset"),
        ({"datasets": DATA}, "datasets must be a list"),
        ({"datasets": [(X, Y, QID)]}, "datasets must hold Datasets"),
        ({"datasets": [DATA, DATA]}, "datasets must not hold 'data' twice"),
        ({"datasets": [Dataset("pooled", X, Y, QID)]}, "datasets must not be called 'pooled'"),
        ({"datasets": [Dataset("flat", X, Y * (QID < 1), QID, 3)]},
         "flat, valid of fold 1: ndcg@10 is undefined on every query"),
        ({"seeds": 0}, "seeds must be an integer of at least 1, got 0"),
        ({"seeds": []}, "seeds must hold at least one seed"),
        ({"seeds": [1, 1]}, "seeds must not hold 1 twice"),
        ({"seeds": [-1]}, "seeds must be an integer of at least 0"),
        ({"seeds": "5"}, "seeds must be an integer"),
        ({"measures": "ndcg@10"}, "measures must be a list of at least one measure"),
        ({"measures": []}, "measures must be a list of at least one measure"),
        ({"measures": ["map", "ap"]}, "measures must not hold 'ap' twice"),
        ({"measures": ["nonsense"]}, "unknown measure 'nonsense'"),
        ({"baseline": "b"}, r"baseline must be one of \['a'\], got 'b'"),
        ({"n_jobs": 0}, "n_jobs must be -1 or at least 1, or None, got 0"),
    ],
)  # fmt: skip
def test_bad_input(change: dict[str, Any], message: str) -> None:
    """The argument, what it was, and what it should be; before any fit."""
    arguments: dict[str, Any] = {"rankers": {"a": Noisy()}, "datasets": [DATA], **QUIET}
    Noisy.fits = 0
    with pytest.raises((ValueError, TypeError), match=message):
        compare_rankers(**(arguments | change))
    assert Noisy.fits == 0


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_fit_that_fails_is_named(jobs: int) -> None:
    """Ranker, data, seed and fold."""
    rankers = {"clean": GBRanker(**TINY), "bad": GBRanker(num_leaves=1)}
    with pytest.raises(ValueError, match="bad on data, seed 0, fold 1: num_leaves must be"):
        compare_rankers(rankers, [DATA], seeds=1, n_jobs=jobs, progress=False)


# --- Table, JSON and picture ------------------------------------------------------------------


@pytest.fixture(scope="module")
def comparison() -> Any:
    """Compare three rankers on two data sets by two measures."""
    other = make_cubic(6, n_documents=8, n_features=4, random_state=1)
    return compare_rankers(
        NOISY, [DATA, Dataset("other", *other, 3)], seeds=2, measures=["ndcg@10", "rr"], **QUIET
    )


def test_table(comparison: Any) -> None:
    """A block for each data set and measure, a line for each ranker."""
    blocks = comparison.table().split("\n\n")
    assert len(blocks) == 6
    title, head, *lines = blocks[0].split("\n")
    assert title == "data, ndcg@10: 12 queries, 0 skipped"
    assert [line.split()[0] for line in lines] == list(NOISY)
    row = comparison.summary()[2]
    assert f"{row.mean:.4f}" in lines[2]
    assert f"{row.difference_low:+.4f} to {row.difference_high:+.4f}" in lines[2]
    assert "baseline" in lines[0]
    assert len({len(line) for line in (head, *lines[1:])}) == 1
    assert blocks[5].startswith("pooled, rr: 18 queries")
    assert comparison.table("valid") != comparison.table()
    with pytest.raises(ValueError, match=r"part must be one of \['valid', 'test'\], got 'train'"):
        comparison.table("train")


def test_json(comparison: Any) -> None:
    """Numbers or null for each data set, measure and ranker, on test and validation queries."""
    content = comparison.to_json()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert list(content) == ["baseline", "measures", "seeds", "test", "valid"]
    assert content["baseline"] == "clean"
    assert content["measures"] == ["ndcg@10", "rr"]
    assert content["seeds"] == [0, 1]
    kinds = {"data": str, "measure": str, "ranker": str, "n_queries": int, "n_skipped": int}
    numbers = ["mean", "low", "high", "seed_deviation", "difference", "difference_low",
               "difference_high", "p_randomisation", "p_t", "calibration_error", "rounds",
               "seconds"]  # fmt: skip
    for part in ("test", "valid"):
        keys = [(row["data"], row["measure"], row["ranker"]) for row in content[part]]
        expected = itertools.product(["data", "other", "pooled"], ["ndcg@10", "rr"], NOISY)
        assert keys == list(expected)
        for row in content[part]:
            assert list(row) == [*kinds, *numbers]
            assert all(type(row[name]) is kind for name, kind in kinds.items())
            empty = {name for name in numbers if row[name] is None}
            compared = row["ranker"] != "clean"
            unknown = {"calibration_error", "rounds"}
            assert empty == unknown | (set() if compared else {"p_randomisation", "p_t"})
            assert row["low"] <= row["mean"] <= row["high"]
            assert row["difference_low"] <= row["difference"] <= row["difference_high"]


def test_picture(comparison: Any, tmp_path: Path) -> None:
    """A panel for each measure and data set, a dot for each ranker at its mean."""
    figure = comparison.plot(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(figure.axes) == 6
    rows = [row for row in comparison.summary() if (row.data, row.measure) == ("other", "ndcg@10")]
    axes = figure.axes[1]
    assert axes.get_title() == "other"
    assert axes.get_xlabel() == "ndcg@10"
    dots = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]
    assert dots == [row.mean for row in rows]
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == list(NOISY)


def test_records_are_columns_of_a_data_frame(comparison: Any) -> None:
    """One row for each fit, part and query."""
    frame = pd.DataFrame(comparison.records)
    assert len(frame) == 3 * 2 * 2 * (12 + 6)
    assert frame.groupby(["data", "part"])["query"].nunique().to_dict() == {
        ("data", "test"): 12, ("data", "valid"): 12, ("other", "test"): 6, ("other", "valid"): 6,
    }  # fmt: skip
