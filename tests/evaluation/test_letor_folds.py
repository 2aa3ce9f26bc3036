"""Folders of LETOR's collections: parts that rotate, and official folds."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from gbrank import write_letor
from gbrank.evaluation import read_letor_folds

LETOR_3 = {
    "train.txt": "trainingset.txt",
    "vali.txt": "validationset.txt",
    "test.txt": "testset.txt",
}


def part(number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return two queries of two documents; the last part alone has a third feature."""
    X = np.full((4, 2 + (number == 3)), 1.0 + number)
    return X, np.array([0.0, 1, 2, 0]), 10 * number + np.array([1, 1, 2, 2])


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    folder = tmp_path / "made"
    folder.mkdir()
    for number in range(4):
        write_letor(folder / f"S{number + 1}.txt", *part(number))
    return folder


@pytest.fixture
def official(parts: Path, tmp_path: Path) -> Path:
    """Fold f trains on parts f and f + 1, validates on f + 2 and tests on f + 3."""
    for fold in range(4):
        folder = tmp_path / "official" / f"Fold{fold + 1}"
        folder.mkdir(parents=True)
        texts = [(parts / f"S{(fold + i) % 4 + 1}.txt").read_text() for i in range(4)]
        (folder / "train.txt").write_text(texts[0] + texts[1])
        (folder / "vali.txt").write_text(texts[2])
        (folder / "test.txt").write_text(texts[3])
    return tmp_path / "official"


def queries_of_folds(folder: Path) -> list[list[list[int]]]:
    data = read_letor_folds(folder)
    return [[np.unique(data.qid[rows]).tolist() for rows in fold] for fold in data.splits]


EXPECTED = [
    [[1, 2, 11, 12], [21, 22], [31, 32]],
    [[11, 12, 21, 22], [31, 32], [1, 2]],
    [[21, 22, 31, 32], [1, 2], [11, 12]],
    [[1, 2, 31, 32], [11, 12], [21, 22]],
]


def test_parts(parts: Path) -> None:
    data = read_letor_folds(parts)
    assert data.name == "made"
    assert data.X[0].tolist() == [1, 1, 0]
    assert data.X[-1].tolist() == [4, 4, 4]
    assert data.y.tolist() == [0, 1, 2, 0] * 4
    assert queries_of_folds(parts) == EXPECTED
    assert read_letor_folds(parts, name="other").name == "other"


def test_official_folds(official: Path) -> None:
    assert queries_of_folds(official) == EXPECTED


def test_official_folds_of_letor_3(official: Path) -> None:
    for file in official.glob("*/*.txt"):
        file.rename(file.with_name(LETOR_3[file.name]))
    assert queries_of_folds(official) == EXPECTED


def test_what_is_missing(official: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"must hold the parts S1\.txt, S2\.txt"):
        read_letor_folds(tmp_path / "nothing")
    (official / "Fold2" / "vali.txt").unlink()
    with pytest.raises(FileNotFoundError, match=r"Fold2 must hold vali\.txt or valid\.txt or"):
        read_letor_folds(official)
    shutil.rmtree(official / "Fold2")
    with pytest.raises(ValueError, match=r"must test each query .* got query 1 in .*train\.txt"):
        read_letor_folds(official)
