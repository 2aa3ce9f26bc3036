"""Which features decide a pair: deleting those of the pair, or those of one document.

python -m benchmarks.studies.pairs --data mq2008
"""

import argparse
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from benchmarks.letor_folders import read_folds
from benchmarks.writing import RESULTS, markdown_table, rows_to_json
from gbrank import GBRanker
from gbrank.evaluation import Dataset
from gbrank.plots.style import PALETTE, tidy

PAIRS, MOST = 400, 15  # of each fold; deleted features
SIGNED, ONE, RANDOM = "largest share of the gap", "largest |SHAP value| of one document", "random"
TEXT = """\
# To say why A is above B, compare both documents: the SHAP values of one tell less

`explain_pair` splits the gap between two scores among the features. Are those with the largest
shares what decides the pair? In each of five folds, {pairs} pairs of documents of validation
queries were drawn, one above the other by a ranker that was trained on the training queries.
Features of the upper document were then set to the value of the lower one, one after another, in
three orders: by their share of the gap, by the size of the upper document's own SHAP value, and at
random. The table has the share of pairs that were flipped after so many features, and the mean
number that it took (pairs that were not flipped by {most} features count as {most}).

![pairs that were flipped, by the number of features](pairs.png)
"""


def flips(data: Dataset, number: int) -> dict[str, Any]:
    """Return, for each order, after how many features each pair was flipped."""
    train, valid, _ = data.fold(number)
    ranker = GBRanker(random_state=number, n_jobs=1).fit(train.X, train.y, qid=train.qid)
    scores, shares = ranker.predict(valid.X), ranker.explain(valid.X)[:, :-1]
    rng = np.random.default_rng(number)
    upper, lower = [], []
    while len(upper) < PAIRS:
        one, other = rng.choice(np.flatnonzero(valid.qid == rng.choice(valid.qid)), 2)
        if scores[one] > scores[other]:
            upper.append(one)
            lower.append(other)
    orders = {
        SIGNED: np.argsort(shares[lower] - shares[upper], axis=1),
        ONE: np.argsort(-np.abs(shares[upper]), axis=1),
        RANDOM: np.argsort(rng.random((PAIRS, valid.X.shape[1])), axis=1),
    }
    found = {}
    for name, order in orders.items():
        changed, below = valid.X[upper].copy(), np.zeros((PAIRS, MOST), bool)
        for step in range(MOST):
            rows, columns = np.arange(PAIRS), order[:, step]
            changed[rows, columns] = valid.X[lower][rows, columns]
            below[:, step] = ranker.predict(changed) < scores[lower]
        found[name] = np.where(below.any(axis=1), below.argmax(axis=1) + 1, MOST + 1)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, metavar="FOLDER")
    data = read_folds(parser.parse_args().data)
    folds = [flips(data, number) for number in range(1, 1 + len(data.splits))]
    figure, axes = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
    shown = (1, 2, 3, 5, 10, MOST)
    rows = []
    for color, name in zip(PALETTE, folds[0], strict=False):
        after = np.concatenate([fold[name] for fold in folds])
        curve = [float((after <= count).mean()) for count in range(MOST + 1)]
        axes.plot(range(MOST + 1), curve, "o-", color=color, label=name)
        mean = float(np.minimum(after, MOST).mean())
        rows.append({"order": name, **{str(n): curve[n] for n in shown}, "mean": mean})
    axes.set(xlabel="features of the lower document", ylabel="share of pairs flipped", ylim=(0, 1))
    axes.legend(frameon=False)
    tidy(axes)
    figure.savefig(RESULTS / "pairs.png", dpi=110)
    table = markdown_table(
        ["features in order of", *map(str, shown), "mean number"],
        [
            [row["order"], *(f"{row[str(n)]:.3f}" for n in shown), f"{row['mean']:.2f}"]
            for row in rows
        ],
    )
    command = f"python -m benchmarks.studies.pairs --data {Path(data.name).name}"
    text = TEXT.format(pairs=PAIRS, most=MOST).strip()
    page = "\n\n".join([text, f"```bash\n{command}\n```", table])
    (RESULTS / "pairs.md").write_text(f"{page}\n", encoding="utf-8")
    (RESULTS / "pairs.json").write_text(rows_to_json(rows), encoding="utf-8")
    print(table)
