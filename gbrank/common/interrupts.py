"""Blocks of code that defer Ctrl-C."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _Deferred:
    """A handler that keeps the last signal."""

    last: tuple[Any, ...] | None = None

    def __call__(self, *signal_arguments: Any) -> None:
        """Keep the signal."""
        self.last = signal_arguments


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Defer Ctrl-C until the block ends; also a decorator."""
    # Destructors, and Python code called by compiled code, lose or change exceptions.
    handler = signal.getsignal(signal.SIGINT)
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or not callable(handler) or isinstance(handler, _Deferred):
        yield
        return
    deferred = _Deferred()
    signal.signal(signal.SIGINT, deferred)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if deferred.last is not None:
            handler(*deferred.last)
