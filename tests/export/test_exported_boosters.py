"""Models that LightGBM and XGBoost trained: exported and explained as rankers of gbrank are."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import onnx
import pandas as pd
import polars as pl
import pytest
import xgboost as xgb
from numpy.testing import assert_allclose
from sklearn.utils.fixes import parse_version

from exported_models import scores_in
from gbrank import NDCG, GBRanker, export_model, make_cubic, write_letor
from gbrank import report as write_report
from gbrank.commands.data_files import Reader
from gbrank.commands.models import explain, export, info, report
from gbrank.export import verify_export
from gbrank.ranker import opened_ranker
from report_page import Page

X, Y, QID = make_cubic(30, n_documents=10, n_features=4, random_state=0)
X = X.astype(np.float32).astype(np.float64)
SIZES = [10] * 30
NAMES = ["f0", "f1", "f2", "f3"]


def lightgbm(**params: Any) -> lgb.Booster:
    quiet: dict[str, Any] = {"objective": "lambdarank", "verbosity": -1, "num_threads": 1}
    return lgb.train(quiet | params, lgb.Dataset(X, Y, group=SIZES), 5)


def xgboost(**params: Any) -> xgb.Booster:
    return xgb.train({"nthread": 1, **params}, xgb.DMatrix(X, Y, qid=QID), 5)


def margin(booster: xgb.Booster) -> Any:
    return booster.predict(xgb.DMatrix(X), output_margin=True)


MODELS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "lightgbm": (lightgbm, lambda model: model.predict(X)),
    "LGBMRanker": (
        lambda: lgb.LGBMRanker(n_estimators=5, verbosity=-1, n_jobs=1).fit(X, Y, group=SIZES),
        lambda model: model.predict(X),
    ),
    "dart of lightgbm": (lambda: lightgbm(boosting="dart"), lambda model: model.predict(X)),
    "xgboost": (lambda: xgboost(objective="rank:ndcg"), margin),
    "base score": (lambda: xgboost(objective="reg:squarederror", base_score=0.7), margin),
    "logistic": (
        lambda: xgb.train(
            {"objective": "binary:logistic", "base_score": 0.2}, xgb.DMatrix(X, Y > 1), 5
        ),
        margin,
    ),
    "poisson": (lambda: xgboost(objective="count:poisson"), margin),
    "dart of xgboost": (lambda: xgboost(booster="dart", rate_drop=0.5), margin),
    "XGBRegressor": (
        lambda: xgb.XGBRegressor(n_estimators=5, n_jobs=1).fit(X, Y),
        lambda model: margin(model.get_booster()),
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_exports_give_the_scores_of_the_model(name: str, tmp_path: Path) -> None:
    """Raw scores, base score included, in an engine's reading of the file."""
    make, predict = MODELS[name]
    model = make()
    for format in ("opensearch", "solr"):
        export_model(model, tmp_path / "model", format)
        scores = scores_in(tmp_path / "model", format, X, NAMES)
        assert_allclose(scores, predict(model), rtol=2e-6, atol=2e-6)
    assert verify_export(model, tmp_path / "model", "solr", X=X).n_rows == 2300


@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_files(name: str, tmp_path: Path) -> None:
    """Of a booster, in Python and from a shell; names from the model or by --features."""
    make, _ = MODELS[name]
    file = tmp_path / ("model.txt" if name == "lightgbm" else "model.ubj")
    make().save_model(file)
    export_model(make(), tmp_path / "of-object", "opensearch")
    export_model(file, tmp_path / "of-file", "opensearch")
    export(model=str(file), format="opensearch", output=str(tmp_path / "of-shell"))
    expected = (tmp_path / "of-object").read_bytes()
    assert (tmp_path / "of-file").read_bytes() == (tmp_path / "of-shell").read_bytes() == expected
    (tmp_path / "names.txt").write_text("title\nbody\nage\nclicks\n")
    features = str(tmp_path / "names.txt")
    export(model=str(file), format="solr", output=str(tmp_path / "solr"), features=features)
    names = {entry["name"] for entry in json.loads((tmp_path / "solr").read_text())["features"]}
    assert names <= {"title", "body", "age", "clicks"}
    frame = lgb.Dataset(pd.DataFrame(X, columns=list("abcd")), Y)
    export_model(lgb.train({"verbosity": -1}, frame, 2), tmp_path / "named", "opensearch")
    assert json.loads((tmp_path / "named").read_text())[0]["split"] in list("abcd")


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "several outputs of lightgbm": (
        lambda: lightgbm(objective="multiclass", num_class=5),
        "the model must have one output, got 5",
    ),
    "several outputs of xgboost": (
        lambda: xgboost(objective="multi:softprob", num_class=5),
        "the model must have one output, got 5",
    ),
    "random forest": (
        lambda: lightgbm(boosting="rf", bagging_freq=1, bagging_fraction=0.5),
        r"the model must be a sum of trees, got a mean \(boosting='rf'\)",
    ),
    "linear leaves": (
        lambda: lightgbm(objective="regression", linear_tree=True),
        "constants in its leaves, got the linear functions of linear_tree",
    ),
    "linear booster": (lambda: xgboost(booster="gblinear"), "of trees, got booster='gblinear'"),
    "no model": (dict, "model must be a ranker of gbrank, a trained booster, or the path of one"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_engine_can_hold_is_refused(name: str, tmp_path: Path) -> None:
    make, message = REFUSED[name]
    with pytest.raises((ValueError, TypeError), match=message):
        export_model(make(), tmp_path / "model", "opensearch")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["lightgbm", "base score"])
@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_chains_of_boosters_are_one_forest(booster: str, name: str, tmp_path: Path) -> None:
    """The trees of a ranker after those of the booster that it adds to."""
    make, _ = MODELS[name]
    options: dict[str, Any] = {"n_estimators": 4, "min_child_samples": 5, "random_state": 0}
    ranker = GBRanker(init=make(), booster=booster, **options).fit(X, Y, qid=QID)
    export_model(ranker, tmp_path / "model", "opensearch")
    scores = scores_in(tmp_path / "model", "opensearch", X, NAMES)
    assert_allclose(scores, ranker.predict(X), rtol=2e-6, atol=2e-6)


WORDS = pd.Categorical(
    np.array(["red", "green", "blue", "black"])[Y.astype(int) % 4],
    categories=["red", "green", "blue", "black", "none yet"],
)
FRAME = pd.DataFrame({"a": X[:, 0], "colour": WORDS})


@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_categories_have_their_words(name: str, tmp_path: Path) -> None:
    """ONNX has the library's codes, and says which word each stands for; Vespa has the words."""
    model: Any
    if name == "lightgbm":
        model = lgb.LGBMRanker(n_estimators=5, verbosity=-1, n_jobs=1)
    elif parse_version(xgb.__version__) < parse_version("3.1"):
        pytest.skip("XGBoost keeps categories since 3.1")
    else:
        model = xgb.XGBRanker(n_estimators=5, n_jobs=1, enable_categorical=True)
    scores = model.fit(FRAME, Y, group=SIZES).predict(FRAME)
    codes = np.column_stack([X[:, 0], WORDS.codes])
    export_model(model, tmp_path / "model", "onnx")
    exported = scores_in(tmp_path / "model", "onnx", codes, ["a", "colour"])
    assert_allclose(exported, scores, rtol=2e-6, atol=2e-6)
    (metadata,) = (
        entry.value
        for entry in onnx.load(tmp_path / "model").metadata_props
        if entry.key == "categories"
    )
    assert json.loads(metadata) == {"colour": list(WORDS.categories)}
    export_model(model, tmp_path / "vespa", "vespa-lightgbm")
    ranker = opened_ranker(model)
    text = FRAME.assign(colour=FRAME["colour"].astype(str))
    for table in (FRAME, text, pl.from_pandas(text)):
        assert_allclose(ranker.predict(table), scores, rtol=2e-6, atol=2e-6)
        assert_allclose(ranker.explain(table).sum(axis=1), scores, rtol=2e-6, atol=2e-6)
    with pytest.raises(ValueError, match=r"format must have splits by category, .*'colour'"):
        export_model(model, tmp_path / "refused", "solr")


def test_codes_without_words(tmp_path: Path) -> None:
    """LightGBM does not say which columns had ordered categories, nor what users' codes mean."""
    ordered = FRAME.assign(size=pd.Categorical(QID % 3, ordered=True))
    codes = np.column_stack([X[:, 0], WORDS.codes])
    for table, options in ((ordered, {}), (codes, {"categorical_feature": [1]})):
        model = lgb.LGBMRanker(n_estimators=5, verbosity=-1, n_jobs=1)
        model.fit(table, Y, group=SIZES, **options)
        with pytest.raises(ValueError, match="format must be another: the words of a booster's"):
            export_model(model, tmp_path / "refused", "vespa-lightgbm")


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("1 qid:1 1:0.5\n")
    with pytest.raises(FileNotFoundError, match=r"data\.txt is a file: pass the folder that holds"):
        export_model(tmp_path / "data.txt", tmp_path / "model", "opensearch")


@pytest.mark.parametrize("name", ["lightgbm", "base score"])
def test_explanations(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Shares sum to the raw scores; `gbrank info` and `explain` take the file."""
    make, predict = MODELS[name]
    model = make()
    ranker = opened_ranker(model)
    assert isinstance(ranker, GBRanker)
    assert_allclose(ranker.explain(X).sum(axis=1), predict(model), rtol=2e-6, atol=2e-6)
    file = tmp_path / ("model.txt" if name == "lightgbm" else "model.json")
    model.save_model(file)
    info(model=str(file), json=True)
    facts = json.loads(capsys.readouterr().out)
    assert facts["features"] == 4
    assert facts["booster"] == ("lightgbm" if name == "lightgbm" else "xgboost")
    assert {feature for feature, _ in facts["importances"]} == {*NAMES}
    write_letor(tmp_path / "data.txt", X, Y, QID)
    data = str(tmp_path / "data.txt")
    explain(data, model=str(file), query="3", pair=("1", "2"), reader=Reader())
    assert "rank 1" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["lightgbm", "LGBMRanker", "base score", "XGBRegressor"])
def test_reports(name: str, tmp_path: Path) -> None:
    """Of a booster or an estimator in Python, and of its file from a shell: the same figures."""
    make, predict = MODELS[name]
    model = make()
    booster = getattr(model, "booster_", model)
    booster = booster.get_booster() if hasattr(booster, "get_booster") else booster
    file = tmp_path / ("model.txt" if isinstance(booster, lgb.Booster) else "model.json")
    booster.save_model(file)
    write_letor(tmp_path / "data.txt", X, Y, QID)
    pages = [tmp_path / f"{number}.html" for number in range(3)]
    for source, page in zip((model, predict(model)), pages, strict=False):
        write_report(source, X, Y, qid=QID, html=page, names=("it", "other"))
    report(str(tmp_path / "data.txt"), model=str(file), html=str(pages[2]), reader=Reader())
    value = f"{NDCG(k=10)(Y, predict(model), qid=QID):.4f}"
    for page in pages:
        assert value in page.read_text(encoding="utf-8")
    sizes = np.abs(opened_ranker(model).explain(X)[:, :-1]).mean(axis=0)
    for page in (Page(pages[0]), Page(pages[2])):
        shares = page.table("importances", "feature")
        assert [*shares] == [NAMES[i] for i in np.argsort(-sizes)]
        assert_allclose([float(row[1]) for row in shares.values()], -np.sort(-sizes), rtol=5e-3)
        head, *documents = page.tables["worst"][-1]
        assert head[-2:] == ["lifts", "lowers"]
        assert any("f" in row[-1] for row in documents)
