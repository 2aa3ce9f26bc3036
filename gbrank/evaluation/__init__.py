"""Which ranker is better: cross-validation by query, over several seeds, with paired tests."""

from gbrank.data.splitting import Fold, LetorFolds, QueryKFold, QueryTimeSeriesSplit
from gbrank.evaluation.comparing import compare_rankers, compare_scores, cross_validate_rankers
from gbrank.evaluation.comparison import Comparison, QueryValues, Row
from gbrank.evaluation.dataset import Dataset, LabelledDocuments
from gbrank.evaluation.letor_folds import read_letor_folds
from gbrank.evaluation.scorable import make_scorer, scores_from
from gbrank.evaluation.statistics import how_many_queries
from gbrank.evaluation.tuning import tune

__all__ = [
    "Comparison",
    "Dataset",
    "Fold",
    "LabelledDocuments",
    "LetorFolds",
    "QueryKFold",
    "QueryTimeSeriesSplit",
    "QueryValues",
    "Row",
    "compare_rankers",
    "compare_scores",
    "cross_validate_rankers",
    "how_many_queries",
    "make_scorer",
    "read_letor_folds",
    "scores_from",
    "tune",
]
