"""The progress bar."""

import threading

from tqdm import tqdm


class Bar(tqdm):
    """A progress bar that starts no thread and takes no semaphore of its own."""

    monitor_interval = 0


Bar.set_lock(threading.RLock())
