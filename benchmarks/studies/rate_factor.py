"""What larger steps bring where held-out queries ask for them: artificial data, and real sets.

python -m benchmarks.studies.rate_factor --data mq2008 ohsumed nfcorpus wikiqa flights
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.studies.as_they_come import MEASURE
from benchmarks.studies.sizes import with_exchanged_labels
from benchmarks.writing import RESULTS, markdown_table
from gbrank import GBRanker, Queries, make_cubic
from gbrank.evaluation import LabelledDocuments, read_folds
from gbrank.fit.defaults import learning_rate_of

SHARES = (0.0, 1 / 3, 2 / 3)  # of labels that are exchanged
DOCUMENTS = (4_000, 8_000, 16_000, 32_000, 64_000)
SEEDS = 3
BOOSTERS = ("lightgbm", "xgboost")
TEXT = """\
# Larger steps where labels have little noise

`GBRanker()` against itself with the learning rate of the size of the data, which [held-out
queries](../../docs/defaults.md#labels-with-little-noise) may raise: NDCG@10 at the rate of the
size, what the rate that was chosen adds to it, and in brackets the factors.

```bash
{command}
```

*Artificial data* of 40 documents a query with 20 features (`make_cubic`), by the share of the
training labels that was exchanged at random; 500 other queries, means of {seeds} seeds.

{artificial}

*Real data*: five folds, trained on the training part and judged on the validation part. CPU seconds
are those of a fit at the rate of the size, and of one that chooses.

{real}
"""


class Outcome(NamedTuple):
    """What both fits came to."""

    usual: float  # NDCG@10
    gain: float
    factor: float
    seconds: tuple[float, float]


def outcome(train: LabelledDocuments, test: LabelledDocuments, seed: int, booster: str) -> Outcome:
    """Train at the rate of the size, and at that which the fit chooses."""
    rate = learning_rate_of(GBRanker(), Queries.from_qid(train.qid))
    values, seconds = [], []
    for given in (rate, None):
        ranker = GBRanker(booster=booster, learning_rate=given, random_state=seed, n_jobs=1)
        start = time.process_time()
        ranker.fit(train.X, train.y, qid=train.qid)
        seconds.append(time.process_time() - start)
        values.append(MEASURE(test.y, ranker.predict(test.X), qid=test.qid))
    factor = ranker.learning_rate_ / rate
    return Outcome(values[0], values[1] - values[0], factor, (seconds[0], seconds[1]))


def artificial(documents: int, share: float, seed: int, booster: str) -> Outcome:
    """Return the outcome on artificial queries."""
    n = documents // 40
    X, y, qid = make_cubic(n + 500, n_documents=40, n_features=20, random_state=seed)
    known = qid < n
    train = with_exchanged_labels(LabelledDocuments(X[known], y[known], qid[known]), share)
    test = LabelledDocuments(X[~known], y[~known], qid[~known])
    return outcome(train, test, seed, booster)


def text_of(outcomes: Sequence[Outcome]) -> str:
    """Return the mean value and gain, and the factors."""
    usual, gain = (np.mean([getattr(one, name) for one in outcomes]) for name in ("usual", "gain"))
    factors = ", ".join(f"{one.factor:.2g}" for one in outcomes)
    return f"{usual:.4f} {gain:+.4f} ({factors})"


def artificial_lines() -> Iterator[list[str]]:
    """Yield a line for each booster and size."""
    for booster in BOOSTERS:
        for documents in DOCUMENTS:
            cells = [
                text_of([artificial(documents, share, seed, booster) for seed in range(SEEDS)])
                for share in SHARES
            ]
            print(booster, documents, cells, flush=True)
            yield [booster, f"{documents:,}", *cells]


def real_lines(folders: Sequence[str]) -> Iterator[list[str]]:
    """Yield a line for each booster and data set."""
    for booster in BOOSTERS:
        for folder in folders:
            data = read_folds(folder)
            parts = [data.fold(number)[:2] for number in range(1, len(data.splits) + 1)]
            found: list[Any] = [outcome(*part, 0, booster) for part in parts]
            usual, chosen = np.mean([one.seconds for one in found], axis=0)
            print(booster, folder, text_of(found), flush=True)
            seconds = f"{usual:.2f}, {chosen:.2f}"
            yield [booster, Path(folder).name, text_of(found), seconds]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", required=True, metavar="FOLDER")
    arguments = parser.parse_args()
    names = " ".join(Path(folder).name for folder in arguments.data)
    head = ["booster", "documents", "no noise", "a third", "two thirds"]
    text = TEXT.format(
        command=f"python -m benchmarks.studies.rate_factor --data {names}",
        seeds=SEEDS,
        artificial=markdown_table(head, artificial_lines(), words=2),
        real=markdown_table(
            ["booster", "data", "five folds", "CPU s"], real_lines(arguments.data), words=2
        ),
    )
    (RESULTS / "rate_factor.md").write_text(text, encoding="utf-8")
