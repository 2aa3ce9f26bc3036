"""A predictor gives the bits of `predict`, on any thread, with the packages that a page lists."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

from gbrank import GBRanker, get_measure, make_cubic
from gbrank.serving import load_predictor

BOOSTERS = ["lightgbm", "xgboost"]
PAGE = Path(__file__).parents[1] / "docs" / "howto" / "deploy.md"
# What packages are imported as, where that is another name.
IMPORTED = {"xgboost_cpu": "xgboost"}
X, Y, QID = make_cubic(12, n_documents=8, n_features=3, random_state=0)
X[::7, 1] = np.nan
FRAME = pd.DataFrame(X, columns=["bm25", "price", "age"]).assign(
    shop=pd.Categorical(np.array(["wood", "stone", "iron"])[np.arange(len(X)) % 3])
)
DOCUMENTS = FRAME.astype(object).where(FRAME.notna(), None).to_dict("records")


def small(booster: str, **options: Any) -> GBRanker:
    """Return a ranker of a few trees, unfitted."""
    return GBRanker(
        booster=booster, n_estimators=4, min_child_samples=1, n_jobs=1, random_state=0, **options
    )


def pretrained(booster: str) -> Any:
    """Return a booster that its own library trained."""
    if booster == "lightgbm":
        return lgb.train({"verbosity": -1, "min_data_in_leaf": 1}, lgb.Dataset(X, Y), 3)
    return xgb.train({"base_score": 0.3}, xgb.DMatrix(X, Y), 3)


CHAINS: dict[str, Callable[[str], Any]] = {
    "a start": lambda booster: "regression",
    "a chain": lambda booster: small(booster, init="regression").fit(X, Y, qid=QID),
    "the other booster": lambda booster: small(BOOSTERS[booster == "lightgbm"]).fit(X, Y, qid=QID),
    "a pretrained one": pretrained,
}


@pytest.mark.parametrize("start", CHAINS)
@pytest.mark.parametrize("booster", BOOSTERS)
def test_chains_have_the_bits_of_predict(booster: str, start: str, tmp_path: Path) -> None:
    """Whatever the trees add to."""
    ranker = small(booster, init=CHAINS[start](booster))
    ranker.fit(X, Y, qid=QID).save(tmp_path)
    predictor = load_predictor(tmp_path)
    expected = ranker.predict(X)
    assert len(set(expected)) > 10
    assert np.array_equal(predictor.predict(X), expected)
    assert np.array_equal(predictor.predict(X.tolist()), expected)


@pytest.mark.parametrize("booster", BOOSTERS)
def test_words_and_missing_values(booster: str) -> None:
    """Of documents as JSON has them: unknown words, None, integers, columns in any order."""
    ranker = small(booster).fit(FRAME, Y, qid=QID)
    asked = [dict(reversed(document.items())) | {"title": "any"} for document in DOCUMENTS]
    asked[0] |= {"shop": "glass", "age": 3, "bm25": True}
    frame = pd.DataFrame(asked).astype({"bm25": float, "price": float, "age": float})
    frame["shop"] = pd.Categorical(frame["shop"])
    expected = ranker.predict(frame)
    for given in (asked, frame):
        assert np.array_equal(ranker.predictor().predict(given), expected)


@pytest.mark.parametrize("booster", BOOSTERS)
def test_columns_in_any_order_above_a_booster_without_names(booster: str) -> None:
    """It takes columns by place: those of `fit`, in training, validation and prediction."""
    frame = FRAME[["bm25", "price", "age"]]
    other = frame[["age", "bm25", "price"]].assign(title="any")
    ranker = small(booster, init=pretrained("xgboost"))
    valid = {"eval_set": [(other, Y)], "eval_qid": [QID]}
    ranker.fit(frame, Y, qid=QID, **valid)
    expected = ranker.predictor().predict(frame)
    assert np.array_equal(ranker.predict(frame), expected)
    assert np.array_equal(ranker.predict(other), expected)
    assert np.array_equal(ranker.predictor().predict(other), expected)
    measured = ranker.evals_result_["valid_0"]["ndcg@10"][-1]
    assert measured == pytest.approx(get_measure("ndcg@10")(Y, expected, qid=QID))


def test_threads_share_a_predictor() -> None:
    """Each gets the scores of its own list."""
    predictors = [small(booster).fit(X, Y, qid=QID).predictor() for booster in BOOSTERS]
    for predictor in predictors:
        lists = [X[start : start + 5] for start in range(90)] * 4
        alone = [predictor.predict(one) for one in lists]
        with ThreadPoolExecutor(8) as pool:
            together = list(pool.map(predictor.predict, lists))
        assert all(map(np.array_equal, alone, together))


def listed_packages() -> dict[str, list[str]]:
    """Return the packages that the page says suffice, as they are imported, by booster."""
    found = re.findall(r"pip install --no-deps (.+)", PAGE.read_text(encoding="utf-8"))
    lists = [[name.replace("-", "_") for name in names.split()] for names in found]
    lists = [[IMPORTED.get(name, name) for name in names] for names in lists]
    return {booster: names for names in lists for booster in BOOSTERS if booster in names}


ALONE = """
import importlib.abc, json, sys
folder, packages = sys.argv[1], set(sys.argv[2].split())

class Installed(importlib.abc.MetaPathFinder):
    "Finds nothing but the packages."
    def find_spec(self, name, path, target=None):
        if path is None and name not in packages | sys.stdlib_module_names and name[0] != "_":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Installed())
from gbrank.serving import load_predictor
print(json.dumps(load_predictor(folder).predict(json.load(sys.stdin)).tolist()))
"""


def said(code: str, *arguments: str, given: str = "") -> str:
    """Run code in a new process, and return what it prints."""
    path = json.dumps(list(filter(None, sys.path)))
    code = f"import sys; sys.path[:] = {path}\n{code}"
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not PAGE.parents[1].exists(), reason="docs/ is not beside the tests")
@pytest.mark.parametrize("booster", BOOSTERS)
def test_the_listed_packages_suffice(booster: str, tmp_path: Path) -> None:
    """Words, and a chain, where nothing else can be imported."""
    first = small(booster, init="regression").fit(FRAME, Y, qid=QID)
    ranker = small(booster, init=first).fit(FRAME, Y, qid=QID)
    ranker.save(tmp_path)
    packages = " ".join(listed_packages()[booster])
    scores = json.loads(said(ALONE, str(tmp_path), packages, given=json.dumps(DOCUMENTS)))
    assert scores == ranker.predict(FRAME).tolist()
