"""Names that are unknown: what is suggested in their place."""

import re
from typing import Any

import pytest

from gbrank import get_measure, get_objective


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("ndcg", "'lambda:ndcg'"),
        ("pairwise", "'ranknet'"),
        ("rank:ndcg", "'lambda:ndcg'"),
        ("YetiRank", "'noisy:ndcg'"),
        ("lambdarnk", "'lambdarank'"),
        ("lamda:ndcg@5", "'lambda:ndcg@5'"),
        ("Noisy:ndcg", "'noisy:ndcg'"),
        ("gbrank", "'squared_hinge'"),
    ],
)
def test_what_is_meant(asked: str, meant: str) -> None:
    """Names of measures, of kinds of objectives and of other libraries are known for what they are.

    What is suggested exists.
    """
    with pytest.raises(ValueError, match=re.escape(f"Did you mean {meant}? Known: ")):
        get_objective(asked)
    for name in re.findall(r"'([^']*)'", meant):
        get_objective(name)


@pytest.mark.parametrize(
    ("get", "asked", "meant"),
    [
        (get_objective, "ranknet+lambda(trunction=3):ndcg", "truncation"),
        (get_objective, "lambda:ndgc", "ndcg"),
        (get_objective, "lambda:ndcg(gian=linear)", "gain"),
        (get_objective, "lambda:ndcg(gain=liner)", "linear"),
        (get_measure, "ndcg10", "ndcg@10"),
        (get_measure, "presicion@5", "precision@5"),
    ],
)
def test_options_and_measures_that_are_meant(get: Any, asked: str, meant: str) -> None:
    """Misspelt options of objectives and measures, and measures."""
    with pytest.raises(ValueError, match=re.escape(f"Did you mean '{meant}'?")):
        get(asked)


def test_nothing_is_suggested_that_is_far() -> None:
    """Rather nothing than the opposite."""
    with pytest.raises(ValueError, match=r"unknown objective 'setwise'\. Known: "):
        get_objective("setwise")
    with pytest.raises(ValueError, match=r"unknown measure 'MAP'\. Did you mean 'map'\?"):
        get_measure("MAP")
