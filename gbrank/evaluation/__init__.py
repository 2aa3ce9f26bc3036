"""Which ranker is better: cross-validation by query, over several seeds, with paired tests."""

from gbrank.evaluation.comparison import Comparison
from gbrank.evaluation.folds import Dataset, Documents, Fold, split_folds
from gbrank.evaluation.letor import read_folds
from gbrank.evaluation.rankers import ranker_from_name
from gbrank.evaluation.reliability import expected_calibration_error, plot_calibration
from gbrank.evaluation.running import compare_rankers, cross_validate_rankers
from gbrank.evaluation.summary import Row

__all__ = [
    "Comparison",
    "Dataset",
    "Documents",
    "Fold",
    "Row",
    "compare_rankers",
    "cross_validate_rankers",
    "expected_calibration_error",
    "plot_calibration",
    "ranker_from_name",
    "read_folds",
    "split_folds",
]
