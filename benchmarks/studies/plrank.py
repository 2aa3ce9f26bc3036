"""PL-Rank beside LambdaRank on noisy rankings, on the same trees, each at its best learning rate.

python -m benchmarks.studies.plrank --data ohsumed mq2008 wikiqa nfcorpus flights
"""

from pathlib import Path

from benchmarks.best_rate import BestRate
from benchmarks.studies.fair import RATES
from benchmarks.studies.study import options, publish
from gbrank import compare_rankers
from gbrank.evaluation import ranker_from_name, read_folds

TEXT = """\
# PL-Rank: its ranking is behind noisy LambdaRank's on two sets of five

`plrank:ndcg` trains the expected NDCG of rankings that are drawn from the scores; here it is judged
by the ranking of the scores themselves. Trees and learning rates are those of
[fair](../../docs/studies/fair.md): the best rate of three on the validation queries. Its curvature,
the Hessian's diagonal but at least |gradient|/(4 σ), was chosen on the validation queries of
MQ2008, OHSUMED and WikiQA, with draws that were stratified otherwise: with this one it had 0.6659
on their mean, with five others 0.6615 to 0.6644. It is the one objective for rankings that are
drawn anew for each user ([exposure](../../docs/howto/several_goals.md#exposure)).
"""
NAMES = ("noisy:ndcg", "plrank:ndcg")


if __name__ == "__main__":
    parser = options(TEXT.splitlines()[0].lstrip("# "))
    parser.add_argument("--results", help="folder that keeps what is done")
    arguments = parser.parse_args()
    comparison = compare_rankers(
        {name: BestRate(ranker_from_name(name), RATES) for name in NAMES},
        [read_folds(folder) for folder in arguments.data],
        seeds=1,
        results=arguments.results,
        n_jobs=arguments.jobs,
    )
    names = " ".join(Path(folder).name for folder in arguments.data)
    publish("plrank", TEXT, f"python -m benchmarks.studies.plrank --data {names}", [comparison])
