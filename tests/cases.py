"""Many cases inside one test, where a failure still says which case it was."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import pytest

Test = Callable[..., None]


@contextmanager
def case(*what: Any) -> Iterator[None]:
    """Name the case in the error of an assertion that fails inside."""
    try:
        yield
    except (Exception, pytest.fail.Exception) as error:
        described = ", ".join(map(repr, what))
        raise AssertionError(f"in the case {described}: {error}") from error


def loop(name: str, values: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test on one value after another: `pytest.mark.parametrize` that counts as one test."""
    values = list(values)

    def decorate(test: Test) -> Test:
        @wraps(test, updated=())
        def run(**given: Any) -> None:
            for value in values:
                with case(value):
                    test(**given, **{name: value})

        return without(run, test, name)

    return decorate


def without(run: Any, test: Test, name: str, *instead: str) -> Any:
    """Give a wrapper of a test its marks and its arguments, one of them left out or renamed."""
    run.pytestmark = list(getattr(test, "pytestmark", []))
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    named = [inspect.Parameter(other, kind) for other in instead]
    others = [item for item in inspect.signature(test).parameters.values() if item.name != name]
    run.__signature__ = inspect.Signature([*named, *others])
    return run
