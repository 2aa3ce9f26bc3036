"""PL-Rank beside LambdaRank on noisy rankings, on the same trees, each at its best learning rate.

python -m benchmarks.studies.plrank --data ohsumed mq2008 wikiqa nfcorpus flights --large FOLDER
"""

from sklearn.base import clone

from benchmarks.best_rate import BestRate
from benchmarks.named_rankers import ranker_from_name
from benchmarks.plrank import PLRank
from benchmarks.studies.fair import RATES
from benchmarks.studies.study import study

TEXT = """\
# PL-Rank: its ranking is behind noisy LambdaRank's on four sets of six

PL-Rank trains the expected NDCG of rankings that are drawn from the scores; here it is judged
by the ranking of the scores themselves. Trees and learning rates are those of
[fair](../../docs/studies/fair.md): the best rate of three on the validation queries. Its curvature,
the Hessian's diagonal but at least |gradient|/(4 σ), was chosen on the validation queries of
MQ2008, OHSUMED and WikiQA, with draws that were stratified otherwise: with this one it had 0.6659
on their mean, with five others 0.6615 to 0.6644. What it trains are rankings that are drawn anew
for each user, for [exposure](../../docs/howto/several_goals.md#exposure): drawn with noise of width
1, they have a mean NDCG@10 of 0.712 on MQ2008 and WikiQA (two test parts each), those of
`noisy:ndcg` 0.678; with widths for which attention is equally unequal 0.698 and 0.696. So it is an
objective of [benchmarks](../plrank.py), and not in gbrank.
"""


if __name__ == "__main__":
    noisy = ranker_from_name("noisy:ndcg")
    rankers = {"noisy:ndcg": noisy, "plrank:ndcg": clone(noisy).set_params(objective=PLRank())}
    study("plrank", TEXT, {name: BestRate(own, RATES) for name, own in rankers.items()}, seeds=1)
