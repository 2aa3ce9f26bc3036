"""Names that are unknown: what is suggested in their place."""

import re

import pytest

from gbrank import get_objective


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
