"""Folders in which LETOR's collections come, with their official folds."""

from pathlib import Path

import numpy as np

from gbrank.common.checks import ArgumentError
from gbrank.common.files import StrPath
from gbrank.data.letor import read_letor
from gbrank.data.splitting import Fold, rotations

from .dataset import Dataset

# Names of the same part in different collections.
PARTS = {
    "train": ("train.txt", "trainingset.txt"),
    "valid": ("vali.txt", "valid.txt", "validationset.txt"),
    "test": ("test.txt", "testset.txt"),
}


def read_letor_folds(folder: StrPath, *, name: str | None = None) -> Dataset:
    """Read a folder of a LETOR collection with its official folds.

    Parameters
    ----------
    folder : path
        Holds either the parts S1.txt, S2.txt, ..., of which fold f trains on parts f, f + 1, ...,
        validates on the last but one and tests on the last, counted cyclically; or the folders
        Fold1, Fold2, ..., each with train.txt, vali.txt and test.txt (or trainingset.txt,
        validationset.txt and testset.txt).
    name : str, optional
        What the data set is called in results; by default, as the folder.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError
        If the folder holds neither, or a part of a fold is missing.
    ValueError
        If a file is not in the format of LETOR, or the test parts of the folds lack queries that
        other parts have.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from gbrank import make_cubic, write_letor
    >>> from gbrank.evaluation import read_letor_folds
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in range(3):
    ...         X, y, qid = make_cubic(4, n_documents=5, random_state=part)
    ...         write_letor(Path(folder) / f"S{part + 1}.txt", X, y, 10 * part + qid)
    ...     data = read_letor_folds(folder, name="made")
    >>> [len(rows) for rows in data.splits[0]]
    [20, 20, 20]
    """
    path = Path(folder)
    folders: list[Path] = []
    files = sorted(path.glob("S[0-9].txt"))
    if len(files) < 3:
        folders = sorted(path.glob("Fold[0-9]*"), key=lambda fold: int(fold.name[4:]))
        if not folders:
            raise FileNotFoundError(
                f"{path} must hold the parts S1.txt, S2.txt, S3.txt, ..., or the folders Fold1, "
                "Fold2, ..."
            )
        files = [_part_of(fold, "test") for fold in folders]
    features, labels, ids = zip(*map(read_letor, files), strict=True)
    width = max(X.shape[1] for X in features)  # features without a value in a file are 0 there
    X = np.concatenate([np.pad(X, [(0, 0), (0, width - X.shape[1])]) for X in features])
    y = np.concatenate(labels)
    qid = np.concatenate(ids)
    part = np.repeat(np.arange(len(files)), [*map(len, labels)])
    folds = []
    for number, fold in enumerate(folders):
        rows = []
        for kind in ("train", "valid"):  # whose queries are tested in other folds
            file = _part_of(fold, kind)
            queries = np.unique(read_letor(file)[2])
            unknown = np.setdiff1d(queries, qid)
            if unknown.size:
                raise ArgumentError(
                    "folder",
                    "must test each query in one of the folds",
                    f"query {unknown[0]} in {file} alone",
                )
            rows.append(np.flatnonzero(np.isin(qid, queries)))
        rows.append(np.flatnonzero(part == number))
        folds.append(Fold(*rows))
    return Dataset(name or path.resolve().name, X, y, qid, folds or rotations(part))


def _part_of(fold: Path, part: str) -> Path:
    """Find the file of a part in the folder of a fold."""
    for file in PARTS[part]:
        if (fold / file).is_file():
            return fold / file
    raise FileNotFoundError(f"{fold} must hold {' or '.join(PARTS[part])}.")
