"""Tests that run through many cases name the one that fails."""

from typing import Any

import pytest

from cases import groups, loop


def fails_at_two(number: int, name: str = "") -> None:
    assert number != 2, name


def test_loop() -> None:
    """One value, or several, after another."""
    loop("number", [1, 3])(fails_at_two)()
    with pytest.raises(AssertionError, match=r"in the case \(2, 'b'\): b"):
        loop("number, name", [(1, "a"), (2, "b")])(fails_at_two)()


seen: list[Any] = []


@groups("number", {"small": [1, 2], "large": [100]})
@loop("name", ["a", "b"])
def test_groups(number: int, name: str) -> None:
    """Every value of every part runs."""
    seen.append((number, name))
    assert seen[-1][0] in (1, 2, 100)


def test_what_groups_ran() -> None:
    """By calling it, so that the order of tests plays no part."""
    for part in ("small", "large"):
        test_groups(part=part)  # type: ignore[call-arg]
    assert set(seen) == {(number, name) for number in (1, 2, 100) for name in "ab"}
