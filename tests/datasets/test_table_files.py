"""Tables in files: quotes and types in CSV, and files that are pipes."""

import gzip
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from gbrank.datasets.table_files import Tables


def rows(**changed: str) -> str:
    """Return a CSV file of 200 rows, some of them changed."""
    lines = [f"{row},{row % 3},{row // 10}" for row in range(200)]
    for name, line in changed.items():
        lines[int(name[3:])] = line
    return "\n".join(["a,label,qid", *lines, ""])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (rows(row50='50,2,"5'), "got one of 150 lines in row 50, each of which is a row by itself"),
        (rows(row50='"50,2,5'), "expected a table in CSV format, got .* Row #52: Expected 3 col"),
        (rows(row50='50,2,"5', row60='60,0,"6'), "got one of 11 lines in row 50, each of which"),
        (rows(row50='50,2,"5', row60='60,0,6"'), "got one of 11 lines in row 50, each of which"),
        (rows(row50='"50,2,5', row51='51",0,5'), "got one of 2 lines in row 50, each of which"),
        ('"' + rows(), "expected a table in CSV format, got"),
        (rows(row50='50,2,"5').replace(",", "\t"), "got one of 150 lines in row 50, each of which"),
    ],
    ids=range(7),
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_stray_quotes_swallow_no_rows(text: str, message: str, pack: Any, tmp_path: Path) -> None:
    path = tmp_path / ("t.tsv" if "\t" in text else "t.csv")
    path.write_bytes(pack(text.encode()))
    with pytest.raises(ValueError, match=rf"t\.[ct]sv: .*{message}"):
        Tables([path]).read()


@pytest.mark.parametrize("last", ['199,1,"19', '199,1,"1"9', '199,1,"19"'])
def test_a_quote_that_swallows_nothing(last: str, tmp_path: Path) -> None:
    """All rows are there."""
    path = tmp_path / "t.csv"
    path.write_text(rows(row199=last))
    table = Tables([path]).read()
    assert [int(value) for value in table["qid"].to_pylist()] == [row // 10 for row in range(200)]


def test_good_quotes(tmp_path: Path) -> None:
    """Around separators, quotes and lines; quotes inside of a value are part of it.

    An empty text is a missing value, as in a column of numbers.
    """
    texts = ["a, b", 'say ""hi"", ""you""', "one\n\ntwo, three\r\n", "", 'a ""', "two\nlines"]
    lines = [f'"{row}",0,"q{row}","{text}",5"' for row, text in enumerate(texts)]
    path = tmp_path / "t.csv"
    path.write_bytes("\n".join(['a,label,qid,"a ""title""",size', *lines]).encode())
    table = Tables([path]).read()
    assert table["a"].to_pylist() == list(range(6))
    assert table['a "title"'].to_pylist() == [text.replace('""', '"') or None for text in texts]
    assert set(table["size"].to_pylist()) == {'5"'}


def test_all_rows_decide_the_type_of_a_column(tmp_path: Path) -> None:
    """The last of two megabytes too."""
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 500_000 + "0.5,x\n")
    table = Tables([path]).read()
    assert table["a"][-1].as_py() == 0.5
    assert table["b"].to_pylist()[-2:] == ["2", "x"]


def test_ids_are_integers_in_all_files_or_in_none(tmp_path: Path) -> None:
    """As they are in Parquet; others stay text."""
    ids = {"1": ["7", "-8"], "2": ["9"], "text": ["a"], "zeros": ["07"], "large": ["9" * 19]}
    for name, values in ids.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(["qid,x", *(f"{id},1" for id in values)]))
    for names, expected in ((["1", "2"], [7, -8, 9]), (["1", "text", "2"], ["7", "-8", "a", "9"])):
        paths = [tmp_path / f"{name}.csv" for name in names]
        assert Tables(paths, codes=["qid"]).read()["qid"].to_pylist() == expected
    for name in ("zeros", "large"):
        table = Tables([tmp_path / f"{name}.csv"], codes=["qid"])
        assert table.read()["qid"].to_pylist() == ids[name]


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_table_may_be_no_file(kind: str, tmp_path: Path) -> None:
    """Text is read from a pipe to its end; Parquet must be a file."""
    pipe = tmp_path / f"t.{kind}"
    os.mkfifo(pipe)
    if kind == "parquet":
        with pytest.raises(ValueError, match=r"t\.parquet: expected a file, got a folder, a pipe"):
            Tables([pipe]).read()
        return
    threading.Thread(target=pipe.write_text, args=("a,b\n1,2\n",), daemon=True).start()
    assert Tables([pipe]).read().to_pydict() == {"a": [1], "b": [2]}
