"""gbrank: gradient-boosted tree rankers trained on the measure that users are judged by.

The words used throughout: a *query* is one ranking problem, a list of *documents* (rows) with
*labels* (graded relevance, y ≥ 0); a *measure* says what a ranking is worth; a *relaxation* makes
a measure trainable; an *objective* is a relaxation applied to a measure, a loss with its gradient
and *curvature* by each document's *score*; *sigma* is the width of the relaxation, in score units,
by boosting round; a *hook* is the callable that LightGBM or XGBoost calls every round.

``GBRanker`` puts it together; `lightgbm_fobj` and `xgboost_obj` are for code that calls the
boosters itself; `gbrank --help` shows the command line.
"""

from gbrank import plots as plots
from gbrank.boosters.lightgbm.hook import lightgbm_feval, lightgbm_fobj
from gbrank.boosters.xgboost.hook import xgboost_feval, xgboost_obj
from gbrank.common.version import __version__
from gbrank.data.queries import Queries
from gbrank.data.splitting import query_train_test_split
from gbrank.datasets import (
    Clicks,
    make_clicks,
    make_cubic,
    read_judged_run,
    read_letor,
    read_qrels,
    read_run,
    write_letor,
    write_qrels,
    write_run,
)
from gbrank.evaluation import (
    Comparison,
    Dataset,
    compare_rankers,
    cross_validate_rankers,
    expected_calibration_error,
    plot_calibration,
    ranker_from_name,
    read_folds,
    split_folds,
)
from gbrank.evaluation.scoring import make_scorer
from gbrank.export import export_model
from gbrank.fit.loading import load_ranker
from gbrank.linear.linear_ranker import LinearRanker
from gbrank.linear.perceptron import SLAMPerceptron
from gbrank.measures import (
    AP,
    DCG,
    ERR,
    NDCG,
    RBP,
    RR,
    WTA,
    BPref,
    KendallTau,
    Measure,
    PairwiseCorrect,
    Precision,
    Recall,
    get_measure,
    list_measures,
    register_measure,
)
from gbrank.measures.gains import geometric_discount, mix
from gbrank.objectives import (
    SLAM,
    XENDCG,
    ApproxRank,
    GainRegression,
    GBRank,
    LambdaRank,
    ListMLE,
    ListNet,
    Mixture,
    Objective,
    Perturbed,
    Pointwise,
    RankNet,
    RankSVM,
    SmoothAP,
    SmoothRank,
    SoftRank,
    TieRank,
    custom_objective,
    get_objective,
    list_objectives,
    register_objective,
)
from gbrank.ranker import GBRanker
from gbrank.schedules import constant, cosine, geometric, join, linear, staircase

__all__ = [
    "AP",
    "DCG",
    "ERR",
    "NDCG",
    "RBP",
    "RR",
    "SLAM",
    "WTA",
    "XENDCG",
    "ApproxRank",
    "BPref",
    "Clicks",
    "Comparison",
    "Dataset",
    "GBRank",
    "GBRanker",
    "GainRegression",
    "KendallTau",
    "LambdaRank",
    "LinearRanker",
    "ListMLE",
    "ListNet",
    "Measure",
    "Mixture",
    "Objective",
    "PairwiseCorrect",
    "Perturbed",
    "Pointwise",
    "Precision",
    "Queries",
    "RankNet",
    "RankSVM",
    "Recall",
    "SLAMPerceptron",
    "SmoothAP",
    "SmoothRank",
    "SoftRank",
    "TieRank",
    "__version__",
    "compare_rankers",
    "constant",
    "cosine",
    "cross_validate_rankers",
    "custom_objective",
    "expected_calibration_error",
    "export_model",
    "geometric",
    "geometric_discount",
    "get_measure",
    "get_objective",
    "join",
    "lightgbm_feval",
    "lightgbm_fobj",
    "linear",
    "list_measures",
    "list_objectives",
    "load_ranker",
    "make_clicks",
    "make_cubic",
    "make_scorer",
    "mix",
    "plot_calibration",
    "query_train_test_split",
    "ranker_from_name",
    "read_folds",
    "read_judged_run",
    "read_letor",
    "read_qrels",
    "read_run",
    "register_measure",
    "register_objective",
    "split_folds",
    "staircase",
    "write_letor",
    "write_qrels",
    "write_run",
    "xgboost_feval",
    "xgboost_obj",
]
