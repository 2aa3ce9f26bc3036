"""Mixtures: which companion, and how much of it.

python -m benchmarks.studies.mixtures --data mq2008 ohsumed --cubic 1
"""

from benchmarks.studies.study import study

TEXT = """\
# Mixtures: which companion, and how much of it

A measure's relaxation looks at the ranking as it is; a convex loss (the pointwise term with a query
effect, or the likelihood of the ideal order) pushes every document, however wrong it stands.
Mixed, each is divided by its mean curvature in every round. The last rows go from one objective to
another over the first 150 rounds.
"""

RELAXATIONS = ("lambda:ndcg", "approx:ndcg", "smooth:ndcg", "tie:ndcg@10")

if __name__ == "__main__":
    names = ["lightgbm:lambdarank", "pointwise", "listmle", "xendcg", "listmle+pointwise"]
    for relaxation in RELAXATIONS:
        names.append(relaxation)
        names += [f"{relaxation}+{share}*pointwise" for share in (0.5, 0.8)]
        names += [f"{relaxation}+{share}*listmle" for share in (0.5, 0.8)]
        names.append(f"{relaxation}+listmle+pointwise")
    names += [
        "pointwise+linear(0,1,150)*lambda:ndcg",
        "listmle+linear(0,1,150)*tie:ndcg@10",
    ]
    study("mixtures", TEXT, {name: name for name in names}, baseline="lightgbm:lambdarank")
