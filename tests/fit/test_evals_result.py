"""What a fit leaves to look at: its measures by round, its data, the importance of features."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from gbrank import GBRanker, load_ranker, make_cubic, plots

X, Y, QID = make_cubic(40, n_documents=10, n_features=4, random_state=0)

boosters = pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])


def fit(booster: str = "lightgbm", **params: Any) -> GBRanker:
    """Fit a small ranker with validation data of two measures."""
    ranker = GBRanker(
        "ranknet", booster=booster, n_estimators=6, eval_metric=["ndcg@10", "map"], n_jobs=1,
        min_child_samples=5, validation_fraction=0.25, random_state=0, **params,
    )  # fmt: skip
    return ranker.fit(X, Y, qid=QID)


def test_tables_of_measures(tmp_path: Path) -> None:
    """Frame, Markdown and HTML say what the dict says, also of a model that was saved."""
    ranker = fit(verbose=1)
    ranker.save(tmp_path)
    for result in (ranker.evals_result_, load_ranker(tmp_path).evals_result_):
        assert set(result) == {"train", "valid_0"}
        frame = result.to_pandas()
        assert isinstance(frame, pd.DataFrame)
        assert frame.index.tolist() == [1, 2, 3, 4, 5, 6]
        for name, curves in result.items():
            for measure, curve in curves.items():
                assert frame[name, measure].tolist() == curve
                best = int(np.argmax(curve))
                cells = [
                    name, measure, f"{curve[0]:.4f}", f"{curve[best]:.4f}", str(best + 1),
                    f"{curve[-1]:.4f}", "6",
                ]  # fmt: skip
                assert f"| {' | '.join(cells)} |" in result.to_markdown()
                row = "".join(f"<td>{cell}</td>" for cell in cells)
                assert f"<tr>{row}</tr>" in result._repr_html_()


def test_training_data(tmp_path: Path) -> None:
    """What was trained on after the validation queries were set aside; kept with the model."""
    ranker = fit()
    counts = {
        "train": {"documents": 300, "queries": 30},
        "valid_0": {"documents": 100, "queries": 10},
    }
    assert ranker.training_data_ == counts
    ranker.save(tmp_path)
    assert load_ranker(tmp_path).training_data_ == counts


@boosters
def test_importances(booster: str) -> None:
    """Shares of the gain, as the attribute has it, and of the splits, as the trees have them."""
    ranker = fit(booster, colsample=1.0)
    assert_allclose(ranker.importances(), ranker.feature_importances_)
    text = "".join(ranker.booster_.get_dump()) if booster == "xgboost" else ""
    if booster == "xgboost":
        splits = [len(re.findall(rf"\[f{feature}<", text)) for feature in range(4)]
        trees = ranker.booster_.trees_to_dataframe()
        gains = [trees["Gain"][trees["Feature"] == f"f{feature}"].sum() for feature in range(4)]
        assert_allclose(ranker.importances(), np.array(gains) / sum(gains), rtol=1e-5)
    else:
        trees = ranker.booster_.trees_to_dataframe()
        found = trees["split_feature"].value_counts()
        splits = [found.get(f"Column_{feature}", 0) for feature in range(4)]
    assert_allclose(ranker.importances("split"), np.array(splits) / sum(splits))
    bars = plots.importance(ranker, kind="split")
    assert bars.get_xlabel() == "share of the splits"
    widths = [bar.get_width() for bar in bars.patches]
    assert_allclose(widths, sorted(ranker.importances("split"), reverse=True))
    with pytest.raises(ValueError, match=r"kind must be one of \['gain', 'split'\], got 'cover'"):
        ranker.importances("cover")
