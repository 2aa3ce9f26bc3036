"""What holds for every test: its path, its examples, how threads wait, when kernels compile."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings
from sklearn import set_config

from fresh import Fresh, forks

# What the checks of a measure compare is shown when one fails.
pytest.register_assert_rewrite("oracle")

ROOT = Path(__file__).parents[1]
# `benchmarks` is never installed: it comes behind everything that is.
sys.path.append(str(ROOT))

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


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add an option that draws some of the tests that are many."""
    text = (
        "run one in N of the exhaustive tests and one in ten of the other slow ones, or one in N "
        "of all: those that a seed (a commit) draws"
    )
    parser.addoption("--draw", metavar="SEED:N[:all]", help=text)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not drawn; every worker draws the same."""
    if not (draw := config.getoption("draw")):
        return
    seed, n, *kind = draw.split(":")
    one_in, every = int(n), kind == ["all"]
    shares = {
        "exhaustive": one_in,
        "slow": one_in if every else min(one_in, 10),
        "": one_in if every else 1,
    }
    for item in list(items):
        mark = next(name for name in shares if not name or item.get_closest_marker(name))
        if crc32(f"{seed} {item.nodeid}".encode()) % shares[mark]:
            items.remove(item)
            config.hook.pytest_deselected(items=[item])


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out how the source is written, and benchmarks unless slow tests run, if not named."""
    unnamed = {"style"} if "not slow" not in config.option.markexpr else {"style", "benchmarks"}
    if collection_path.parent != ROOT / "tests" or collection_path.name not in unnamed:
        return None
    return None if any(collection_path.name in arg for arg in config.args) else True


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Before a large run, have the workers compile what most tests need, for all to load.

    Tests are handed out once every worker has come so far; without this all would compile all.
    """
    many = len(session.items) >= 400 or "NUMBA_BOUNDSCHECK" in os.environ
    if many and hasattr(session.config, "workerinput"):
        from compiling import compile_what_no_other_does

        compile_what_no_other_does(Path(session.config.getoption("basetemp")).parent)


@pytest.fixture(autouse=True)
def registries() -> Iterator[None]:
    """Forget the measures and objectives that a test registers."""
    from gbrank.measures.measure_registry import MEASURES
    from gbrank.objectives.objective_registry import OBJECTIVES

    with patch.dict(MEASURES), patch.dict(OBJECTIVES):
        yield


@pytest.fixture(scope="session")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fresh]:
    """Return what runs code in a process without gbrank; all but its imports is as in a new one."""
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    with forks(tmp_path_factory.mktemp("fresh")) as run:
        yield run


@pytest.fixture
def routing() -> Iterator[None]:
    """Enable metadata routing."""
    set_config(enable_metadata_routing=True)
    yield
    set_config(enable_metadata_routing=False)
