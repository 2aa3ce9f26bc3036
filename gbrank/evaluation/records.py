"""The files in which a comparison keeps what is done: one table of queries per unit."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

import numpy as np

from gbrank.evaluation.fingerprints import data_fingerprint, fingerprint
from gbrank.evaluation.units_of_work import PARTS, Outcome, Scores, Unit, Work
from gbrank.fit.storage import replace_file

__all__ = ["Records", "columns", "read_outcome", "rows", "write_outcome"]

UNIT = [field.name for field in fields(Unit)]


class Records:
    """A folder with one CSV file per unit, whose name holds the unit's fingerprint.

    Results of other data, parameters or versions so have other names, and stay.

    Parameters
    ----------
    folder : Path
        Made if it does not exist.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._data: dict[str, str] = {}

    def path(self, work: Work) -> Path:
        """Return where a unit's outcome is, or will be.

        Parameters
        ----------
        work : Work

        Returns
        -------
        Path
        """
        name = work.data.name
        if name not in self._data:
            self._data[name] = data_fingerprint(work.data)
        words = re.sub(r"[^\w.@+-]+", "-", "_".join(map(str, astuple(work.unit))))
        return self._folder / f"{words[:100]}_{fingerprint(work, self._data[name])}.csv"


def columns(measures: Sequence[str]) -> list[str]:
    """Return the names of the columns of a table.

    Parameters
    ----------
    measures : sequence of str

    Returns
    -------
    list of str

    Examples
    --------
    >>> columns(["ndcg@10"])[4:]
    ['part', 'query', 'ndcg@10', 'calibration_error', 'rounds', 'seconds']
    """
    return [*UNIT, "part", "query", *measures, "calibration_error", "rounds", "seconds"]


def rows(outcome: Outcome) -> list[tuple[Any, ...]]:
    """Return a table's rows, one for each query and part.

    Parameters
    ----------
    outcome : Outcome

    Returns
    -------
    list of tuple
    """
    unit, end = astuple(outcome.unit), (outcome.rounds, outcome.seconds)
    return [
        (*unit, part, *values, scores.calibration_error, *end)
        for part, scores in ((part, getattr(outcome, part)) for part in PARTS)
        for values in _by_query(scores)
    ]


def _by_query(scores: Scores) -> Iterator[tuple[Any, ...]]:
    values = (item.tolist() for item in scores.values.values())
    return zip(scores.queries, *values, strict=True)


def write_outcome(path: Path, outcome: Outcome) -> None:
    """Write the outcome of a unit, whole or not at all.

    Parameters
    ----------
    path : Path
    outcome : Outcome
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns(list(outcome.test.values)))
    writer.writerows(rows(outcome))
    replace_file(path, text.getvalue().encode())


def read_outcome(path: Path, work: Work) -> Outcome:
    """Read what `write_outcome` wrote.

    Parameters
    ----------
    path : Path
    work : Work

    Returns
    -------
    Outcome

    Raises
    ------
    ValueError
        If the file has been changed.
    """
    try:
        with open(path, encoding="utf-8", newline="") as file:
            table = list(csv.DictReader(file, strict=True))
        valid, test = (
            _scores([row for row in table if row["part"] == part], work, part) for part in PARTS
        )
        rounds, seconds = table[0]["rounds"], float(table[0]["seconds"])
        return Outcome(work.unit, valid, test, int(rounds) if rounds else None, seconds)
    except (ValueError, TypeError, KeyError, csv.Error) as error:
        raise ValueError(f"{path} is damaged ({error}): delete it.") from None


def _scores(table: list[dict[str, str]], work: Work, part: str) -> Scores:
    queries = [row["query"] for row in table]
    expected = work.queries(part)
    if queries != expected:
        raise ValueError(f"{len(queries)} {part} queries, expected {len(expected)} in their order")
    names = map(str, work.measures)
    values = {name: np.array([float(row[name]) for row in table]) for name in names}
    error = table[0]["calibration_error"]
    return Scores(queries, values, float(error) if error else None)
