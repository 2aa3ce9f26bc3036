"""Which documents and queries a round takes: by hashes, not by where rows stand."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from gbrank.data.ids import key_of
from gbrank.data.queries import Queries
from gbrank.data.sampling import document_keys, query_noise, row_keys, sampled

QID = np.repeat(["a", "b", "c", "d"], [5, 1, 30, 14])


def taken(qid: Any, round: int = 0, share: float = 0.3) -> Any:
    """Return which documents take part in a round."""
    return sampled(document_keys(Queries.from_qid(qid)), share, seed=7, round=round)


def test_the_share_is_exact() -> None:
    """Rounded, and at least one."""
    assert [taken(QID, share=share).sum() for share in (0.001, 0.3, 0.31, 1.0)] == [1, 15, 16, 50]
    assert sampled(np.arange(5, dtype=np.uint64), 0.5, seed=0, round=0).sum() == 3


def test_documents_are_drawn_by_their_place_in_the_query() -> None:
    """Other rounds draw others; the order of queries, and rows amid them, play no part."""
    assert (taken(QID) != taken(QID, round=1)).any()
    order = np.argsort(np.random.default_rng(0).random(len(QID)))
    place = np.concatenate([np.arange(n) for n in (5, 1, 30, 14)])
    # Queries in any order, and interleaved, but each with its documents in their order.
    order = order[np.argsort(place[order], kind="stable")]
    assert_array_equal(taken(QID[order]), taken(QID)[order])


def test_queries_are_drawn_by_their_id() -> None:
    """Not by their number; the hash is the one of earlier versions."""
    keys = Queries.from_qid(["x", "y", "z"]).id_keys
    assert_array_equal(query_noise(keys[::-1], 3, 2), query_noise(keys, 3, 2)[::-1])
    (known,) = query_noise(np.array([1], dtype=np.uint64), seed=0, round=0)
    assert int(known) == 4764156602392020899


def test_rows_are_drawn_by_their_numbers() -> None:
    """In single precision, in which the two zeros are one number and small ones differ."""
    rows = np.array([[0.0, 1], [-0.0, 1], [1e-10, 1], [2e-10, 1], [1, 0], [1e-10 + 1e-20, 1]])
    keys = row_keys(rows).tolist()
    assert keys[0] == keys[1]
    assert keys[2] == keys[5]
    assert len(set(keys)) == 4


@pytest.mark.parametrize(
    "same",
    [
        (7, 7.0, "7", "7.0", np.float32(7), np.uint8(7)),
        (0, -0.0, "0", False),
        (-12, "-12"),
        (1e15, "1000000000000000.0", 10**15),
        (2**70, "1180591620717411303424"),
    ],
)
def test_numbers_that_are_text(same: tuple[Any, ...]) -> None:
    """A file of text holds the same ids as one of numbers; no other text is a number."""
    assert len({key_of(value) for value in same}) == 1
    for text in (f"0{same[0]}", f"+{same[0]}", f" {same[0]}", f"{same[0]}.", "nan", "inf", "1e5"):
        assert key_of(text) != key_of(same[0])
    queries = [np.array([value, "other"], dtype=object) for value in same]
    assert len({Queries.from_qid(ids).id_keys.tobytes() for ids in queries}) == 1
