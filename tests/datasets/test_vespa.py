"""Files of Vespa's feature collector: their columns, and the way back into a rank profile."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gbrank import GBRanker, export_model
from gbrank.datasets import read_vespa

N = 300
RNG = np.random.default_rng(0)
# As pyvespa writes them: match features first, each kind by name.
COLUMNS = [
    *("match_bm25(chunks)", "match_is_favorite", "rank_bm25(chunks)"),
    *("rank_elementSimilarity(chunks)", "rank_fieldTermMatch(title,0).firstPosition"),
]
NAMES = [
    *("bm25(chunks)", "is_favorite", "elementSimilarity(chunks)"),
    "fieldTermMatch(title,0).firstPosition",
]


def collected() -> pd.DataFrame:
    """Return what the collector writes."""
    bm25 = RNG.exponential(size=N)
    features = [bm25, RNG.integers(0, 2, N), bm25, RNG.random(N), RNG.choice([3.0, 1e6], N)]
    frame = pd.DataFrame(dict(zip(COLUMNS, features, strict=True)))
    frame.insert(0, "query_id", [f"alex_q_{row // 10:02}" for row in range(N)])
    frame.insert(1, "doc_id", np.arange(N))
    frame.insert(2, "relevance_label", (bm25 > 1).astype(float))
    frame.insert(3, "relevance_score", RNG.random(N))
    return frame


def test_there_and_back(tmp_path: Path) -> None:
    """A model has Vespa's names, and one feature where the file has two of them."""
    frame = collected()
    frame.to_csv(tmp_path / "collected.csv", index=False)
    X, y, qid = read_vespa(tmp_path / "collected.csv")
    assert X.column_names == NAMES
    np.testing.assert_array_equal(X.to_pandas(), frame.drop(columns=COLUMNS[2]).iloc[:, 4:])
    assert y.tolist() == frame["relevance_label"].tolist()
    assert qid.tolist() == frame["query_id"].tolist()
    ranker = GBRanker(n_estimators=5, random_state=0).fit(X, y, qid=qid)
    export_model(ranker, tmp_path / "model.json", "vespa-lightgbm")
    assert json.loads((tmp_path / "model.json").read_text())["feature_names"] == NAMES


def test_other_files(tmp_path: Path) -> None:
    """What is missing, and what differs."""
    path, frame = tmp_path / "collected.csv", collected()
    frame.drop(columns="query_id").to_csv(path, index=False)
    with pytest.raises(ValueError, match="query_id"):
        read_vespa(path)
    frame.assign(**{COLUMNS[0]: 1, COLUMNS[2]: 1.0}).to_csv(path, index=False)
    assert read_vespa(path)[0].column_names == NAMES  # 1 and 1.0 are equal
    frame.assign(**{COLUMNS[2]: 1.0}).to_csv(path, index=False)
    with pytest.raises(ValueError, match=r"expected match_bm25\(chunks\) and rank_bm25"):
        read_vespa(path)
