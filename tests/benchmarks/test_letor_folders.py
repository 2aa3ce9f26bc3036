"""Data in LETOR's parts, as studies read them."""

from pathlib import Path

from numpy.testing import assert_array_equal

from benchmarks.letor_folders import read_folds
from gbrank import make_cubic, write_letor

X, Y, QID = make_cubic(12, n_documents=8, n_features=4, random_state=0)


def test_parts_rotate(tmp_path: Path) -> None:
    """With four parts, fold 1 trains on the first two, validates on S3 and tests on S4."""
    for part in range(4):
        own = part == QID // 3
        write_letor(tmp_path / f"S{part + 1}.txt", X[own], Y[own], QID[own])
    data = read_folds(tmp_path)
    assert data.name == tmp_path.name
    assert_array_equal(data.X, X)
    parts = [[*dict.fromkeys((data.qid[rows] // 3).tolist())] for rows in data.splits[0]]
    assert parts == [[0, 1], [2], [3]]
    assert [data.qid[fold.test[0]] // 3 for fold in data.splits] == [3, 0, 1, 2]
