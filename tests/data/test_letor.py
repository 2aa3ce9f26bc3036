"""Reading LETOR files: what is read, and faults, which are named by line."""

import gzip
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from gbrank import read_letor
from reference import assert_same_bits

WriteFile: TypeAlias = Callable[[str | bytes], Path]

SAMPLE = """\
# made by hand

2 qid:10 1:0.5 3:nan # the best
0 qid:10
1 qid:9 2:-1e-3 4:0 #docid = GX1 inc = 1
"""
SAMPLE_X = [[0.5, 0, np.nan, 0], [0, 0, 0, 0], [0, -1e-3, 0, 0]]


@pytest.fixture
def file(tmp_path: Path) -> WriteFile:
    def write(content: str | bytes) -> Path:
        path = tmp_path / "data.txt"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_reads_features_labels_queries_and_comments(file: WriteFile) -> None:
    X, y, qid, comments = read_letor(file(SAMPLE), comments=True)
    assert_same_bits(X, np.array(SAMPLE_X))
    assert X.flags.c_contiguous
    assert X.flags.writeable
    assert_same_bits(y, np.array([2.0, 0.0, 1.0]))
    assert_same_bits(qid, np.array([10, 10, 9]))
    assert comments == ["the best", "", "docid = GX1 inc = 1"]


def test_sparse_stores_exactly_what_the_file_has(file: WriteFile) -> None:
    X, _, _ = read_letor(file(SAMPLE), sparse=True)
    assert X.has_canonical_format
    assert X.shape == (3, 4)
    assert_same_bits(X.indptr, np.array([0, 2, 2, 4], dtype=np.int32))
    assert_same_bits(X.indices, np.array([0, 2, 1, 3], dtype=np.int32))
    assert_same_bits(X.data, np.array([0.5, np.nan, -1e-3, 0.0]))


@pytest.mark.parametrize(
    "text",
    [
        "1 qid:3 1:2 2:4\n0 qid:3 2:8\n",
        "1 qid:3 1:2 2:4\n0 qid:3 2:8",
        "1 qid:3 1:2 2:4\r\n0 qid:3 2:8\r\n",
        "1 qid:3 1:2 2:4 # a\r0 qid:3 2:8 # b\r",
        "\t1  qid:3\t1:2   2:4  \n\n   \n  # note\n#\n0 qid:3 2:8 ",
        "1 qid:3 1:2 2:4#note 3:1\n0 qid:3 2:8##",
        "+1.0 qid:3 01:2. 2:.4e+1\n0e5 qid:3 2:80E-1\n",
    ],
)
def test_line_ends_blanks_and_notations_do_not_matter(file: WriteFile, text: str) -> None:
    X, y, qid = read_letor(file(text))
    assert_same_bits(X, np.array([[2.0, 4.0], [0.0, 8.0]]))
    assert_same_bits(y, np.array([1.0, 0.0]))
    assert_same_bits(qid, np.array([3, 3]))


def test_gzip_is_told_by_content_and_not_by_name(file: WriteFile, tmp_path: Path) -> None:
    packed = file(gzip.compress(SAMPLE.encode()))
    assert_same_bits(read_letor(packed)[0], np.array(SAMPLE_X))
    plain = tmp_path / "plain.gz"
    plain.write_text(SAMPLE)
    assert_same_bits(read_letor(plain)[0], np.array(SAMPLE_X))


# Numbers


def read_numbers(path: Path, texts: list[str]) -> NDArray[np.float64]:
    path.write_text("".join(f"0 qid:1 1:{text}\n" for text in texts))
    return read_letor(path)[0][:, 0]


NUMERALS = """
0 -0 -0.0 007 1. .5 +.5e1 9007199254740992 9007199254740993
9007199254740993.00000000000000000000001 1e22 1e23 123456789e22 9007199254740991e-22 0.1
0.30000000000000004 1.7976931348623157e308 5e-324 2.4703282292062327e-324
2.4703282292062328e-324 2.2250738585072011e-308 1e-400 0e999999999999999999999 99999999999999999
18446744073709551617 6929495644600919.5 3.141592653589793238462643383279502884197
"""
NUMBERS = [
    *NUMERALS.split(),
    "179769313486231570" + "0" * 291,
    "0." + "0" * 40 + "12345e41",
    "1" + "0" * 30 + "e-30",
]


def test_numbers_are_rounded_as_python_rounds_them(scratch: Path) -> None:
    assert_same_bits(read_numbers(scratch, NUMBERS), np.array([float(text) for text in NUMBERS]))


@given(
    st.lists(
        st.from_regex(
            r"[+-]?([0-9]{1,25}(\.[0-9]{0,25})?|\.[0-9]{1,25})([eE][+-]?[0-9]{1,2})?",
            fullmatch=True,
        ),
        min_size=1,
        max_size=20,
    )
)
@settings(max_examples=40)
def test_any_decimal_is_rounded_as_python_rounds_it(scratch: Path, texts: list[str]) -> None:
    assert_same_bits(read_numbers(scratch, texts), np.array([float(text) for text in texts]))


@pytest.mark.parametrize("text", ["nan", "NaN", "NAN", "-nan", "+nAn"])
def test_nan_in_any_case_is_a_missing_value(scratch: Path, text: str) -> None:
    assert np.isnan(read_numbers(scratch, [text])[0])


def test_null_is_a_missing_value(file: WriteFile) -> None:
    """As MQ2007 writes it; queries and comments of this name stay as they are."""
    path = file("1 qid:NULL 1:NULL 2:0.5 3:NULL # a:NULL\n0 qid:2 2:NULL\n")
    X, _, qid, comments = read_letor(path, comments=True)
    assert_same_bits(X, np.array([[np.nan, 0.5, np.nan], [0, np.nan, 0]]))
    assert (qid.tolist(), comments) == (["NULL", "2"], ["a:NULL", ""])
    assert np.isnan(read_letor(path, sparse=True)[0].data).tolist() == [True, False, True, True]


# Queries


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["7", "7", "-3", "7"], np.array([7, 7, -3, 7])),
        ([str(2**63 - 1), str(-(2**63))], np.array([2**63 - 1, -(2**63)])),
        ([str(2**63), "1"], np.array([str(2**63), "1"])),
        (["7", "07"], np.array(["7", "07"])),
        (["-0", "0"], np.array(["-0", "0"])),
        (["a", "a", "b:c", "ä", "qid:1"], np.array(["a", "a", "b:c", "ä", "qid:1"])),
        (["12", "1", "12"], np.array([12, 1, 12])),
    ],
)
def test_queries_are_integers_if_all_are_and_text_otherwise(
    file: WriteFile, names: list[str], expected: Any
) -> None:
    _, _, qid = read_letor(file("".join(f"0 qid:{name} 1:1\n" for name in names)))
    np.testing.assert_array_equal(qid, expected)
    assert qid.dtype == expected.dtype


# Faults

LABEL, VALUE = "a finite number as label", "a finite number, nan or NULL"
FEATURE = "<index>:<value> with an index from 1 to 2147483647"
RANGE = "a number within the range of float64"


@pytest.mark.parametrize(
    ("text", "line", "column", "expected", "got"),
    [
        ("x qid:1 1:1", 1, 1, LABEL, "x"),
        ("nan qid:1 1:1", 1, 1, LABEL, "nan"),
        ("1e999 qid:1", 1, 1, RANGE, "1e999"),
        ("1_0 qid:1 1:1", 1, 1, LABEL, "1_0"),
        ("1 1:1", 1, 3, "qid:<query>", "1:1"),
        ("1", 1, 2, "qid:<query>", ""),
        ("1 qid:1 0:1", 1, 9, FEATURE, "0:1"),
        ("1 qid:1 a:1", 1, 9, FEATURE, "a:1"),
        ("1 qid:1 18446744073709551617:1", 1, 9, FEATURE, "18446744073709551617:1"),
        ("1 qid:1 3:1 3:1", 1, 13, "an index above 3", "3:1"),
        ("1 qid:1 3:", 1, 11, VALUE, ""),
        ("1 qid:1 3:-inf", 1, 11, VALUE, "-inf"),
        ("1 qid:1 3:nano", 1, 11, VALUE, "nano"),
        ("1 qid:1 3:null", 1, 11, VALUE, "null"),
        ("1 qid:1 3:0x10", 1, 11, VALUE, "0x10"),
        ("1 qid:1 3:1e+", 1, 11, VALUE, "1e+"),
        ("# ok\n\n1 qid:1 1:2 # ok\n2\tqid:1  1:x", 4, 12, VALUE, "x"),
        ("1 qid:1 1:1\r\n1 qid:ä b:1\r\n", 2, 9, "<index>:<value> with an index", "b:1"),
        ("", 1, 1, "a document", ""),
        ("1 qid:1 1:1\n1 qid:1 \x00:1\n", 2, 9, "text without NUL bytes", "\x00:1"),
    ],
)
def test_faults_say_where_what_was_expected_and_what_was_found(
    file: WriteFile, text: str, line: int, column: int, expected: str, got: str
) -> None:
    path = file(text)
    start = re.escape(f"{path}, line {line}, column {column}: expected {expected}")
    end = re.escape(f", got {got!r}")
    with pytest.raises(ValueError, match=f"^{start}.*{end}$"):
        read_letor(path)


def test_a_huge_index_is_refused_dense_and_read_sparse(file: WriteFile) -> None:
    path = file("1 qid:1 1:1\n0 qid:1 7:2 2000000000:5 # far\n1 qid:2 9:1\n")
    with pytest.raises(ValueError, match=r"line 2, column 13: .*sparse=True.*'2000000000:5'"):
        read_letor(path)
    X, _, _ = read_letor(path, sparse=True)
    assert X.shape == (3, 2_000_000_000)
    assert X[1, 1_999_999_999] == 5


# Peers


letor = pytest.mark.letor
needs_letor = pytest.mark.skipif(
    "GBRANK_LETOR" not in os.environ, reason="GBRANK_LETOR does not name the folder of LETOR data"
)


@letor
@needs_letor
@pytest.mark.parametrize("name", ["mq2008/S1.txt", "ohsumed/S1.txt", "ohsumed25/S1.txt"])
def test_real_files_read_as_scikit_learn_reads_them(name: str) -> None:
    path = Path(os.environ["GBRANK_LETOR"], name)
    theirs, labels, queries = load_svmlight_file(str(path), query_id=True, zero_based=False)
    X, y, qid, comments = read_letor(path, comments=True)
    assert_same_bits(X, theirs.toarray())
    assert_same_bits(y, labels)
    assert_same_bits(qid, queries)
    X_sparse, _, _ = read_letor(path, sparse=True)
    assert_same_bits(X_sparse.indptr, theirs.indptr.astype(np.int32))
    assert_same_bits(X_sparse.indices, theirs.indices.astype(np.int32))
    assert_same_bits(X_sparse.data, theirs.data)
    lines = path.read_text().splitlines()
    assert comments == [line.partition("#")[2].strip() for line in lines]
