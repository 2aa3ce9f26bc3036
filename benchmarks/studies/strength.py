"""The pointwise companion's λ: how firmly the query effects are held.

python -m benchmarks.studies.strength --data mq2008 ohsumed --cubic 1
"""

from benchmarks.studies.study import study

TEXT = """\
# How strongly the pointwise loss holds query effects back does not matter

The pointwise term has an intercept for each query, and λ is the penalty on it: with a small λ only
differences within queries count, with a large one the term is logistic regression. It is tried by
itself, and as half of a mixture with TieRank. The default is λ = 10.
"""

STRENGTHS = (0.1, 1, 3, 10, 30, 100, 1000)

if __name__ == "__main__":
    terms = [f"pointwise(strength={strength})" for strength in STRENGTHS]
    names = [*terms, *(f"tie:ndcg@10+{term}" for term in terms)]
    study("strength", TEXT, {name: name for name in names}, baseline="pointwise(strength=10)")
