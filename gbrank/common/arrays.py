"""The types of arrays, by what they hold."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
Positions: TypeAlias = NDArray[np.int64]
