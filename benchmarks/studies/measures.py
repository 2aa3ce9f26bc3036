"""What to train for what is measured: the ApproxRank paper's question (b).

python -m benchmarks.studies.measures --data mq2008 ohsumed
"""

from benchmarks.named_rankers import ranker_from_name
from benchmarks.studies.study import study
from gbrank import get_measure, get_objective

TEXT = """\
# On two small data sets, training on the measure that one is judged by brings nothing beyond chance

Does training on the measure that one is judged by help? Each relaxation is trained on NDCG, AP, RR
and ERR, stops early by the measure that it is trained on, and is judged on all four. Differences
are from LambdaRank on NDCG.
"""

MEASURES = ("ndcg@10", "ap", "rr", "err")

if __name__ == "__main__":
    rankers = {
        f"{relaxation}:{measure.partition('@')[0]}": ranker_from_name(
            f"{relaxation}:{measure.partition('@')[0]}", eval_metric=measure
        )
        for relaxation in ("lambda", "approx", "tie")
        for measure in MEASURES
        if get_objective(relaxation).takes(get_measure(measure))
    }
    study("measures", TEXT, rankers, metric=MEASURES, parts=["test"])
