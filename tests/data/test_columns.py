"""Tests of the table of columns: what follows from an entry of it."""

from inspect import signature
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from gbrank import GBRanker, make_cubic
from gbrank.data import columns
from gbrank.data.checking import check_rows, split_rows
from gbrank.data.columns import COLUMNS, Column, check_of_numbers, fit_arguments
from gbrank.data.schema import Schema
from gbrank.distributed.parts import with_query_columns
from gbrank.distributed.shards import _join, _part, _pick
from gbrank.fit.arguments import FitData
from gbrank.fit.checkpoints import fit_hashes

X, Y, QID = make_cubic(20, n_documents=6, n_features=3, random_state=0)
SHOWN = np.arange(len(Y), dtype=float)
RANKER = GBRanker(random_state=0)


@pytest.fixture
def exposure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Declare two columns more: one of documents, one of queries."""
    check = check_of_numbers("must be at least 0", lambda values: values < 0)
    added = Column(check, validation="eval_exposure", spark="exposureCol")
    monkeypatch.setitem(columns.COLUMNS, "exposure", added)
    monkeypatch.setitem(columns.COLUMNS, "season", Column(_season, per="query"))


def _season(values: Any, name: str, queries: Any) -> Any:
    return np.asarray(values)


def _data(**others: Any) -> dict[str, Any]:
    return {"X": X, "y": Y, "qid": QID, "exposure": SHOWN, "season": np.arange(20), **others}


def _rows(**others: Any) -> Any:
    return check_rows(Schema.learn(X), _data(**others))


@pytest.mark.usefixtures("exposure")
def test_a_new_column_is_one_entry() -> None:
    for value, words in {
        -1.0: "must be at least 0, got -1.0 in row 7",
        np.nan: "must be f",
    }.items():
        data = _data(exposure=np.where(SHOWN == 7, value, SHOWN))
        with pytest.raises(ValueError, match=rf"^eval_set\[0\]: exposure {words}"):
            check_rows(Schema.learn(X), data, "eval_set[0]: ")
    rows = _rows()
    parts = split_rows(rows, 0.3, seed=0)
    for part, chosen in parts:
        assert 0 < len(chosen) < len(Y)
        assert_array_equal(part.columns["exposure"], SHOWN[chosen])
        assert_array_equal(part.columns["season"], np.unique(QID[chosen]))
    assert len(parts[0][1]) + len(parts[1][1]) == len(Y)
    train, valid = (part.as_given(X[chosen]) for part, chosen in parts)
    arguments = fit_arguments(train, [valid])
    assert_array_equal(arguments["exposure"], SHOWN[parts[0][1]])
    assert_array_equal(arguments["eval_exposure"][0], SHOWN[parts[1][1]])
    data = FitData(**arguments)
    assert_array_equal(data.validation["eval_set[0]: "]["exposure"], SHOWN[parts[1][1]])


@pytest.mark.usefixtures("exposure")
@pytest.mark.parametrize("name", ["exposure", "season"])
def test_a_new_column_is_in_the_hash_of_a_checkpoint(name: str) -> None:
    rows, schema = _rows(), Schema.learn(X)
    other = rows.replace(**{name: rows.columns[name] + 1})
    before, after = (fit_hashes(RANKER, schema, part, [rows]) for part in (rows, other))
    assert [key for key in before if before[key] != after[key]] == [name]
    after = fit_hashes(RANKER, schema, rows, [other])
    changed = [key for key in before if before[key] != after[key]]
    if name == "exposure":
        assert changed == ["eval_exposure[0]"]


@pytest.mark.usefixtures("exposure")
def test_a_new_column_goes_to_a_worker() -> None:
    whole = _data(labels={"m": Y + 1, "n": Y + 2}, season=QID * 2)
    part = _part("", 0, whole)
    halves = [_pick(part, np.arange(20) % 2 == side) for side in (1, 0)]
    joined = with_query_columns(_join(halves))
    order = np.argsort(QID % 2 == 0, kind="stable")
    for name in ("X", "y", "qid", "exposure"):
        assert_array_equal(joined[name], whole[name][order])
    assert_array_equal(joined["labels"]["n"], Y[order] + 2)
    assert_array_equal(joined["season"], 2 * np.array([*range(1, 20, 2), *range(0, 20, 2)]))
    with pytest.raises(
        ValueError, match="season must be the same in all rows of a query, got 0 and 1"
    ):
        with_query_columns(_data(season=SHOWN.astype(int)))


@pytest.mark.parametrize("name", ["y", "init_score", "labels"])
def test_columns_of_validation_sets_are_hashed(name: str) -> None:
    rows = check_rows(
        Schema.learn(X), {"X": X, "y": Y, "qid": QID, "init_score": SHOWN, "labels": {"m": Y}}
    )
    values = {"m": Y + 1} if name == "labels" else rows.columns[name] + 1
    schema = Schema.learn(X)
    before = fit_hashes(RANKER, schema, rows, [rows, rows])
    after = fit_hashes(RANKER, schema, rows, [rows, rows.replace(**{name: values})])
    changed = [key for key in before if before[key] != after[key]]
    assert changed == [f"{COLUMNS[name].validation}[1]"]


def test_methods_take_the_columns_of_the_table() -> None:
    fit = set(signature(GBRanker.fit).parameters)
    assert COLUMNS.keys() | {column.validation for column in COLUMNS.values()} - {""} < fit
    others = {"self", "X", "checkpoint", "checkpoint_rounds", "callbacks"}
    columns_of_fit = COLUMNS.keys() | {column.validation for column in COLUMNS.values()}
    assert fit - others == columns_of_fit - {""}
    scored = {name for name, column in COLUMNS.items() if column.scored}
    assert set(signature(GBRanker.score).parameters) == scored | {"self", "X", "judged_by"}


def test_a_column_of_one_validation_set_of_two() -> None:
    """Its list has None for the other set."""
    parts = [{"X": X, "y": Y, "qid": QID, "labels": given} for given in (None, {"m": Y})]
    arguments = fit_arguments({"X": X, "y": Y, "qid": QID, "group": None}, parts)
    assert arguments["eval_labels"] == [None, {"m": Y}]
    assert arguments.keys() == {"X", "y", "qid", "eval_set", "eval_qid", "eval_labels"}


def test_an_unknown_column() -> None:
    with pytest.raises(TypeError, match="unknown argument 'exposure'"):
        FitData(X, Y, qid=QID, exposure=SHOWN)
