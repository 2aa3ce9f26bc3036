"""Discounts: mixed with a slower one, and annealed.

python benchmarks/discounts.py --data mq2008 ohsumed
"""

from study import study

TEXT = """\
# Discounts: mixtures and their annealing

The slope of 1/log2(1 + r) falls so fast that a relevant document far down is hardly pushed. Does it
help to mix the training discount with a linear one, 1 − r/m, or to anneal the mixture to the true
discount? Differences are from LambdaRank with the true one.
"""

RELAXATIONS = ("approx", "smooth", "tie", "lambda")
MIXED = "ndcg(discount=mix(log2,linear,0.5))"

if __name__ == "__main__":
    names = []
    for relaxation in RELAXATIONS:
        names += [f"{relaxation}:ndcg", f"{relaxation}:{MIXED}"]
        names.append(f"{relaxation}:ndcg(discount=linear)+linear(0.5,1,150)*{relaxation}:ndcg")
    study("discounts", TEXT, {name: name for name in names}, baseline="lambda:ndcg")
