"""A process forked from one that has trained: it works, or says at once why it cannot."""

import os

import pytest

from forked import in_forks_of, work

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks on this system")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("booster", "parent", "errors"),
    [
        ("lightgbm", 1, {2: "n_jobs=1 here"}),
        ("lightgbm", 2, {1: None, 2: "n_jobs=1 here"}),
        ("xgboost", 1, {1: None, 2: None}),
        ("xgboost", 2, {1: "n_jobs=1 before the fork", 2: "n_jobs=1 before the fork"}),
    ],
)
def test_forks(booster: str, parent: int, errors: dict[int, str | None]) -> None:
    """To the same bits, or what would wait forever is an error that says what to do."""
    expected = work(booster, 1)
    said = in_forks_of(parent, booster, list(errors))
    for found, instead in zip(said, errors.values(), strict=True):
        if instead is None:
            assert found == expected
        else:
            assert isinstance(found, str)
            assert "before this process was forked" in found
            assert instead in found
