"""What is scored, compared and judged: a frame, one that is wider, a ranker of LightGBM."""

import lightgbm as lgb
import pandas as pd

from gbrank import make_cubic

X, Y, QID = make_cubic(12, n_documents=8, n_features=4, random_state=0)
NAMES = ["bm25", "title match", "price", "age"]
FRAME = pd.DataFrame(X, columns=NAMES)
WIDER = FRAME.assign(url=[f"d{row}" for row in range(len(Y))])[["url", *NAMES[::-1]]]


def lightgbm_ranker() -> lgb.LGBMRanker:
    """Return one fitted on the frame."""
    return lgb.LGBMRanker(n_estimators=5, min_child_samples=2, verbosity=-1).fit(
        FRAME, Y, group=[8] * 12
    )
