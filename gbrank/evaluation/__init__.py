"""Which ranker is better: cross-validation by query, over several seeds, with paired tests."""

from gbrank.data.splitting import Fold as Fold
from gbrank.data.splitting import LetorFolds as LetorFolds
from gbrank.evaluation.calibration_error import (
    expected_calibration_error as expected_calibration_error,
)
from gbrank.evaluation.comparison import Comparison as Comparison
from gbrank.evaluation.cross_validation import compare_rankers as compare_rankers
from gbrank.evaluation.cross_validation import cross_validate_rankers as cross_validate_rankers
from gbrank.evaluation.dataset import Dataset as Dataset
from gbrank.evaluation.dataset import LabelledDocuments as LabelledDocuments
from gbrank.evaluation.letor_folders import read_folds as read_folds
from gbrank.evaluation.named_rankers import ranker_from_name as ranker_from_name
from gbrank.evaluation.pareto import Front as Front
from gbrank.evaluation.pareto import Point as Point
from gbrank.evaluation.pareto import pareto as pareto
from gbrank.evaluation.scoring import make_scorer as make_scorer
from gbrank.evaluation.summary import Row as Row
from gbrank.evaluation.trial import Outcome as Outcome
