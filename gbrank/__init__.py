"""gbrank: gradient-boosted tree rankers trained on the measure that users are judged by.

The words used throughout: a *query* is one ranking problem, a list of *documents* (rows) with
*labels* (graded relevance, y ≥ 0); a *measure* says what a ranking is worth; a *relaxation* makes
a measure trainable; an *objective* is a relaxation applied to a measure, a loss with its gradient
and *curvature* by each document's *score*; *sigma* is the width of the relaxation, in score units,
by boosting round; a *hook* is the callable that LightGBM or XGBoost calls every round.

``GBRanker`` puts it together; `lightgbm_fobj` and `xgboost_obj` are for code that calls the
boosters itself; `gbrank --help` shows the command line.
"""

import typing

from gbrank import plots as plots
from gbrank import schedules as schedules
from gbrank.boosters.lightgbm.hook import lightgbm_feval, lightgbm_fobj
from gbrank.boosters.xgboost.hook import xgboost_feval, xgboost_obj
from gbrank.common.version import __version__
from gbrank.data.frames import split_frame
from gbrank.data.queries import Queries
from gbrank.data.query_splitters import QueryKFold, QueryShuffleSplit, QueryTimeSeriesSplit
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
    BestRate,
    Comparison,
    Dataset,
    compare_rankers,
    cross_validate_rankers,
    expected_calibration_error,
    make_scorer,
    ranker_from_name,
    read_folds,
    split_folds,
)
from gbrank.export import export_model
from gbrank.fit.callbacks import Round
from gbrank.fit.loading import load_ranker
from gbrank.linear.linear_ranker import LinearRanker
from gbrank.linear.perceptron import SLAMPerceptron
from gbrank.measures.gains import geometric_discount
from gbrank.measures.measure import Measure
from gbrank.measures.measure_registry import MEASURES as _MEASURES
from gbrank.measures.measure_registry import (
    custom_measure,
    get_measure,
    list_measures,
    register_measure,
)
from gbrank.objectives.from_string import custom_objective, get_objective
from gbrank.objectives.mixture import Mixture
from gbrank.objectives.objective import Objective
from gbrank.objectives.objective_registry import OBJECTIVES as _OBJECTIVES
from gbrank.objectives.objective_registry import list_objectives, register_objective
from gbrank.ranker import GBRanker
from gbrank.schedules import cosine, geometric, staircase

if typing.TYPE_CHECKING:  # what type checkers and editors cannot see in the registry
    from gbrank.measures.average_precision import AP as AP
    from gbrank.measures.bpref import BPref as BPref
    from gbrank.measures.discounted import DCG as DCG
    from gbrank.measures.discounted import NDCG as NDCG
    from gbrank.measures.discounted import RBP as RBP
    from gbrank.measures.discounted import WTA as WTA
    from gbrank.measures.discounted import Precision as Precision
    from gbrank.measures.discounted import Recall as Recall
    from gbrank.measures.expected_reciprocal_rank import ERR as ERR
    from gbrank.measures.pairwise import KendallTau as KendallTau
    from gbrank.measures.pairwise import PairwiseCorrect as PairwiseCorrect
    from gbrank.measures.reciprocal_rank import RR as RR
    from gbrank.objectives.approxrank import ApproxRank as ApproxRank
    from gbrank.objectives.hinges import RankSVM as RankSVM
    from gbrank.objectives.hinges import SquaredHinge as SquaredHinge
    from gbrank.objectives.lambdarank import LambdaRank as LambdaRank
    from gbrank.objectives.listmle import ListMLE as ListMLE
    from gbrank.objectives.listnet import ListNet as ListNet
    from gbrank.objectives.noisy import NoisyLambdaRank as NoisyLambdaRank
    from gbrank.objectives.pointwise import Pointwise as Pointwise
    from gbrank.objectives.ranknet import RankNet as RankNet
    from gbrank.objectives.regression import GainRegression as GainRegression
    from gbrank.objectives.slam import SLAM as SLAM
    from gbrank.objectives.smoothap import SmoothAP as SmoothAP
    from gbrank.objectives.smoothrank import SmoothRank as SmoothRank
    from gbrank.objectives.softrank import SoftRank as SoftRank
    from gbrank.objectives.tierank import TieRank as TieRank
    from gbrank.objectives.xendcg import XENDCG as XENDCG

_REGISTERED: dict[str, typing.Any] = {
    cls.__name__: cls for cls in (*_MEASURES.values(), *_OBJECTIVES.values())
}
globals().update(_REGISTERED)

__all__ = [
    "BestRate",
    "Clicks",
    "Comparison",
    "Dataset",
    "GBRanker",
    "LinearRanker",
    "Measure",
    "Mixture",
    "Objective",
    "Queries",
    "QueryKFold",
    "QueryShuffleSplit",
    "QueryTimeSeriesSplit",
    "Round",
    "SLAMPerceptron",
    "__version__",
    "compare_rankers",
    "cosine",
    "cross_validate_rankers",
    "custom_measure",
    "custom_objective",
    "expected_calibration_error",
    "export_model",
    "geometric",
    "geometric_discount",
    "get_measure",
    "get_objective",
    "lightgbm_feval",
    "lightgbm_fobj",
    "list_measures",
    "list_objectives",
    "load_ranker",
    "make_clicks",
    "make_cubic",
    "make_scorer",
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
    "split_frame",
    "staircase",
    "write_letor",
    "write_qrels",
    "write_run",
    "xgboost_feval",
    "xgboost_obj",
    *_REGISTERED,
]
__all__.sort()
