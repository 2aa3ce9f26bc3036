"""Messages of errors: short, whatever the value, and in gbrank's own words."""

from typing import Any

import pytest

from gbrank.common.checks import quoted


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        ("a'b", '"a\'b"'),
        (["a", None], "['a', None]"),
        ("x" * 1000, "'" + "x" * 56 + "..." + "x" * 59 + "'"),
    ],
)
def test_quoted(value: Any, text: str) -> None:
    """The repr, if it is short and can be written."""
    assert quoted(value) == text
