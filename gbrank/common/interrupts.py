"""Blocks of code that defer Ctrl-C."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_deferred: list[list[tuple[Any, ...]]] = []  # the signals of each open block, outermost first


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Defer Ctrl-C until the block ends; also a decorator."""
    # Destructors, and Python code called by compiled code, lose or change exceptions.
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    pending: list[tuple[Any, ...]] = []
    _deferred.append(pending)
    signal.signal(signal.SIGINT, lambda *signal_arguments: pending.append(signal_arguments))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        _deferred.pop()
        if pending:
            handler(*pending[-1])


def interrupt_waits() -> bool:
    """Say whether a Ctrl-C is deferred in a block of this thread."""
    main = threading.current_thread() is threading.main_thread()
    return main and any(_deferred)
