"""Truncation: which k to train NDCG@k with, and which to be judged by.

python -m benchmarks.studies.truncation --data mq2008 ohsumed
"""

from benchmarks.studies.study import study

TEXT = """\
# To do well on NDCG@k, train with another k, or none

To be judged by NDCG@k, is it better to train on NDCG with the same k, with another, or without a
truncation? This is table 3 of the SmoothRank paper, in trees, for four objectives. All stop early
by NDCG@10.
"""

RELAXATIONS = ("lambda", "approx", "smooth", "tie")
TRAINED = ("", "@1", "@5", "@10", "@50")
MEASURES = ("ndcg@10", "ndcg@1", "ndcg@5", "ndcg@50")

if __name__ == "__main__":
    names = [f"{relaxation}:ndcg{k}" for relaxation in RELAXATIONS for k in TRAINED]
    study("truncation", TEXT, {name: name for name in names}, measures=MEASURES)
