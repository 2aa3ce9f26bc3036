"""Checkpoints: a fit that is interrupted goes on to the same bits, and to nothing else's."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from checkpointed import (
    FILE,
    QID,
    X,
    Y,
    assert_same,
    boosters,
    fit,
    history_of,
    interrupted,
    kill_before,
    make,
)
from gbrank.boosters import BOOSTERS
from gbrank.fit.interrupted import FitInterrupted
from gbrank.schedules import geometric

# --- the same bits ------------------------------------------------------------------------------

START = cache(lambda: make("xgboost", n_estimators=3).fit(X, Y, qid=QID))
CASES = {
    "plain": {},
    "documents": {"subsample": 0.7},
    "few documents": {"subsample": 0.3},
    "queries": {"subsample": 0.5, "subsample_by": "query"},
    "features": {"colsample": 0.5},
    "both": {"subsample": 0.4, "colsample": 0.6, "learning_rate": 0.5},
    "spread": {"objective": "approx:ndcg", "sigma": geometric(1.0, 0.1, unit="spread")},
    "noise": {"objective": "noisy:ndcg"},
    "mixture": {"objective": "lambda:ap+listmle", "sigma": lambda round, _: 1 / (1 + round)},
    "stopping": {"early_stopping_rounds": 2, "learning_rate": 1.0, "n_estimators": 30},
    "stopping by means": {
        "early_stopping_rounds": "auto",
        "learning_rate": 1.0,
        "n_estimators": 30,
    },
    "start that stops": {
        "objective": "approx:ndcg",
        "early_stopping_rounds": 2,
        "learning_rate": 1.0,
        "n_estimators": 30,
    },
    "start": {"init": START, "subsample": 0.7},
    "training measure": {"verbose": 1},
}
OWN_CASES = {
    "lightgbm": [
        {"feature_fraction_bynode": 0.5},
        {"linear_tree": True},
        {"monotone_constraints": [1, 0, 0, 0, 0, 0], "path_smooth": 1.0},
    ],
    "xgboost": [
        {"num_parallel_tree": 2, "colsample_bynode": 0.5, "colsample_bylevel": 0.8},
        {"tree_method": "exact", "grow_policy": "depthwise"},
        {"max_bin": 16, "max_delta_step": 1.0},
    ],
}

# Each remembers other things; the cases that are not here are slow.
QUICK = {
    "lightgbm": {"both", "start that stops", "noise", "training measure"},
    "xgboost": {"queries", "stopping by means", "mixture", "start"},
}
RESUMED = [
    pytest.param(booster, case, 5, marks=[] if case in quick else [pytest.mark.slow])
    for booster, quick in QUICK.items()
    for case in CASES
] + [
    pytest.param(booster, case, round, marks=pytest.mark.exhaustive)
    for booster in QUICK
    for case in CASES
    for round in (1, 2, 9)
]


@pytest.mark.parametrize(("booster", "case", "round"), RESUMED)
def test_resuming_gives_the_same_bits(booster: str, case: str, round: int, tmp_path: Path) -> None:
    """After the fit died in any round, whatever is drawn, scheduled or remembered."""
    ranker = make(booster, **CASES[case])
    whole = fit(make(booster, **CASES[case]))
    if round < len(whole.sigmas_):
        interrupted(ranker, tmp_path, round)
    else:
        fit(make(booster, **CASES[case]), checkpoint=tmp_path)
    assert_same(fit(ranker, checkpoint=tmp_path, checkpoint_rounds=2), whole)


@pytest.mark.parametrize(
    ("booster", "own"), [(name, own) for name, cases in OWN_CASES.items() for own in cases], ids=str
)
def test_the_boosters_own_parameters(booster: str, own: dict[str, Any], tmp_path: Path) -> None:
    """Those that draw features, and those that keep more in a tree than its leaves."""
    draws = "_by" in str(own)  # by itself
    params = {"booster_params": own, "colsample": 1.0 if draws else 0.8, "max_depth": 5}
    interrupted(make(booster, **params), tmp_path, 5)
    assert_same(fit(make(booster, **params), checkpoint=tmp_path), fit(make(booster, **params)))


@boosters
@pytest.mark.parametrize("kind", ["float32", "csr", "frame"])
def test_kinds_of_data(booster: str, kind: str, tmp_path: Path) -> None:
    """Weights, initial scores and categories included."""
    data: dict[str, Any] = {"float32": X.astype(np.float32), "csr": sp.csr_matrix(X)}
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["a"] = pd.Categorical(np.array(["x", "y", "z"])[np.arange(len(X)) % 3])
    given = {
        "X": data.get(kind, frame),
        "eval_set": None,
        "eval_qid": None,
        "init_score": X[:, 1],
        "sample_weight": np.linspace(1, 2, len(Y)),
    }
    params = {"subsample": 0.7, "validation_fraction": 0.3}
    interrupted(make(booster, **params), tmp_path, 5, **given)
    again = fit(make(booster, **params), checkpoint=tmp_path, **given)
    assert_same(again, fit(make(booster, **params), **given), given["X"])


@boosters
@pytest.mark.parametrize("round", [2, 5])
def test_position_bias(booster: str, round: int, tmp_path: Path) -> None:
    """It goes on from what it was; other positions are another fit."""
    position = np.arange(len(Y)) % 12 + 1
    interrupted(make(booster, position_regularization=None), tmp_path, round, position=position)
    with pytest.raises(ValueError, match="differs in position"):
        fit(
            make(booster, position_regularization=None),
            checkpoint=tmp_path,
            position=position[::-1],
        )
    again = fit(make(booster, position_regularization=None), checkpoint=tmp_path, position=position)
    whole = fit(make(booster, position_regularization=None), position=position)
    assert_same(again, whole)
    assert again.position_bias_ == whole.position_bias_
    assert again.position_bias_[12] != 0


@boosters
def test_threads_may_change(booster: str, tmp_path: Path) -> None:
    """A fit may go on with another number of threads."""
    interrupted(make(booster, subsample=0.7), tmp_path, 5)
    again = fit(make(booster, subsample=0.7, n_jobs=2), checkpoint=tmp_path)
    whole = fit(make(booster, subsample=0.7))
    assert again.evals_result_ == whole.evals_result_
    assert_array_equal(again.predict(X), whole.predict(X))


SAME: list[dict[str, Any]] = [
    {"verbose": 1},
    {"colsample": 1, "reg_lambda": np.float64(0), "booster_params": {}},
]


@pytest.mark.parametrize("other", SAME)
def test_what_changes_no_model_may_change(other: dict[str, Any], tmp_path: Path) -> None:
    """From either call to the other; the measures go on as they began."""
    (tmp_path / "other").mkdir()
    interrupted(make(), tmp_path, 5)
    assert_same(fit(make(**other), checkpoint=tmp_path), fit(make()))
    interrupted(make(**other), tmp_path / "other", 5)
    assert_same(fit(make(), checkpoint=tmp_path / "other"), fit(make(**other)))


def test_what_a_killed_fit_left_is_removed(tmp_path: Path) -> None:
    """A checkpoint that was being written, and no file of somebody else."""
    for name in (f".{FILE}.0123456789abcdef.tmp", "mine.tmp"):
        (tmp_path / name).write_text("")
    fit(make(n_estimators=1), checkpoint=tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {FILE, "mine.tmp"}


def test_what_a_round_draws_is_its_own(tmp_path: Path) -> None:
    """Trees of XGBoost do not depend on what else the process trains in between."""
    whole = fit(make("xgboost", subsample=0.5, colsample=0.5))
    ranker = make("xgboost", subsample=0.5, colsample=0.5)
    with pytest.MonkeyPatch.context() as patch:
        step, nested = BOOSTERS["xgboost"].trainer.step, []

        def training_another(self: Any, derivatives: Any) -> None:
            if not nested:
                nested.append(1)
                make("xgboost", subsample=0.5, colsample=0.5, n_estimators=2).fit(X, Y, qid=QID)
                nested.clear()
            step(self, derivatives)

        patch.setattr(BOOSTERS["xgboost"].trainer, "step", training_another)
        assert_same(fit(ranker), whole)


# --- killed at any moment -----------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs SIGKILL and fork")
@boosters
@pytest.mark.slow
def test_killed_at_drawn_moments(booster: str, tmp_path: Path) -> None:
    """What fits come to that are killed again and again is what one left in peace comes to."""
    script = Path(__file__).parents[1] / "support" / "killed.py"
    arguments = [sys.executable, script, booster, tmp_path, "6", "1"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    deaths = [int(line) for line in done.stdout.split()]
    assert sum(deaths) >= 6

    def files(name: str) -> dict[str, bytes]:
        found = {path for path in (tmp_path / name).rglob("[!.]*") if path.is_file()}
        return {str(path.relative_to(tmp_path / name)): path.read_bytes() for path in found}

    whole = files("whole")
    assert len(whole) == 1  # the description, with the model and its start
    for number in range(len(deaths)):
        assert files(f"killed_{number}") == whole
        assert os.listdir(tmp_path / f"checkpoint_{number}") == [FILE]


# --- Ctrl-C -------------------------------------------------------------------------------------


@boosters
def test_ctrl_c_leaves_a_model_and_a_checkpoint(booster: str, tmp_path: Path) -> None:
    """The rounds done are usable, and the same call does the rest; also after going on."""
    whole = fit(make(booster, colsample=0.5))
    ranker = make(booster, colsample=0.5)
    for rounds in (5, 2):
        with pytest.MonkeyPatch.context() as patch:
            kill_before(patch, ranker, rounds, KeyboardInterrupt)
            with pytest.warns(FitInterrupted):
                fit(ranker, checkpoint=tmp_path, checkpoint_rounds=2)
        done = len(ranker.evals_result_["valid_0"]["ndcg@10"])
        assert ranker.best_iteration_ == done
        assert (
            ranker.evals_result_["valid_0"]["ndcg@10"]
            == (whole.evals_result_["valid_0"]["ndcg@10"][:done])
        )
    assert done == 6  # 4 of 5 rounds were written, then 2 more
    assert_same(fit(ranker, checkpoint=tmp_path), whole)


@pytest.mark.parametrize(("killed_before", "written"), [(1, 0), (2, 2), (5, 4), (6, 6)])
def test_what_is_written_when(killed_before: int, written: int, tmp_path: Path) -> None:
    """Every second round, and the beginning."""
    interrupted(make(), tmp_path, killed_before)
    assert len(history_of(tmp_path)["sigmas"]) == written


def test_no_folder_before_all_arguments_are_checked(tmp_path: Path) -> None:
    """Nor is one that exists changed."""
    folder = tmp_path / "new"
    for wrong in (
        {"num_leaves": 1},
        {"early_stopping_rounds": 5, "eval_set": None, "eval_qid": None},
        {"eval_metric": "ndcg[margin]"},
        {"objective": "lambda:ndcg[margin]"},
        {"booster_params": {"no_such": 1}},
    ):
        params = {key: value for key, value in wrong.items() if key in make().get_params()}
        data = {key: value for key, value in wrong.items() if key not in params}
        with pytest.raises(ValueError, match=r"num_leaves|early_stopping|margin|no_such"):
            fit(make(**params), checkpoint=folder, **data)
        assert not folder.exists()


def test_zeros_and_missing_values_of_other_bits_are_the_same_data(tmp_path: Path) -> None:
    """Of a negative zero, and of NaN with another payload."""
    odd, same = X.copy(), X.copy()
    odd[::5, 0] = -0.0
    same[::5, 0] = 0.0
    odd[::7, 1] = np.uint64(0x7FF8000000000001).view(np.float64)
    same[::7, 1] = np.nan
    interrupted(make(), tmp_path, 4, odd)
    resumed = fit(make(), same, checkpoint=tmp_path)
    assert_same(resumed, fit(make(), same))


STORED = sp.csr_matrix(X)
STORED.data[::9] = 0
FEW = np.where(np.arange(len(Y)) % 5, np.floor(np.abs(X[:, 0])), np.nan)
OTHER_BITS = np.where(np.isnan(FEW), np.uint64(0x7FF8000000000001).view(np.float64), FEW)
FORMS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "by columns": ({"X": X}, {"X": np.asfortranarray(X)}),
    "stored zeros": ({"X": STORED}, {"X": sp.csr_matrix(STORED.toarray())}),
    "long indices": (
        {"X": STORED},
        {"X": sp.csr_array((STORED.data, STORED.indices.astype("i8"), STORED.indptr.astype("i8")),
                           shape=X.shape)},
    ),
    "named labels": ({"labels": {"few": FEW}}, {"labels": {"few": OTHER_BITS}}),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_equal_data_in_another_form_are_the_same_data(form: str, tmp_path: Path) -> None:
    """However they are stored."""
    first, second = FORMS[form]
    interrupted(make(), tmp_path, 4, **first)
    resumed = fit(make(), **second, checkpoint=tmp_path)
    assert_same(resumed, fit(make(), **second))
