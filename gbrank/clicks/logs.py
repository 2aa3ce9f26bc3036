"""Logs of clicks from files, one row per impression; what is wrong with them is counted."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gbrank.common.argument_error import ArgumentError
from gbrank.common.checks import check_number, quoted
from gbrank.common.extras import needed
from gbrank.common.table import Table, Tabular

if TYPE_CHECKING:
    import pandas as pd

Source: TypeAlias = "str | os.PathLike[str] | pd.DataFrame"
OWN = ("session", "query", "document", "position", "click")


@dataclass(frozen=True, eq=False)
class ClickLog(Tabular):
    """Impressions and clicks, and what was found on the way; as a table, the counts.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per impression, session by session, by position: ``session`` (one ranking that was
        shown once), ``query``, ``document``, ``position`` (from 1), ``click`` (0 or 1).
    counts : dict of str to int
        What was read, and what was dropped.

    Examples
    --------
    >>> import pandas as pd
    >>> from gbrank.clicks import read_impressions
    >>> shown = pd.DataFrame(
    ...     {
    ...         "session": [1, 1, 1],
    ...         "query": ["shoes"] * 3,
    ...         "document": ["a", "b", "b"],
    ...         "position": [1, 2, 2],
    ...         "click": [0, 1, 1],
    ...     }
    ... )
    >>> read_impressions(shown).counts["duplicate impressions"]
    1
    """

    frame: pd.DataFrame
    counts: dict[str, int]

    def _table(self) -> Table:
        return Table.of({"what": [*self.counts], "rows": [*self.counts.values()]})


def read_impressions(
    source: Source, *, columns: dict[str, str] | None = None, bot_rate: float | None = None
) -> ClickLog:
    """Read a log with one row per impression.

    An impression that is there twice counts once, and is clicked if one of them is.

    Parameters
    ----------
    source : path or pandas.DataFrame
        CSV (``.csv``), NDJSON (``.ndjson``, ``.jsonl``, ``.json``) or Parquet.
    columns : dict of str to str, optional
        What the log calls ``session``, ``query``, ``document``, ``position``, ``click`` and, for
        `bot_rate`, ``client`` and ``timestamp``, where it is not that.
    bot_rate : float, optional
        Clients with more sessions than this in one hour are left out, and counted.

    Returns
    -------
    ClickLog

    Raises
    ------
    ValueError
        If a column is missing, or holds what it should not.
    ImportError
        If pandas is not installed, or pyarrow, for Parquet.

    Examples
    --------
    >>> import pandas as pd
    >>> from gbrank.clicks import read_impressions
    >>> shown = pd.DataFrame(
    ...     {"sid": [1, 1], "q": ["shoes"] * 2, "id": ["a", "b"], "rank": [1, 2], "click": [0, 1]}
    ... )
    >>> names = {"session": "sid", "query": "q", "document": "id", "position": "rank"}
    >>> read_impressions(shown, columns=names).frame.columns.tolist()
    ['session', 'query', 'document', 'position', 'click']
    """
    names = {given: own for own, given in (columns or {}).items()}
    return _cleaned(_read(source).rename(columns=names), "source", bot_rate, {})


def read_ubi(queries: Source, events: Source, *, bot_rate: float | None = None) -> ClickLog:
    """Read queries and events of OpenSearch's User Behavior Insights (schema 1).

    A session is a ``query_id``, its query ``user_query``, and its impressions are the
    ``query_response_hit_ids``, the first at position 1. Events whose ``action_name`` has the word
    "click" are clicks on ``event_attributes.object.object_id``. Other events are left alone.

    Parameters
    ----------
    queries, events : path or pandas.DataFrame
        NDJSON (``.ndjson``, ``.jsonl``, ``.json``; also with each document inside ``_source``) or
        Parquet.
    bot_rate : float, optional
        Clients (``client_id``) with more queries than this in one hour are left out, and counted.

    Returns
    -------
    ClickLog
        Counts say, among others, how many clicks had no impression, and in how many the event has
        another position (``event_attributes.position.ordinal``) than the list of hits.

    Raises
    ------
    ValueError
        If a field is missing.
    ImportError
        If pandas is not installed, or pyarrow, for Parquet.

    References
    ----------
    User Behavior Insights, https://docs.opensearch.org/latest/search-plugins/ubi/schemas/.

    Examples
    --------
    >>> import pandas as pd
    >>> from gbrank.clicks import read_ubi
    >>> queries = pd.DataFrame(
    ...     {"query_id": ["q1"], "user_query": ["shoes"], "query_response_hit_ids": [["a", "b"]]}
    ... )
    >>> events = pd.DataFrame(
    ...     {
    ...         "action_name": ["click"],
    ...         "query_id": ["q1"],
    ...         "event_attributes": [{"object": {"object_id": "b"}, "position": {"ordinal": 2}}],
    ...     }
    ... )
    >>> read_ubi(queries, events).frame[["document", "position", "click"]].values.tolist()
    [['a', 1, 0], ['b', 2, 1]]
    """
    pandas = needed("pandas", "tables")
    asked = _read(queries)
    _need(asked, ("query_id", "user_query", "query_response_hit_ids"), "queries")
    counts = {"queries": len(asked), "duplicate queries": int(asked["query_id"].duplicated().sum())}
    asked = asked.drop_duplicates("query_id")
    full = asked["query_response_hit_ids"].map(_length) > 0
    counts["queries without hits"] = int((~full).sum())
    shown = asked[full].explode("query_response_hit_ids")
    shown["position"] = shown.groupby("query_id", sort=False).cumcount() + 1
    names = {"query_id": "session", "user_query": "query", "query_response_hit_ids": "document"}
    shown = shown.rename(columns={**names, "client_id": "client"})

    given = _read(events)
    _need(given, ("action_name", "query_id", "event_attributes"), "events")
    given = given[given["action_name"].str.contains("click", case=False, na=False)]
    inside = pandas.json_normalize(given["event_attributes"].tolist())
    clicks = pandas.DataFrame(
        {
            "session": given["query_id"].to_numpy(),
            "document": inside.get("object.object_id", pandas.Series(dtype=object)),
            "ordinal": inside.get("position.ordinal", np.nan),
        }
    )
    for frame in (shown, clicks):
        frame["document"] = frame["document"].astype(str)
    counts["clicks"] = len(clicks)
    counts["repeated clicks"] = int(clicks.duplicated(["session", "document"]).sum())
    clicks = clicks.drop_duplicates(["session", "document"])
    both = shown.merge(clicks, how="outer", on=["session", "document"], indicator="where")
    counts["clicks without an impression"] = int((both["where"] == "right_only").sum())
    both = both[both["where"] != "right_only"]
    differ = both["ordinal"].notna() & (both["ordinal"] != both["position"])
    counts["clicks at another position"] = int(differ.sum())
    click = (both["where"] == "both").astype(int)
    both = both.assign(click=click, position=both["position"].astype(int))
    return _cleaned(both, "queries", bot_rate, counts)


def _read(source: Source) -> pd.DataFrame:
    """Read a table by the end of its name; documents inside ``_source`` are taken out."""
    pandas = needed("pandas", "tables")
    if not isinstance(source, str | os.PathLike):
        return source
    kind = Path(source).suffix.lower()
    if kind == ".csv":
        return pandas.read_csv(source)
    if kind in (".ndjson", ".jsonl", ".json"):
        frame = pandas.read_json(source, lines=True, dtype=False)
        return pandas.DataFrame([*frame["_source"]]) if "_source" in frame else frame
    if kind == ".parquet" or Path(source).is_dir():
        return pandas.read_parquet(source)
    demand = "must end in .csv, .ndjson, .jsonl, .json or .parquet"
    raise ArgumentError("source", demand, quoted(str(source)))


def _need(frame: pd.DataFrame, columns: tuple[str, ...], name: str) -> None:
    for column in columns:
        if column not in frame:
            demand = f"must have a column {column!r}"
            raise ArgumentError(name, demand, quoted([*map(str, frame.columns)]))


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list | tuple | np.ndarray) else 0


def _cleaned(
    frame: pd.DataFrame, name: str, bot_rate: float | None, counts: dict[str, int]
) -> ClickLog:
    """Return one row per impression, and the counts with what was dropped here."""
    check_number(bot_rate, "bot_rate", 0, open_low=True, optional=True)
    _need(frame, OWN if bot_rate is None else (*OWN, "client", "timestamp"), name)
    for column in OWN:
        if (missing := frame[column].isna()).any():
            row = int(np.argmax(missing))
            raise ArgumentError(f"{name}[{column!r}]", "must not be missing", f"none in row {row}")
    counts |= {"impressions": len(frame)}
    if bot_rate is not None:
        pandas = needed("pandas", "tables")
        own = frame.drop_duplicates("session")
        hour = pandas.to_datetime(own["timestamp"]).dt.floor("h")
        rates = own.groupby(["client", hour])["session"].size()
        bots = rates[rates > bot_rate].index.get_level_values("client").unique()
        of_bots = frame["client"].isin(bots)
        counts |= {"bots": len(bots), "impressions of bots": int(of_bots.sum())}
        frame = frame[~of_bots]
    keys = ["session", "document"]
    counts["duplicate impressions"] = int(frame.duplicated(keys).sum())
    click = frame.groupby(keys)["click"].transform("max")
    frame = frame.assign(click=click).sort_values(["session", "position"], kind="stable")
    frame = frame.drop_duplicates(keys).reset_index(drop=True)
    counts |= {
        "kept impressions": len(frame),
        "kept clicks": int((frame["click"] > 0).sum()),
        "sessions": int(frame["session"].nunique()),
        "queries asked": int(frame["query"].nunique()),
    }
    return ClickLog(frame[[*OWN]], counts)
