"""Checkpoints: a fit that is interrupted goes on to the same bits, and to nothing else's."""

import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from checkpointed import (
    FILE,
    QID,
    QID_ALL,
    TRAIN,
    VALID,
    Killed,
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
from numpy.testing import assert_array_equal

from gbrank import LambdaRank
from gbrank.boosters import TRAINERS
from gbrank.commands.cli import main
from gbrank.fit.checkpoints import Checkpoint
from gbrank.fit.interrupted import FitInterrupted
from gbrank.schedules import geometric

# --- the same bits ------------------------------------------------------------------------------

START = make("xgboost", n_estimators=3).fit(X, Y, qid=QID)
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

exhaustive = partial(pytest.param, marks=pytest.mark.exhaustive)


@boosters
@pytest.mark.parametrize("round", [5, *(exhaustive(round) for round in (1, 2, 9))])
@pytest.mark.parametrize("case", CASES)
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
    params = {"booster_params": own, "colsample": 0.8, "max_depth": 5}
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
    interrupted(make(booster, position_model="free"), tmp_path, round, position=position)
    with pytest.raises(ValueError, match="these were others: position"):
        fit(make(booster, position_model="free"), checkpoint=tmp_path, position=position[::-1])
    again = fit(make(booster, position_model="free"), checkpoint=tmp_path, position=position)
    whole = fit(make(booster, position_model="free"), position=position)
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
        step, nested = TRAINERS["xgboost"].step, []

        def training_another(self: Any, derivatives: Any) -> None:
            if not nested:
                nested.append(1)
                make("xgboost", subsample=0.5, colsample=0.5, n_estimators=2).fit(X, Y, qid=QID)
                nested.clear()
            step(self, derivatives)

        patch.setattr(TRAINERS["xgboost"], "step", training_another)
        assert_same(fit(ranker), whole)


def test_every_round_draws_anew() -> None:
    """Features and documents are others in each round, and the seeds leave no trace."""
    ranker = make(colsample=0.34, subsample=0.5, n_estimators=30, num_leaves=4)
    text = fit(ranker)._model.dump().decode()
    trees = [line for line in text.splitlines() if line.startswith("split_feature=")]
    drawn = {frozenset(line.partition("=")[2].split()) for line in trees}
    assert len(drawn) > 8  # of 15 pairs and 6 single features
    alone = fit(make(colsample=0.34, subsample=0.5, n_estimators=1))._model.dump().decode()
    seeds = re.compile(r"^\[(?:bagging_fraction|\w+_seed): .*\]$", re.MULTILINE)
    assert seeds.findall(text) == seeds.findall(alone)
    assert "[bagging_fraction: 1]" in text  # gbrank leaves documents out by itself


# --- killed at any moment -----------------------------------------------------------------------


def killed(booster: str, folder: Path, kills: int, seed: int) -> None:
    """Kill fits, and assert that what they came to is what a fit left in peace comes to."""
    script = Path(__file__).parents[1] / "killed.py"
    arguments = [sys.executable, script, booster, folder, str(kills), str(seed)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    deaths = [int(line) for line in done.stdout.split()]
    assert sum(deaths) >= kills

    def files(name: str) -> dict[str, bytes]:
        found = {path for path in (folder / name).rglob("[!.]*") if path.is_file()}
        return {str(path.relative_to(folder / name)): path.read_bytes() for path in found}

    whole = files("whole")
    assert len(whole) == 1  # the description, with the model and its start
    for number in range(len(deaths)):
        assert files(f"killed_{number}") == whole
        assert os.listdir(folder / f"checkpoint_{number}") == [FILE]


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs SIGKILL and fork")


@pytest.mark.slow
@needs_fork
@boosters
def test_killed_a_few_times(booster: str, tmp_path: Path) -> None:
    """SIGKILL before trees and in the middle of writings."""
    killed(booster, tmp_path, kills=4, seed=0)


@needs_fork
@boosters
@pytest.mark.slow
def test_killed_fifty_times(booster: str, tmp_path: Path) -> None:
    """The same, at many random moments."""
    killed(booster, tmp_path, kills=50, seed=1)


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
    assert history_of(tmp_path)["done"] == written


# --- what is refused ----------------------------------------------------------------------------

CODES: dict[str, Any] = {"X": np.floor(4 * np.abs(X)), "eval_set": None, "eval_qid": None}
Y_OTHER = np.where(np.arange(len(Y)) == 7, Y + 1, Y)
LEVEL = {"eval_init_score": [np.zeros(180), np.zeros(120)]}
OTHERS = {
    "objective": {"objective": "ranknet"},
    "num_leaves": {"num_leaves": 5},
    "sigma": {"sigma": lambda round, rounds: 0.5},
    "random_state": {"random_state": 4},
    "booster_params": {"booster_params": {"max_bin": 15}},
    "eval_metric": {"eval_metric": ["ndcg@10", "map"]},
    "n_estimators": {"n_estimators": 10},
    "init": {"init": START},
    "X": {"X": X + 1e-9},
    "qid": {"qid": np.where(QID == 3, 99, QID)},
    "position": {"position": np.tile(np.arange(1, 13), 25)},
    "init_score": {"init_score": X[:, 0], **LEVEL},
    "sample_weight": {"sample_weight": np.ones(len(Y))},
    "query_weight": {"query_weight": np.ones(25)},
    "categorical_feature": {"categorical_feature": [], **CODES},
    "eval_set[0]": {"eval_set": [(VALID["eval_set"][0][0] + 1e-9, VALID["eval_set"][0][1]),
                                 VALID["eval_set"][1]]},
    "eval_set[1]": {"eval_set": [VALID["eval_set"][0], (X[:120], Y_OTHER[:120])]},
    "eval_qid[0]": {"eval_qid": [QID_ALL[~TRAIN] // 2, QID[:120]]},
    "eval_init_score[1]": {"eval_init_score": [np.zeros(180), np.ones(120)]},
    "eval_qid[1], eval_set[1]": {
        "eval_set": VALID["eval_set"][:1], "eval_qid": VALID["eval_qid"][:1]
    },
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_the_checkpoint_of_another_fit_is_refused(name: str, tmp_path: Path) -> None:
    """And what differs is named: nothing else, and all of it."""
    first: dict[str, Any] = {}
    if name == "categorical_feature":
        first = {"categorical_feature": [2], **CODES}
    elif name == "eval_init_score[1]":
        first = LEVEL
    elif name == "init_score":
        first = {"init_score": np.zeros(len(Y)), **LEVEL}
    interrupted(make(), tmp_path, 5, **first)
    before = (tmp_path / FILE).read_bytes()
    other = OTHERS[name]
    params = {key: value for key, value in other.items() if key in make().get_params()}
    data = {key: value for key, value in other.items() if key not in params}
    with pytest.raises(ValueError, match=re.escape(f"these were others: {name}.")):
        fit(make(**params), checkpoint=tmp_path, **data)
    assert (tmp_path / FILE).read_bytes() == before


def test_all_differences_are_named(tmp_path: Path) -> None:
    """Labels, of which y[7] is another, and a parameter."""
    interrupted(make(), tmp_path, 5)
    with pytest.raises(ValueError, match=r"others: learning_rate, y\."):
        make(learning_rate=0.2).fit(X, Y_OTHER, qid=QID, **VALID, checkpoint=tmp_path)


def test_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its sums may have other last bits."""
    interrupted(make(), tmp_path, 5)
    monkeypatch.setattr("gbrank.fit.checkpoints.version", lambda package: "0.0")
    with pytest.raises(ValueError, match="others: the version of lightgbm"):
        fit(make(), checkpoint=tmp_path)


def test_another_gbrank_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its version is part of what the model depends on."""
    interrupted(make(), tmp_path, 5)
    monkeypatch.setattr("gbrank.fit.checkpoints.__version__", "0.0")
    with pytest.raises(ValueError, match=r"others: the version of gbrank\."):
        fit(make(), checkpoint=tmp_path)


CHANGES = ["a name", "the order of categories", "the names of categories"]


@pytest.mark.parametrize("change", CHANGES)
def test_any_part_of_a_table_counts(change: str, tmp_path: Path) -> None:
    """Names and categories too."""
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["a"] = pd.Categorical(np.array(["x", "y", "z"])[np.arange(len(X)) % 3])
    other = frame.copy()
    if change == "a name":
        other = other.rename(columns={"f": "g"})
    elif change == "the order of categories":
        other["a"] = other["a"].cat.rename_categories({"x": "y", "y": "x"})
    else:  # the codes are the same
        other["a"] = other["a"].cat.rename_categories({"x": "w"})
    data: dict[str, Any] = {"eval_set": None, "eval_qid": None}
    interrupted(make(), tmp_path, 4, frame, **data)
    with pytest.raises(ValueError, match=r"these were others: X\."):
        fit(make(), other, checkpoint=tmp_path, **data)


def test_a_fit_whose_workers_were_lost_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where they had not all written the same round."""
    interrupted(make(), tmp_path, 5)
    assert Checkpoint(tmp_path, 1).state is not None
    monkeypatch.setattr("gbrank.fit.checkpoints.all_gather", lambda done: [done, done + 2])
    assert Checkpoint(tmp_path, 1).state is None


def test_nothing_to_go_on_from_is_no_obstacle(tmp_path: Path) -> None:
    """A fit that died before its first round binds nobody."""
    interrupted(make(), tmp_path, 0)
    assert_same(fit(make(num_leaves=5), checkpoint=tmp_path), fit(make(num_leaves=5)))


def test_equal_parameters_may_be_other_objects(tmp_path: Path) -> None:
    """An objective and a schedule made anew, as by another process."""
    params = {"objective": LambdaRank("ndcg@5"), "sigma": geometric(1.0, 0.5)}
    interrupted(make(**params), tmp_path, 5)
    again = make(objective=LambdaRank("ndcg@5"), sigma=geometric(1.0, 0.5))
    assert_same(fit(again, checkpoint=tmp_path), fit(make(**params)))


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"random_state": None}, "random_state must be an integer"),
        ({"random_state": np.random.RandomState(0)}, "random_state must be an integer"),
        ({"booster_params": {"boosting": "dart"}}, "boosting=dart"),
        ({"booster_params": {"data_sample_strategy": "goss"}}, "data_sample_strategy"),
        ({"booster_params": {"use_quantized_grad": True}}, "use_quantized_grad"),
        ({"booster": "xgboost", "booster_params": {"booster": "dart"}}, "booster=dart"),
        ({"booster": "xgboost", "booster_params": {"tree_method": "approx"}},
         "tree_method=approx"),
    ],
    ids=lambda value: value if isinstance(value, str) else ",".join(value),
)  # fmt: skip
def test_fits_that_could_not_go_on_have_no_checkpoint(
    params: dict[str, Any], text: str, tmp_path: Path
) -> None:
    """Where a booster keeps to itself what it needs."""
    with pytest.raises(ValueError, match=text):
        fit(make(**params), checkpoint=tmp_path)
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize("value", [0, -1, 2.0, None, True])
def test_checkpoint_rounds_is_an_integer(value: Any, tmp_path: Path) -> None:
    """Of at least 1."""
    with pytest.raises((TypeError, ValueError), match="checkpoint_rounds must be an integer"):
        fit(make(), checkpoint=tmp_path, checkpoint_rounds=value)


def test_checkpoint_is_a_path() -> None:
    """Anything else is named."""
    with pytest.raises(TypeError, match="checkpoint must be the path of a folder or None, got 7"):
        fit(make(), checkpoint=7)


def test_rows_of_other_queries_are_other_data(tmp_path: Path) -> None:
    """Queries of the same ids and sizes, with two documents exchanged."""
    interrupted(make(), tmp_path, 4)
    inner = QID.copy()
    inner[[1, 13]] = inner[[13, 1]]  # the queries appear in the same order
    with pytest.raises(ValueError, match=r"these were others: qid\."):
        fit(make(), checkpoint=tmp_path, qid=inner)


@boosters
def test_sparse_data_may_not_lie_in_other_columns(booster: str, tmp_path: Path) -> None:
    """The same numbers, as many in each row, are other data."""
    sparse = sp.csr_matrix(np.where(X > 0.5, X, 0.0)[:, :4])
    padded, moved = (
        sp.csr_matrix((sparse.data, sparse.indices + shift, sparse.indptr), (len(Y), 6))
        for shift in (0, 1)
    )
    valid = {"eval_set": [(padded[:120], Y[:120])], "eval_qid": [QID[:120]]}
    interrupted(make(booster), tmp_path, 4, padded, **valid)
    rows = sparse.indptr.copy()
    rows[np.flatnonzero(np.diff(sparse.indptr))[0] + 1] -= 1  # an entry is of the next row
    other_rows = sp.csr_matrix((sparse.data, sparse.indices, rows), (len(Y), 6))
    wider = sp.csr_matrix((sparse.data, sparse.indices, sparse.indptr), (len(Y), 7))
    for other in (moved, other_rows, wider):
        again = valid if other is not wider else {**valid, "eval_set": [(wider[:120], Y[:120])]}
        with pytest.raises(ValueError, match=r"these were others: X[.,]"):
            fit(make(booster), other, checkpoint=tmp_path, **again)
    whole = fit(make(booster), padded, **valid)
    assert_same(fit(make(booster), padded, checkpoint=tmp_path, **valid), whole, padded)


# --- the command line ---------------------------------------------------------------------------


def test_the_command_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`gbrank train --checkpoint` gives the model of a command that was never interrupted."""
    rows = zip(Y, QID, X, strict=True)
    lines = [
        f"{int(y)} qid:{q} " + " ".join(f"{i + 1}:{v!r}" for i, v in enumerate(x.tolist()))
        for y, q, x in rows
    ]
    data = tmp_path / "train.txt"
    data.write_text("\n".join(lines) + "\n")
    command = ["train", str(data), "--n-estimators", "9", "--subsample", "0.7", "--n-jobs", "1"]
    checkpoint = ["--checkpoint", str(tmp_path / "ck"), "--checkpoint-rounds", "2"]
    assert main([*command, "--model", str(tmp_path / "whole")]) == 0
    with pytest.MonkeyPatch.context() as patch:
        kill_before(patch, make(), 5)
        with pytest.raises(Killed):
            main([*command, "--model", str(tmp_path / "again"), *checkpoint])
    assert history_of(tmp_path / "ck")["done"] == 4
    assert main([*command, "--model", str(tmp_path / "again"), *checkpoint]) == 0
    whole, again = (
        {file.name: file.read_bytes() for file in (tmp_path / folder).iterdir()}
        for folder in ("whole", "again")
    )
    assert whole == again
    capsys.readouterr()
    assert main([*command, "--num-leaves", "7", "--model", str(tmp_path / "c"), *checkpoint]) != 0
    assert "these were others: num_leaves." in capsys.readouterr().err
