"""The progress bar, and where it is shown."""

import sys
import threading
from typing import Any

from tqdm import tqdm


def in_notebook() -> bool:
    """Whether this is a notebook, where standard error is pink."""
    return type(sys.stdout).__module__.startswith("ipykernel.")


class Bar(tqdm):
    """A progress bar that starts no thread and takes no semaphore of its own."""

    monitor_interval = 0

    def __init__(self, **options: Any) -> None:
        stream = sys.stdout if in_notebook() else sys.stderr
        if stream is None:  # a process without a console
            options["disable"] = True
        super().__init__(file=stream, **options)


Bar.set_lock(threading.RLock())
