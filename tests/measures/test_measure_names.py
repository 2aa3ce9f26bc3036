"""Measures by name: what strings are read as, and how measures are written."""

import pickle
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gbrank
import reference
from exports import exported
from gbrank import AP, ERR, NDCG, RBP, RR, WTA, Precision, Recall
from gbrank.measures.gains import geometric_discount
from gbrank.measures.pairwise import KendallTau

TIES = ("average", "pessimistic", "optimistic", "order")
NAMES = list(reference.VALUES)


@pytest.mark.parametrize(
    ("text", "measure", "canonical"),
    [
        ("ndcg", NDCG(), "ndcg"),
        ("ndcg@10", NDCG(10), "ndcg@10"),
        ("map", AP(), "ap"),
        ("map@5", AP(k=5), "ap@5"),
        ("mrr", RR(), "rr"),
        ("err@20", ERR(k=20), "err@20"),
        ("p@5", Precision(k=5), "precision@5"),
        ("recall@10", Recall(k=10), "recall@10"),
        ("wta", WTA(), "wta"),
        ("rbp", RBP(), "rbp"),
        ("kendall", KendallTau(), "kendall"),
    ],
)
def test_strings(text: str, measure: Any, canonical: str) -> None:
    """Names and aliases parse, and print as they were asked; the measure, as its own name."""
    assert gbrank.get_measure(text) == measure
    assert str(gbrank.get_measure(text)) == text
    assert str(measure) == canonical


PARAMETERS: dict[str, st.SearchStrategy[Any]] = {
    "k": st.one_of(st.none(), st.integers(1, 1000)),
    "gain": st.one_of(st.sampled_from(["exp2", "linear"]), st.just((0, 1, 3.5, 7))),
    "discount": st.sampled_from(["log2", "letor", "flat", "linear", geometric_discount(0.3)]),
    "threshold": st.floats(0.001, 8),
    "max_grade": st.floats(0.001, 8),
    "p": st.floats(0.01, 0.99),
    "ties": st.sampled_from(TIES),
    "no_relevant": st.sampled_from(["skip", 0, 1]),
    "label": st.text(st.characters(exclude_characters="[]", exclude_categories=["Cs"])).filter(
        str.strip
    ),
}


@pytest.mark.parametrize("name", NAMES)
@given(st.data())
@settings(max_examples=25, deadline=None)
def test_round_trips(name: str, data: st.DataObject) -> None:
    """str parses back, repr evaluates back, pickles load back, equal measures hash alike."""
    kind = getattr(gbrank, name)
    chosen = [field.name for field in fields(kind) if data.draw(st.booleans())]
    measure = kind(**{field: data.draw(PARAMETERS[field]) for field in chosen})
    for copy in (
        gbrank.get_measure(str(measure)),
        eval(repr(measure), exported()),
        pickle.loads(pickle.dumps(measure)),
    ):
        assert copy == measure
        assert hash(copy) == hash(measure)
        assert type(copy) is kind
