"""Do intervals hold where a judge labels all queries, and people 15?

python -m benchmarks.studies.judges --data mq2008 nfcorpus
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from benchmarks.named_rankers import ranker_from_name
from benchmarks.studies.study import options
from benchmarks.writing import RESULTS, markdown_table
from gbrank import GBRanker, LinearRanker, get_measure
from gbrank.data.documents import take_rows
from gbrank.data.queries import Queries
from gbrank.evaluation import Dataset, read_letor_folds
from gbrank.measures.judges import Powered, powered_mean

Vector = NDArray[np.float64]

PEOPLE, QUERIES, DRAWS = 15, 100, 1000
AGREEMENTS, BIASES = (0.3, 0.5, 0.7, 0.85), ("none", "documents", "system", "both")
WIDER = 1.02
TEXT = """\
# With 15 queries judged by people, intervals hold, whatever the judge

People judge 15 queries, a judge all 100, drawn at random (with replacement) from the validation and
test queries of fold 1, {draws:,} times. Four systems were trained on the others: the default
ranker, LightGBM's lambdarank, a linear ranker, and the best single feature. What is estimated is
the mean NDCG@10 of each over all these queries, and the difference of each from the default ranker.
Judges are simulated from people's labels: they keep a label with the probability in the first
column, and else move it, mostly by one grade. Biased judges raise labels by one grade in 60% of
some documents: a third of all, as wordy ones might be; the first five of one system, as if it had
written the judge's prompt; or both. "alike" is the correlation of NDCG@10 by the judge and by
people, over queries.

*People* is the t interval of the 15 queries, *judge* the t interval of the judge's labels of all
100 as if they were people's, *PPI++* that of the paper, with normal quantiles, and *gbrank* what
`compare_scores(judge_labels=)` gives: the slope on the judge shrunk by F / (1 + F), its own error
counted, t with 13 degrees of freedom, and at most the interval of people alone. Coverage is of
nominal 95% intervals; the systems share the draws, so that the standard error of a figure is
between {low:.3f} and {high:.3f}. Width is the mean width beside that of people alone; the last
column says in how many draws gbrank's interval was wider than it by more than 2%.

By the formula of large samples, an interval is 20% narrower where the correlation is 0.65; with 15
queries it takes about 0.7.
"""


def systems(data: Dataset) -> tuple[Vector, Queries, dict[str, Vector]]:
    """Return labels and queries to judge, and the scores of each system."""
    train, valid, test = data.splits[0]
    rows = np.concatenate([valid, test])
    X, seen = take_rows(data.X, rows), take_rows(data.X, train)
    options = {"y": data.y[train], "qid": data.qid[train]}
    params: dict[str, Any] = {"random_state": 0, "n_jobs": 1}
    rankers = {
        "default": GBRanker(**params),
        "lightgbm": ranker_from_name("lightgbm:lambdarank", n_estimators=100),
        "linear": LinearRanker("regression"),
    }
    scores = {name: ranker.fit(seen, **options).predict(X) for name, ranker in rankers.items()}
    measure = get_measure("ndcg@10")
    trained = Queries.from_qid(data.qid[train])
    worth = [measure.bind(data.y[train], trained).mean(column) for column in seen.T]
    scores["feature"] = X[:, int(np.argmax(worth))]
    return data.y[rows], Queries.from_qid(data.qid[rows]), scores


def judge(
    labels: Vector, queries: Queries, favourite: Vector, agreement: float, bias: str, seed: int
) -> Vector:
    """Return the labels of a simulated judge."""
    rng = np.random.default_rng(seed)
    grades = np.unique(labels)
    places = np.searchsorted(grades, labels)
    near = np.clip(places + rng.choice([-1, 1], len(labels)), 0, len(grades) - 1)
    near = np.where(near == places, (places + 1) % len(grades), near)
    other = (places + rng.integers(1, len(grades), len(labels))) % len(grades)
    wrong = np.where(rng.uniform(size=len(labels)) < 0.6, near, other)
    found = np.where(rng.uniform(size=len(labels)) < agreement, places, wrong)
    raised = np.zeros(len(labels), bool)
    if bias in ("documents", "both"):
        raised |= rng.uniform(size=len(labels)) < 1 / 3
    if bias in ("system", "both"):
        order = np.lexsort((-favourite, queries.index))
        rank = np.empty(len(labels), int)
        rank[order] = np.arange(len(labels)) - np.repeat(queries.offsets[:-1], queries.sizes)
        raised |= rank < 5
    raised &= rng.uniform(size=len(labels)) < 0.6
    return grades[np.clip(found + raised, 0, len(grades) - 1)]


def by_people(values: Vector) -> Powered:
    """Return the t interval of some queries."""
    error = values.std(ddof=1) / np.sqrt(len(values))
    return Powered(float(values.mean()), float(error), len(values) - 1, 0.0)


def published(people: Vector, judge: Vector) -> Powered:
    """Return the interval of PPI++: power tuning, and normal quantiles."""
    n, others = len(people), judge[len(people) :]
    slope = np.cov(people, judge[:n])[0, 1] / judge.var(ddof=1) / (1 + n / len(others))
    mean = people.mean() - slope * (judge[:n].mean() - others.mean())
    left = people - slope * judge[:n]
    variance = left.var(ddof=1) / n + slope**2 * judge.var(ddof=1) / len(others)
    return Powered(float(mean), float(np.sqrt(variance)), np.inf, 0.0)


def intervals(people: Vector, judge: Vector) -> dict[str, Powered]:
    """Return the interval of each method, of one draw; people have judged the first queries."""
    some = np.where(np.arange(len(people)) < PEOPLE, people, np.nan)
    return {
        "people": by_people(people[:PEOPLE]),
        "judge": by_people(judge),
        "PPI++": published(people[:PEOPLE], judge),
        "gbrank": powered_mean(some, judge, ~np.isnan(some)),
    }


def draws(people: Vector, judge: Vector, seed: int) -> Iterator[tuple[float, dict[str, Powered]]]:
    """Yield the truth and the intervals of each draw of queries."""
    rng = np.random.default_rng(seed)
    for _ in range(DRAWS):
        chosen = rng.integers(0, len(people), QUERIES)
        yield float(people.mean()), intervals(people[chosen], judge[chosen])


def summary(values: Vector, judged: Vector, pairs: bool, seed: int) -> list[str]:
    """Return coverage and widths of means or differences, a row of values for each system."""
    if pairs:
        values, judged = values[1:] - values[0], judged[1:] - judged[0]
    alike = np.mean([np.corrcoef(*both)[0, 1] for both in zip(values, judged, strict=True)])
    hits: dict[str, list[bool]] = {}
    widths: dict[str, list[float]] = {}
    for own, theirs in zip(values, judged, strict=True):
        for truth, found in draws(own, theirs, seed):
            for name, one in found.items():
                hits.setdefault(name, []).append(abs(one.mean - truth) <= one.margin)
                widths.setdefault(name, []).append(one.margin)
    mean_width = {name: np.mean(own) / np.mean(widths["people"]) for name, own in widths.items()}
    ratio = np.divide(widths["gbrank"], widths["people"])
    return [
        f"{alike:.2f}",
        *(f"{np.mean(own):.3f}" for own in hits.values()),
        f"{mean_width['PPI++']:.2f}",
        f"{mean_width['gbrank']:.2f}",
        f"{np.mean(ratio > WIDER):.1%}",
    ]


def rows_of(data: Dataset, pairs: bool, jobs: int) -> list[list[str]]:
    """Return a row for each judge."""
    labels, queries, scores = systems(data)
    bound = get_measure("ndcg@10").bind(labels, queries)
    people = np.array([bound.per_query(own) for own in scores.values()])
    judges = list(product(AGREEMENTS, BIASES))
    found = []
    for seed, (agreement, bias) in enumerate(judges):
        theirs = judge(labels, queries, scores["lightgbm"], agreement, bias, seed)
        measure = replace(get_measure("ndcg@10"), no_relevant=0).bind(theirs, queries)
        judged = np.array([measure.per_query(own) for own in scores.values()])
        counted = ~np.isnan(people).any(axis=0)
        found.append((people[:, counted], judged[:, counted]))
    cells = Parallel(jobs)(delayed(summary)(*both, pairs, seed) for seed, both in enumerate(found))
    return [[f"{a:g}", b, *row] for (a, b), row in zip(judges, cells, strict=True)]


if __name__ == "__main__":
    arguments = options(__doc__).parse_args()
    datasets = [read_letor_folds(folder) for folder in arguments.data]
    command = f"python -m benchmarks.studies.judges --data {' '.join(d.name for d in datasets)}"
    error = np.sqrt(0.05 * 0.95 / DRAWS)
    parts = [
        TEXT.strip().format(draws=DRAWS, low=error / 2, high=error),
        f"```bash\n{command}\n```",
    ]
    head = ["agreement", "bias", "alike", "people", "judge", "PPI++", "gbrank"]
    head += ["width of PPI++", "width of gbrank", "wider by 2%"]
    for data in datasets:
        for pairs in (False, True):
            rows = rows_of(data, pairs, arguments.jobs)
            what = "differences" if pairs else "means"
            parts += [f"## {data.name}, {what}", markdown_table(head, rows, words=2)]
    (RESULTS / "judges.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
