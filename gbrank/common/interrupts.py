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
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    pending: list[tuple[Any, ...]] = []
    signal.signal(signal.SIGINT, lambda *signal_arguments: pending.append(signal_arguments))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if pending:
            handler(*pending[-1])
