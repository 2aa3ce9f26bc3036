"""Names of measures in other libraries: accepted with their numbers, or in a hint that helps."""

import re

import pytest

from gbrank import get_measure, get_objective
from gbrank.common.words import WORDS
from known_names import meant


@pytest.mark.parametrize(
    ("text", "usual"),
    [
        ("recip_rank", "rr(no_relevant=0)"),
        ("P.10[clicks]", "precision@10(no_relevant=0)[clicks]"),
        ("R@100", "recall@100(no_relevant=0)"),
        ("ndcg@10-", "ndcg@10(no_relevant=0)"),
        ("pre@5", "precision@5"),
        ("NDCG:top=10;type=Exp", "ndcg@10"),
        ("mean_average_precision", "map"),
        ("opa_metric", "pairwise"),
    ],
)
def test_what_means_one_thing_is_accepted(text: str, usual: str) -> None:
    """And reported under the name that was requested."""
    assert get_measure(text) == get_measure(usual)
    assert str(get_measure(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ndcg_cut_10", r"'ndcg@10\(gain=linear,no_relevant=0\)' for ndcg_cut_10 of trec_"),
        ("nDCG@5", "for nDCG@5 of ir_measures, since its gains are linear"),
        ("AP@100", r"'ap@100\(no_relevant=0\)' .* divides by R and not by min\(R, k\)"),
        ("NDCG:top=10", r"'ndcg@10\(gain=linear\)' for NDCG:top=10 of CatBoost"),
        ("nDCG(judged_only=True)@5", "without its option judged_only"),
        ("bpref", r"a function of your own, as docs/extending.md has bpref \(trec_eval\)"),
    ],
)
def test_what_differs_is_named(text: str, message: str) -> None:
    """The hint says which measure with which options it is."""
    with pytest.raises(ValueError, match=message):
        get_measure(text)


def test_every_entry_can_be_used() -> None:
    """Each name of the table leads to a measure, and each of objectives to an objective."""
    for names in WORDS["measures"].values():
        for name, entry in names.items():
            if entry:
                get_measure(entry.partition("; ")[0])
                text = re.sub("[_@]K$", "@5" if name.endswith("@K") else "_5", name)
                get_measure(meant(re.sub(r"^CatBoost (\w+)$", r"\1:top=5", text)))
    for entry, names in WORDS["objectives"].items():
        get_objective(entry.strip("'"))
        for name in names:
            with pytest.raises(ValueError, match=re.escape(f"Did you mean {entry}?")):
                get_objective(name)


@pytest.mark.parametrize("text", ["lamda:ndgc@10", "LAMDA:ndcg@10", "lamda:NDGC@10"])
def test_both_names_misspelt(text: str) -> None:
    """One hint corrects the objective and its metric."""
    with pytest.raises(ValueError, match=r"Did you mean 'lambda:ndcg@10'\?"):
        get_objective(text)
