"""Tables, JSON and pictures of a comparison."""

import dataclasses
import itertools
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from gbrank import NDCG, compare_rankers, cross_validate_rankers, make_cubic, plots
from gbrank.evaluation import Dataset
from gbrank.evaluation.tables import as_table
from noisy import NOISY

X, Y, QID = make_cubic(12, n_documents=8, n_features=4, random_state=0)
QUIET: dict[str, Any] = {"n_jobs": 1, "progress": False}


OTHER = make_cubic(6, n_documents=8, n_features=4, random_state=1)


@pytest.fixture(scope="module")
def comparisons() -> Any:
    """Compare three rankers on two data sets by two measures."""
    return compare_rankers(
        NOISY,
        [Dataset("data", X, Y, QID, 3), Dataset("other", *OTHER, 3)],
        seeds=2,
        measures=["ndcg@10", "rr"],
        difference=0.02,
        **QUIET,
    )


@pytest.fixture(scope="module")
def comparison(comparisons: Any) -> Any:
    """Return the one on the first data set."""
    return comparisons[0]


def test_several_data_sets_are_several_comparisons(comparisons: Any) -> None:
    """Each is what it would be alone."""
    assert [item.data for item in comparisons] == ["data", "other"]
    alone = cross_validate_rankers(
        NOISY, *OTHER, folds=3, seeds=2, measures=["ndcg@10", "rr"], name="other",
        difference=0.02, **QUIET,
    )  # fmt: skip
    for one, other in zip(comparisons[1].summary(), alone.summary(), strict=True):
        np.testing.assert_equal(
            dataclasses.asdict(one) | {"cpu_seconds": 0},
            dataclasses.asdict(other) | {"cpu_seconds": 0},
        )


def test_table(comparison: Any) -> None:
    """A block for each measure, a line for each ranker, then for each difference."""
    *blocks, note = comparison.table().split("\n\n")
    assert len(blocks) == 2
    title, head, *lines = blocks[0].split("\n")
    assert title == "data, ndcg@10: 12 queries, 0 skipped"
    means, differences, told = lines[: len(NOISY)], lines[len(NOISY) : -1], lines[-1]
    assert [line.split()[0] for line in means] == list(NOISY)
    assert differences[0].startswith("  minus clean  ")
    assert [line.split()[0] for line in differences[1:]] == list(NOISY)[1:]
    row = comparison.summary()[2]
    assert f"{row.mean:.4f}" in means[2]
    assert f"{row.difference_low:+.4f} to {row.difference_high:+.4f}" in differences[2]
    assert len({len(line) for line in (head, *means)}) == 1
    assert len({len(line) for line in differences}) == 1
    assert differences[0].count("Holm") == 2
    widest = max(comparison.summary()[1:3], key=lambda row: row.smallest)
    assert told == (
        f"These 12 queries tell a difference of {widest.smallest:.4f} (power 0.8, level 0.05); "
        f"one of 0.02 takes {widest.n_needed:,.0f}."
    )
    assert "corrected for the number of rankers (Holm), which intervals are not" in note
    assert blocks[1].startswith("data, rr: 12 queries")
    assert comparison.table("valid") != comparison.table()
    with pytest.raises(ValueError, match=r"part must be one of \['valid', 'test'\], got 'train'"):
        comparison.table("train")


def test_json(comparison: Any) -> None:
    """Numbers or null for each measure and ranker, on test and validation queries."""
    content = comparison.to_json()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert list(content) == ["baseline", "measures", "seeds", "test", "valid"]
    assert content["baseline"] == "clean"
    assert content["measures"] == ["ndcg@10", "rr"]
    assert content["seeds"] == [0, 1]
    kinds = {"data": str, "measure": str, "ranker": str, "n_queries": int, "n_skipped": int}
    numbers = ["mean", "low", "high", "seed_deviation", "difference", "difference_low",
               "difference_high", "p_randomisation", "p_t", "rounds",
               "cpu_seconds"]  # fmt: skip
    said = {"p_correction": "Holm"}
    told = ["smallest", "n_needed", "n_worth"]
    for part in ("test", "valid"):
        keys = [(row["data"], row["measure"], row["ranker"]) for row in content[part]]
        expected = itertools.product(["data"], ["ndcg@10", "rr"], NOISY)
        assert keys == list(expected)
        for row in content[part]:
            assert list(row) == [*kinds, *numbers, *said, *told]
            assert said.items() <= row.items()
            assert all(type(row[name]) is kind for name, kind in kinds.items())
            empty = {name for name in numbers if row[name] is None}
            compared = row["ranker"] != "clean"
            unknown = {"rounds"}
            assert empty == unknown | (set() if compared else {"p_randomisation", "p_t"})
            assert row["low"] <= row["mean"] <= row["high"]
            assert row["difference_low"] <= row["difference"] <= row["difference_high"]


def test_picture(comparisons: Any, tmp_path: Path) -> None:
    """A panel for each measure and comparison, a dot for each ranker at its mean."""
    figure = plots.comparison_grid(*comparisons)
    figure.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(figure.axes) == 4
    rows = [row for row in comparisons[1].summary() if row.measure == "ndcg@10"]
    axes = figure.axes[1]
    assert axes.get_title() == "other"
    assert axes.get_xlabel() == "ndcg@10"
    dots = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]
    assert dots == [row.mean for row in rows]
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == list(NOISY)


@pytest.mark.parametrize("part", ["test", "valid"])
def test_a_data_frame_has_the_rows(comparison: Any, part: str) -> None:
    """All numbers, unrounded."""
    frame = comparison.to_pandas(part)
    rows = comparison.summary(part)
    assert list(frame.columns) == [item.name for item in dataclasses.fields(rows[0])]
    for (_, found), row in zip(frame.iterrows(), rows, strict=True):
        np.testing.assert_equal(dict(found), dataclasses.asdict(row))


def test_markdown_and_html_have_the_cells_of_the_text(comparison: Any) -> None:
    """In one table, escaped."""
    *texts, note = comparison.table().split("\n\n")
    *tables, marked = comparison.to_markdown().split("\n\n")
    page = ET.fromstring(f"<div>{comparison._repr_html_()}</div>")
    shown = page.findall("table")
    assert page.findtext("p") == marked == note
    assert len(texts) == len(shown) == len(tables) / 2
    for text, title, table, html in zip(texts, tables[::2], tables[1::2], shown, strict=True):
        first, *lines, told = text.split("\n")
        assert title == f"**{first}. {told}**"
        assert html.findtext("caption") == f"{first}. {told}"
        head, rule, *rows = [line.strip("|").split("|") for line in table.split("\n")]
        assert rule == ["---", *["---:"] * (len(head) - 1)]
        found = [[cell.text or "" for cell in row] for row in html.iter("tr")]
        assert sum("Holm" in cell for cell in found[0]) == 2
        of_text = [re.split(r"  +", line.strip()) for line in lines]
        of_text[4][0] = "ranker"  # "minus clean"
        in_lines = {name: set[str]() for name in ("ranker", *NOISY)}
        for name, *cells in of_text:
            in_lines[name] |= set(cells)
        for row, cells in zip([head, *rows], found, strict=True):
            assert [cell.strip() for cell in row] == cells
            assert {cell for cell in cells[1:] if cell not in ("", "baseline")} == in_lines[
                cells[0]
            ]
    odd = dataclasses.replace(comparison.summary()[0], data="a<b|c", ranker="x|y & z")
    assert "<caption>a&lt;b|c" in as_table([odd], 0.01).to_html()
    assert "<td>x|y &amp; z</td>" in as_table([odd], 0.01).to_html()
    assert "| x\\|y & z |" in as_table([odd], 0.01).to_markdown()


def test_the_array_has_the_value_of_each_query(comparison: Any) -> None:
    """By ranker, seed and query, fold by fold, as from rankers that are fitted by hand."""
    for part in ("test", "valid"):
        scores = comparison.parts[part]
        assert list(scores.values) == ["ndcg@10", "rr"]
        for number, fold in enumerate(Dataset("data", X, Y, QID, 3).splits, 1):
            rows, own = getattr(fold, part), scores.folds == number
            assert [scores.queries[place] for place in np.flatnonzero(own)] == [
                *dict.fromkeys(QID[rows].tolist())
            ]
            for cube, ranker in zip(scores.values["ndcg@10"], NOISY.values(), strict=True):
                for values, seed in zip(cube, (0, 1), strict=True):
                    by_hand = clone(ranker).set_params(random_state=seed).predict(X[rows])
                    expected = NDCG(k=10).per_query(Y[rows], by_hand, qid=QID[rows])
                    np.testing.assert_array_equal(values[own], expected)
