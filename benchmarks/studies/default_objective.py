"""The default objective: five objectives on the default's trees, judged on validation queries.

python -m benchmarks.studies.default_objective FOLDER --results FILE

FOLDER holds the data sets, `flights_full` among them; FILE keeps what is done, one line a fit. The
tables are printed. `--only TEXT` runs the cases whose name has this text.
"""

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.studies.fits import parquet_documents
from benchmarks.writing import markdown_table
from gbrank import NDCG, GBRanker, Queries, make_cubic
from gbrank.common.checks import Vector
from gbrank.data.feature_matrix import Features
from gbrank.evaluation import read_letor_folds

SETS = ("mq2008", "ohsumed", "flights", "nfcorpus", "wikiqa")
OBJECTIVES = ("noisy:ndcg", "listmle", "ranknet", "lambda:ndcg", "approx:ndcg")
FACTORS = (1.0, 0.5, 2.0)  # on the default learning rate
FEW = (10, 20, 40, 80)  # training queries
SEEDS, THIRDS = 2, 3
SIZES = ((400, 50, 400), (4000, 50, 400), (20, 3000, 20))  # queries, documents, judged queries
NOISE = 1 / 3  # the share of labels that are exchanged at random
MEASURE = NDCG(k=10)


class Part(NamedTuple):
    """Documents with their labels and queries."""

    X: Features
    y: Vector
    qid: np.ndarray

    def take(self, rows: np.ndarray) -> "Part":
        """Return some rows, query by query."""
        rows = rows[np.argsort(self.qid[rows], kind="stable")]
        return Part(*(column[rows] for column in self))


class Case(NamedTuple):
    """A name, which split and seed, and what is trained and judged on."""

    name: str
    split: str
    seed: int
    train: Part
    judged: Part


def real(folder: Path, few: bool) -> Iterator[Case]:
    """Yield five folds and two seeds of each set, of all training queries or of a few."""
    for name in SETS:
        data = read_letor_folds(folder / name)
        whole = Part(data.X, data.y, data.qid)
        for number in range(1, len(data.splits) + 1):
            fold = data.splits[number - 1]
            train, judged = whole.take(fold.train), whole.take(fold.valid)
            queries = np.unique(train.qid)
            for n in [n for n in FEW if n < len(queries)] if few else [len(queries)]:
                for seed in range(SEEDS):
                    rng = np.random.default_rng(10 * number + seed)
                    chosen = rng.choice(queries, n, replace=False) if few else queries
                    part = train.take(np.flatnonzero(np.isin(train.qid, chosen)))
                    label = f"{name}, {n} queries" if few else name
                    yield Case(label, str(number), seed, part, judged)


def artificial() -> Iterator[Case]:
    """Yield cubic polynomials, with and without noise in the training labels."""
    for share in (0.0, NOISE):
        for n_queries, n_documents, judged in SIZES:
            for seed in range(SEEDS):
                X, y, qid = make_cubic(
                    n_queries + judged, n_documents=n_documents, random_state=seed
                )
                rng, rows = np.random.default_rng(seed), np.arange(n_queries * n_documents)
                noisy = rows[rng.random(len(rows)) < share]
                labels = y.copy()
                labels[noisy] = y[rng.permutation(noisy)]
                qid = qid + 10**6 * seed  # other queries for each seed
                whole = Part(X, labels, qid)
                label = f"{n_queries} x {n_documents}" + (", noise" if share else "")
                rest = Part(X, y, qid).take(np.arange(len(rows), len(y)))
                yield Case(label, str(seed), seed, whole.take(rows), rest)


def large(folder: Path) -> Iterator[Case]:
    """Yield six splits of flights in full, by day."""
    documents = parquet_documents(str(folder / "flights_full"))
    whole = Part(documents.X, documents.y, np.unique(documents.qid, return_inverse=True)[1])
    for repeat in range(2):
        third = np.random.default_rng(repeat).integers(0, THIRDS, whole.qid.max() + 1)[whole.qid]
        for number in range(THIRDS):
            train, judged = (
                whole.take(np.flatnonzero(side)) for side in (third != number, third == number)
            )
            yield Case("flights_full", f"{repeat}.{number}", 0, train, judged)


def default_rate(qid: np.ndarray) -> float:
    """Return the learning rate of 150 rounds, as docs/defaults.md has it."""
    sizes = np.unique(qid, return_counts=True)[1]
    total = 15 * np.sqrt(np.minimum(sizes, 70).sum() / 70_000)
    return float(min(max(total / 150, 0.01), 0.2))


def fitted(case: Case, objective: str, factor: float) -> dict[str, object]:
    """Train, and return the value of each judged query and the CPU seconds."""
    train, judged = case.train, case.judged
    rate, start = factor * default_rate(train.qid), time.process_time()
    ranker = GBRanker(objective, learning_rate=rate, random_state=case.seed, n_jobs=1)
    ranker.fit(train.X, train.y, qid=train.qid)
    seconds = time.process_time() - start
    values = MEASURE.bind(judged.y, Queries.from_qid(judged.qid)).per_query(
        ranker.predict(judged.X)
    )
    ids = list(dict.fromkeys(judged.qid.tolist()))
    kept = {str(q): round(float(v), 6) for q, v in zip(ids, values, strict=True) if np.isfinite(v)}
    return {"seconds": seconds, "values": kept}


def tables(known: dict[str, dict[str, object]]) -> Iterator[str]:
    """Yield the mean difference from the first objective, with its standard error."""
    values: dict[tuple[str, str, float], dict[str, list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for key, outcome in known.items():
        name, _, _, objective, factor = json.loads(key)
        for query, value in outcome["values"].items():  # type: ignore[attr-defined]
            values[name, objective, factor][query].append(value)
    for factor in FACTORS:
        rows = []
        for name in dict.fromkeys(name for name, _, _ in values):
            base = values[name, OBJECTIVES[0], 1.0]
            row = [name, f"{np.mean([np.mean(v) for v in base.values()]):.4f}"]
            for objective in OBJECTIVES:
                other = values[name, objective, factor]
                less = [np.mean(v) - np.mean(base[q]) for q, v in other.items() if q in base]
                error = np.std(less) / max(len(less), 1) ** 0.5
                row.append(f"{np.mean(less):+.4f} ± {error:.4f}" if less else "")
            rows.append(row)
        yield f"## {factor:g} times the default rate\n"
        yield markdown_table(["case", OBJECTIVES[0], *OBJECTIVES], rows)


def main() -> None:
    """Run what is not done, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    text = arguments.results.read_text() if arguments.results.exists() else ""
    known = dict(json.loads(line) for line in text.splitlines())
    folder = arguments.folder
    with arguments.results.open("a") as file:
        whole, few = real(folder, few=False), real(folder, few=True)
        for case in chain(whole, few, artificial(), large(folder)):
            for objective in OBJECTIVES if arguments.only in case.name else ():
                for factor in FACTORS:
                    key = json.dumps([case.name, case.split, case.seed, objective, factor])
                    if key not in known:
                        known[key] = fitted(case, objective, factor)
                        print(json.dumps([key, known[key]]), file=file, flush=True)
    print("\n\n".join(tables(known)))


if __name__ == "__main__":
    main()
