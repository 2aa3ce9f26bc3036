"""Inside scikit-learn: routing of queries and weights, searches, pipelines, scorers, splits."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingRandomSearchCV,
    cross_val_predict,
    cross_validate,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gbrank import (
    AP,
    NDCG,
    GBRanker,
    LambdaRank,
    LinearRanker,
    ListMLE,
    Mixture,
    Queries,
    SLAMPerceptron,
    make_cubic,
    query_train_test_split,
)
from gbrank.evaluation import make_scorer
from gbrank.schedules import geometric

X, Y, QID = make_cubic(24, n_documents=10, n_features=4, random_state=0)
NAMES = np.array([f"query {number}" for number in QID])
WEIGHT = {name: 1.0 + i % 3 for i, name in enumerate(dict.fromkeys(NAMES.tolist()))}
FOLDS = list(GroupKFold(3).split(X, Y, NAMES))


def ranker(**params: Any) -> GBRanker:
    """Return a small ranker."""
    small = {"n_estimators": 4, "num_leaves": 6, "min_child_samples": 5}
    return GBRanker(**small | params, n_jobs=1, random_state=0)


def by_hand(estimator: Any, measure: Any, **weights: Any) -> list[float]:
    """Return the measure of each fold, without scikit-learn's machinery."""
    values = []
    for train, test in FOLDS:
        own = {} if "sample_weight" not in weights else {"sample_weight": weights["sample_weight"]}
        fitted = clone(estimator).fit(
            X[train], Y[train], qid=NAMES[train], **_rows(own, train), **_by_query(weights)
        )
        values.append(
            measure(
                Y[test], fitted.predict(X[test]), qid=NAMES[test], **_rows(own, test),
                **_by_query(weights),
            )
        )  # fmt: skip
    return values


def _rows(weights: dict[str, Any], rows: Any) -> dict[str, Any]:
    return {name: values[rows] for name, values in weights.items()}


def _by_query(weights: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in weights.items() if name == "query_weight"}


# --- Routing ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize(
    "estimator",
    [ranker(), ranker(booster="xgboost"), LinearRanker("regression"), SLAMPerceptron()],
    ids=lambda item: type(item).__name__,
)
def test_queries_reach_fit_and_score(estimator: Any) -> None:
    """With nothing requested by hand; the splitter takes its groups from qid."""
    found = cross_validate(
        estimator, X, Y, cv=GroupKFold(3).set_split_request(groups="qid"), params={"qid": NAMES},
        error_score="raise",
    )["test_score"]  # fmt: skip
    measure = NDCG() if isinstance(estimator, SLAMPerceptron) else NDCG(k=10)
    assert_allclose(found, by_hand(estimator, measure), rtol=1e-12)


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("kind", ["sample_weight", "query_weight", "both"])
def test_weights_reach_fit_and_score(kind: str) -> None:
    """Those of documents are split with the rows; those of queries go by query id."""
    weights: dict[str, Any] = {"sample_weight": 1.0 + QID % 4, "query_weight": WEIGHT}
    chosen = weights if kind == "both" else {kind: weights[kind]}
    found = cross_validate(
        ranker(), X, Y, cv=GroupKFold(3), params={"qid": NAMES, "groups": NAMES, **chosen},
        error_score="raise",
    )["test_score"]  # fmt: skip
    assert_allclose(found, by_hand(ranker(), NDCG(k=10), **chosen), rtol=1e-12)
    assert not np.allclose(found, by_hand(ranker(), NDCG(k=10)), rtol=1e-6)


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("frame", [np.asarray, pd.DataFrame, pl.DataFrame])
def test_grid_search_through_a_pipeline(frame: Any) -> None:
    """Every candidate's score is what it is without scikit-learn's machinery."""
    pipeline = make_pipeline(StandardScaler(), ranker())
    search = GridSearchCV(
        pipeline,
        {"gbranker__objective": ["lambda:ndcg@5", LambdaRank(AP())], "gbranker__num_leaves": [3]},
        cv=GroupKFold(3), error_score="raise",
    )  # fmt: skip
    table = frame(X) if frame is np.asarray else frame({f"f{i}": X[:, i] for i in range(4)})
    search.fit(table, Y, qid=NAMES, groups=NAMES)
    for i, objective in enumerate(["lambda:ndcg@5", "lambda:map"]):
        values = []
        for train, test in FOLDS:
            scaler = StandardScaler().fit(X[train])
            own = ranker(objective=objective, num_leaves=3)
            own.fit(scaler.transform(X[train]), Y[train], qid=QID[train])
            values.append(own.score(scaler.transform(X[test]), Y[test], QID[test]))
        assert search.cv_results_["mean_test_score"][i] == pytest.approx(np.mean(values))
    best = search.best_estimator_
    assert search.score(table, Y, qid=NAMES) == pytest.approx(
        NDCG(k=10)(Y, best.predict(table), qid=QID)
    )


@pytest.mark.usefixtures("routing")
def test_halving_search_over_rounds() -> None:
    """The resource is the number of trees; the last candidates have the most."""
    search = HalvingRandomSearchCV(
        ranker(), {"num_leaves": [3, 4, 6, 8], "learning_rate": [0.1, 0.3]},
        resource="n_estimators", min_resources=2, max_resources=8, factor=2, random_state=0,
        n_candidates=4, cv=GroupKFold(3), scoring=make_scorer("map"), error_score="raise",
    )  # fmt: skip
    search.fit(X, Y, qid=NAMES, groups=NAMES)
    assert search.n_resources_ == [2, 4, 8]
    chosen = ranker(**search.best_params_)
    assert search.best_score_ == pytest.approx(np.mean(by_hand(chosen, AP())))
    assert search.best_estimator_.best_iteration_ == 8


@pytest.mark.usefixtures("routing")
def test_validation_sets_are_not_passed_on_unasked() -> None:
    """A step before the ranker would not transform them."""
    arguments = {"qid": QID, "eval_set": [(X, Y)], "eval_qid": [QID]}
    with pytest.raises(ValueError, match=r"eval_set"):
        make_pipeline(StandardScaler(), ranker()).fit(X, Y, **arguments)
    asked = ranker().set_fit_request(eval_set=True, eval_qid=True)
    fitted = make_pipeline(asked).fit(X, Y, **arguments)
    assert len(fitted[-1].evals_result_["valid_0"]["ndcg@10"]) == 4


def test_without_routing() -> None:
    """Queries reach `fit`, by scikit-learn's older ways; no score is a wrong one."""
    pipeline = make_pipeline(StandardScaler(), ranker()).fit(X, Y, gbranker__qid=QID)
    expected = ranker().fit(StandardScaler().fit_transform(X), Y, qid=QID)
    assert_array_equal(pipeline.predict(X), expected.predict(StandardScaler().fit_transform(X)))
    names = {"qid": NAMES}
    found = cross_val_predict(ranker(), X, Y, cv=GroupKFold(3), groups=NAMES, params=names)
    values = NDCG(k=10)(Y, found, qid=QID)
    assert values == pytest.approx(np.mean(by_hand(ranker(), NDCG(k=10))))
    for scoring in (None, make_scorer("ndcg@10")):
        with pytest.raises(ValueError, match=r"needs qid=.*enable_metadata_routing=True"):
            cross_validate(
                ranker(), X, Y, cv=GroupKFold(3), groups=NAMES, params={"qid": QID},
                scoring=scoring, error_score="raise",
            )  # fmt: skip


# --- Scorers ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("routing")
def test_scorers_judge_any_estimator() -> None:
    """Several at once; a regressor, too, which is itself given no queries."""
    found = cross_validate(
        Ridge(), X, Y, cv=GroupKFold(3),
        params={"qid": NAMES, "groups": NAMES, "query_weight": WEIGHT},
        scoring={"short": make_scorer("ndcg@3"), "map": make_scorer(AP())}, error_score="raise",
    )  # fmt: skip
    for name, measure in (("short", NDCG(k=3)), ("map", AP())):
        expected = [
            measure(Y[test], Ridge().fit(X[train], Y[train]).predict(X[test]), qid=NAMES[test],
                    query_weight=WEIGHT)
            for train, test in FOLDS
        ]  # fmt: skip
        assert_allclose(found[f"test_{name}"], expected, rtol=1e-12)


def test_scorers_are_values() -> None:
    """Compared, printed, pickled; and called without routing, too."""
    scorer = make_scorer("ndcg@10")
    assert scorer == make_scorer(NDCG(k=10)) != make_scorer("ndcg")
    assert pickle.loads(pickle.dumps(scorer)) == scorer
    assert repr(scorer) == "Scorer(measure=NDCG(k=10))"
    fitted = ranker().fit(X, Y, qid=QID)
    assert scorer(fitted, X, Y, QID) == fitted.score(X, Y, QID)
    with pytest.raises(ValueError, match="unknown measure 'nothing'"):
        make_scorer("nothing")
    with pytest.raises(ValueError, match=r"scorer of ndcg@10 needs qid="):
        scorer(fitted, X, Y)


def test_query_weights_by_id() -> None:
    """The same as in the order of the queries; a query without one is an error."""
    in_order = [WEIGHT[name] for name in dict.fromkeys(NAMES.tolist())]
    first = ranker().fit(X, Y, qid=NAMES, query_weight=WEIGHT)
    assert_array_equal(
        first.predict(X), ranker().fit(X, Y, qid=NAMES, query_weight=in_order).predict(X)
    )
    assert first.score(X, Y, NAMES, query_weight=WEIGHT) == first.score(
        X, Y, NAMES, query_weight=in_order
    )
    with pytest.raises(ValueError, match="query_weight must have one entry for query 'query 0'"):
        ranker().fit(X, Y, qid=NAMES, query_weight={"query 1": 1.0})


# --- Splits -----------------------------------------------------------------------------------


@given(
    sizes=st.lists(st.integers(1, 5), min_size=4, max_size=30),
    test_size=st.one_of(st.none(), st.floats(0.3, 0.7), st.integers(1, 3)),
    seed=st.integers(0, 10),
)
def test_queries_are_never_split(sizes: list[int], test_size: Any, seed: int) -> None:
    """Every row is in one part, in order, with its query; as many queries as scikit-learn says."""
    qid = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    rows = np.arange(len(qid))
    first, second, of_first, of_second = query_train_test_split(
        rows, qid=qid, test_size=test_size, random_state=seed
    )
    assert not set(of_first) & set(of_second)
    assert_array_equal(np.sort(np.concatenate([first, second])), rows)
    for part, queries in ((first, of_first), (second, of_second)):
        assert (np.diff(part) > 0).all()
        assert_array_equal(qid[part], queries)
    chosen = train_test_split(range(len(sizes)), test_size=test_size, random_state=seed)
    assert [len(set(of_first)), len(set(of_second))] == [len(part) for part in chosen]


def test_split_of_what_scikit_learn_splits() -> None:
    """Frames, sparse matrices and lists stay what they are; without a shuffle, the last queries."""
    parts = query_train_test_split(
        pd.DataFrame(X), pl.DataFrame(X), sp.csr_matrix(X), Y.tolist(), qid=NAMES,
        test_size=6, shuffle=False,
    )  # fmt: skip
    kinds = [pd.DataFrame, pl.DataFrame, sp.csr_matrix, list, np.ndarray]
    assert [type(part) for part in parts] == [kind for kind in kinds for _ in range(2)]
    assert_array_equal(parts[1], X[180:])
    assert_array_equal(parts[4].toarray(), X[:180])
    assert set(parts[9]) == {f"query {number}" for number in range(18, 24)}
    again = [query_train_test_split(Y, qid=QID, random_state=3) for _ in range(2)]
    assert all(map(np.array_equal, *again))


@pytest.mark.parametrize(
    ("arrays", "options", "message"),
    [
        ((), {}, "at least one array"),
        ((X[1:],), {}, "inconsistent numbers of samples"),
        ((X,), {"test_size": 24}, "test_size=24"),
        ((X,), {"test_size": 2.0}, "test_size"),
    ],
)
def test_bad_splits(arrays: Any, options: dict[str, Any], message: str) -> None:
    """Named."""
    with pytest.raises(ValueError, match=message):
        query_train_test_split(*arrays, qid=QID, **options)


# --- An estimator -----------------------------------------------------------------------------


def test_nested_parameters_survive() -> None:
    """Objectives of objectives through clone, set_params and pickle; a start's own parameters."""
    objective = Mixture([LambdaRank(NDCG(k=5)), ListMLE()], [0.75, 0.25])
    made = ranker(objective=objective, sigma=geometric(1, 0.1), init=ranker(num_leaves=3))
    assert clone(made).objective == objective
    assert made.get_params()["init__num_leaves"] == 3
    assert clone(made).set_params(init__num_leaves=5, objective=LambdaRank()).init.num_leaves == 5
    fitted = made.set_params(init="regression").fit(X, Y, qid=QID)
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.predict(X), fitted.predict(X))
    assert again.get_params(deep=False)["objective"] == objective


@pytest.mark.parametrize("made", [ranker(), LinearRanker("regression"), SLAMPerceptron()])
def test_pictures_and_attributes(made: Any) -> None:
    """In notebooks; what scikit-learn publishes of the columns."""
    fitted = clone(made).fit(pd.DataFrame(X, columns=list("abcd")), Y, qid=QID)
    for item in (made, fitted, make_pipeline(StandardScaler(), fitted)):
        assert type(made).__name__ in item._repr_html_()
        assert type(made).__name__ in repr(item)
    assert fitted.n_features_in_ == 4
    assert fitted.feature_names_in_.tolist() == list("abcd")
    assert not hasattr(clone(fitted), "n_features_in_")


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("library", [pd, pl])
def test_categories_missing_values_and_monotone_constraints(booster: str, library: Any) -> None:
    """A frame of mixed columns, cross-validated; with the constraint, scores never fall with it."""
    random = np.random.default_rng(0)
    rows = np.where(random.random(X.shape) < 0.1, np.nan, X)
    colour = random.choice(["blue", "green", "red"], len(Y))
    kind = "category" if library is pd else pl.Categorical
    table = library.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "colour": colour})
    table = (
        table.astype({"colour": kind})
        if library is pd
        else table.with_columns(pl.col("colour").cast(kind))
    )
    signs = [1, 0, 0] if booster == "lightgbm" else "(1,0,0)"
    made = ranker(booster=booster, booster_params={"monotone_constraints": signs})
    cross_validate(
        made, table, Y, cv=GroupKFold(3), params={"qid": QID, "groups": NAMES}, error_score="raise"
    )
    fitted = made.fit(table, Y, qid=QID)
    assert len(np.unique(fitted.predict(table))) > 5
    line = library.DataFrame(
        {"a": np.linspace(0, 1, 50), "b": np.full(50, 0.5), "colour": table["colour"][:50]}
    )
    same = np.full(50, "red")
    line = (
        line.assign(colour=pd.Categorical(same, categories=["blue", "green", "red"]))
        if library is pd
        else line.with_columns(pl.Series("colour", same).cast(kind))
    )
    assert (np.diff(fitted.predict(line)) >= 0).all()


@pytest.mark.usefixtures("routing")
def test_columns_transformed_before_the_ranker() -> None:
    """A column transformer in front; queries pass it by."""
    table = pd.DataFrame(X, columns=list("abcd"))
    pipeline = make_pipeline(make_column_transformer((StandardScaler(), ["a", "c"])), ranker())
    pipeline.fit(table, Y, qid=NAMES)
    assert pipeline[-1].n_features_in_ == 2
    assert pipeline.score(table, Y, qid=NAMES) == pytest.approx(
        NDCG(k=10)(Y, pipeline.predict(table), qid=QID)
    )


def test_requests_are_by_default() -> None:
    """Queries and weights, and nothing else."""
    for cls, weighted in ((GBRanker, True), (LinearRanker, True), (SLAMPerceptron, False)):
        requests = cls().get_metadata_routing()
        weights = {"sample_weight", "query_weight"}
        wanted = {name for name, asked in requests.fit.requests.items() if asked}
        assert wanted == {"qid", *(weights if weighted else ())}
        assert {name for name, asked in requests.score.requests.items() if asked} == {
            "qid", *weights,
        }  # fmt: skip
    with config_context(enable_metadata_routing=True):
        assert (
            ranker().set_fit_request(qid=False).get_metadata_routing().fit.requests["qid"] is False
        )
    assert Queries.from_qid(QID).in_order([1.0]) == [1.0]
