"""The types of what the readers and writers of files pass around."""

import os
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

StrPath: TypeAlias = str | os.PathLike[str]
Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
Features: TypeAlias = Any  # ndarray or SciPy sparse matrix: SciPy has no types of its own
