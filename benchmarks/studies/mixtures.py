"""Mixtures: which companion, and how much of it.

python -m benchmarks.studies.mixtures --data mq2008 ohsumed --cubic 1
"""

from benchmarks.studies.study import study

TEXT = """\
# Smoothed objectives from scratch need another loss beside them, such as ListMLE

A measure's relaxation depends on the present ranking; a convex loss (the pointwise term with a
query effect, or the likelihood of the ideal order) pushes every document, however wrong its rank.
In a mixture, each is divided by its mean curvature in every round. The last rows go from one
objective to another over the first 150 rounds.
"""

RELAXATIONS = ("lambda:ndcg", "approx:ndcg", "smooth:ndcg", "tie:ndcg@10")

if __name__ == "__main__":
    names = ["lightgbm:lambdarank", "pointwise", "listmle", "xendcg", "listmle+pointwise"]
    for relaxation in RELAXATIONS:
        names.append(relaxation)
        for companion in ("pointwise", "listmle"):
            names += [f"{relaxation}+{companion}", f"0.2*{relaxation}+0.8*{companion}"]
        names.append(f"0.25*{relaxation}+0.25*listmle+0.5*pointwise")
    names += [
        "linear(1,0,150)*pointwise+linear(0,1,150)*lambda:ndcg",
        "linear(1,0,150)*listmle+linear(0,1,150)*tie:ndcg@10",
    ]
    study("mixtures", TEXT, {name: name for name in names}, baseline="lightgbm:lambdarank")
