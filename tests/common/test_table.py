"""Tables: what cells show, and where they stand."""

import xml.etree.ElementTree as ET

import pytest

from gbrank.common.table import Table, number_names

COLUMNS = {"a|b": ["x<y", "z" * 33], "number": [1.23456, float("nan")], "n": [3, 12345678]}


def test_all_forms_have_the_same_cells() -> None:
    """Numbers with four digits, nothing for a missing one; integers whole."""
    table = Table.of(COLUMNS, caption="c & d")
    head, rule, first, second = table.to_markdown().split("\n")
    assert head == "| a\\|b | number | n |"
    assert rule == "|---|---:|---:|"
    assert first == "| x<y | 1.235 | 3 |"
    assert second == f"| {'z' * 33} |  | 12345678 |"
    html = ET.fromstring(table.to_html())
    assert html.findtext("caption") == "c & d"
    cells = [[cell.text or "" for cell in row] for row in html.iter("tr")]
    assert cells == [["a|b", "number", "n"], ["x<y", "1.235", "3"], ["z" * 33, "", "12345678"]]
    assert "<caption>" not in Table.of(COLUMNS).to_html()
    assert {name: values.tolist() for name, values in table.to_pandas().items()} == {
        **COLUMNS, "number": [1.23456, pytest.approx(float("nan"), nan_ok=True)],
    }  # fmt: skip


def test_text_is_aligned() -> None:
    """Names to the left, numbers to the right, a name that is too long on a line of its own."""
    assert Table.of(COLUMNS).to_text().split("\n") == [
        "  a|b  number         n",
        "  x<y   1.235         3",
        f"  {'z' * 33}",
        "               12345678",
    ]


def test_numbers_that_differ_have_names_that_differ() -> None:
    """Whole ones in full; others as short as they may be."""
    values = [1234567, 1234568.0, 2.0, 2**60 + 1, 1e300, -3.0, 1234567.5]
    assert number_names(values) == [
        "1234567", "1234568", "2", "1152921504606846977", "1e+300", "-3", "1234567.5"
    ]  # fmt: skip
    assert number_names([1 / 3, 0.5]) == ["0.333333", "0.5"]
    assert number_names([0.12345678, 0.12345679, 0.25]) == ["0.12345678", "0.12345679", "0.25"]
    assert list(map(float, number_names([0.1, 0.1 + 1e-16]))) == [0.1, 0.1 + 1e-16]
    assert number_names([0.0, -0.0, 1.0, 1.0])[2:] == ["1", "1"]
