"""Logs of clicks from files, one row per impression; what is wrong with them is counted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gbrank.common.argument_error import ArgumentError, ArgumentTypeError
from gbrank.common.checks import check_choice, check_number, check_vector, quoted, refuse_where
from gbrank.common.extras import needed
from gbrank.common.table import Table, Tabular
from gbrank.data.columns import check_positions

if TYPE_CHECKING:
    import pandas as pd

Source: TypeAlias = "str | os.PathLike[str] | pd.DataFrame"
OWN = ("session", "query", "document", "position", "click")
OF_BOTS = ("client", "timestamp")


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
    Impressions at a position that another one of the session has are kept, and counted as "shared
    positions": where each page of results begins at 1, make positions of one list first.

    Parameters
    ----------
    source : path or pandas.DataFrame
        CSV (``.csv``), NDJSON (``.ndjson``, ``.jsonl``, ``.json``), packed or not (``.csv.gz``), or
        Parquet. Ids in CSV are texts.
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
    names = columns or {}
    for name in names:
        check_choice(name, "columns", [*OWN, *OF_BOTS])
    frame = _read(source, "source", [names.get(own, own) for own in OWN[:3]])
    _need(frame, names.values(), "source")
    frame = frame.assign(**{own: frame[given] for own, given in names.items()})
    return _cleaned(frame, "source", bot_rate, {})


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
    asked = _read(queries, "queries")
    _need(asked, ("query_id", "user_query"), "queries", known=True)
    _need(asked, ("query_response_hit_ids",), "queries")
    given = _read(events, "events")
    _need(given, ("action_name", "query_id", "event_attributes"), "events")
    counts = {"queries": len(asked), "duplicate queries": int(asked["query_id"].duplicated().sum())}
    asked = asked.drop_duplicates("query_id")
    hits = asked["query_response_hit_ids"]
    listed = hits.map(lambda own: isinstance(own, list | tuple | np.ndarray))
    if (wrong := hits[hits.notna() & ~listed]).size:
        demand = "must hold lists of ids"
        raise ArgumentError("queries['query_response_hit_ids']", demand, quoted(wrong.iloc[0]))
    asked = asked[hits.map(lambda own: len(own) > 0, na_action="ignore").eq(True)]
    counts["queries without hits"] = len(hits) - len(asked)
    names = {"query": "user_query", "client": "client_id", "timestamp": "timestamp"}
    shown = pandas.DataFrame({own: asked[name] for own, name in names.items() if name in asked})
    shown["session"] = _texts(asked["query_id"])
    shown["document"] = asked["query_response_hit_ids"]
    shown = shown.explode("document").astype({"document": str})
    shown["position"] = shown.groupby("session", sort=False).cumcount() + 1

    given = given[given["action_name"].astype(str).str.contains("click", case=False)]
    inside = given["event_attributes"]
    if (wrong := inside[inside.notna() & ~inside.map(lambda own: isinstance(own, Mapping))]).size:
        demand = "must hold objects, as in JSON"
        raise ArgumentError("events['event_attributes']", demand, quoted(wrong.iloc[0]))
    ordinals = [_inside(own, "position", "ordinal") for own in inside]
    clicks = pandas.DataFrame(
        {
            "session": _texts(given["query_id"]),
            "document": [str(_inside(own, "object", "object_id")) for own in inside],
            "ordinal": pandas.to_numeric(pandas.Series(ordinals, given.index), errors="coerce"),
        }
    ).astype({"document": str})
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


def _read(source: Source, name: str, texts: Iterable[str] = ()) -> pd.DataFrame:
    """Read a table by the end of its name; documents inside ``_source`` are taken out."""
    pandas = needed("pandas", "tables")
    if isinstance(source, pandas.DataFrame):
        return source
    if not isinstance(source, str | os.PathLike):
        raise ArgumentTypeError(name, "must be a path or a pandas.DataFrame", quoted(source))
    path = Path(source)
    packed = path.suffix.lower() in (".gz", ".bz2", ".xz", ".zst", ".zip")
    kind = Path(path.stem if packed else path).suffix.lower()
    if kind not in (".csv", ".ndjson", ".jsonl", ".json", ".parquet") and not path.is_dir():
        demand = "must end in .csv, .ndjson, .jsonl, .json or .parquet"
        raise ArgumentError(name, demand, quoted(str(source)))
    try:
        if kind == ".csv":  # of which a query may be the word "null", and an id 007
            text = dict.fromkeys(texts, str)
            return pandas.read_csv(path, dtype=text, keep_default_na=False, na_values=[""])
        if kind == ".parquet" or path.is_dir():
            return pandas.read_parquet(path)
        frame = pandas.read_json(path, lines=True, dtype=False)
        return pandas.DataFrame([*frame["_source"].dropna()]) if "_source" in frame else frame
    except ValueError as error:
        demand = f"must be a file that pandas reads: {path}: {error}"
        raise ArgumentError(name, demand) from None


def _need(frame: pd.DataFrame, columns: Iterable[str], name: str, known: bool = False) -> None:
    """Refuse a frame without these columns, or `known`, with missing values in them."""
    for column in columns:
        if [*frame.columns].count(column) != 1:
            demand = f"must have one column {column!r}"
            raise ArgumentError(name, demand, quoted([*map(str, frame.columns)]))
        if known and (missing := frame[column].isna()).any():
            row = int(np.argmax(missing))
            raise ArgumentError(f"{name}[{column!r}]", "must not be missing", f"none in row {row}")


def _texts(ids: pd.Series) -> pd.Series:
    """Return ids as text: integers without the point that pandas gives them beside missing ones."""
    return ids.convert_dtypes().astype(str)


def _inside(value: Any, *names: str) -> Any:
    """Return what nested dicts hold under these names; None where there is no such thing."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _cleaned(
    frame: pd.DataFrame, name: str, bot_rate: float | None, counts: dict[str, int]
) -> ClickLog:
    """Return one row per impression, and the counts with what was dropped here."""
    check_number(bot_rate, "bot_rate", 0, open_low=True, optional=True)
    _need(frame, OWN if bot_rate is None else (*OWN, *OF_BOTS), name, known=True)
    position = check_positions(frame["position"], f"{name}['position']", len(frame))
    click = check_vector(frame["click"], f"{name}['click']")
    refuse_where(~np.isin(click, [0, 1]), click, f"{name}['click']", "must be 0 or 1")
    frame = frame.assign(position=position.astype(np.int64), click=click.astype(np.int64))
    session, asked = frame["session"], frame.groupby("session")["query"].transform("nunique")
    demand = "must be one for each ranking that was shown, so of one query"
    refuse_where(np.array(asked > 1), session.to_numpy(), f"{name}['session']", demand)
    counts |= {"impressions": len(frame)}
    if bot_rate is not None:
        own = frame.drop_duplicates("session")
        hours = _hours(own["timestamp"], f"{name}['timestamp']")
        rates = own.groupby(["client", hours], observed=True).size()
        bots = rates[rates > bot_rate].index.get_level_values("client").unique()
        of_bots = frame["client"].isin(bots)
        counts |= {"bots": len(bots), "impressions of bots": int(of_bots.sum())}
        frame = frame[~of_bots]
    keys = ["session", "document"]
    counts["duplicate impressions"] = int(frame.duplicated(keys).sum())
    clicked = frame.groupby(keys, observed=True)["click"].transform("max")
    frame = frame.assign(click=clicked).sort_values(["session", "position"], kind="stable")
    frame = frame.drop_duplicates(keys).reset_index(drop=True)
    counts |= {
        "shared positions": int(frame.duplicated(["session", "position"]).sum()),
        "kept impressions": len(frame),
        "kept clicks": int(frame["click"].sum()),
        "sessions": int(frame["session"].nunique()),
        "queries asked": int(frame["query"].nunique()),
    }
    return ClickLog(frame[[*OWN]], counts)


def _hours(times: pd.Series, name: str) -> pd.Series:
    """Return the hours of moments in any time zones."""
    pandas = needed("pandas", "tables")
    try:  # numbers would be taken for nanoseconds
        return pandas.to_datetime(times.astype(str), utc=True, format="ISO8601").dt.floor("h")
    except ValueError as error:
        demand = "must hold dates, or texts as 2026-01-31T10:00:00Z"
        raise ArgumentError(name, demand, quoted(f"{error}")) from None
