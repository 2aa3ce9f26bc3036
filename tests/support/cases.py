"""Many cases inside one test, where a failure still says which case it was."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any

import pytest
from hypothesis import settings

Test = Callable[..., None]


def at_length(examples: int) -> int:
    """Return how many examples an exhaustive test draws: ten times as many of random ones."""
    return examples if settings.default.derandomize else 10 * examples


@contextmanager
def case(*what: Any) -> Iterator[None]:
    """Name the case in the error of an assertion that fails inside."""
    try:
        yield
    except (Exception, pytest.fail.Exception) as error:
        described = ", ".join(map(repr, what))
        raise AssertionError(f"in the case {described}: {error}") from error


def loop(names: str, values: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test on one value after another: `pytest.mark.parametrize` that counts as one test."""
    values, split = list(values), names.split(", ")

    def decorate(test: Test) -> Test:
        @wraps(test, updated=())
        def run(**given: Any) -> None:
            for value in values:
                with case(value):
                    test(**given, **dict(zip(split, value if split[1:] else [value], strict=True)))

        return _with_arguments(run, test, split)

    return decorate


def groups(
    names: str,
    parts: Mapping[str, Iterable[Any]],
    exhaustive: Iterable[str] = (),
    slow: Iterable[str] = (),
) -> Callable[[Test], Test]:
    """Turn a test into one for each part, which runs through the part's values as `loop` does."""
    marks = dict.fromkeys(slow, pytest.mark.slow)
    marks |= dict.fromkeys(exhaustive, pytest.mark.exhaustive)

    def decorate(test: Test) -> Test:
        @wraps(test, updated=())
        def run(part: str, **given: Any) -> None:
            loop(names, parts[part])(test)(**given)

        every = [pytest.param(part, marks=marks.get(part, ())) for part in parts]
        run = _with_arguments(run, test, names.split(", "), "part")
        return pytest.mark.parametrize("part", every)(run)

    return decorate


def _with_arguments(run: Any, test: Test, dropped: list[str], *added: str) -> Any:
    """Give a wrapper of a test its marks, and its arguments with some others instead of some."""
    run.pytestmark = list(getattr(test, "pytestmark", []))
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    own = inspect.signature(test).parameters.values()
    run.__signature__ = inspect.Signature(
        [inspect.Parameter(name, kind) for name in added]
        + [item for item in own if item.name not in dropped]
    )
    return run
