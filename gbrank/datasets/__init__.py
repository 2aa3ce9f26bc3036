"""LETOR / SVMlight and TREC files in and out, data in batches, and artificial data."""

from gbrank.data.batches import FeatureBatches
from gbrank.datasets.cubic import make_cubic
from gbrank.datasets.letor_reader import read_letor
from gbrank.datasets.letor_writer import write_letor
from gbrank.datasets.table_files import scan_parquet
from gbrank.datasets.trec import read_judged_run, read_qrels, read_run, write_qrels, write_run
from gbrank.datasets.vespa import read_vespa

__all__ = [
    "FeatureBatches",
    "make_cubic",
    "read_judged_run",
    "read_letor",
    "read_qrels",
    "read_run",
    "read_vespa",
    "scan_parquet",
    "write_letor",
    "write_qrels",
    "write_run",
]
