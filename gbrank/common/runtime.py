"""Threads, Ctrl-C, and optional packages."""

import importlib
import math
import pkgutil
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

# Of features: with fewer, threads wait for one another longer than they work.
VALUES_PER_THREAD = 1_000_000


def usable_threads(n_jobs: int | None, values: float = math.inf) -> int:
    """Resolve `n_jobs` to a number of threads: −1 stands for all there are.

    None stands for as many of these as the number of `values` to work on is worth. There are as
    many as the process may use at once: a container's share of the processors counts.
    """
    if n_jobs is not None and n_jobs != -1:
        return n_jobs
    import joblib  # takes long, and who says how many needs none of it

    threads = int(joblib.cpu_count(only_physical_cores=False))
    return threads if n_jobs == -1 else int(min(threads, 1 + values / VALUES_PER_THREAD))


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


def import_all(package: str, path: Iterable[str]) -> None:
    """Import every module of a package, in the order of their names."""
    for module in pkgutil.iter_modules(path, f"{package}."):
        importlib.import_module(module.name)


def import_optional(package: str, extra: str | None = None) -> ModuleType:
    """Import an optional package, or say how to install it: by an extra of gbrank, or by itself."""
    try:
        return importlib.import_module(package)
    except ImportError:
        install = package if extra is None else f"'gbrank[{extra}]'"
        raise ImportError(f"this needs {package}: pip install {install}.") from None
