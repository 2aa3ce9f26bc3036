"""Tests of documents: their columns go wherever the documents go."""

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from gbrank import GBRanker, Queries, make_cubic
from gbrank.data.documents import VALIDATION, Documents, fit_arguments
from gbrank.data.schema import Schema
from gbrank.distributed.parts import with_query_weights
from gbrank.distributed.shards import _join, _part, _pick
from gbrank.fit.arguments import validation_sets
from gbrank.fit.checkpoints import fit_hashes

X, Y, QID = make_cubic(20, n_documents=6, n_features=3, random_state=0)
RNG = np.random.default_rng(0)
ORDER = RNG.permutation(len(Y))
X, Y, QID = X[ORDER], Y[ORDER], QID[ORDER]
N = np.arange(len(Y), dtype=float)
QUERIES = Queries.from_qid(QID)
BY_QUERY = QUERIES.ids * 2.0  # the weight of a query says which it is
COLUMNS: dict[str, Any] = {
    "sample_weight": N + 1,
    "query_weight": BY_QUERY,
    "init_score": -N,
    "position": N + 1,
    "labels": {"m": N + 2, "n": N + 3},
}
NAMES = [item.name for item in fields(Documents) if item.name not in ("X", "queries")]


def documents(**others: Any) -> Documents:
    return Documents.checked(X, Y, QUERIES, **{**COLUMNS, **others})


def assert_rows(part: Documents, rows: Any) -> None:
    """Each column has the values of these rows, and weights those of their queries."""
    expected = {"y": Y, **{name: COLUMNS[name] for name in ("sample_weight", "init_score")}}
    for name, values in {**expected, "position": COLUMNS["position"]}.items():
        assert_array_equal(getattr(part, name), values[rows])
    assert_array_equal(part.X, X[rows])
    for name, values in COLUMNS["labels"].items():
        assert_array_equal(part.labels[name], values[rows])
    assert_array_equal(part.queries.ids[part.queries.index], QID[rows])
    assert part.query_weight is not None
    assert_array_equal(part.query_weight[part.queries.index], 2.0 * QID[rows])
    assert_array_equal(part.weights, (N[rows] + 1) * 2 * QID[rows])


def test_parts_have_the_columns_of_their_rows() -> None:
    """Both sides of a split; some queries; each query."""
    whole = documents()
    sides = whole.split(0.3, seed=0)
    rows = [np.flatnonzero(np.isin(QID, part.queries.ids)) for part in sides]
    assert min(map(len, rows)) > 0
    assert_array_equal(np.sort(np.concatenate(rows)), np.arange(len(Y)))
    for part, own in zip(sides, rows, strict=True):
        assert_rows(part, own)
    mask = QUERIES.ids % 3 == 0
    assert_rows(whole.take_queries(mask), np.flatnonzero(QID % 3 == 0))
    for query, part in zip(QUERIES.ids, whole.each_query(), strict=True):
        assert_rows(part, np.flatnonzero(query == QID))


def test_documents_query_by_query() -> None:
    """Queries in the order in which they appear, each with its rows in theirs."""
    part, order = documents().grouped(), QUERIES.order
    assert_array_equal(part.y, Y[order])
    assert_array_equal(part.sample_weight, N[order] + 1)
    assert_array_equal(part.query_weight, BY_QUERY)
    assert part.queries.contiguous
    assert part.grouped() is part


def test_documents_with_a_label() -> None:
    """Those that are judged by it, with their other columns."""
    known = np.where(N % 2 == 0, N, np.nan)
    part, rows, _ = documents(labels={"m": known}).with_label("m", "a test")
    assert_array_equal(part.y, known[rows])
    assert not np.isnan(part.y).any()
    assert_array_equal(part.sample_weight, N[rows] + 1)
    assert_array_equal(part.weights, (N[rows] + 1) * 2 * QID[rows])
    assert documents().with_label(None, "a test")[0].labels.keys() == {"m", "n"}


def test_arguments_of_a_fit() -> None:
    """What `arguments` gives makes the same documents again; lists have an entry for each set."""
    train, valid = (part.arguments() for part in documents(position=None).split(0.3, seed=0))
    arguments = fit_arguments(train, valid, {**valid, "labels": None})
    assert arguments.keys() == {
        *("X", "y", "qid", "sample_weight", "query_weight", "init_score", "labels"),
        *("eval_set", "eval_qid", "eval_init_score", "eval_labels"),
    }
    assert arguments["eval_labels"][1] is None
    weights = {name: arguments[name] for name in ("sample_weight", "query_weight")}
    queries = Queries.from_qid(arguments["qid"])
    again = Documents.checked(arguments["X"], arguments["y"], queries, **weights)
    assert_array_equal(again.weights, documents().split(0.3, seed=0)[0].weights)
    sets = {name: arguments[name] for name in arguments if name.startswith("eval_")}
    parts = validation_sets(sets.pop("eval_set"), **sets)
    assert_array_equal(parts["eval_set[1]: "]["init_score"], valid["init_score"])
    assert "labels" not in parts["eval_set[1]: "]
    assert_array_equal(parts["eval_set[0]: "]["labels"]["m"], valid["labels"]["m"])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sparse", [False, True])
def test_every_column_is_in_the_hash_of_a_checkpoint(name: str, sparse: bool) -> None:
    """Under its name, or that of its list."""
    ranker, schema = GBRanker(random_state=0), Schema.learn(X)
    whole = documents()
    whole = replace(whole, X=sp.csr_matrix(X)) if sparse else whole
    values: Any = getattr(whole, name)
    changed: Any = {"m": N, "n": N} if name == "labels" else values + 1
    other = replace(whole, **{name: changed})

    def differences(*parts: Documents) -> list[str]:
        before = fit_hashes(ranker, schema, [whole] * len(parts))
        after = fit_hashes(ranker, schema, parts)
        return [key for key in before if before[key] != after[key]]

    assert differences(other, whole) == [name]
    listed = f"eval_{name}" if name in VALIDATION else "eval_set"
    if name in ("y", *VALIDATION):
        assert differences(whole, whole, other) == [f"{listed}[1]"]


def test_columns_go_to_workers() -> None:
    """Rows of two halves are joined; weights of rows become those of queries."""
    whole = {"X": X, "y": Y, "qid": QID, "labels": COLUMNS["labels"], "query_weight": 2.0 * QID}
    part = _part("", 0, whole)
    halves = [_pick(part, QUERIES.ids % 2 == side) for side in (1, 0)]
    joined = with_query_weights(_join(halves))
    order = np.argsort(QID % 2 == 0, kind="stable")
    for name in ("X", "y", "qid"):
        assert_array_equal(joined[name], whole[name][order])
    assert_array_equal(joined["labels"]["n"], N[order] + 3)
    assert_array_equal(joined["query_weight"], 2 * Queries.from_qid(QID[order]).ids)
    message = "query_weight must be the same in all rows of a query"
    with pytest.raises(ValueError, match=message):
        with_query_weights({**whole, "query_weight": N})
