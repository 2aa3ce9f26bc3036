"""Keywords that people know from other libraries: the error says what stands here."""

import inspect
import re
from typing import Any

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

from gbrank import GBRanker, LinearRanker, SLAMPerceptron, get_measure, get_objective
from gbrank.commands.cli import main
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
    said = rf"^GBRanker has no {name}: {re.escape(HERE[name].replace('`', ''))}\.$"
    with pytest.raises(TypeError, match=said):
        GBRanker(**{name: 1})
    with pytest.raises(ValueError, match=said):
        GBRanker().set_params(**{name: 1})


@pytest.mark.parametrize("method", ["fit", "predict"])
def test_every_keyword_of_their_methods(method: str) -> None:
    """Likewise."""
    own = getattr(GBRanker(), method)
    for name in theirs(method) - set(inspect.signature(own).parameters):
        with pytest.raises(TypeError, match=rf"^GBRanker\.{method} has no {name}: "):
            own(X, **{name: 1})


def test_all_wrong_words_at_once() -> None:
    """What is known, then what nobody knows; the list of known names comes once."""
    with pytest.raises(TypeError) as caught:
        GBRanker(eta=1, lambda_l1=2, n_estimatrs=3, colour=4)  # type: ignore[call-arg]
    said = str(caught.value)
    assert said.startswith("GBRanker has no eta: use GBRanker(learning_rate=...). ")
    assert 'GBRanker has no lambda_l1: use GBRanker(booster_params={"lambda_l1": ...}). ' in said
    assert "'colour'. unknown parameter of GBRanker 'n_estimatrs'. Did you mean" in said
    assert said.count("Known: ") == 1
    with pytest.raises(ValueError, match=r"GBRanker has no eta: .*GBRanker has no rsm: "):
        GBRanker().set_params(eta=1, rsm=2)
    with pytest.raises(TypeError, match=r"fit has no cat_features: .*fit has no evals: "):
        GBRanker().fit(X, Y, qid=QID, evals=[], cat_features=[])  # type: ignore[call-arg]


def test_other_names_of_lightgbms_options() -> None:
    """Those that the table does not list are known too."""
    listed = {word for row in TABLE for word in row.get("lightgbm", [])}
    for other, word in {"l1_regularization": "lambda_l1", "nrounds": "num_iterations"}.items():
        assert other not in listed
        assert HERE[other] == HERE[word]


def test_options_of_ranklib() -> None:
    words = {"-tree": "n_estimators", "-leaf": "num_leaves", "-mls": "min_child_samples"}
    assert {word: HERE[word] for word in words} == {
        word: f"use `GBRanker({name}=...)`" for word, name in words.items()
    }


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


def test_options(capsys: pytest.CaptureFixture[str]) -> None:
    """On the command line the error names the option, where the command has it."""
    for words, said in {
        "train x --model m --eval-metric ndcg@5": '(eval_metric="ndcg@10"). Here: --metric.',
        "train x --model m --max_bin=63": 'params={"max_bin": ...}). Here: --booster-param.',
        "train x --model m --task-type GPU": "). Here: --booster, --booster-param.",
        "train x --model m --eval-names a": "--eval-names: use ranker.evals_result_",
        "evaluate x --model m --eval-metric map": "Here: --metric.",
        "train x --model m --num-boost-round 5": "(n_estimators=...). Here: --n-estimators.",
        "compare --device cuda": "unrecognized argument --device: use GBRanker(",
        "train x --model m --colour red": "unrecognized argument --colour.",
    }.items():
        with pytest.raises(SystemExit, match="2"):
            main(words.split())
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("cls", [GBRanker, LinearRanker, SLAMPerceptron])
def test_slips_of_the_pen(cls: Any) -> None:
    """In the constructor and in set_params; for some words the nearest are another library's."""
    known = cls().get_params()
    for name in known:
        said = rf"unknown parameter of {cls.__name__} '{name}_'\. Did you mean '{name}'\? Known: "
        with pytest.raises(TypeError, match=said):
            cls(**{f"{name}_": 1})
        with pytest.raises(ValueError, match=said):
            cls().set_params(**{f"{name}_": 1})
    said = (
        r"^GBRanker has no n_tres\. Did you mean num_trees: use GBRanker\(n_estimators=\.\.\.\)\?$"
    )
    if cls is not GBRanker:
        said = rf"^unknown parameter of {cls.__name__} 'n_tres'\. Known: [^:]*\.$"
    for call, kind in ((cls, TypeError), (cls().set_params, ValueError)):
        with pytest.raises(kind, match=said):
            call(n_tres=3)


def test_weights_of_queries() -> None:
    """XGBRanker's weights are those of queries: the error says what these are called here."""
    with pytest.raises(ValueError, match=r"400 entries, got 5\. Weights of queries are query_weig"):
        GBRanker().fit(X, Y, qid=QID, sample_weight=np.ones(5))


@pytest.mark.parametrize("data", [lgb.Dataset(X), xgb.DMatrix(X)], ids=["Dataset", "DMatrix"])
@pytest.mark.parametrize("arguments", [(), (Y,)], ids=["alone", "with labels"])
def test_their_data_sets(data: Any, arguments: tuple[Any, ...]) -> None:
    """They are refused with what to pass instead, whatever else is missing."""
    with pytest.raises(TypeError, match=rf"{type(data).__name__}. Pass its features as X.*qid="):
        GBRanker().fit(data, *arguments)
    with pytest.raises(TypeError, match="Pass its features as X"):
        GBRanker().fit(X=data, y=Y, qid=QID)
    for valid in (data, (data, Y)):
        with pytest.raises(TypeError, match=r"eval_set\[0\].*Pass its features as X"):
            GBRanker().fit(X, Y, qid=QID, eval_set=[valid], eval_qid=[QID])


@pytest.mark.parametrize("verbose", [-1, 0, False, None])
def test_silence(verbose: Any, capfd: pytest.CaptureFixture[str]) -> None:
    """Is what LightGBM's users ask for by -1."""
    ranker = GBRanker(n_estimators=2, min_child_samples=1, verbose=verbose).fit(X, Y, qid=QID)
    assert capfd.readouterr() == ("", "")
    assert "train" not in ranker.evals_result_


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
