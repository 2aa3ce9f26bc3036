"""Atomic writes of files."""

import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TypeAlias, TypeGuard

from .checks import ArgumentError

StrPath: TypeAlias = str | os.PathLike[str]

# Names of open files of this process: what they are redirected to is written to, not replaced.
_DESCRIPTOR = re.compile(r"/dev/(stdin|stdout|stderr|fd/\d+)|/proc/[^/]+/fd/\d+")

# The beginning of a URL; a drive of Windows has one letter.
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


def is_path(source: object) -> TypeGuard[StrPath]:
    """Check for the path of a file."""
    return isinstance(source, str | os.PathLike)


@contextmanager
def _named_in_errors(path: StrPath) -> Iterator[None]:
    """Name a file in errors of the system that name none, as that of a full disk."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            raise type(error)(error.errno, error.strerror, os.fspath(path)) from None
        raise


@contextmanager
def replaced(path: StrPath) -> Iterator[BinaryIO]:
    """Open a file that takes the place of `path` when the block ends, unless by an exception.

    Until then it is beside it, under another name: readers never see half of a file, and a disk
    that is full spoils nothing. Pipes and devices are written to at once.
    """
    check_local(path)
    named = Path(path)
    if named.exists() and (not named.is_file() or _DESCRIPTOR.fullmatch(os.path.abspath(path))):
        with _named_in_errors(path), open(path, "wb") as stream:
            yield stream
        return
    target = named.resolve()  # a link stays one
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        file = open(temporary, "xb")  # noqa: SIM115 (another's file of this name is left alone)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from None
    try:
        with _named_in_errors(path), file:
            if target.exists():  # who may read it stays as it is
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def replace_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, as `replaced` does."""
    with replaced(path) as file:
        file.write(content)


def check_local(path: StrPath, argument: str = "path") -> None:
    """Check that a path is no address and has no ~, which would become local folders."""
    if not is_path(path) or not os.fspath(path):
        raise ArgumentError(argument, "must be a path", f"{path!r}")
    text = os.fspath(path)
    if _ADDRESS.match(text):
        raise ValueError(
            f"{argument} must be on a local disk, got {text}: write to a local folder, and copy it."
        )
    if text == "~" or text.startswith("~/"):
        raise ValueError(f"{argument} must have no ~, got {text}: use os.path.expanduser.")


def check_folder(path: StrPath, option: str) -> None:
    """Check that a file could be written, before hours of work."""
    check_local(path, option)
    if not Path(path).absolute().parent.is_dir():
        raise ValueError(f"{option} must be in a folder that exists, got {os.fspath(path)}.")
