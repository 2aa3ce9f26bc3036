"""Folders of learning-to-rank data in LETOR's layouts."""

import hashlib
import re
from pathlib import Path
from typing import Any

import numpy as np

from gbrank.data.queries import Queries
from gbrank.datasets import read_letor
from gbrank.datasets.stacking import stack_files
from gbrank.datasets.text_files import StrPath
from gbrank.evaluation.folds import Dataset, Fold, Index, rotate

PARTS = {"train": "train", "valid": "vali(d|dation)?", "test": "test"}


def read_folds(path: StrPath) -> Dataset:
    r"""Read a folder of learning-to-rank data with its folds.

    Two layouts are known: parts ``S1.txt``, ``S2.txt``, ..., which are rotated (with five parts,
    fold 1 trains on S1, S2, S3, validates on S4 and tests on S5; see `split_folds`); and folders
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
    >>> from gbrank import read_folds
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in range(1, 4):
    ...         _ = Path(folder, f"S{part}.txt").write_text(f"1 qid:{part} 1:0.5\n")
    ...     data = read_folds(folder)
    >>> data.folds[0].train.tolist(), data.folds[0].valid.tolist(), data.folds[0].test.tolist()
    ([0], [1], [2])
    """
    folder = Path(path)
    parts = _numbered(folder, r"S(\d+)\.txt(\.gz)?")
    if parts:
        return _read_parts(folder, parts)
    folds = [file for file in _numbered(folder, r"Fold(\d+)") if file.is_dir()]
    if folds:
        return _read_fold_folders(folder, folds)
    raise ValueError(
        f"{folder} must hold S1.txt, S2.txt, ... or Fold1, Fold2, ...; it holds neither."
    )


def _numbered(folder: Path, pattern: str) -> list[Path]:
    """Return the files whose names are numbered 1, 2, ..., in this order."""
    found: dict[int, Path] = {}
    for file in sorted(folder.iterdir()):
        if match := re.fullmatch(pattern, file.name):
            first = found.setdefault(int(match[1]), file)
            if first != file:
                raise ValueError(f"{folder} must not hold both {first.name} and {file.name}.")
    numbers = sorted(found)
    if numbers != list(range(1, len(found) + 1)):
        names = ", ".join(found[number].name for number in numbers)
        raise ValueError(f"{folder} must be numbered from 1 without gaps, got {names}.")
    return [found[number] for number in numbers]


def _read_parts(folder: Path, files: list[Path]) -> Dataset:
    if len(files) < 3:
        raise ValueError(f"{folder} must hold at least 3 parts, got {len(files)}.")
    parts = [read_letor(file) for file in files]
    part = np.repeat(np.arange(len(parts)), [len(y) for _, y, _ in parts])
    X, y, qid = stack_files(files, parts)
    return Dataset(folder.resolve().name, X, y, qid, rotate(part))


def _read_fold_folders(folder: Path, folders: list[Path]) -> Dataset:
    files = [[_part(fold, name) for name in PARTS] for fold in folders]
    # The first fold holds all documents, and so the last feature; the reader refuses a later one.
    width = max(read_letor(file)[0].shape[1] for file in files[0])
    kept = _DistinctQueries()
    folds = [
        Fold(*(kept.add(*read_letor(file, n_features=width)) for file in own)) for own in files
    ]
    X, y, qid = map(np.concatenate, zip(*kept.queries, strict=True))
    return Dataset(folder.resolve().name, X, y, qid, folds)


class _DistinctQueries:
    """The documents of several files; a query that stands in several is kept once."""

    def __init__(self) -> None:
        self.queries: list[tuple[Any, Any, Any]] = []  # X, y and qid of each
        self._places: dict[tuple[str, bytes], Index] = {}
        self._count = 0

    def add(self, X: Any, y: Any, qid: Any) -> Index:
        """Return where the rows of a file are."""
        queries = Queries.from_qid(qid)
        place = np.empty(len(y), dtype=np.int64)
        blocks = np.split(queries.order, queries.offsets[1:-1])
        for query, rows in zip(queries.ids, blocks, strict=True):
            content = hashlib.sha256(X[rows].tobytes() + y[rows].tobytes()).digest()
            key = (str(query), content)
            if key not in self._places:
                self._places[key] = np.arange(self._count, self._count + len(rows))
                self.queries.append((X[rows], y[rows], qid[rows]))
                self._count += len(rows)
            place[rows] = self._places[key]
        return place


def _part(folder: Path, name: str) -> Path:
    pattern = re.compile(rf"{PARTS[name]}\.txt(\.gz)?")
    found = sorted(file for file in folder.iterdir() if pattern.fullmatch(file.name))
    if len(found) != 1:
        names = ", ".join(file.name for file in found) or "none"
        raise ValueError(f"{folder} must hold one file {name}.txt, got {names}.")
    return found[0]
