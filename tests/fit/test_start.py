"""What a ranker boosts from: `init`, its part in predictions, and its place in saved models."""

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from gbrank import GBRanker, Queries, make_cubic
from gbrank.data.documents import Documents
from gbrank.extend import Facts, custom_objective
from gbrank.schedules import geometric
from plain_trees import PLAIN

X, Y, QID = make_cubic(40, n_documents=12, n_features=5, random_state=0)
TRAIN, VALID = QID < 30, QID >= 30


def ranker(objective: Any = "smooth:ndcg", **params: Any) -> GBRanker:
    """Return a small ranker."""
    params = {"n_estimators": 20, "num_leaves": 6, "random_state": 0, **params}
    return GBRanker(objective, **PLAIN | params)


def fitted(made: GBRanker) -> GBRanker:
    """Fit on the first queries, validate on the rest."""
    return made.fit(
        X[TRAIN], Y[TRAIN], qid=QID[TRAIN], eval_set=[(X[VALID], Y[VALID])], eval_qid=[QID[VALID]]
    )


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_regression_is_trees_on_gains_with_the_same_settings(booster: str) -> None:
    """A tenth of the rounds of the regression objective, then the objective from its scores."""
    whole = fitted(ranker(init="regression", booster=booster))
    start = ranker("regression", n_estimators=2, learning_rate=None, booster=booster)
    start.fit(X[TRAIN], Y[TRAIN], qid=QID[TRAIN])
    assert whole.init_.get_params() == start.get_params()
    rest = ranker(init="zero", booster=booster).fit(
        X[TRAIN], Y[TRAIN], qid=QID[TRAIN], init_score=start.predict(X[TRAIN])
    )
    assert_array_equal(whole.predict(X), rest.predict(X) + start.predict(X))
    assert whole.evals_result_["valid_0"]["ndcg@10"][-1] == pytest.approx(
        whole.score(X[VALID], Y[VALID], QID[VALID])
    )


def test_the_regressions_settings_that_are_its_own() -> None:
    """Whatever else the ranker has, and with the weights of its queries."""
    weights = 1.0 + np.arange(40) % 3
    made = ranker(
        init="regression", sigma=0.5, learning_rate=0.1, validation_fraction=0.3, verbose=1,
        early_stopping_rounds=50, num_leaves=4, n_estimators=30,
    ).fit(X, Y, qid=QID, query_weight=weights)  # fmt: skip
    plain = {
        "objective": "regression", "init": None, "sigma": None, "validation_fraction": None,
        "verbose": 0, "early_stopping_rounds": None, "n_estimators": 3, "learning_rate": None,
    }  # fmt: skip
    assert made.init_.get_params() == {**made.get_params(), **plain}
    kept = made.init_.training_data_["train"]["queries"]
    assert 20 < kept < 40
    unweighted = clone(made).fit(X, Y, qid=QID).init_
    assert (unweighted.predict(X) != made.init_.predict(X)).any()
    document_weights = clone(made).fit(X, Y, qid=QID, sample_weight=weights[QID]).init_
    assert_allclose(document_weights.predict(X), made.init_.predict(X), rtol=1e-6)


def test_another_fit_of_the_start_changes_nothing() -> None:
    """A model adds the scores of the start as it was when the model was fitted."""
    start = ranker("ranknet", n_estimators=3).fit(X, Y, qid=QID)
    whole = ranker("ranknet", init=start).fit(X, Y, qid=QID)
    before, alone = whole.predict(X), start.predict(X)
    start.fit(X, Y.max() - Y, qid=QID)
    assert (start.predict(X) != alone).any()
    assert_array_equal(whole.predict(X), before)
    assert whole.init is start


@pytest.mark.parametrize(
    ("objective", "booster"), [("smooth:ndcg", "lightgbm"), ("approx:ap", "xgboost")]
)
def test_smoothed_objectives_begin_with_ranknet(objective: str, booster: str) -> None:
    """For half of the rounds; then they go on from its scores, at widths of their own."""
    whole = fitted(ranker(objective, booster=booster, n_estimators=21))
    ranknet = fitted(ranker("ranknet", booster=booster, n_estimators=10))
    curve = whole.evals_result_["valid_0"]["ndcg@10"]
    assert curve[:10] == ranknet.evals_result_["valid_0"]["ndcg@10"]
    assert whole.init_ is None
    assert_array_equal(whole.sigmas_[:10], 1)
    rest = ranker(objective, booster=booster, n_estimators=11).fit(
        X[TRAIN], Y[TRAIN], qid=QID[TRAIN], init_score=ranknet.predict(X[TRAIN])
    )
    assert_allclose(rest.sigmas_, whole.sigmas_[10:], rtol=1e-4)
    assert_allclose(rest.predict(X) + ranknet.predict(X), whole.predict(X), rtol=0, atol=1e-4)


def test_early_stopping_ends_the_start_first() -> None:
    """Then the objective narrows over as many rounds as RankNet had, and stops by itself."""
    stopping: dict[str, Any] = {"n_estimators": 400, "early_stopping_rounds": 8}
    whole = fitted(ranker("approx:ndcg", **stopping))
    begin = len(fitted(ranker("ranknet", **stopping)).sigmas_)
    assert begin + 8 <= len(whole.sigmas_) <= 2 * begin < 400
    ranknet = fitted(ranker("ranknet", n_estimators=begin))
    rest = ranker("approx:ndcg", n_estimators=begin).fit(
        X[TRAIN], Y[TRAIN], qid=QID[TRAIN], init_score=ranknet.predict(X[TRAIN])
    )
    n = len(whole.sigmas_) - begin
    assert_allclose(whole.sigmas_, [*ranknet.sigmas_, *rest.sigmas_[:n]], rtol=1e-4)
    curve = whole.evals_result_["valid_0"]["ndcg@10"]
    assert whole.best_iteration_ == np.argmax(curve) + 1


@pytest.mark.parametrize("objective", ["lambda:ndcg", "approx:ndcg"])
def test_sigma_goes_on_where_a_model_left_off(objective: str, tmp_path: Path) -> None:
    """Loaded or not; after the last round it stays; another objective or schedule begins anew."""
    sigma = geometric(1, 0.1)
    first = fitted(ranker(objective, sigma=sigma, early_stopping_rounds=3, n_estimators=100))
    assert len(first.sigmas_) == first.best_iteration_ + 3
    first.save(tmp_path)
    for start in (first, GBRanker.load(tmp_path)):
        after = fitted(ranker(objective, sigma=str(sigma), init=start, n_estimators=3))
        assert_array_equal(after.sigmas_, first.sigmas_[first.best_iteration_ :])
    whole = fitted(ranker("listnet", sigma=sigma))
    assert_array_equal(fitted(ranker("listnet", sigma=sigma, init=whole)).sigmas_, 0.1)
    for other in (ranker("ranknet", sigma=sigma), ranker("listnet", sigma=geometric(1, 0.2))):
        assert fitted(other.set_params(init=whole)).sigmas_[0] == 1


def test_an_objective_of_ones_own_begins_with_ranknet() -> None:
    """If its facts say so, which give its widths too."""

    def towards_labels(scores: Any, labels: Any, sigma: float) -> Any:
        error = (scores - labels) / sigma
        return 0.5 * error @ error, error / sigma, np.full_like(error, sigma**-2)

    facts = Facts(formula="½ Σ (s − y)²/σ²", source="", start="ranknet", sigma="linear(2, 1)")
    made = fitted(ranker(custom_objective(towards_labels, facts=facts), n_estimators=10))
    assert_allclose(made.sigmas_, [1] * 5 + [2, 1.75, 1.5, 1.25, 1])
    ranknet = fitted(ranker("ranknet", n_estimators=5)).evals_result_
    assert made.evals_result_["valid_0"]["ndcg@10"][:5] == ranknet["valid_0"]["ndcg@10"]


def test_objectives_that_need_a_start_get_one_by_themselves() -> None:
    """A mixture begins with RankNet where all that is in it does, and is annealed as they are."""
    alone, both = (fitted(ranker(name)) for name in ("smooth:ndcg", "smooth:ndcg+smooth:ap"))
    starts = [model.predict(X, num_iteration=10) for model in (alone, both)]
    assert_allclose(*starts, rtol=1e-9)
    assert_allclose(both.sigmas_[:10], alone.sigmas_[:10])
    assert both.sigmas_[-1] < both.sigmas_[10]
    assert fitted(ranker("smooth:ndcg+listmle")).init_ is None
    for objective in ("smooth:ndcg", "smooth:ndcg+smooth:ap"):
        with pytest.raises(ValueError, match="initial scores are equal within every query"):
            fitted(ranker(objective, init="zero"))
    with pytest.raises(ValueError, match="every query has one document"):
        ranker().fit(X, Y, qid=range(len(Y)))
    # Where scores differ, it is the labels.
    with pytest.raises(ValueError, match="equal within each query"):
        ranker().fit(X, 0 * Y, qid=QID, init_score=X[:, 0])


def test_a_regression_converges_whatever_the_steps_of_what_follows() -> None:
    """At a rate for steps along the gradient it would diverge."""
    steep = fitted(ranker(init="regression", curvature="unit", learning_rate=5.0, n_estimators=200))
    gains = 2.0 ** Y[TRAIN] - 1
    start = steep.init_.predict(X[TRAIN])
    assert ((start - gains) ** 2).mean() < 0.7 * ((gains - gains.mean()) ** 2).mean()


def test_a_fitted_ranker_or_its_folder(tmp_path: Path) -> None:
    """The trees add to its scores; a folder is read when the fit begins, and not needed later."""
    start = ranker("listnet", early_stopping_rounds=3)
    fitted(start).save(tmp_path / "start")
    rest = ranker(init="zero").fit(
        X[TRAIN], Y[TRAIN], qid=QID[TRAIN], init_score=start.predict(X[TRAIN])
    )
    made = clone(ranker(init=tmp_path / "start"))
    for model in (fitted(ranker(init=start)), fitted(made), fitted(ranker(init=made.init_))):
        assert_allclose(model.predict(X), rest.predict(X) + start.predict(X))
    assert made.init == tmp_path / "start"
    made.save(tmp_path / "made")
    shutil.rmtree(tmp_path / "start")
    loaded = GBRanker.load(tmp_path / "made")
    assert_array_equal(loaded.predict(X), made.predict(X))
    assert loaded.init is loaded.init_


def test_held_out_queries_train_neither_model() -> None:
    """Labels of queries that are set aside do not matter, on a data frame too."""
    frame = pd.DataFrame(X, columns=list("abcde"))
    once = ranker(validation_fraction=0.3, init="regression").fit(frame, Y, qid=QID)
    assert once.init_.n_features_in_ == 5
    held_out = np.isin(QID, _held_out())
    changed = np.where(held_out, Y[::-1], Y)
    again = ranker(validation_fraction=0.3, init="regression").fit(frame, changed, qid=QID)
    assert_array_equal(once.init_.predict(frame), again.init_.predict(frame))
    assert_array_equal(once.predict(frame), again.predict(frame))


def _held_out() -> Any:
    """Return the ids of the queries that are set aside."""
    return Documents(X, Y, Queries.from_qid(QID)).split(0.3, 0)[1].queries.ids


def test_saved_with_the_model(tmp_path: Path) -> None:
    """In the same file, nested as deep as need be; a part of another model is refused."""
    inner = fitted(ranker(init=fitted(ranker("listnet")), sigma=1.0))
    made = fitted(ranker("lambda:ndcg", init=inner))
    made.save(tmp_path)
    again = GBRanker.load(tmp_path)
    assert_array_equal(again.predict(X), made.predict(X))
    assert str(again) == str(made)
    assert again.get_params()["init"] is again.init_
    assert again.init_.init_.objective == "listnet"
    other = fitted(ranker("lambda:ndcg", init=fitted(ranker("listmle"))))
    other.save(tmp_path / "other")
    description = json.loads((tmp_path / "gbrank.json").read_text())
    description["init"] = json.loads((tmp_path / "other" / "gbrank.json").read_text())["init"]
    (tmp_path / "gbrank.json").write_text(json.dumps(description))
    with pytest.raises(ValueError, match="its content has changed"):
        GBRanker.load(tmp_path)


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"objective": "lambda:nothing"}, "unknown metric 'nothing'"),
        ({"sigma": -1.0}, "sigma must be"),
        ({"objective": "ranknet[m]"}, r"needs labels= with 'm'"),
        ({"booster_params": {"max_bni": 3}}, "unknown booster parameter 'max_bni'"),
    ],
)
def test_nothing_is_trained_before_all_is_checked(
    booster: str, params: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The start neither, which may take long."""
    never = partial(pytest.fail, "the start is in training")
    made = ranker("ranknet", booster=booster, init="regression").set_params(**params)
    monkeypatch.setattr("gbrank.fit.boost.clone", never)
    with pytest.raises(ValueError, match=message):
        made.fit(X, Y, qid=QID)


def test_the_regression_has_weights_categories_and_no_baseline() -> None:
    """It learns from the data of the fit; other options are of the ranker alone."""
    code = np.random.default_rng(0).integers(0, 7, len(Y))
    labels = np.array([0, 3, 1, 4, 0, 2, 1])[code]
    frame = pd.DataFrame({"c": np.array(list("abcdefg"))[code], "x": X[:, 0]})
    margin = {"margin": np.where(X[:, 0] > 0.5, np.nan, X[:, 0] + 1)}
    made = ranker(
        "ranknet", init="regression", baseline="x",
        n_estimators=10, validation_fraction=0.3, eval_metric="ndcg[margin]",
    )  # fmt: skip
    made.fit(frame, labels, qid=QID, categorical_feature=["c"], labels=margin)
    assert made.init_._schema.categorical == [0]


def test_one_seed_is_drawn_for_a_whole_fit() -> None:
    """Of its trees, its start and its folds, whatever else is checked meanwhile."""
    state, same = np.random.RandomState(5), np.random.RandomState(5)
    parts = {"init": "regression", "baseline": "f0", "subsample": 0.7, "n_estimators": 20}
    drawn = GBRanker(random_state=state, **parts).fit(X, Y, qid=QID)
    seeded = GBRanker(random_state=int(same.randint(2**31 - 1)), **parts).fit(X, Y, qid=QID)
    assert_array_equal(drawn.predict(X), seeded.predict(X))
    assert state.randint(1000) == same.randint(1000)
