"""Ctrl-C, where it must wait."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_waiting: list[list[tuple[Any, ...]]] = []  # of the main thread, block within block


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Let Ctrl-C wait until the block is over; also a decorator."""
    # Destructors, and Python code that compiled code calls, lose exceptions or change them.
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    pending: list[tuple[Any, ...]] = []
    _waiting.append(pending)
    signal.signal(signal.SIGINT, lambda *received: pending.append(received))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        _waiting.pop()
        if pending:
            handler(*pending[-1])


def interrupt_waits() -> bool:
    """Say whether Ctrl-C has come in a block of this thread that lets it wait."""
    main = threading.current_thread() is threading.main_thread()
    return main and any(_waiting)
