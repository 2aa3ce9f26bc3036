"""Atomic writes of files, and locks on folders."""

import os
import re
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform != "win32":
    import fcntl


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
    """Lock a folder until the block or process ends; yield whether it could be locked."""
    if sys.platform == "win32":
        yield False
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        locked = True
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            raise
        except OSError:  # some network drives have no locks
            locked = False
        yield locked
    finally:
        os.close(descriptor)
