"""A kernel with the constants that it runs on."""

from dataclasses import dataclass, field
from typing import Any, Literal, get_type_hints

import numpy as np

from gbrank.common.arrays import Matrix, Vector
from gbrank.kernels.compiled import Function
from gbrank.kernels.contract import MeasureFunctions, NoParameters


@dataclass(frozen=True, eq=False)
class Program:
    """A kernel with the constants that it runs on, for one set of queries.

    Parameters
    ----------
    kernel : function
        Python function of the kernel's signature (see `gbrank.kernels.contract`), compiled when
        first run.
    labels : ndarray, shape (n_documents,)
        The label of each document, in input order. Documents of equal score are sorted by it, and
        all else that is known of a document must be a function of it.
    x : ndarray, shape (n_documents,), optional
        What each document is worth, in input order; its label by default.
    scale : ndarray, shape (n_queries,), optional
        Factor on the value of each query; 1 by default.
    cut : float
        The last rank that counts; infinity if all do.
    constants : ndarray, shape (n_queries, columns), optional
        A measure's own constants.
    table : ndarray, shape (n_documents,)
        Constants of each position, query by query; or empty.
    parameters : named tuple
        The kernel's own parameters: numbers, or arrays that all queries share.
    measure : MeasureFunctions
        The functions of a measure that the kernel calls.
    scratch, measure_scratch : int
        How many rows of scratch the kernel needs, and the measure.
    tied : bool
        Whether documents of equal score form blocks. If not, each stands alone, in the order of
        `order`.
    order : {"descending", "ascending", "input"}
        How documents of equal score are sorted: by their labels, or as they come.
    seed : int
        What the kernel's random numbers depend on, besides round and query.
    """

    kernel: Function
    labels: Vector
    x: Vector | None = None
    scale: Vector | None = None
    cut: float = np.inf
    constants: Matrix | None = None
    table: Vector = field(default_factory=lambda: np.empty(0))
    parameters: Any = NoParameters()
    measure: MeasureFunctions = MeasureFunctions()
    scratch: int = 0
    measure_scratch: int = 0
    tied: bool = True
    order: Literal["descending", "ascending", "input"] = "descending"
    seed: int = 0

    def __post_init__(self) -> None:
        # For compiled code, an int in place of a float is another type.
        hints = get_type_hints(type(self.parameters))
        values = {
            name: hints[name](value) if hints.get(name) in (float, int, bool) else value
            for name, value in self.parameters._asdict().items()
        }
        object.__setattr__(self, "parameters", type(self.parameters)(**values))
