"""Folders of LETOR data in parts, as studies, papers and tests read them."""

from pathlib import Path

import numpy as np

from gbrank import read_letor
from gbrank.data.splitting import rotations
from gbrank.evaluation import Dataset

__all__ = ["read_folds"]


def read_folds(path: str | Path) -> Dataset:
    """Return the data of S1.txt, S2.txt, ...: fold 1 trains on all but the last two parts."""
    folder = Path(path)
    parts = [read_letor(file) for file in sorted(folder.glob("S?.txt"))]
    X, y, qid = map(np.concatenate, zip(*parts, strict=True))
    part = np.repeat(np.arange(len(parts)), [len(y) for _, y, _ in parts])
    return Dataset(folder.resolve().name, X, y, qid, list(rotations(part)))
