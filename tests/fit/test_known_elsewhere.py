"""Keywords that people know from other libraries: the error says what stands here."""

import inspect
import re
from typing import Any

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

from gbrank import GBRanker, compare_rankers, compare_scores, get_measure, get_objective, report
from gbrank.fit.known_elsewhere import HERE, TABLE

OWN = inspect.signature(GBRanker).parameters
FIT = inspect.signature(GBRanker.fit).parameters
X, Y, QID = np.arange(400.0)[:, None], np.tile([0, 0, 0, 1], 100), np.repeat(range(5), 80)


def theirs(method: str) -> set[str]:
    """Return the keywords of the rankers that people come from, as these say themselves."""
    names = {*inspect.signature(getattr(lgb.LGBMRanker, method)).parameters}
    names |= {*inspect.signature(getattr(xgb.XGBRanker, method)).parameters}
    if method == "__init__":
        names |= {*xgb.XGBRanker().get_params()}
    try:
        from catboost import CatBoostRanker
    except ImportError:
        pass
    else:
        names |= {*inspect.signature(getattr(CatBoostRanker, method)).parameters}
    return names - {"self", "kwargs"}


@pytest.mark.parametrize("name", sorted(theirs("__init__") - set(OWN)))
def test_every_keyword_of_their_constructors(name: str) -> None:
    """Has an error that says what stands here, in constructor and set_params alike."""
    said = rf"^GBRanker has no {name}: {re.escape(HERE[name])}\.$"
    with pytest.raises(TypeError, match=said):
        GBRanker(**{name: 1})
    with pytest.raises(ValueError, match=said):
        GBRanker().set_params(**{name: 1})


def test_options_of_ranklib() -> None:
    words = {"-tree": "n_estimators", "-leaf": "num_leaves", "-mls": "min_child_samples"}
    assert all(HERE[word] == f"use GBRanker({name}=...)" for word, name in words.items())


@pytest.mark.parametrize("method", ["fit", "predict"])
def test_every_keyword_of_their_methods(method: str) -> None:
    """Likewise."""
    own = getattr(GBRanker(), method)
    for name in theirs(method) - set(inspect.signature(own).parameters):
        with pytest.raises(TypeError, match=rf"^GBRanker\.{method} has no {name}: "):
            own(X, **{name: 1})


def theirs_to_call() -> list[Any]:
    """Return a callback of each class that LightGBM and XGBoost have."""
    return [
        lgb.early_stopping(5),
        lgb.log_evaluation(),
        lgb.record_evaluation({}),
        lgb.reset_parameter(learning_rate=[0.1]),
        xgb.callback.EarlyStopping(rounds=5),
        xgb.callback.EvaluationMonitor(),
        xgb.callback.LearningRateScheduler(lambda round: 0.1),
        xgb.callback.TrainingCheckPoint("."),
    ]


@pytest.mark.parametrize("callback", theirs_to_call(), ids=lambda one: type(one).__name__)
def test_their_callbacks(callback: Any) -> None:
    """Are told from functions, and the error says what to use."""
    known = {name.removesuffix("()") for name in HERE if name.endswith("()")}
    said = r"callbacks must not hold (LightGBM|XGBoost)'s (\w+), got .*: "
    with pytest.raises(TypeError, match=said) as caught:
        GBRanker().fit(X, Y, qid=QID, callbacks=[callback])
    word = re.search(said, str(caught.value))[2]  # type: ignore[index]
    assert word.lower() in {name.replace("_", "").lower() for name in known}
    assert "write a function" not in str(caught.value)


def code() -> list[Any]:
    """Return every call that the table tells people to write, as its arguments."""
    calls = {
        call for row in TABLE for call in re.findall(r"`((?:GBRanker|fit)\(.*?\))`", row["here"])
    }
    assert len(calls) > 30

    def taken(*values: Any, **named: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return values, named

    known: dict[str, Any] = {name: name for name in ("X", "y", "qid", "model", "folder", "names")}
    known |= {"GBRanker": taken, "fit": taken}
    return [(call, *eval(call, known)) for call in sorted(calls) if "pandas" not in call]


def test_what_the_table_says_exists() -> None:
    """Its calls name arguments that there are, objectives and measures that are known."""
    for call, values, named in code():
        assert not values, call
        assert named.keys() <= (OWN if call.startswith("GBRanker") else FIT).keys(), call
        if isinstance(text := named.get("objective"), str):
            get_objective(text)
        for text in np.atleast_1d(named.get("eval_metric", [])):
            get_measure(str(text))


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_what_goes_into_booster_params(booster: str) -> None:
    """Is taken by the booster under which the table lists it."""
    values = {
        "monotone_constraints": [1], "interaction_constraints": [[0]], "device": "cpu",
        "device_type": "cpu", "boosting": "gbdt", "boosting_type": "gbdt", "linear_tree": False,
        "monotone_constraints_method": "basic", "use_missing": True, "zero_as_missing": False,
        "force_row_wise": True, "tree_method": "hist", "grow_policy": "lossguide", "max_bin": 15,
        "max_bins": 15, "subsample_for_bin": 100, "max_cat_threshold": 8, "max_cat_to_onehot": 4,
        "num_parallel_tree": 1, "min_data_in_bin": 3, "min_data_per_group": 5,
    }  # fmt: skip
    tried = 0
    for row in TABLE:
        others = re.findall(r'GBRanker\(booster="(\w+)"\)', row["here"])
        if '"NAME"' in row["here"] and others in ([], [booster]):
            for name in row.get(booster, []):
                params = {name: values.get(name, 0.5)}
                if name == "monotone_constraints_method":
                    params["monotone_constraints"] = [1]
                ranker = GBRanker(
                    n_estimators=1, min_child_samples=1, booster=booster, booster_params=params
                )
                ranker.fit(X, Y, qid=QID)
                tried += 1
    assert tried > 14


def test_parameters_of_parameters_and_of_subclasses() -> None:
    """A start's own parameters are set by name; a subclass has a constructor of its own."""
    with pytest.raises(ValueError, match=r"unknown parameter of GBRanker 'innit'.* mean 'init'"):
        GBRanker().set_params(innit__num_leaves=3)
    nested = GBRanker(init=GBRanker()).set_params(init__num_leaves=3)
    assert nested.init.num_leaves == 3

    class Own(GBRanker):
        def __init__(self, shade: Any = None) -> None:
            super().__init__(n_estimators=4)
            self.shade = shade

    assert (Own(3).shade, Own(3).n_estimators, Own(3).get_params()) == (3, 4, {"shade": 3})


@pytest.mark.parametrize(
    ("word", "advice"),
    [
        ({"lambdarank_norm": False}, "leave it out, as False is the default"),
        ({"lambdarank_norm": True}, "normalize=lightgbm"),
        ({"ndcg_exp_gain": True}, "leave it out, as True is the default"),
        ({"ndcg_exp_gain": False}, "gain=linear"),
        ({"bagging_by_query": False}, "leave it out"),
        ({"lambdarank_pair_method": "mean"}, "leave it out"),
    ],
    ids=str,
)
def test_advice_depends_on_the_value(word: dict[str, Any], advice: str) -> None:
    """Followed, it does what was written."""
    with pytest.raises(TypeError, match=advice):
        GBRanker(**word)


def test_measures_are_metrics() -> None:
    """Functions say which of their arguments a wrong guess stands for."""
    for function in (compare_rankers, compare_scores, report):
        name = function.__name__
        with pytest.raises(TypeError, match=rf"argument of {name} 'measures'\. Did you mean 'met"):
            function({}, measures="map")
