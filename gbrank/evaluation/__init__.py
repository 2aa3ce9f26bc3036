"""Which ranker is better: cross-validation by query, over several seeds, with paired tests."""

from gbrank.evaluation.best_rate import BestRate
from gbrank.evaluation.calibration_error import expected_calibration_error
from gbrank.evaluation.comparison import Comparison
from gbrank.evaluation.cross_validation import compare_rankers, cross_validate_rankers
from gbrank.evaluation.folds import Dataset, Documents, Fold, split_folds
from gbrank.evaluation.letor_folders import read_folds
from gbrank.evaluation.named_rankers import ranker_from_name
from gbrank.evaluation.scoring import make_scorer
from gbrank.evaluation.summary import Row
from gbrank.evaluation.trial import Outcome

__all__ = [
    "BestRate",
    "Comparison",
    "Dataset",
    "Documents",
    "Fold",
    "Outcome",
    "Row",
    "compare_rankers",
    "cross_validate_rankers",
    "expected_calibration_error",
    "make_scorer",
    "ranker_from_name",
    "read_folds",
    "split_folds",
]
