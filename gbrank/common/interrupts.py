"""Blocks of code that defer Ctrl-C."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Defer Ctrl-C until the block ends; also a decorator."""
    # Destructors, and Python code called by compiled code, lose or change exceptions.
    handler = signal.getsignal(signal.SIGINT)
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or not callable(handler):
        yield
        return
    deferred = list[tuple[Any, ...]]()
    signal.signal(signal.SIGINT, lambda *of_signal: deferred.append(of_signal))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if deferred:
            handler(*deferred[-1])
