"""Atomic writes of files, and locks on folders."""

import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

_descriptors: set[int] = set()  # of the folders that this process has locked
_of_fits: set[tuple[int, int]] = set()  # which of them stay locked for as long as a fit takes

if sys.platform != "win32":
    import fcntl

    def _leave_to_parent() -> None:
        """Let a forked child keep none of its parent's locks."""
        for descriptor in _descriptors:
            os.close(descriptor)
        _descriptors.clear()

    os.register_at_fork(after_in_child=_leave_to_parent)

# Names of open files of this process: what they are redirected to is written to, not replaced.
_DESCRIPTOR = re.compile(r"/dev/(stdin|stdout|stderr|fd/\d+)|/proc/[^/]+/fd/\d+")


@contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that takes the place of `path` when the block ends, unless by an exception.

    Until then it is beside it, under another name: readers never see half of a file, and a disk
    that is full spoils nothing. Pipes and devices are written to at once.
    """
    if is_stream(path):
        with open(path, "wb") as stream:
            yield stream
        return
    target = Path(path).resolve()  # a link stays one
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        file = open(temporary, "xb")  # noqa: SIM115 (another's file of this name is left alone)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from None
    try:
        with file:
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


def check_folder(path: str | os.PathLike[str], option: str) -> None:
    """Refuse a file that could not be written, before hours of work."""
    if not Path(path).absolute().parent.is_dir():
        raise ValueError(f"{option} must be in a folder that exists, got {os.fspath(path)}.")


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Say whether a path names anything but a file: a pipe, a device, a folder."""
    named = Path(path)
    is_file = named.is_file() and not _DESCRIPTOR.fullmatch(os.path.abspath(path))
    return named.exists() and not is_file


def refuse_stream(path: str | os.PathLike[str]) -> None:
    """Refuse what is no file where one is needed: to read a pipe may never end."""
    if is_stream(path):
        raise ValueError(f"{os.fspath(path)}: expected a file, got a folder, a pipe or a device")


def is_leftover(name: str, of: str = r".+") -> bool:
    """Say whether a name is that of a temporary file of `replaced`."""
    return re.fullmatch(rf"\.{of}\.[0-9a-f]{{16}}\.tmp", name) is not None


@contextmanager
def held(folder: Path, wait: bool = True) -> Iterator[bool]:
    """Lock a folder until the block or process ends; yield whether it could be locked.

    Whoever does not wait for others keeps it for long, and nobody in the same process waits for it.
    """
    if sys.platform == "win32":
        yield False
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    _descriptors.add(descriptor)
    process, status = os.getpid(), os.fstat(descriptor)
    place = (status.st_dev, status.st_ino)
    try:
        locked = _lock(descriptor, wait and place not in _of_fits)
        if not wait:
            _of_fits.add(place)
        try:
            yield locked
        finally:
            if not wait:
                _of_fits.discard(place)
    finally:
        if os.getpid() == process:  # a forked child has closed it
            _descriptors.discard(descriptor)
            with suppress(OSError):  # children that other code has forked have it open
                fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)


def _lock(descriptor: int, wait: bool) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        raise
    except OSError:  # some network drives have no locks
        return False
    return True
