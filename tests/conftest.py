"""What holds for every test: its examples, how threads wait, and when kernels are compiled."""

import os
import signal
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from sklearn import set_config

# Workers of pytest-xdist share the cores: an OpenMP thread that spins while it waits for another
# makes small trainings a hundred times slower. Read when LightGBM or XGBoost is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# A shell starts what runs in the background with Ctrl-C ignored, and so are its children.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Everybody draws the same examples, but for numbers that Hypothesis finds in the source of an
# editable install. `pytest --hypothesis-profile=random` draws new ones in every run.
for name, derandomize in (("same", True), ("random", False)):
    settings.register_profile(
        name,
        derandomize=derandomize,
        deadline=None,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("same")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Before a large run, have each worker compile the kernels of some objectives, for all to load.

    Tests are handed out once every worker has come so far; without this all would compile all.
    """
    worker = getattr(session.config, "workerinput", None)
    if worker is None or len(session.items) < 400:
        return
    from battery import NAMES, kind
    from gbrank import Queries, get_objective

    kinds = [kind(name) for name in NAMES]
    by_size = sorted(dict.fromkeys(kinds), key=kinds.count, reverse=True)
    mine = by_size[int(worker["workerid"].removeprefix("gw")) :: worker["workercount"]]
    queries = Queries.from_sizes([5, 2000])  # what is swept is compiled for long lists only
    labels, scores = np.arange(2005) % 3, np.arange(2005) % 7
    for name in NAMES:
        if kind(name) in mine:
            get_objective(name).bind(labels, queries).gradients(scores)


@pytest.fixture
def routing() -> Iterator[None]:
    """Enable metadata routing."""
    set_config(enable_metadata_routing=True)
    yield
    set_config(enable_metadata_routing=False)
