"""Do probabilities come true? Expected calibration errors, and pictures of the default ranker's.

python -m benchmarks.studies.calibration --data mq2008 ohsumed
"""

from functools import partial

import numpy as np
from joblib import Parallel, delayed

from benchmarks.letor_folders import read_folds
from benchmarks.named_rankers import ranker_from_name
from benchmarks.studies.study import options
from benchmarks.writing import RESULTS, markdown_table
from gbrank import GBRanker, plots
from gbrank.evaluation import Dataset, expected_calibration_error

DEFAULT = str(GBRanker().objective)
OBJECTIVES = dict.fromkeys([DEFAULT, "pointwise", "lambda:ndcg+pointwise", "lambda:ndcg"])
TEXT = """\
# Predicted probabilities are off by 0.004 to 0.027

`predict(X, output="probability")` maps scores by a logistic curve, fitted to the validation
queries, to the expected label as a share of the largest. One curve serves all queries, so its
quality is limited by how comparable the objective makes scores of different queries. Below are the
expected calibration error (ten bins) of the test queries of all folds, and the curves of
the default, `noisy:ndcg`.
"""


def probabilities(data: Dataset, objective: str, fold: int) -> np.ndarray:
    """Return targets and probabilities of the test documents of a fold."""
    train, valid, test = data.fold(fold)
    ranker = ranker_from_name(objective).set_params(n_jobs=1, random_state=0)
    ranker.fit(train.X, train.y, qid=train.qid, eval_set=[(valid.X, valid.y)], eval_qid=[valid.qid])
    targets = ranker.calibration_.targets(test.y)
    return np.stack([targets, ranker.predict(test.X, output="probability")])


if __name__ == "__main__":
    arguments = options(__doc__).parse_args()
    datasets = [read_folds(folder) for folder in arguments.data]
    names = [data.name for data in datasets]
    rows = []
    for objective in OBJECTIVES:
        errors = []
        for data in datasets:
            of_fold = delayed(partial(probabilities, data, objective))
            t, p = np.hstack(Parallel(arguments.jobs)(map(of_fold, range(1, len(data.splits) + 1))))
            errors.append(f"{expected_calibration_error(t, p):.4f}")
            if objective == DEFAULT:
                picture = RESULTS / f"calibration-{data.name}.png"
                plots.calibration(t, p).figure.savefig(picture, dpi=150)
        rows.append([f"`{objective}`", *errors])
    command = f"```bash\npython -m benchmarks.studies.calibration --data {' '.join(names)}\n```"
    pictures = "\n".join(f"![{name}](calibration-{name}.png)" for name in names)
    table = markdown_table(["objective", *names], rows)
    page = "\n\n".join([TEXT.strip(), command, table, pictures])
    (RESULTS / "calibration.md").write_text(page + "\n", encoding="utf-8")
