"""LETOR / SVMlight files in and out, and artificial data."""

from gbrank.datasets.cubic import make_cubic
from gbrank.datasets.reading import read_letor
from gbrank.datasets.writing import write_letor

__all__ = ["make_cubic", "read_letor", "write_letor"]
