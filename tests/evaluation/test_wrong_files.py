"""Files that people take for a run or a model: the error says what they are."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from gbrank import GBRanker, make_cubic
from gbrank.evaluation import scores_from

X, Y, QID = make_cubic(20, n_documents=8, n_features=3, random_state=0)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (pickle.dumps({"a": 1}), r"is a pickle: load it, by joblib\.load"),
        (json.dumps({"trees": [1, 2]}, indent=1).encode(), "is JSON, but no model file of"),
        (json.dumps([{"nodeid": 0, "leaf": 0.5}]).encode(), "is JSON, but no model file of"),
    ],
)
def test_what_is_no_run(content: bytes, error: str, tmp_path: Path) -> None:
    file = tmp_path / "model"
    file.write_bytes(content)
    with pytest.raises((TypeError, ValueError), match=error):
        scores_from(file, X)


def test_the_file_in_the_folder_of_a_ranker(tmp_path: Path) -> None:
    GBRanker("ranknet", n_estimators=2, n_jobs=1).fit(X, Y, qid=QID).save(tmp_path / "ranker")
    with pytest.raises(FileNotFoundError, match="is a file: pass the folder that holds"):
        scores_from(tmp_path / "ranker" / "gbrank.json", X)


def test_a_run_whose_first_name_is_in_braces(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.write_text("{1} Q0 a 1 2.0 mine\n{1} Q0 b 2 1.0 mine\n")
    scores = scores_from(run, qid=["{1}", "{1}"], docid=["b", "a"])
    np.testing.assert_array_equal(scores, [1.0, 2.0])
