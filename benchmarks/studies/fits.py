"""What studies of rankers with given parameters share: data, fits that are kept, comparisons.

A study compares rankers on cases: five folds like LETOR's, random samples of their training
queries, flights, artificial data. A ranker is a function of documents to train on, documents to
rank and a seed, which returns scores.
"""

import argparse
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.strata import against_first
from benchmarks.writing import RESULTS, rows_to_json
from gbrank import NDCG, GBRanker, Queries, make_cubic, query_train_test_split, split_frame
from gbrank.evaluation import Dataset, LabeledDocuments

MEASURE = NDCG(k=10)
FEW = (10, 20, 40, 80, 160, 320)  # training queries
ALL_DEPARTURES = 133_000  # training documents of flights in full, about
NOISE = 1 / 3  # the share of labels that are exchanged
OPTIONS: dict[str, dict[str, Any]] = {
    "--data": {"nargs": "+", "required": True, "metavar": "FOLDER", "help": "five folds of LETOR"},
    "--large": {"required": True, "metavar": "FOLDER", "help": "flights in full, as Parquet"},
    "--results": {"type": Path, "metavar": "FILE", "help": "keeps what is done"},
}


class Case(NamedTuple):
    """What a ranker is trained and evaluated on, with its data set, size, place and seed."""

    data: str
    size: int | str
    number: int  # of the fold or split
    seed: int
    train: LabeledDocuments
    test: LabeledDocuments


class Outcome(NamedTuple):
    """What one fit came to."""

    ids: list[Any]  # of the test queries
    values: list[float]  # of each; NaN where it is skipped
    seconds: float


class Study:
    """A study from the command line; what its fits came to is kept in a file."""

    def __init__(self, name: str, description: str, *options: str) -> None:
        """Read the options, and train once, so that no fit that counts compiles."""
        parser = argparse.ArgumentParser(description=description.splitlines()[0])
        for option in (*options, "--results"):
            parser.add_argument(option, **OPTIONS[option])
        given = vars(parser.parse_args())
        self.name = name
        self.folders: list[str] = given.get("data", [])
        self.large: str = given.get("large", "")
        self.names = [Path(folder).name for folder in self.folders]
        data = f" --data {' '.join(self.names)}" if self.folders else ""
        large = f" --large {Path(self.large).name}" if self.large else ""
        self.command = f"python -m benchmarks.studies.{name}{data}{large}"
        self._file: Path | None = given["results"]
        text = self._file.read_text() if self._file and self._file.exists() else ""
        self._known = dict(json.loads(line) for line in text.splitlines())
        X, y, qid = make_cubic(9, random_state=0)
        GBRanker(n_estimators=1).fit(X, y, qid=qid)

    def rows(self, cases: Iterable[Case], rankers: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return each ranker's values by query and seconds, by data set and size."""
        found: dict[tuple[str, int | str, str], list[Outcome]] = {}
        for case in cases:
            for name, scores_of in rankers.items():
                key = case.data, case.size, name
                found.setdefault(key, []).append(self._outcome(case, name, scores_of))
        return [
            {"data": data, "size": size, "ranker": name, **joined(outcomes)}
            for (data, size, name), outcomes in found.items()
        ]

    def publish(self, rows: Iterable[Mapping[str, Any]], page: str, folder: Path = RESULTS) -> None:
        """Write the numbers, and the page into a folder."""
        (RESULTS / f"{self.name}.json").write_text(rows_to_json(rows), encoding="utf-8")
        (folder / f"{self.name}.md").write_text(page, encoding="utf-8")

    def _outcome(self, case: Case, name: str, scores_of: Any) -> Outcome:
        """Return the NDCG@10 of each test query, and the CPU seconds of the fit."""
        key = f"{case.data} {case.size} {case.number} {case.seed} {name}"
        if key not in self._known:
            start = time.process_time()
            scores = scores_of(case.train, case.test, case.seed)
            seconds = time.process_time() - start
            values = MEASURE.per_query(case.test.y, scores, qid=case.test.qid).tolist()
            self._known[key] = [values, seconds]
            print(f"{key}: {np.nanmean(values):.4f}, {seconds:.1f} s", flush=True)
            if self._file:
                with self._file.open("a") as file:
                    file.write(json.dumps([key, self._known[key]]) + "\n")
        return Outcome(Queries.from_qid(case.test.qid).ids.tolist(), *self._known[key])


def folds(data: Dataset, part: str, seeds: Sequence[int] | None = None) -> Iterator[Case]:
    """Yield each fold, with the part that is evaluated; its seed is its number by default."""
    for number in range(1, len(data.splits) + 1):
        train, valid, test = data.fold(number)
        for seed in seeds or [number]:
            yield Case(data.name, "all", number, seed, train, {"valid": valid, "test": test}[part])


def samples(cases: Iterable[Case], sizes: Sequence[int] = FEW) -> Iterator[Case]:
    """Yield random samples of each case's training queries."""
    for case in cases:
        for n in sizes:
            if n <= len(np.unique(case.train.qid)):
                train = drawn(case.train, n, 100 * case.number + case.seed)
                yield case._replace(size=n, train=train)


def drawn(train: LabeledDocuments, n_queries: int, seed: int) -> LabeledDocuments:
    """Return the documents of some queries."""
    ids = np.unique(train.qid)
    chosen = np.random.default_rng(seed).choice(ids, n_queries, replace=False)
    return LabeledDocuments(*(part[np.isin(train.qid, chosen)] for part in train))


def parquet_documents(folder: str) -> LabeledDocuments:
    """Return all documents of a folder of Parquet files."""
    X, y, qid = split_frame(pd.read_parquet(folder))
    return LabeledDocuments(X.to_numpy(), y, np.asarray(qid))


def departures(folder: str, splits: Iterable[int], sizes: Sequence[int] = ()) -> Iterator[Case]:
    """Yield splits of flights by day: some days of about so many documents, and all days."""
    X, y, qid = parquet_documents(folder)
    for split in splits:
        parts = query_train_test_split(X, y, qid=qid, test_size=1 / 3, random_state=split)
        X_train, X_test, y_train, y_test, qid_train, qid_test = parts
        train = LabeledDocuments(X_train, y_train, np.asarray(qid_train))
        test = LabeledDocuments(X_test, y_test, np.asarray(qid_test))
        n_days = len(np.unique(train.qid))
        for size in sizes:
            some = drawn(train, round(n_days * size / ALL_DEPARTURES), split)
            yield Case("flights", size, split, split, some, test)
        yield Case("flights", ALL_DEPARTURES, split, split, train, test)


def artificial(sizes: Iterable[int], random_state: int) -> Iterator[Case]:
    """Yield artificial queries of 50 documents, without noise and with labels exchanged."""
    for size in sizes:
        n = size // 50
        X, y, qid = make_cubic(n + 2_000, n_documents=50, random_state=random_state)
        in_training = qid < n
        test = LabeledDocuments(X[~in_training], y[~in_training], qid[~in_training])
        train = LabeledDocuments(X[in_training], y[in_training], qid[in_training])
        yield Case("artificial", size, 1, 1, train, test)
        yield Case(
            "artificial, noisy labels", size, 1, 1, with_exchanged_labels(train, NOISE), test
        )


def with_exchanged_labels(part: LabeledDocuments, share: float) -> LabeledDocuments:
    """Return the documents with this share of their labels exchanged at random."""
    rng = np.random.default_rng(1)
    labels = part.y.copy()
    changed = rng.random(len(labels)) < share
    labels[changed] = rng.permutation(labels[changed])
    return LabeledDocuments(part.X, labels, part.qid)


def joined(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return each query's mean value over several fits, and their mean seconds."""
    by_query: dict[Any, list[float]] = {}
    for one in outcomes:
        for query, value in zip(one.ids, one.values, strict=True):
            by_query.setdefault(query, []).append(value)
    values = np.array([np.mean(own) for own in by_query.values()])
    return {"values": values, "seconds": float(np.mean([one.seconds for one in outcomes]))}


def compared(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each size and ranker, the mean over data sets against the first ranker."""
    rows = []
    for size in dict.fromkeys(one["size"] for one in found):
        own = [one for one in found if one["size"] == size]
        names = list(dict.fromkeys(one["ranker"] for one in own))
        strata = []
        for data in dict.fromkeys(one["data"] for one in own):
            values = np.array([one["values"] for one in own if one["data"] == data])
            strata.append(values[:, ~np.isnan(values).any(axis=0)])
        for name, summary in zip(names, against_first(strata), strict=True):
            seconds = float(np.mean([one["seconds"] for one in own if one["ranker"] == name]))
            rows.append(
                {"data": own[0]["data"] if len(strata) == 1 else "mean", "sets": len(strata)}
                | {"size": size, "queries": sum(values.shape[1] for values in strata)}
                | {"ranker": name, **summary, "cpu_seconds": seconds}
            )
    return rows


def by_data(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of each data set alone."""
    names = dict.fromkeys(row["data"] for row in found)
    return [row for name in names for row in compared([r for r in found if r["data"] == name])]
