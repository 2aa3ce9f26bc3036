"""Names that are unknown: what is suggested in their place."""

import re

import pytest

from gbrank import get_measure, get_objective


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("ndcg", "'lambda:ndcg'"),
        ("NDCG@10", "'lambda:ndcg@10'"),
        ("pairwise", "'ranknet'"),
        ("listwise", "'listnet'"),
        ("rank:ndcg", "'lambda:ndcg', or 'xgboost:rank:ndcg' with booster='xgboost'"),
        ("rank_xendcg", "'xendcg', or 'lightgbm:rank_xendcg'"),
        ("YetiRank", "'noisy:ndcg'"),
        ("lambdarnk", "'lambdarank'"),
    ],
)
def test_what_is_meant(asked: str, meant: str) -> None:
    """Names of measures, of kinds of objectives and of other libraries are known for what they are.

    What is suggested exists.
    """
    with pytest.raises(ValueError, match=re.escape(f"Did you mean {meant}? Known: ")):
        get_objective(asked)
    for name in re.findall(r"'([^']*)'", meant):
        if name not in ("xgboost", "xgboost:rank:ndcg", "lightgbm:rank_xendcg"):
            get_objective(name)


def test_nothing_is_suggested_that_is_far() -> None:
    """Rather nothing than the opposite."""
    with pytest.raises(ValueError, match=r"unknown objective 'setwise'\. Known: "):
        get_objective("setwise")
    with pytest.raises(ValueError, match=r"unknown measure 'MAP'\. Did you mean 'map'\?"):
        get_measure("MAP")
