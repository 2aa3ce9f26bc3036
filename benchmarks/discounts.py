"""Discounts: mixed with a slower one, annealed, and cut at k.

python benchmarks/discounts.py --data mq2008 ohsumed
"""

from study import study

TEXT = """\
# Discounts: mixtures and cut-offs

The slope of 1/log2(1 + r) falls so fast that a relevant document far down is hardly pushed. Does it
help to mix the training discount with a linear one, 1 − r/m, or to anneal the mixture to the true
discount? And is it better to train on NDCG@k with the k that is judged, 10, or with another?
"""

RELAXATIONS = ("approx", "smooth", "tie", "lambda")
MIXED = "ndcg(discount=mix(log2,linear,0.5))"

if __name__ == "__main__":
    names = []
    for relaxation in RELAXATIONS:
        names += [f"{relaxation}:ndcg", f"{relaxation}:{MIXED}"]
        names += [f"{relaxation}:ndcg(discount=linear)+linear(0.5,1,150)*{relaxation}:ndcg"]
        names += [f"{relaxation}:ndcg@{k}" for k in (1, 5, 10, 50)]
    study("discounts", TEXT, {name: name for name in names}, baseline="lambda:ndcg")
