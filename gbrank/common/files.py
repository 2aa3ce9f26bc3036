"""Atomic writes of files, and locks on folders."""

import os
import re
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

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


def replace_file(path: Path, content: bytes) -> None:
    """Write a temporary file, then rename it: readers never see half of a file."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    file = open(temporary, "xb")  # noqa: SIM115 (another's file of this name is left alone)
    try:
        with file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def is_leftover(name: str, of: str = r".+") -> bool:
    """Say whether a name is that of a temporary file of `replace_file`."""
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
