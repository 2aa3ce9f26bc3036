"""Keywords that people know from other libraries: the error says what stands here."""

import inspect
from typing import Any

import lightgbm as lgb
import pytest
import xgboost as xgb
from sklearn.base import clone

from gbrank import GBRanker
from gbrank.fit.known_elsewhere import CALLED, HERE

OWN = inspect.signature(GBRanker).parameters


def theirs() -> set[str]:
    """Return the keywords of the classes that people come from."""
    named = {*inspect.signature(lgb.LGBMRanker).parameters, *xgb.XGBRanker().get_params()}
    return named - {"kwargs", "feature_weights", "validate_parameters"}  # nothing stands for these


@pytest.mark.parametrize("name", sorted(theirs() - set(OWN)))
def test_every_keyword_of_their_rankers(name: str) -> None:
    """Is in the table."""
    with pytest.raises(TypeError, match=rf"GBRanker has no {name}: use "):
        GBRanker(**{name: 1})
    with pytest.raises(ValueError, match=rf"GBRanker has no {name}: use "):
        GBRanker().set_params(**{name: 1})


def test_the_table() -> None:
    """Every name stands for one thing, which is a parameter, or an argument of fit, and is none."""
    assert sum(len(names.split()) for names in CALLED.values()) == len(HERE)
    assert HERE.keys().isdisjoint(OWN)
    arguments = inspect.signature(GBRanker.fit).parameters
    for here in CALLED:
        assert here in OWN or here.removeprefix("fit(").removesuffix("=...)") in arguments


def test_other_keywords() -> None:
    """A slip of the pen, and what nobody knows."""
    with pytest.raises(TypeError, match=r"n_estimatrs.*Did you mean 'n_estimators'"):
        GBRanker(n_estimatrs=3)
    with pytest.raises(TypeError, match=r"unknown parameter of GBRanker 'colour'.*Known: booster"):
        GBRanker(colour="red")


def test_known_keywords_are_what_they_were() -> None:
    """The signature, positional objective, clones and subclasses."""
    assert list(OWN)[:3] == ["objective", "booster", "n_estimators"]
    assert GBRanker("ranknet").objective == "ranknet"
    assert clone(GBRanker(n_estimators=7)).n_estimators == 7
    with pytest.raises(TypeError):
        GBRanker("ranknet", 5)  # type: ignore[misc]
    with pytest.raises(ValueError, match="Invalid parameter 'colour'"):
        GBRanker().set_params(colour=1)
    nested = GBRanker(init=GBRanker()).set_params(init__num_leaves=3)
    assert nested.init.num_leaves == 3

    class Own(GBRanker):
        def __init__(self, shade: Any = None) -> None:
            super().__init__(n_estimators=4)
            self.shade = shade

    assert (Own(3).shade, Own(3).n_estimators, Own(3).get_params()) == (3, 4, {"shade": 3})
