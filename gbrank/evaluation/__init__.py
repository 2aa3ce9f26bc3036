"""Which ranker is better: cross-validation by query, over several seeds, with paired tests."""

from gbrank.data.splitting import Fold, LetorFolds, QueryKFold, QueryTimeSeriesSplit

from .comparing import compare_rankers, compare_scores, cross_validate_rankers
from .comparison import Comparison, QueryValues, Row
from .dataset import Dataset, LabeledDocuments
from .letor_folds import read_letor_folds
from .scorable import make_scorer, scores_from
from .statistics import required_queries
from .tuning import tune

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
