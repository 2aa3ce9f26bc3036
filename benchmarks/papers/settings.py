"""Where experiments find their data, and how their fits run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from gbrank import compare_rankers
from gbrank.evaluation import Comparison, Dataset, read_letor_folds

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """Data and settings of the experiments.

    Parameters
    ----------
    folder : Path
        Holds LETOR's data sets, each in a folder of its own (see `read_letor_folds`).
    results : Path
        A folder that keeps what is done: rows and pictures.
    queries : int
        How many artificial queries an experiment has at most, at least 5.
    n_jobs : int, optional
        Processes; as many as there are processors by default.
    progress : bool
        Whether to show bars of the fits on standard error.
    """

    folder: Path
    results: Path
    queries: int = 5000
    n_jobs: int | None = None
    progress: bool = False

    def dataset(self, name: str) -> Dataset:
        """Return a data set of the folder."""
        return _read(self.folder / name)

    def compare(
        self, rankers: Mapping[str, Any], data: Dataset, metric: Sequence[Any], seeds: int = 1
    ) -> Comparison:
        """Train rankers on all folds and judge them."""
        (comparison,) = compare_rankers(
            rankers, [data], seeds=seeds, metric=metric, n_jobs=self.n_jobs, progress=self.progress
        )
        return comparison

    def save(self, figure: Figure, name: str) -> None:
        """Write a picture."""
        figure.savefig(self.results / f"{name}.png", dpi=150)


@cache
def _read(folder: Path) -> Dataset:
    return read_letor_folds(folder)
