"""Text files, compressed or not, and the names of queries and documents in them."""

import gzip
import io
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

StrPath: TypeAlias = str | os.PathLike[str]

UNPACKED_BYTES, UNPACKED_TIMES = 2**30, 100  # numbers as text shrink to a tenth or so


def read_bytes(path: StrPath) -> bytes:
    """Return the content of a file, unpacked if it is of gzip, ending in a newline."""
    data = Path(path).read_bytes()
    if data.startswith(b"\x1f\x8b"):
        data = _unpacked(path, data)
    return data if data.endswith(b"\n") else data + b"\n"


def _unpacked(path: StrPath, packed: bytes) -> bytes:
    most = max(UNPACKED_BYTES, UNPACKED_TIMES * len(packed))
    try:
        data = gzip.GzipFile(fileobj=io.BytesIO(packed)).read(most + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path}: expected a whole gzip file, got {error}") from None
    if len(data) > most:
        raise ValueError(
            f"{path}: expected a gzip file that unpacks to at most {most} bytes (1 GiB, or "
            f"{UNPACKED_TIMES} times its size), got more. Unpack it first if it is meant."
        )
    return data


def write_lines(path: StrPath, lines: Iterator[bytes]) -> None:
    """Write a file, compressed with gzip if its name ends in ``.gz``."""
    with open(path, "wb") as file:
        if os.fspath(path).endswith(".gz"):
            # Neither the name nor the time goes into the file.
            with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as packed:
                packed.writelines(lines)
        else:
            file.writelines(lines)


def check_names(values: ArrayLike, argument: str, length: int, unwanted: str = "") -> list[str]:
    """Return names as text, refusing white space, NUL and what else is unwanted in them."""
    # NumPy's arrays of strings drop NULs at the end.
    ids = np.asarray(values, dtype=object if isinstance(values, list | tuple) else None)
    if ids.shape != (length,):
        raise ValueError(f"{argument} must have shape ({length},), got shape {ids.shape}.")
    names = [name.item() if isinstance(name, np.generic) else name for name in ids.tolist()]
    allowed = re.compile(rf"[^\s\0\ud800-\udfff{unwanted}]+")
    besides = f", {unwanted!r}" if unwanted else ""
    for row, name in enumerate(names):
        if isinstance(name, bool) or not isinstance(name, int | str):
            raise TypeError(f"{argument} must hold integers or strings, got {name!r} in row {row}.")
        if not allowed.fullmatch(str(name)):
            raise ValueError(
                f"{argument} must hold non-empty strings without white space{besides} and NUL, "
                f"got {name!r} in row {row}."
            )
    return [str(name) for name in names]
