"""Judgement lists in the forms of others: as their documentation shows them, and there and back."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from gbrank import NDCG
from gbrank.datasets import read_judged_run, read_qrels, write_qrels, write_run

QID, DOCUMENTS = ["red dress", "red dress", "shoes"], ["B07 7", "B071", "B07 7"]
OPENSEARCH = {
    "name": "Imported Judgments",
    "type": "IMPORT_JUDGMENT",
    "judgmentRatings": [
        {"query": "red dress", "ratings": [{"docId": "B07 7", "rating": "3.000"},
                                           {"docId": "B071", "rating": "0.500"}]},
        {"query": "shoes", "ratings": [{"docId": "B07 7", "rating": 1}]},
    ],
}  # fmt: skip
ELASTIC = {
    "requests": [
        {"id": "red dress", "request": {"query": {"match": {"text": "red dress"}}},
         "ratings": [{"_index": "shop", "_id": "B07 7", "rating": 3},
                     {"_index": "shop", "_id": "B071", "rating": 0}]},
        {"id": "shoes", "request": {}, "ratings": []},
    ],
    "metric": {"dcg": {"k": 20}},
}  # fmt: skip


def written(path: Path, content: Any) -> Path:
    """Write JSON."""
    path.write_text(json.dumps(content))
    return path


def test_opensearch(tmp_path: Path) -> None:
    """As it is imported, and as a search gives it back."""
    back = {"hits": {"total": {"value": 1}, "hits": [{"_id": "1", "_source": OPENSEARCH}]}}
    for content in (OPENSEARCH, back):
        y, qid, documents = read_qrels(written(tmp_path / "list", content))
        assert_array_equal(y, [3.0, 0.5, 1.0])
        assert (qid, documents) == (QID, DOCUMENTS)


def test_elastic(tmp_path: Path) -> None:
    """Requests without ratings have no judgements."""
    y, qid, documents = read_qrels(written(tmp_path / "list", ELASTIC))
    assert_array_equal(y, [3.0, 0.0])
    assert (qid, documents) == (QID[:2], DOCUMENTS[:2])


@pytest.mark.parametrize("form", ["opensearch", "elastic", "parquet"])
def test_there_and_back(form: Any, tmp_path: Path) -> None:
    """Names may have white space; labels that are no integers are refused by Elastic's."""
    path = tmp_path / "list"
    write_qrels(path, [2, 0, 1], QID, DOCUMENTS, form=form)
    y, qid, documents = read_qrels(path)
    assert_array_equal(y, [2, 0, 1])
    assert (qid, documents) == (QID, DOCUMENTS)
    if form == "elastic":
        with pytest.raises(ValueError, match="y must hold integers"):
            write_qrels(path, [0.5, 0, 1], QID, DOCUMENTS, form=form)
    else:
        write_qrels(path, [0.1, 0, 1], QID, DOCUMENTS, form=form)
        assert read_qrels(path)[0][0] == 0.1


def test_what_opensearch_is_given(tmp_path: Path) -> None:
    """The body of its import."""
    write_qrels(tmp_path / "list", [2, 0.5], ["a", "a"], ["1", "2"], form="opensearch", name="mine")
    content = json.loads((tmp_path / "list").read_text())
    assert content["type"] == "IMPORT_JUDGMENT"
    assert content["name"] == "mine"
    assert content["judgmentRatings"] == [
        {"query": "a", "ratings": [{"docId": "1", "rating": "2"}, {"docId": "2", "rating": "0.5"}]}
    ]


def test_negative_labels_and_comments(tmp_path: Path) -> None:
    """Kept, as trec_eval counts them, or left out; a run is judged as trec_eval does."""
    path, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    path.write_text("# query, iteration, document, level\n1 0 a -2\n1 0 b 1\n\n1 0 c 0\n")
    assert_array_equal(read_qrels(path)[0], [-2, 1, 0])
    assert_array_equal(read_qrels(path, negative="irrelevant")[0], [0, 1, 0])
    y, qid, documents = read_qrels(path, negative="drop")
    assert (y.tolist(), qid, documents) == ([1, 0], ["1", "1"], ["b", "c"])
    write_run(run, [3.0, 2.0, 1.0], ["1"] * 3, ["a", "b", "c"])
    labels, scores, qid = read_judged_run(run, path)
    assert NDCG()(labels, scores, qid=qid) == pytest.approx(1 / np.log2(3))
    with pytest.raises(ValueError, match="negative must be one of"):
        read_qrels(path, negative="zero")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "expected JSON, got"),
        ("{}", "expected judgmentRatings, .* or the requests"),
        ('{"judgmentRatings": [{"query": "a", "ratings": [{"docId": "1"}]}]}', "'rating'"),
        ('{"judgmentRatings": []}', "expected judgements, got none"),
        ('{"judgmentRatings": [{"query": "a", "ratings": [{"docId": "1", "rating": "NaN"}]}]}',
         "expected a finite label"),
        ('{"requests": [{"id": "a", "ratings": [{"_id": 1, "rating": 1}, '
         '{"_id": "1", "rating": 2}]}]}',
         "expected each document of query 'a' once, got '1' again"),
    ],
)  # fmt: skip
def test_malformed_lists(content: str, message: str, tmp_path: Path) -> None:
    """The file, what it should hold, and what it holds."""
    (tmp_path / "list.json").write_text(content)
    with pytest.raises(ValueError, match=message):
        read_qrels(tmp_path / "list.json")
