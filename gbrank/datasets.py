"""LETOR / SVMlight and TREC files in and out, and artificial data."""

from gbrank.data.cubic import make_cubic
from gbrank.data.letor import read_letor, write_letor
from gbrank.data.trec import read_judged_run, read_qrels, read_run, write_qrels, write_run

__all__ = [
    "make_cubic",
    "read_judged_run",
    "read_letor",
    "read_qrels",
    "read_run",
    "write_letor",
    "write_qrels",
    "write_run",
]
