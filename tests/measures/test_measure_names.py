"""Measures by name: what strings are read as, and how measures are written."""

import pickle
from dataclasses import fields, replace
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
    names = {field.name for field in fields(kind)}
    chosen = [name for name in PARAMETERS if name in names and data.draw(st.booleans())]
    measure = kind(**{field: data.draw(PARAMETERS[field]) for field in chosen})
    for copy in (
        gbrank.get_measure(str(measure)),
        eval(repr(measure), exported()),
        pickle.loads(pickle.dumps(measure)),
    ):
        assert copy == measure
        assert hash(copy) == hash(measure)
        assert type(copy) is kind


@pytest.mark.parametrize(
    "text",
    [
        "map",
        "ndcg@5(gain=linear)",
        "ndcg@3(no_relevant=1,ties=order)",
        "ndcg(ties='order')@3",
        "p@3(threshold=2)[clicks]",
    ],
)
def test_reported_as_requested(text: str) -> None:
    """Whatever the order of options and the quotes; and so is what was pickled."""
    measure = gbrank.get_measure(text)
    assert str(measure) == str(pickle.loads(pickle.dumps(measure))) == text
    assert gbrank.get_measure(str(measure)) == measure


def test_a_changed_measure_keeps_its_alias() -> None:
    """Its other options are those that it has."""
    assert str(replace(gbrank.get_measure("map"), k=5)) == "map@5"
    assert str(replace(gbrank.get_measure("map@5"), k=None, threshold=2)) == "map(threshold=2)"
    assert str(replace(gbrank.get_measure("ndcg@5(gain=linear)"), k=3)) == "ndcg@3(gain='linear')"
    assert str(replace(gbrank.get_measure("mrr[a]"), label="b")) == "mrr[b]"


def test_histories_have_the_requested_names() -> None:
    """A history is looked up by the text that was requested."""
    X, y, qid = gbrank.make_cubic(20, n_documents=10, random_state=0)
    requested = ["ndcg@5(gain=linear)", "map(threshold=2)"]
    ranker = gbrank.GBRanker(n_estimators=2, n_jobs=1, eval_metric=requested, random_state=0)
    ranker.fit(X, y, qid=qid, eval_set=[(X, y)], eval_qid=[qid])
    assert list(ranker.evals_result_["valid_0"]) == requested


@pytest.mark.parametrize(
    ("text", "usual"),
    [
        ("ndcg@10[margin](gain='linear')", "ndcg@10(gain='linear')[margin]"),
        ("ndcg[margin]@10", "ndcg@10[margin]"),
        ("ndcg[margin](gain=[0, 1])@10", "ndcg(gain=[0, 1])@10[margin]"),
    ],
)
def test_the_label_may_stand_before_options(text: str, usual: str) -> None:
    """The order of both brackets plays no part."""
    assert gbrank.get_measure(text) == gbrank.get_measure(usual)


def test_the_name_that_may_be_meant_is_one() -> None:
    """Options of a misspelt name are those of another, or left out."""
    with pytest.raises(ValueError, match="Did you mean 'kendall'"):
        gbrank.get_measure("kendal@10")
    with pytest.raises(ValueError, match="Did you mean 'lambda'"):
        gbrank.get_objective("lambda-ndcg@10")
