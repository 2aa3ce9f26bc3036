"""A booster's library is loaded when that booster is used, and not before."""

import os
import subprocess
import sys

import pytest

OTHER = {"lightgbm": "xgboost", "xgboost": "lightgbm"}
USED = """
import sys, tempfile
from gbrank import GBRanker, get_measure, load_ranker, make_cubic
booster, other = sys.argv[1:]
assert not {booster, other} & set(sys.modules)
X, y, qid = make_cubic(20, n_documents=10, random_state=0)
ranker = GBRanker("ranknet", n_estimators=3, booster=booster, n_jobs=1, random_state=0)
ranker.fit(X, y, qid=qid)
more = GBRanker("ranknet", n_estimators=3, booster=booster, n_jobs=1, init=ranker.booster_)
more.fit(X, y, qid=qid)
with tempfile.TemporaryDirectory() as folder:
    ranker.save(folder)
    again = load_ranker(folder)
assert (again.predict(X) == ranker.predict(X)).all()
assert more.score(X, y, qid) > 0
print(booster in sys.modules, other in sys.modules)
"""
UNKNOWN = """
import sys
from gbrank import GBRanker, make_cubic
X, y, qid = make_cubic(5, n_documents=5, random_state=0)
try:
    GBRanker(booster="catboost").fit(X, y, qid=qid)
except ValueError as error:
    print(error)
print({"lightgbm", "xgboost"} & set(sys.modules))
"""


def said(code: str, *arguments: str) -> str:
    """Run code in a new process, and return what it prints."""
    run = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.slow
@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_the_other_booster_stays_away(booster: str) -> None:
    """Fit, continue from a model of the library, save, load, predict and score."""
    assert said(USED, booster, OTHER[booster]) == "True False\n"


@pytest.mark.slow
def test_names_are_checked_without_a_library() -> None:
    """An unknown booster is refused by the names of the known ones."""
    assert said(UNKNOWN) == (
        "booster must be one of ['lightgbm', 'xgboost'], got 'catboost'.\nset()\n"
    )


@pytest.mark.slow
def test_optional_packages_are_not_imported() -> None:
    """Not until they are needed, unless by a booster, as older versions of LightGBM do."""
    code = """if True:
        import sys, lightgbm, xgboost
        before = set(sys.modules)
        import gbrank
        print([m for m in ("catboost", "matplotlib") if m in set(sys.modules) - before])
    """
    assert said(code) == "[]\n"
