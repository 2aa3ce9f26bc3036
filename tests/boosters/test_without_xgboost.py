"""gbrank runs where XGBoost is not installed, and says what to install where it is needed."""

import re
from configparser import ConfigParser
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fresh import Fresh, without
from gbrank import GBRanker, make_cubic

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "howto" / "deploy.md"
USES = """
import numpy as np
from gbrank import GBRanker, export_model, load_ranker, make_cubic
from gbrank.evaluation import scores_from
from gbrank.serving import load_predictor

X, y, qid = make_cubic(20, n_documents=10, n_features=4, random_state=0)
ranker = GBRanker(n_estimators=3, random_state=0, n_jobs=1, init="start.txt").fit(X, y, qid=qid)
ranker.save("ranker")
assert (load_ranker("ranker").predict(X) == ranker.predict(X)).all()
assert (load_predictor("ranker").predict(X) == ranker.predict(X)).all()
np.save("scores.npy", ranker.predict(X))
np.save("start.npy", scores_from("start.txt", X))
alone = GBRanker(n_estimators=3, random_state=0, n_jobs=1).fit(X, y, qid=qid)
export_model(alone, "model.json", "opensearch")

def gbranker():
    GBRanker(booster="xgboost").fit(X, y, qid=qid)

def hook():
    from gbrank import xgboost_obj

def distributed():
    from gbrank.distributed import DaskGBRanker

for needing in (gbranker, hook, distributed):
    try:
        needing()
    except ImportError as error:
        print(error)
"""


def test_fits_predicts_saves_loads_and_exports(
    tmp_path: Path, fresh: Fresh, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same bits as with XGBoost; what needs it names the package to install."""
    X, y, qid = make_cubic(20, n_documents=10, n_features=4, random_state=0)
    start = lgb.train({"verbosity": -1, "num_threads": 1}, lgb.Dataset(X, y), 3)
    start.save_model(tmp_path / "start.txt")
    monkeypatch.chdir(tmp_path)
    done = fresh(without("xgboost") + USES)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "this needs xgboost: pip install xgboost.\n" * 3
    ranker = GBRanker(n_estimators=3, random_state=0, n_jobs=1, init=start).fit(X, y, qid=qid)
    assert_array_equal(np.load(tmp_path / "scores.npy"), ranker.predict(X))
    assert_array_equal(np.load(tmp_path / "start.npy"), start.predict(X))
    assert (tmp_path / "model.json").exists()


@pytest.mark.skipif(not PAGE.exists(), reason="docs/ is not beside the tests")
def test_the_listed_packages() -> None:
    """They are gbrank's dependencies but for XGBoost."""
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg")
    requirements = setup["options"]["install_requires"].split()
    needed = {re.split("[>=<]", requirement)[0] for requirement in requirements}
    section = PAGE.read_text(encoding="utf-8").split("## Without XGBoost")[1]
    listed = section.split("pip install ")[1].split("\n")[0].split()
    assert sorted(listed) == sorted(needed - {"xgboost"})
