"""LightGBM itself, its exception and its threads: the first import of the other files here."""

from collections.abc import Iterator
from contextlib import contextmanager

from gbrank.boosters.openmp import check_fork, short_spins
from gbrank.common.runtime import import_optional

with short_spins():
    import_optional("lightgbm")
    import lightgbm as lgb

__all__ = ["check_threads", "lgb", "translated"]


def check_threads(n_jobs: int) -> None:
    """Refuse several threads in a process forked from one in which LightGBM has run."""
    check_fork("LightGBM", starts=True, needs=n_jobs > 1, instead="set n_jobs=1 here")


@contextmanager
def translated(message: str, kind: type[ValueError] = ValueError) -> Iterator[None]:
    """Turn a LightGBMError into a ValueError, whose text begins with `message`.

    LightGBM reckons counts of documents from curvatures, and ends where one comes out as 0: among
    workers, or with gradients of few levels (`use_quantized_grad`).
    """
    try:
        yield
    except lgb.basic.LightGBMError as error:
        empty = "_count) > (0)" in str(error)
        remedy = "set min_child_samples to at least 1, and no use_quantized_grad"
        advice = f" A leaf had no documents: {remedy}." if empty else ""
        raise kind(f"{message}: {error}{advice}") from None
