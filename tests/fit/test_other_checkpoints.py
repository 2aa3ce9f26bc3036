"""Checkpoints of other fits are refused, and what differs is named."""

import re
from dataclasses import make_dataclass
from functools import cache
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
    X,
    Y,
    assert_same,
    boosters,
    fit,
    interrupted,
    make,
)
from gbrank.fit.rounds import History

START = cache(lambda: make("xgboost", n_estimators=3).fit(X, Y, qid=QID))

CODES: dict[str, Any] = {"X": np.floor(4 * np.abs(X)), "eval_set": None, "eval_qid": None}
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
    "sample_weight": {"sample_weight": np.ones(len(Y))},
    "categorical_feature": {"categorical_feature": [], **CODES},
    "eval_set[0]": {"eval_set": [(VALID["eval_set"][0][0] + 1e-9, VALID["eval_set"][0][1]),
                                 VALID["eval_set"][1]]},
    "eval_qid[0]": {"eval_qid": [QID_ALL[~TRAIN] // 2, QID[:120]]},
    "eval_qid[1], eval_set[1]": {
        "eval_set": VALID["eval_set"][:1], "eval_qid": VALID["eval_qid"][:1]
    },
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_the_checkpoint_of_another_fit_is_refused(name: str, tmp_path: Path) -> None:
    """And what differs is named: nothing else, and all of it."""
    of_codes = name == "categorical_feature"
    first: dict[str, Any] = {"categorical_feature": [2], **CODES} if of_codes else {}
    interrupted(make(), tmp_path, 5, **first)
    before = (tmp_path / FILE).read_bytes()
    other = OTHERS[name]
    params = {key: value for key, value in other.items() if key in make().get_params()}
    data = {key: value for key, value in other.items() if key not in params}
    with pytest.raises(ValueError, match=re.escape(f"differs in {name}.")):
        fit(make(**params), checkpoint=tmp_path, **data)
    assert (tmp_path / FILE).read_bytes() == before


@pytest.mark.parametrize("package", ["lightgbm", "gbrank"])
def test_another_version_is_refused(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its sums may have other last bits."""
    interrupted(make(), tmp_path, 5)
    module = "gbrank.fit.checkpoints" if package == "gbrank" else package
    monkeypatch.setattr(f"{module}.__version__", "0.0")
    with pytest.raises(ValueError, match=f"differs in the version of {package}"):
        fit(make(), checkpoint=tmp_path)


def test_another_layout_of_the_rounds_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the file lacks would be read as if no round had been trained."""
    earlier = make_dataclass("History", ["sigmas"])
    with monkeypatch.context() as written:
        written.setattr(History, "__dataclass_fields__", earlier.__dataclass_fields__)
        interrupted(make(), tmp_path, 5)
    with pytest.raises(ValueError, match="differs in the version of gbrank"):
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
    with pytest.raises(ValueError, match=r"differs in X\."):
        fit(make(), other, checkpoint=tmp_path, **data)


def test_nothing_to_go_on_from_is_no_obstacle(tmp_path: Path) -> None:
    """A fit that died before its first round binds nobody."""
    interrupted(make(), tmp_path, 0)
    assert_same(fit(make(num_leaves=5), checkpoint=tmp_path), fit(make(num_leaves=5)))


def test_rows_of_other_queries_are_other_data(tmp_path: Path) -> None:
    """Queries of the same ids and sizes, with two documents exchanged."""
    interrupted(make(), tmp_path, 4)
    inner = QID.copy()
    inner[[1, 13]] = inner[[13, 1]]  # the queries appear in the same order
    with pytest.raises(ValueError, match=r"differs in qid\."):
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
    ends, columns = rows[1:-1], np.append(sparse.indices, -1)
    moved_last = (np.diff(rows)[:-1] > 0) & (columns[ends - 1] < columns[ends])
    rows[1 + np.flatnonzero(moved_last)[0]] -= 1  # an entry is of the next row, and its first
    other_rows = sp.csr_matrix((sparse.data, sparse.indices, rows), (len(Y), 6))
    wider = sp.csr_matrix((sparse.data, sparse.indices, sparse.indptr), (len(Y), 7))
    for other in (moved, other_rows, wider):
        again = valid if other is not wider else {**valid, "eval_set": [(wider[:120], Y[:120])]}
        with pytest.raises(ValueError, match=r"differs in X[.,]"):
            fit(make(booster), other, checkpoint=tmp_path, **again)
    whole = fit(make(booster), padded, **valid)
    assert_same(fit(make(booster), padded, checkpoint=tmp_path, **valid), whole, padded)
