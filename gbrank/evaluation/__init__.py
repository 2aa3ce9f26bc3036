"""Which ranker is better: cross-validation by query, over several seeds, with paired tests."""

from gbrank.data.splitting import Fold, LetorFolds, QueryKFold, QueryTimeSeriesSplit
from gbrank.evaluation.comparing import compare_rankers, compare_scores, cross_validate_rankers
from gbrank.evaluation.comparison import Comparison, QueryValues, Row
from gbrank.evaluation.dataset import Dataset, LabeledDocuments
from gbrank.evaluation.letor_folds import read_letor_folds
from gbrank.evaluation.scorable import make_scorer, scores_from
from gbrank.evaluation.statistics import required_queries
from gbrank.evaluation.tuning import tune

__all__ = [
    "Comparison",
    "Dataset",
    "Fold",
    "LabeledDocuments",
    "LetorFolds",
    "QueryKFold",
    "QueryTimeSeriesSplit",
    "QueryValues",
    "Row",
    "compare_rankers",
    "compare_scores",
    "cross_validate_rankers",
    "make_scorer",
    "read_letor_folds",
    "required_queries",
    "scores_from",
    "tune",
]
