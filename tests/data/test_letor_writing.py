"""Writing LETOR's format: what is written is read back."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from scipy import sparse

from gbrank import make_cubic, read_letor, write_letor
from reference import assert_same_bits

Documents: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[Any], list[str]]


@pytest.mark.parametrize("kind", [sparse.coo_matrix, sparse.csc_array, sparse.lil_array])
def test_writes_any_sparse_matrix(tmp_path: Path, kind: Callable[..., Any]) -> None:
    X = np.array([[0.0, 0.0, 2.0, 0.0], [0.5, 0.0, 3.0, 0.0]])
    write_letor(tmp_path / "data.txt", kind(X), [1, 0], [5, 5])
    assert_same_bits(read_letor(tmp_path / "data.txt", n_features=4)[0], X)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.int64, np.float16, np.float32])
def test_writes_narrower_types_exactly(tmp_path: Path, dtype: type) -> None:
    X: NDArray[Any] = np.array([[0.1, 1], [1, 0.7]]).astype(dtype)
    write_letor(tmp_path / "data.txt", X, [0, 1], [1, 1])
    back = read_letor(tmp_path / "data.txt", n_features=2)[0]
    assert_same_bits(back, X.astype(np.float64))


def test_gz_compresses_to_reproducible_bytes(tmp_path: Path) -> None:
    X, y, qid = make_cubic(3, n_features=7, random_state=1)
    contents = set()
    for name in ("a.gz", "b.gz", "c.txt"):
        write_letor(tmp_path / name, X, y, qid)
        contents.add((tmp_path / name).read_bytes())
    assert len(contents) == 2
    packed = (tmp_path / "a.gz").read_bytes()
    assert packed[4:8] == bytes(4)  # the time in the header of gzip
    assert gzip.decompress(packed) == (tmp_path / "c.txt").read_bytes()


finite = st.floats(allow_nan=False, allow_infinity=False)
values = st.one_of(st.sampled_from([0.0, -0.0, np.nan]), finite)
names = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"], exclude_characters="#"))
remarks = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\0"))


@st.composite
def documents(draw: st.DrawFn) -> Documents:
    """Draw features, labels, queries and comments."""
    n = draw(st.integers(1, 6))
    X = draw(hnp.arrays(np.float64, (n, draw(st.integers(1, 5))), elements=values))
    y = draw(hnp.arrays(np.float64, n, elements=finite))
    integers = st.integers(-(2**63), 2**63 - 1)
    texts = names.filter(bool).map(lambda name: f"q{name}")
    qid = draw(st.one_of(*(st.lists(ids, min_size=n, max_size=n) for ids in (integers, texts))))
    comments = draw(st.lists(remarks.map(str.strip), min_size=n, max_size=n))
    return X, y, np.array(qid), comments


@settings(max_examples=60)
@given(documents(), st.booleans())
def test_what_is_written_is_read_back_bit_for_bit(
    scratch: Path, data: Documents, as_sparse: bool
) -> None:
    X, y, qid, comments = data
    write_letor(scratch, sparse.csr_array(X) if as_sparse else X, y, qid, comments=comments)
    back = read_letor(scratch, comments=True, n_features=X.shape[1], sparse=as_sparse)
    if as_sparse:
        # SciPy itself does not store -0.0.
        np.testing.assert_array_equal(back[0].toarray(), X)
    else:
        assert_same_bits(back[0], X)
    assert_same_bits(back[1], y)
    np.testing.assert_array_equal(back[2], qid)
    assert back[2].dtype == qid.dtype
    assert back[3] == comments
