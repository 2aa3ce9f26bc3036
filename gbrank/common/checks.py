"""Arguments: the types of arrays, plain values, the errors that name an argument, the checks."""

import difflib
import inspect
import math
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from types import FunctionType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Function: TypeAlias = Callable[..., Any]
Array: TypeAlias = NDArray[Any]
Vector: TypeAlias = NDArray[np.float64]
Single: TypeAlias = NDArray[np.float32]
Mask: TypeAlias = NDArray[np.bool_]
Keys: TypeAlias = NDArray[np.uint64]
Matrix: TypeAlias = NDArray[np.float64]
Positions: TypeAlias = NDArray[np.int64]

LARGEST_FLOAT = sys.float_info.max
LARGEST_INTEGER = 2**63 - 1  # of compiled code
LARGEST_WEIGHT = 1e18  # a document's weight times a query's is finite in single precision
MOST_LISTED = 50  # names that an error message lists
MOST_JOBS = 1024  # OpenMP ends the process if it has no memory for the threads asked for

LONGEST = 120  # characters of a value in an error message

# Usual names of the parameters of functions of scores and labels.
LABELS = {"y_true", "y", "labels", "label", "targets", "target", "true", "truth", "relevance"}
SCORES = {
    "scores", "score", "y_score", "y_scores", "y_pred", "pred", "preds", "prediction", "predictions"
}  # fmt: skip


def canonical(values: Array) -> Array:
    """Give equal numbers equal bits: one zero, and one NaN, of all signs and payloads."""
    if values.dtype.kind != "f":
        return values
    return np.where(np.isnan(values), values.dtype.type(np.nan), values + values.dtype.type(0))


def one_column(values: Array) -> Array:
    """Convert a matrix of one column to a vector; return anything else unchanged."""
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def plain(value: Any) -> Any:
    """Replace NumPy's numbers, strings and arrays with Python's own."""
    if hasattr(value, "tolist"):  # scalars and arrays, and what is like them
        return value.tolist()
    if type(value) is dict:
        return {plain(key): plain(item) for key, item in value.items()}
    return type(value)(map(plain, value)) if type(value) in (list, tuple, set) else value


def as_json(value: object) -> Any:
    """Convert a value to what JSON can hold; objectives, measures and schedules to strings."""
    value = plain(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, FunctionType):
        return f"<function {value.__qualname__}>"
    if isinstance(value, np.random.RandomState):
        return None  # its state is not saved: a loaded ranker draws anew
    if isinstance(value, dict):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    return str(value)


@dataclass(eq=False, repr=False)
class ArgumentError(ValueError):
    """An argument is not what it should be: "{context}{argument} {demand}, got {got}.{hint}".

    Parameters
    ----------
    argument : str
        Its name in Python.
    demand : str
        What it should be, as "must be at least 1".
    got : str
        What it was, as a text; "" where the demand says it.
    hint : str
        What to do; it begins with a space.
    context : str
        Where it stands, as "eval_set[0]: ".
    remedies : tuple of str
        Other arguments that the hint names.
    """

    argument: str
    demand: str
    got: str = ""
    hint: str = ""
    context: str = ""
    remedies: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.message(self.argument)

    def message(self, name: str) -> str:
        """Format the message under another name of the argument."""
        got = f", got {self.got}" if self.got else ""
        return f"{self.context}{name} {self.demand}{got}.{self.hint}"

    def within(self, context: str) -> "ArgumentError":
        """Put a context before the message."""
        return replace(self, context=context + self.context)


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument is of a wrong type."""


@contextmanager
def error_context(context: str, *, traced: bool = False) -> Iterator[None]:
    """Put a context before the message of each error in the block; `traced`, keep its traceback."""
    try:
        yield
    except (ValueError, TypeError, RuntimeError) as error:
        cause = error if traced else None
        if isinstance(error, ArgumentError):
            raise error.within(context) from cause
        raise type(error)(f"{context}{error}") from cause


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called gbrank, however deep inside we are."""
    level = 1
    frame = sys._getframe(1)
    # Methods decorated by a context manager are called from contextlib.
    inside = ("gbrank.", "contextlib")
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(inside):
        level += 1
        frame = frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)


def quoted(value: object) -> str:
    """Format a value by its repr, shortened in the middle if it is long."""
    return shortened(repr(value))


def shortened(text: str, most: int = LONGEST) -> str:
    """Cut out the middle of a long text."""
    half = most // 2
    return text if len(text) <= 2 * half else f"{text[: half - 3]}...{text[-half:]}"


def listed(names: Iterable[object], most: int = 10) -> str:
    """Format names as a list; of many, only the first."""
    names = list(names)
    text = ", ".join(map(quoted, names[:most]))
    return f"[{text}, ... ({len(names)} in all)]" if len(names) > most else f"[{text}]"


def check_unmasked(values: object, name: str, remedy: str = "drop the masked rows") -> None:
    """Check that an array is not masked: the mask would be lost."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):  # no NA of pandas
        raise ArgumentError(name, f"must not be masked: {remedy}")


def check_vector(values: ArrayLike, name: str, length: int | None = None) -> Vector:
    """Convert `values` to a contiguous float64 vector; raise if they are no such vector."""
    check_unmasked(values, name)
    try:
        array = one_column(np.asarray(values))
        array = array.astype(np.float64) if array.dtype == object else array
        real = array.dtype.kind in "biuf"
    except (TypeError, ValueError, OverflowError):  # of objects, and lists of several lengths
        real = False
    if not real:
        raise ArgumentTypeError(
            name,
            "must hold real numbers, one per entry",
            quoted(values),
            " Map texts to numbers, as grades by {'bad': 0, 'good': 1}.",
        )
    if array.ndim != 1:
        raise ArgumentError(name, "must have one dimension", f"shape {array.shape}")
    if length is not None and len(array) != length:
        raise ArgumentError(name, f"must have {length} entries", f"{len(array)}")
    return np.require(array, np.float64, ["C", "W"])  # compiled code takes no read-only arrays


def check_entries(
    wrong: Mask, values: Vector, name: str, demand: str, where: str = "in row", hint: str = ""
) -> None:
    """Raise if some values are wrong, naming the first one and its row."""
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ArgumentError(name, demand, f"{values[row]} {where} {row}", hint)


def check_finite(values: ArrayLike, name: str, length: int | None = None) -> Vector:
    """Convert `values` to a vector as `check_vector` does, without NaN and infinite entries."""
    vector = check_vector(values, name, length)
    check_entries(~np.isfinite(vector), vector, name, "must be finite")
    return vector


def check_scores(scores: ArrayLike, length: int, unretrieved: bool = False) -> Vector:
    """Check that scores are finite, or −inf where documents may be unretrieved."""
    values = check_vector(scores, "scores", length)
    missing = np.isnan(values)
    if missing.any():
        raise ArgumentError(
            "scores",
            "must be finite",
            f"nan in row {int(np.argmax(missing))} ({missing.sum():,} in all)",
            " To rank documents without a score last, give them one below all others.",
        )
    check_finite(np.where(unretrieved & np.isneginf(values), 0, values), "scores")
    return values


def check_labels(labels: ArrayLike, name: str, length: int | None = None) -> Vector:
    """Check that labels are finite and not negative."""
    values = check_finite(labels, name, length)
    check_entries(values < 0, values, name, "must be at least 0")
    return values


def check_weights(weights: ArrayLike | None, name: str, length: int, per: str) -> Vector | None:
    """Check weights, one `per` document or query, none below 0 or too large."""
    if weights is None:
        return None
    values = check_finite(weights, name)
    if len(values) != length:
        raise ArgumentError(
            name,
            f"must have one entry per {per}, so {length} entries",
            f"{len(values)}",
            " Pass weights of queries as query_weight." if per == "document" else "",
        )
    wrong = (values < 0) | (values > LARGEST_WEIGHT)
    demand = f"must be at least 0 and at most {LARGEST_WEIGHT}"
    check_entries(wrong, values, name, demand, "at index")
    return values


def check_number(
    value: object,
    name: str,
    low: float = -np.inf,
    high: float = np.inf,
    *,
    above: float = -np.inf,
    below: float = np.inf,
    integer: bool = False,
    optional: bool = False,
) -> Any:
    """Check a number from `low` to `high`, or strictly between `above` and `below`."""
    if value is None and optional:
        return None
    number = plain(value)
    kind: Any = int if integer else float
    largest = LARGEST_INTEGER if integer else LARGEST_FLOAT
    is_number = isinstance(number, kind | int) and not isinstance(number, bool)
    if is_number and above < number < below and low <= number <= high and abs(number) <= largest:
        return kind(number)
    bounds = {"above": above, "of at least": low, "below": below, "at most": high}
    texts = [f"{word} {bound}" for word, bound in bounds.items() if np.isfinite(bound)]
    demand = f"must be {'an integer' if integer else 'a number'} {' and '.join(texts)}".rstrip()
    demand = f"{demand} or None" if optional else demand
    raise (ArgumentError if is_number else ArgumentTypeError)(name, demand, quoted(value))


check_integer = partial(check_number, integer=True)


def check_jobs(n_jobs: object, name: str = "n_jobs") -> int | None:
    """Check a number of threads or processes; None and -1 stand for all."""
    jobs: int | None = check_integer(n_jobs, name, -1, MOST_JOBS, optional=True)
    if jobs == 0:
        raise ArgumentError(name, "must be -1 or at least 1, or None", "0")
    return jobs


def check_takes(function: Function, name: str, *arguments: str) -> None:
    """Check that a function can be called with these arguments."""
    demand = f"must be a function of ({', '.join(arguments)})"
    if not callable(function):
        raise ArgumentTypeError(name, demand, quoted(function))
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of one that Python cannot look into
        return
    try:
        signature.bind(*arguments)
    except TypeError:
        called = getattr(function, "__name__", type(function).__name__)
        raise ArgumentTypeError(
            name, demand, shortened(f"{called}({', '.join(signature.parameters)})")
        ) from None


def takes_labels_first(function: Function) -> bool:
    """Whether the names of two parameters are those of labels and scores, in this order."""
    try:
        first, second, *_ = inspect.signature(function).parameters
    except (TypeError, ValueError):  # of one that Python cannot look into, or with *arguments
        return False
    labels_first = first in LABELS and second not in LABELS
    return labels_first or (second in SCORES and first not in SCORES)


def check_column_list(values: object, name: str) -> None:
    """Check that columns are a list, not a text, whose letters would be taken for names."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        kind = "the single text " if isinstance(values, str) else ""
        raise ArgumentTypeError(name, "must be a list of columns", f"{kind}{quoted(values)}")


def check_unique(name: str, values: Sequence[Any]) -> None:
    """Check that a list holds no value twice."""
    for value in values:
        if values.count(value) > 1:
            raise ArgumentError(name, f"must not hold {value!r} twice")


def check_choice(value: object, name: str, choices: Iterable[Any]) -> Any:
    """Check that `value` is one of `choices`."""
    choices = list(choices)
    if not any(value is item or (type(value) is type(item) and value == item) for item in choices):
        raise ArgumentError(name, f"must be one of {choices}", quoted(value))
    return value


def queries_needed(what: str, argument: str) -> ValueError:
    """Build the error for a score without queries."""
    return ValueError(
        f"{what} needs {argument}. In scikit-learn's searches and cross-validation: "
        'sklearn.set_config(enable_metadata_routing=True), params={"qid": qid}, cv=QueryKFold(). '
        "In permutation_importance: scoring=lambda ranker, X, y: ranker.score(X, y, qid)."
    )


def check_known_name(kind: str, name: str, known: Collection[str]) -> None:
    """Check that a name is one of those that are known."""
    if name not in known:
        raise unknown_name(kind, str(name), known)


def unknown_names(kind: str, names: Iterable[str], known: Iterable[str]) -> str:
    """Write a sentence for each of several unknown names, and the known names once."""
    *first, last = (str(unknown_name(kind, name, known)) for name in names)
    return " ".join([*(text.partition(" Known: ")[0] for text in first), last])


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Find the known name that a misspelt one may stand for, if there is one."""
    known_as = {_folded(text): text for text in known}
    close = difflib.get_close_matches(_folded(name[:100]), known_as, n=1, cutoff=0.7)
    return known_as[close[0]] if close else None


def _folded(name: str) -> str:
    """Return a name in small letters; measures are metrics in many libraries."""
    return name.lower().replace("measure", "metric")


def unknown_name(
    kind: str, name: str, known: Iterable[str], meant: str | None = None
) -> ValueError:
    """Build the error for an unknown name: the known names, and the one that may be meant."""
    if name.startswith("<function "):
        return ValueError(
            f"{kind} must be passed again, as by set_params({kind}=...): {name} is a function of "
            "yours, which is not saved with a model."
        )
    known = sorted(map(str, known))
    if len(known) > MOST_LISTED:
        close = difflib.get_close_matches(name[:100], known, n=5, cutoff=0.0)
        return ValueError(f"unknown {kind} {quoted(name)}. Nearest: {', '.join(close)}.")
    near = nearest(name, known)
    if meant is None and near is not None:
        meant = repr(near)
    hint = f" Did you mean {shortened(meant)}?" if meant else ""
    return ValueError(f"unknown {kind} {quoted(name)}.{hint} Known: {', '.join(known) or 'none'}.")
