"""The folder of results of a comparison: what is done is done once, also after a kill or Ctrl-C."""

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

from gbrank import GBRanker, cross_validate_rankers, custom_measure, custom_objective
from gbrank.evaluation import LetorFolds
from noisy import NOISY, Noisy
from small_comparison import QID, QUIET, TINY, X, Y, without_seconds


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


def test_nothing_is_tried_where_all_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results are read without a fit, not even one of a round."""
    ranker = {"a": GBRanker("ranknet", **TINY)}
    options: dict[str, Any] = {"folds": 3, "seeds": 1, "results": tmp_path, **QUIET}
    first = cross_validate_rankers(ranker, X, Y, QID, **options)

    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(GBRanker, "fit", refused)
    assert cross_validate_rankers(ranker, X, Y, QID, **options).records == first.records


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
        {"folds": [*LetorFolds(3, random_state=1).split(X, Y, QID)]},
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
    folds = change.get("folds", 3)
    n_folds = folds if isinstance(folds, int) else len(folds)
    assert len(set(tmp_path.iterdir()) - before) == n_folds


def test_results_of_another_version_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """gbrank's source and the boosters' versions are part of the fingerprint."""
    noisy_comparison(tmp_path)
    monkeypatch.setattr("gbrank.evaluation.stored_outcomes.code_version", lambda: ["another"])
    Noisy.fits = 0
    noisy_comparison(tmp_path)
    assert Noisy.fits == 18


@pytest.mark.slow
def test_the_code_of_a_function_counts(tmp_path: Path) -> None:
    """What it holds and its constants too; compiled or not; local functions can be used."""

    def made(step: float) -> Any:
        def objective(scores: Any, labels: Any, sigma: float) -> Any:
            return 0.0, step * (scores - labels), np.ones_like(scores)

        return objective

    def by_default(step: float) -> Any:
        def objective(scores: Any, labels: Any, sigma: float, *, step: float = step) -> Any:
            return 0.0, step * (scores - labels), np.ones_like(scores)

        return objective

    def other(scores: Any, labels: Any, sigma: float) -> Any:
        return 0.0, 2.0 * (scores - labels), np.ones_like(scores)

    functions = [made(1.0), made(2.0), other, numba.njit(made(3.0)), made(1.0), numba.njit(other)]
    functions += [by_default(1.0), by_default(2.0)]
    for function in functions:
        rankers = {"own": GBRanker(custom_objective(function, name=None), **TINY)}
        cross_validate_rankers(rankers, X, Y, QID, folds=3, seeds=1, results=tmp_path, **QUIET)
    assert len(list(tmp_path.iterdir())) == 3 * 6


def test_the_code_of_a_measure_counts(tmp_path: Path) -> None:
    """Under the same name, other code or another option has results of its own."""

    def made(factor: float) -> Any:
        return custom_measure(lambda scores, labels: factor * labels[0], name=None)

    def value(measure: Any, folder: Path | None) -> float:
        found = cross_validate_rankers(
            NOISY, X, Y, QID, folds=3, seeds=1, measures=[measure], results=folder, **QUIET
        )
        assert found.measures == ["<lambda>"]
        return found.summary()[0].mean

    for factor in (1.0, 2.0, 1.0):
        assert value(made(factor), tmp_path) == value(made(factor), None)
    assert len(list(tmp_path.iterdir())) == 2 * len(NOISY) * 3


def test_records_have_a_row_for_each_query(tmp_path: Path) -> None:
    """Of each fit and part."""
    comparison = noisy_comparison(tmp_path, measures=["ndcg@10(no_relevant=0,gain='linear')", "ap"])
    frame = pd.DataFrame(comparison.records)
    assert list(frame.columns) == [
        "data", "ranker", "seed", "fold", "part", "query", "ndcg@10(no_relevant=0,gain='linear')",
        "ap", "rounds", "cpu_seconds",
    ]  # fmt: skip
    for outcome in comparison.outcomes:
        own = frame[(frame[["ranker", "seed", "fold"]] == [
            outcome.trial.ranker, outcome.trial.seed, outcome.trial.fold
        ]).all(axis=1)]  # fmt: skip
        for part in ("valid", "test"):
            scores, found = getattr(outcome, part), own[own["part"] == part]
            assert found["query"].tolist() == scores.queries
            assert found["ap"].tolist() == scores.values["ap"].tolist()


@pytest.mark.parametrize("damage", ["", "[1]", "{}", "cut"])
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
    deadline = time.monotonic() + 400  # they compile, if nothing has been compiled yet
    while len(list(folder.glob("*.json"))) < 5:
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


@pytest.mark.slow
def test_a_killed_comparison_goes_on(compare: Any, tmp_path: Path) -> None:
    """After SIGKILL, files are whole; the rest is done, and the numbers are those of no kill."""
    process = run_script(tmp_path, 2)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    done = {file: file.stat().st_mtime_ns for file in tmp_path.glob("*.json")}
    assert 5 <= len(done) < N_FITS
    resumed = compare(tmp_path, 1)
    assert {file: file.stat().st_mtime_ns for file in done} == done
    assert len(list(tmp_path.glob("*.json"))) == N_FITS
    whole = compare(None, 1)
    pd.testing.assert_frame_equal(
        without_seconds(resumed.records), without_seconds(whole.records), check_exact=True
    )


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_stops(jobs: int, tmp_path: Path) -> None:
    """At once and quietly, with what is done in whole files."""
    process = run_script(tmp_path, jobs)
    os.killpg(process.pid, signal.SIGINT)
    error = process.communicate(timeout=60)[1]
    assert process.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in error
    assert "leaked" not in error
    files = list(tmp_path.glob("*.json"))
    assert 5 <= len(files) < N_FITS
    assert all(json.loads(file.read_text())["test"]["queries"] for file in files)


def test_an_interrupted_fit_is_no_result(tmp_path: Path) -> None:
    """Though GBRanker keeps the rounds that were done."""
    calls = itertools.count()

    def stops(scores: Any, labels: Any, sigma: float) -> Any:
        if next(calls) == 12 + 3 * 4:  # in the fourth round of four queries, after all were tried
            raise KeyboardInterrupt
        return 0.0, scores - labels, np.ones_like(scores)

    rankers = {"stops": GBRanker(custom_objective(stops), **TINY)}
    with pytest.raises(KeyboardInterrupt):
        cross_validate_rankers(rankers, X, Y, QID, folds=3, seeds=1, results=tmp_path, **QUIET)
    assert not list(tmp_path.iterdir())


def test_results_under_another_name(tmp_path: Path) -> None:
    """Kept under "ap", asked for as "map": both are found, and worth the same."""
    rankers, kept = {"a": GBRanker("ranknet", **TINY)}, {"results": tmp_path, **QUIET}
    found = [
        cross_validate_rankers(
            rankers, X, Y, QID, folds=3, seeds=1, measures=[name], **kept
        ).summary()[0]
        for name in ("ap", "map", "ap")
    ]
    assert [row.measure for row in found] == ["ap", "map", "ap"]
    assert len({row.mean for row in found}) == 1
