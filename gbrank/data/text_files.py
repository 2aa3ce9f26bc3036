"""Text files, compressed or not, and the names of queries and documents in them."""

import codecs
import gzip
import os
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.checks import ArgumentError, plain, quoted
from gbrank.common.files import StrPath, replaced

LARGEST_EXACT = 2**53  # up to this size, floats hold all integers
STDIN = "-"
GZIP = b"\x1f\x8b"  # the beginning of a compressed file


def read_bytes(path: StrPath) -> bytes:
    """Read a text file, or standard input for "-": unpacked, in UTF-8 without a byte order mark."""
    if path != STDIN:
        data = Path(path).read_bytes()
    elif (buffer := getattr(sys.stdin, "buffer", None)) is None:  # a notebook has none
        data = sys.stdin.read().encode()
    else:
        data = buffer.read()
    if data.startswith(GZIP):
        try:
            data = gzip.decompress(data)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{path}: expected a whole gzip file, got {error}") from None
    return data.removeprefix(codecs.BOM_UTF8)


def read_lines(path: StrPath) -> list[str]:
    """Read the lines of a text file."""
    return decoded(path, read_bytes(path)).splitlines()


def decoded(path: StrPath, data: bytes) -> str:
    """Decode UTF-8 without NUL bytes, which text in UTF-16 has."""
    text = ""
    expected = "text without NUL bytes"
    at = data.find(b"\0")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        expected = "text in UTF-8"
        at = error.start
    if at < 0:
        return text
    line = data.count(b"\n", 0, at)
    got = quoted(data.split(b"\n")[line].decode(errors="replace"))
    raise ValueError(f"{os.fspath(path)}, line {line + 1}: expected {expected}, got {got}")


@contextmanager
def written(path: StrPath) -> Iterator[BinaryIO | gzip.GzipFile]:
    """Open a file to write, whole or not at all; with gzip if its name ends in ``.gz``."""
    with replaced(path) as file:
        if os.fspath(path).lower().endswith(".gz"):
            # Neither the name nor the time goes into the file.
            with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as packed:
                yield packed
        else:
            yield file


def write_lines(path: StrPath, lines: Iterable[str]) -> None:
    """Write lines to a file, as `written` does."""
    with written(path) as file:
        file.writelines(f"{line}\n".encode() for line in lines)


def check_names(values: ArrayLike, argument: str, length: int, unwanted: str = "") -> list[str]:
    """Check names as text without NUL, white space and unwanted characters."""
    # NumPy's arrays of strings drop NULs at the end.
    ids = np.asarray(values, dtype=object if isinstance(values, list | tuple) else None)
    if ids.shape != (length,):
        raise ArgumentError(argument, f"must have shape ({length},)", f"shape {ids.shape}")
    # White space of ASCII alone separates columns: a no-break space is a part of a name.
    allowed = re.compile(rf"[^\s\0\ud800-\udfff{unwanted}]+", re.ASCII)
    besides = f", {unwanted!r}" if unwanted else ""
    texts = []
    for row, name in enumerate(plain(ids.tolist())):
        text = str(name) if isinstance(name, int | str) and not isinstance(name, bool) else ""
        if not allowed.fullmatch(text):
            raise ArgumentError(
                argument,
                f"must hold integers, or strings without white space{besides} and NUL",
                f"{name!r} in row {row}",
            )
        texts.append(text)
    return texts
