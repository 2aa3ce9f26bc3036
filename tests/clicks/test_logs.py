"""Logs from files: what is read, dropped and counted."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from gbrank.clicks import read_impressions, read_ubi

QUERIES = [
    {
        "query_id": f"q{i}", "user_query": "shoes" if i < 3 else "hats", "client_id": "c",
        "query_response_hit_ids": ["7", "8", "9"], "timestamp": f"2026-01-01T10:0{i}:00Z",
        "query_attributes": {"page": 1}, "query": "{}",
    }
    for i in range(4)
]  # fmt: skip
QUERIES += [QUERIES[0], {**QUERIES[0], "query_id": "q9", "query_response_hit_ids": []}]


def event(query: str, document: Any, ordinal: int | None = None, action: str = "click") -> Any:
    """Return an event as UBI has it."""
    place = {} if ordinal is None else {"position": {"ordinal": ordinal, "x": 0}}
    attributes = {"object": {"object_id": document, "object_id_field": "sku"}, **place}
    return {"action_name": action, "query_id": query, "event_attributes": attributes}


EVENTS = [
    event("q0", "8", 2), event("q0", "8", 2), event("q1", 7, 5, "Item_Click"), event("q1", "77"),
    event("q2", "9", action="add_to_cart"), event("nobody", "7"), event("q3", "9"),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["frame", "ndjson", "dump", "parquet"])
def test_ubi(kind: str, tmp_path: Path) -> None:
    """From any file; clicks find their impressions, and what does not fit is counted."""
    sources: list[Any] = []
    for name, rows in {"queries": QUERIES, "events": EVENTS}.items():
        frame = pd.DataFrame(rows)
        path = tmp_path / f"{name}.{'parquet' if kind == 'parquet' else 'ndjson'}"
        if kind == "frame":
            sources.append(frame)
            continue
        if kind == "parquet":
            if name == "events":
                rows = json.loads(json.dumps(rows))
                for row in rows:
                    inside = row["event_attributes"]["object"]
                    inside["object_id"] = str(inside["object_id"])
                frame = pd.DataFrame(rows)
            frame.to_parquet(path)
        else:
            lines = [{"_index": "ubi", "_source": row} if kind == "dump" else row for row in rows]
            path.write_text("\n".join(map(json.dumps, lines)))
        sources.append(path)
    log = read_ubi(*sources)
    assert log.frame.columns.tolist() == ["session", "query", "document", "position", "click"]
    assert log.frame["session"].tolist() == [f"q{i}" for i in range(4) for _ in range(3)]
    assert log.frame["position"].tolist() == [1, 2, 3] * 4
    clicked = log.frame[log.frame["click"] == 1]
    assert [*zip(clicked["session"], clicked["document"], strict=True)] == [
        ("q0", "8"), ("q1", "7"), ("q3", "9"),
    ]  # fmt: skip
    assert log.counts == {
        "queries": 6, "duplicate queries": 1, "queries without hits": 1, "clicks": 6,
        "repeated clicks": 1, "clicks without an impression": 2, "clicks at another position": 1,
        "impressions": 12, "duplicate impressions": 0,
        "shared positions": 0, "kept impressions": 12, "kept clicks": 3,
        "sessions": 4, "queries asked": 2,
    }  # fmt: skip
    assert "clicks without an impression" in log.to_markdown()


def test_bots_by_rate() -> None:
    """A client with more sessions in an hour than allowed is left out, with all it saw."""
    rows = [{**QUERIES[0], "query_id": f"b{i}", "client_id": "bot"} for i in range(5)]
    people = [{**row, "timestamp": "2026-01-01T12:00:00Z"} for row in QUERIES[:4]]
    log = read_ubi(pd.DataFrame(rows + people), pd.DataFrame(EVENTS), bot_rate=4)
    assert (log.counts["bots"], log.counts["impressions of bots"]) == (1, 15)
    assert set(log.frame["session"]) == {"q0", "q1", "q2", "q3"}


def test_impressions(tmp_path: Path) -> None:
    """Under other names; one that is there twice is clicked if one of them is."""
    frame = pd.DataFrame(
        {"sid": [2, 2, 1, 2], "query": "q", "document": ["a", "b", "a", "b"],
         "rank": [1, 2, 1, 2], "click": [0, 0, 1, 1]}
    )  # fmt: skip
    frame.to_csv(tmp_path / "log.csv", index=False)
    frame.to_csv(tmp_path / "log.csv.gz", index=False)
    frame.to_parquet(tmp_path / "log.parquet")
    for name in "log.csv", "log.csv.gz", "log.parquet":
        log = read_impressions(tmp_path / name, columns={"session": "sid", "position": "rank"})
        frame = log.frame.astype({"session": int})
        assert frame[["session", "document", "click"]].values.tolist() == [
            [1, "a", 1], [2, "a", 0], [2, "b", 1],
        ]  # fmt: skip
        assert log.counts["duplicate impressions"] == 1


SHOWN = pd.DataFrame(
    {"session": [1, 1, 2, 2], "query": "q", "document": ["a", "b", "b", "a"],
     "position": [1, 2, 1, 2], "click": [0, 1, 0, 0], "client": "c"}
)  # fmt: skip


def test_ids_of_ubi_are_texts() -> None:
    """A number in one file is the text in the other, also beside ids that are missing."""
    queries = pd.DataFrame(
        {"query_id": [1, 2], "user_query": "a", "query_response_hit_ids": [[7, 8], [8, 7]]}
    )
    objects: list[Any] = [{"object": {"object_id": 8}}, {"object": {}}, None]
    events = pd.DataFrame(
        {"action_name": "click", "query_id": [1.0, None, 2.0], "event_attributes": objects}
    )
    log = read_ubi(queries, events)
    assert log.frame[log.frame["click"] == 1].values.tolist() == [["1", "a", "8", 2, 1]]
    assert log.counts["clicks without an impression"] == 2


def test_texts_of_csv(tmp_path: Path) -> None:
    """A query may be the word "null", and ids may begin with 0; positions are numbers."""
    path = tmp_path / "log.csv"
    path.write_text(
        "session,query,document,position,click\n1,null,007,10,0\n1,null,7,9,1\n1,null,8,9,0\n"
    )
    log = read_impressions(path)
    assert log.frame["document"].tolist() == ["7", "8", "007"]
    assert set(log.frame["query"]) == {"null"}
    assert log.counts["shared positions"] == 1


def test_texts_that_are_numbers() -> None:
    """Positions that are texts are in the order of numbers."""
    log = read_impressions(SHOWN.assign(position=["10", "9", "10", "9"]))
    assert log.frame["position"].tolist() == [9, 10, 9, 10]
    assert log.frame["document"].tolist() == ["b", "a", "a", "b"]


def test_hours_of_any_time_zone() -> None:
    """Sessions in the same hour of two time zones are in the same hour, however it is written."""
    times = ["2026-03-01T10:10:00+01:00"] * 2 + ["2026-03-01T09:50:00.123Z"] * 2
    log = read_impressions(SHOWN.assign(timestamp=times), bot_rate=1)
    assert (log.counts["bots"], log.counts["kept impressions"]) == (1, 0)


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda: read_impressions("log.txt"), "source must end in .csv"),
        (lambda: read_impressions(pd.DataFrame({"query": []})), "must have one column 'session'"),
        (
            lambda: read_impressions(
                pd.DataFrame(
                    {
                        "session": [1],
                        "query": [None],
                        "document": ["a"],
                        "position": [1],
                        "click": [0],
                    }
                )
            ),
            r"source\['query'\] must not be missing, got none in row 0",
        ),
        (
            lambda: read_ubi(pd.DataFrame(QUERIES), pd.DataFrame({"action_name": ["click"]})),
            "events must have one column 'query_id'",
        ),
        (
            lambda: read_ubi(pd.DataFrame(QUERIES), pd.DataFrame(EVENTS), bot_rate=0),
            "bot_rate must be a number above 0",
        ),
        (
            lambda: read_impressions(SHOWN.assign(position=[0, 1, 0, 1])),
            r"source\['position'\] must hold integers of at least 1, got 0.0 in row 0",
        ),
        (
            lambda: read_impressions(SHOWN.assign(click=[0, 1, 0, 7])),
            r"source\['click'\] must be 0 or 1, got 7.0 in row 3",
        ),
        (
            lambda: read_impressions(SHOWN.assign(query=["a", "b", "a", "a"])),
            r"source\['session'\] must be one for each ranking .*, got 1 in row 0",
        ),
        (
            lambda: read_impressions(SHOWN.assign(timestamp=1_700_000_000_000), bot_rate=1),
            r"source\['timestamp'\] must hold dates, or texts as .*, got .*1700000000000",
        ),
        (
            lambda: read_impressions(SHOWN, columns={"sesion": "session"}),
            "columns must be one of .* got 'sesion'",
        ),
        (
            lambda: read_impressions(SHOWN, columns={"session": "sid"}),
            "source must have one column 'sid'",
        ),
        (
            lambda: read_ubi(pd.DataFrame(QUERIES).astype(str), pd.DataFrame(EVENTS)),
            r"queries\['query_response_hit_ids'\] must hold lists of ids",
        ),
        (
            lambda: read_ubi(pd.DataFrame(QUERIES), pd.DataFrame(EVENTS).astype(str)),
            r"events\['event_attributes'\] must hold objects, as in JSON, got \"{",
        ),
        (
            lambda: read_impressions(pd.concat([SHOWN, SHOWN[["query"]]], axis=1)),
            "source must have one column 'query', got",
        ),
    ],
    ids=[
        "end",
        "column",
        "missing",
        "events",
        "rate",
        "position",
        "click",
        "session",
        "time",
        "role",
        "name",
        "hits",
        "attributes",
        "twice",
    ],
)
def test_bad_logs(read: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read()


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    """Blank lines are none; a broken one is an error that names argument and file."""
    path, lines = tmp_path / "log.ndjson", SHOWN.to_json(orient="records", lines=True)
    path.write_text(lines.replace("\n", "\n\n"))
    assert len(read_impressions(path).frame) == 4
    path.write_text(lines + "{broken\n")
    with pytest.raises(ValueError, match=r"source must be a file that pandas reads: .*log.ndjson"):
        read_impressions(path)


def test_actions_that_are_no_words() -> None:
    """Codes of actions are no clicks."""
    log = read_ubi(pd.DataFrame(QUERIES), pd.DataFrame(EVENTS).assign(action_name=1))
    assert log.counts["clicks"] == 0
