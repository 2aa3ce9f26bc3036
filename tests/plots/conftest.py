"""What the tests of reports share: two rankers, and the page that compares them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot

import gbrank
from gbrank import GBRanker, get_measure
from report_page import COUNTRY, EVIL, FRAME, QID, QUERIES, SMALL, TEST, TRAIN, Page, Y


@pytest.fixture(autouse=True)
def _close() -> Iterator[None]:
    """Close the figures of a test."""
    yield
    pyplot.close("all")


@pytest.fixture(scope="session")
def rankers() -> tuple[GBRanker, GBRanker]:
    """Fit two rankers on the frame."""
    new = GBRanker(sigma="geometric(2, 0.3)", validation_fraction=0.2, **SMALL).fit(
        FRAME[TRAIN], Y[TRAIN], qid=QID[TRAIN]
    )
    old = GBRanker(booster="xgboost", **SMALL | {"n_estimators": 2})
    return new, old.fit(FRAME[TRAIN][["a", "c", "kind"]], Y[TRAIN], qid=QID[TRAIN])


@pytest.fixture(scope="session")
def page(rankers: tuple[GBRanker, GBRanker], tmp_path_factory: pytest.TempPathFactory) -> Page:
    """Make the page of a comparison, with all options."""
    table = FRAME[TEST].assign(country=COUNTRY, url=[f"{EVIL}{row}" for row in range(160)])
    path = gbrank.report(
        rankers[0],
        table,
        Y[TEST],
        qid=QUERIES,
        html=tmp_path_factory.mktemp("report") / "report.html",
        against=rankers[1],
        train=FRAME[TRAIN],
        by="country",
        docid="url",
        names=(f"new {EVIL}", "old"),
    )
    return Page(path)


@pytest.fixture(scope="session")
def values(rankers: tuple[GBRanker, GBRanker]) -> dict[str, np.ndarray[Any, Any]]:
    """Return the measures of each query, shape (2, n_queries)."""
    scores = rankers[0].predict(FRAME[TEST]), rankers[1].predict(FRAME[TEST][["a", "c", "kind"]])
    return {
        name: np.array([get_measure(name).per_query(Y[TEST], own, qid=QUERIES) for own in scores])
        for name in ("ndcg@10", "ndcg@1", "ndcg@5", "map", "mrr")
    }
