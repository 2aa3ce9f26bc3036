"""Tables in files, as pandas reads and writes them: CSV, Parquet, and folders of Parquet files."""

from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from gbrank.common.extras import needed
from gbrank.datasets.text_files import written

INTEGER = r"0|-?[1-9][0-9]{0,17}"  # as ids and codes are written
MISSING = ["", "NA", "N/A", "NaN", "nan", "<NA>", "NULL", "null", "None"]  # among numbers


def is_table(path: str) -> bool:
    """Return whether a path is a folder, or ends in .parquet, .csv or .tsv, perhaps with .gz."""
    return path.lower().endswith(".parquet") or _separator(path) is not None or Path(path).is_dir()


def read_table(
    path: str, is_text: Callable[[str], bool] = lambda _: False, codes: Collection[str] = ()
) -> Any:
    """Return a table as a data frame of pandas.

    In CSV, columns for which `is_text` holds are text, kept as it is ("NA" and "007"), and `codes`
    are integers if all of their values are, else text. An empty text is a missing value.
    """
    try:
        frame = _read(path, is_text, codes)
        if frame.empty:
            raise ValueError("expected at least one row, got none")
        return frame
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        raise ValueError(f"{path}: {' '.join(str(error).split())}") from None


def _read(path: str, is_text: Callable[[str], bool], codes: Collection[str]) -> Any:
    pandas, separator = needed("pandas", "tables"), _separator(path)
    if separator is None:
        return pandas.read_parquet(path).rename(columns=str)
    read = partial(pandas.read_csv, path, sep=separator, low_memory=False)
    # Two rows: where the second has more values, pandas would take the first one for an index.
    head = read(header=None, nrows=2, dtype=str, keep_default_na=False)
    names = head.iloc[0].tolist()
    if wrong := [name for name in names if not name or names.count(name) > 1]:
        hint = " An index that was written to a file has none." if not wrong[0] else ""
        raise ValueError(f"expected a name of its own for each column, got {wrong[0]!r}.{hint}")
    texts = {name for name in names if name in codes or is_text(name)}
    missing = {name: [""] if name in texts else MISSING for name in names}
    frame = read(dtype=dict.fromkeys(texts, str), na_values=missing, keep_default_na=False)
    for name in texts.intersection(codes):
        if frame[name].str.fullmatch(INTEGER, na=False).all():
            frame[name] = frame[name].astype("int64")
    return frame


def write_table(path: str, columns: Mapping[str, Any]) -> None:
    """Write a table to a file, in the format of its name."""
    frame = needed("pandas", "tables").DataFrame(dict(columns))
    with written(path) as file:
        if (separator := _separator(path)) is None:
            frame.to_parquet(file, index=False)
        else:
            frame.to_csv(file, sep=separator, index=False)


def _separator(path: str) -> str | None:
    """Return what separates columns in a text file, None for others."""
    return {".csv": ",", ".tsv": "\t"}.get(path.lower().removesuffix(".gz")[-4:])
