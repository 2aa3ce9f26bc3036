"""What to train for what is measured: the ApproxRank paper's question (b).

python -m benchmarks.studies.measures --data mq2008 ohsumed
"""

from benchmarks.named_rankers import ranker_from_name
from benchmarks.studies.study import study
from gbrank import ApproxRank, LambdaRank, TieRank, get_measure
from gbrank.extend import MeasureObjective

TEXT = """\
# On two small data sets, training on the measure that one is judged by brings nothing beyond chance

Does training on the measure that one is judged by help? Each relaxation is trained on NDCG, AP, RR
and ERR, stops early by the measure that it is trained on, and is judged on all four. Differences
are from LambdaRank on NDCG.
"""

MEASURES = ("ndcg@10", "ap", "rr", "err")
RELAXATIONS: dict[str, type[MeasureObjective]] = {
    "lambda": LambdaRank,
    "approx": ApproxRank,
    "tie": TieRank,
}

if __name__ == "__main__":
    rankers = {
        f"{relaxation}:{measure.partition('@')[0]}": ranker_from_name(
            f"{relaxation}:{measure.partition('@')[0]}", eval_metric=measure
        )
        for relaxation, cls in RELAXATIONS.items()
        for measure in MEASURES
        if cls.takes(get_measure(measure))
    }
    study("measures", TEXT, rankers, metric=MEASURES, parts=["test"])
