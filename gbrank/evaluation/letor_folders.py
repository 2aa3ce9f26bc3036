"""Folders of learning-to-rank data in LETOR's layouts."""

import hashlib
import re
from pathlib import Path
from typing import Any

import numpy as np

from gbrank.common.arrays import Positions
from gbrank.common.files import refuse_stream
from gbrank.data.queries import Queries
from gbrank.data.splitting import Fold, rotations
from gbrank.datasets import read_letor
from gbrank.datasets.text_files import StrPath
from gbrank.evaluation.dataset import Dataset

PARTS = {"train": "train", "valid": "vali(d|dation)?", "test": "test"}


def read_folds(path: StrPath) -> Dataset:
    r"""Read a folder of learning-to-rank data with its folds.

    Two layouts are known: parts ``S1.txt``, ``S2.txt``, ..., which are rotations (with five parts,
    fold 1 trains on S1, S2, S3, validates on S4 and tests on S5; see `LetorFolds`); and folders
    ``Fold1``, ``Fold2``, ..., each with ``train.txt``, ``vali.txt`` (or ``valid.txt``) and
    ``test.txt``. Files may be compressed (``.txt.gz``). Where a folder has both, the parts are
    read.

    Parameters
    ----------
    path : str or path-like
        The folder; its name becomes that of the data set.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If the folder has neither layout, a file of it is missing or malformed, or a fold splits
        a query.
    FileNotFoundError
        If there is no such folder.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from gbrank.evaluation import read_folds
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in range(1, 4):
    ...         _ = Path(folder, f"S{part}.txt").write_text(f"1 qid:{part} 1:0.5\n")
    ...     data = read_folds(folder)
    >>> [rows.tolist() for rows in data.splits[0]]
    [[0], [1], [2]]
    """
    folder = Path(path)
    if files := _numbered(folder, r"S(\d+)\.txt(\.gz)?"):
        if len(files) < 3:
            raise ValueError(f"{folder} must hold at least 3 parts, got {len(files)}.")
        parts = [_read(file) for file in files]
        X, y, qid = _stacked(files, parts)
        part = np.repeat(np.arange(len(parts)), [len(y) for _, y, _ in parts])
        folds = list(rotations(part))
    elif folders := [file for file in _numbered(folder, r"Fold(\d+)") if file.is_dir()]:
        X, y, qid, folds = _read_fold_folders(folders)
    else:
        raise ValueError(
            f"{folder} must hold S1.txt, S2.txt, ... or Fold1, Fold2, ...; it holds neither."
        )
    return Dataset(folder.resolve().name, X, y, qid, folds)


def _read(file: Path, n_features: int | None = None) -> tuple[Any, Any, Any]:
    refuse_stream(file)
    return read_letor(file, n_features=n_features)


def _stacked(files: list[Path], parts: list[tuple[Any, Any, Any]]) -> tuple[Any, Any, Any]:
    """Return what files hold as if they were one; no query may be in two."""
    matrices, y, qid = zip(*parts, strict=True)
    file_of: dict[str, Path] = {}
    for file, own in zip(files, qid, strict=True):
        queries = dict.fromkeys(map(str, np.unique(own).tolist()), file)
        for query in sorted(queries.keys() & file_of.keys()):
            raise ValueError(
                f"query {query} is both in {file_of[query]} and in {file}: a query must not be "
                "split over files."
            )
        file_of |= queries
    width = max(X.shape[1] for X in matrices)  # a file need not mention the last features
    stacked = np.vstack([np.pad(X, ((0, 0), (0, width - X.shape[1]))) for X in matrices])
    return stacked, np.concatenate(y), np.concatenate(qid)


def _numbered(folder: Path, pattern: str) -> list[Path]:
    """Return the files whose names are numbered 1, 2, ..., in this order."""
    by_number: dict[int, Path] = {}
    for file in sorted(folder.iterdir()):
        if match := re.fullmatch(pattern, file.name):
            first = by_number.setdefault(int(match[1]), file)
            if first != file:
                raise ValueError(f"{folder} must not hold both {first.name} and {file.name}.")
    numbers = sorted(by_number)
    if numbers != list(range(1, len(by_number) + 1)):
        names = ", ".join(by_number[number].name for number in numbers)
        raise ValueError(f"{folder} must be numbered from 1 without gaps, got {names}.")
    return [by_number[number] for number in numbers]


def _read_fold_folders(folders: list[Path]) -> tuple[Any, Any, Any, list[Fold]]:
    """Return features, labels, queries and folds; a query in several folds is kept once."""
    files = [_part(fold, name) for fold in folders for name in PARTS]
    # The first fold holds all documents, and so the last feature; the reader refuses a later one.
    width = max(_read(file)[0].shape[1] for file in files[: len(PARTS)])
    parts: list[tuple[Any, Any, Any]] = []  # X, y and qid of each query
    rows_of_query: dict[tuple[str, bytes], Positions] = {}  # its row numbers in the joined data
    count = 0
    rows_of_file: list[Positions] = []  # likewise, of each file
    for file in files:
        X, y, qid = _read(file, width)
        queries = Queries.from_qid(qid)
        joined_rows = np.empty(len(y), dtype=np.int64)
        blocks = np.split(queries.order, queries.offsets[1:-1])
        for query, rows in zip(queries.ids, blocks, strict=True):
            key = str(query), hashlib.sha256(X[rows].tobytes() + y[rows].tobytes()).digest()
            if key not in rows_of_query:
                rows_of_query[key] = np.arange(count, count + len(rows))
                parts.append((X[rows], y[rows], qid[rows]))
                count += len(rows)
            joined_rows[rows] = rows_of_query[key]
        rows_of_file.append(joined_rows)
    folds = [Fold(*rows_of_file[i : i + len(PARTS)]) for i in range(0, len(files), len(PARTS))]
    X, y, qid = map(np.concatenate, zip(*parts, strict=True))
    return X, y, qid, folds


def _part(folder: Path, name: str) -> Path:
    pattern = rf"{PARTS[name]}\.txt(\.gz)?"
    matches = sorted(file for file in folder.iterdir() if re.fullmatch(pattern, file.name))
    if len(matches) != 1:
        names = ", ".join(file.name for file in matches) or "none"
        raise ValueError(f"{folder} must hold one file {name}.txt, got {names}.")
    return matches[0]
