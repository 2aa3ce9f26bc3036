"""The compiled parser of LETOR / SVMlight text: bytes in, columns and faults out."""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gbrank.common.arrays import Matrix, Positions, Vector
from gbrank.engine.compiling import standalone

Characters: TypeAlias = NDArray[np.uint8]
Fault: TypeAlias = tuple[int, int, int]  # its kind, where it is, the bound that it broke


class ParsedLines(NamedTuple):
    """What the parser has found so far; spans and places are byte offsets into the file."""

    counts: Positions  # how far the arrays below are filled, see _DOCUMENTS, ...
    labels: Vector  # one a document
    features_end: Positions  # one a document: the place of its comment or newline
    offsets: Positions  # entries of document i are offsets[i]:offsets[i + 1]
    columns: NDArray[np.int32]  # one an entry
    values: Vector  # one an entry
    queries: Positions  # one a run of equal qids: first document, span of the qid
    inexact: Positions  # one a number left to Python: its entry, or ~document, and span


# Positions in ParsedLines.counts: four numbers of filled rows, the largest index, and its place.
_DOCUMENTS, _ENTRIES, _QUERIES, INEXACT, WIDEST, WIDEST_AT = range(6)

# Faults that the parser finds, and what it expected instead.
_NO_FAULT, _NO_LABEL, _NO_QUERY, _NO_INDEX, _NO_INCREASE, _NO_VALUE = range(6)
EXPECTED = {
    _NO_LABEL: "a finite number as label",
    _NO_QUERY: "qid:<query>",
    _NO_INDEX: "<index>:<value> with an index from 1 to {}",
    _NO_INCREASE: "an index above {}",
    _NO_VALUE: "a finite number or nan",
}

_TAB, _NEWLINE, _RETURN, _SPACE = 9, 10, 13, 32
_HASH, _PLUS, _MINUS, _POINT, _ZERO, _COLON = (ord(c) for c in "#+-.0:")
_A, _E, _N = (ord(c) for c in "aen")
_QID = np.frombuffer(b"qid:", np.uint8)
_LOWER = 32  # this bit makes an ASCII letter a lower-case one

_POWERS_OF_TEN = np.array([float(10**n) for n in range(23)])  # all exact
EXACT_INTEGERS = 2**53
_SATURATED = 10**17

_EXACT, _DEFERRED, _MALFORMED = range(3)


@standalone
def parse(text: Characters, limit: int, table: ParsedLines) -> Fault:
    """Fill `table` up to the first fault; return that, its place and the bound it broke."""
    at = 0
    while at < text.size:
        at = _skip_blanks(text, at)
        if not _ends_token(text[at]):
            fault, at, bound = _parse_document(text, at, limit, table)
            if fault != _NO_FAULT:
                return fault, at, bound
        while text[at] != _NEWLINE:
            at += 1
        at += 1
    return _NO_FAULT, at, 0


@standalone
def _parse_document(text: Characters, at: int, limit: int, table: ParsedLines) -> Fault:
    document = table.counts[_DOCUMENTS]
    value, end, kind = _parse_number(text, at)
    if kind == _MALFORMED or np.isnan(value):
        return _NO_LABEL, at, 0
    if kind == _DEFERRED:
        _defer(table, ~document, at, end)
    table.labels[document] = value

    at = _skip_blanks(text, end)
    end = token_end(text, at)
    if end <= at + 4 or not np.array_equal(text[at : at + 4], _QID):
        return _NO_QUERY, at, 0
    run = table.counts[_QUERIES]
    _, first, last = table.queries[run - 1]
    if run == 0 or not np.array_equal(text[first:last], text[at + 4 : end]):
        table.queries[run] = document, at + 4, end
        table.counts[_QUERIES] += 1

    at = _skip_blanks(text, end)
    entry = table.counts[_ENTRIES]
    index = 0
    index_at = at
    while not _ends_token(text[at]):
        previous, index_at = index, at
        index, at = _parse_digits(text, at, 0)
        if text[at] != _COLON or index < 1 or index > limit:
            return _NO_INDEX, index_at, limit
        if index <= previous:
            return _NO_INCREASE, index_at, previous
        start = at + 1
        value, at, kind = _parse_number(text, start)
        if kind == _MALFORMED:
            return _NO_VALUE, start, 0
        if kind == _DEFERRED:
            _defer(table, entry, start, at)
        table.columns[entry] = index - 1
        table.values[entry] = value
        entry += 1
        at = _skip_blanks(text, at)
    if index > table.counts[WIDEST]:
        table.counts[WIDEST], table.counts[WIDEST_AT] = index, index_at
    table.features_end[document] = at
    table.counts[_DOCUMENTS] = document + 1
    table.counts[_ENTRIES] = table.offsets[document + 1] = entry
    return _NO_FAULT, at, 0


@standalone
def _parse_number(text: Characters, at: int) -> tuple[float, int, int]:
    """Return the number at `at` (0 if deferred to Python), where its token ends, and its kind."""
    # Digits and a power of ten that float64 holds exactly need ONE rounding, which is correct
    # (W. D. Clinger, How to read floating point numbers accurately, PLDI 1990).
    negative = text[at] == _MINUS
    if negative or text[at] == _PLUS:
        at += 1
    if _is_nan(text, at):
        return np.nan, at + 3, _EXACT
    start = at
    mantissa, at = _parse_digits(text, at, 0)
    n_digits = at - start
    exponent = 0
    if text[at] == _POINT:
        start = at + 1
        mantissa, at = _parse_digits(text, start, mantissa)
        exponent = start - at
        n_digits += at - start
    if n_digits > 0 and text[at] | _LOWER == _E:
        below = text[at + 1] == _MINUS
        start = at + 2 if below or text[at + 1] == _PLUS else at + 1
        shift, end = _parse_digits(text, start, 0)
        exponent += -shift if below else shift
        at = end if end > start else at  # no digits: stay at the e, which is malformed
    if n_digits == 0 or not _ends_token(text[at]):
        return 0.0, at, _MALFORMED
    if mantissa > EXACT_INTEGERS or abs(exponent) >= _POWERS_OF_TEN.size:
        return 0.0, at, _DEFERRED
    value = -float(mantissa) if negative else float(mantissa)
    if exponent < 0:
        return value / _POWERS_OF_TEN[-exponent], at, _EXACT
    return value * _POWERS_OF_TEN[exponent], at, _EXACT


@standalone
def _parse_digits(text: Characters, at: int, number: int) -> tuple[int, int]:
    """Append the digits at `at` to a number, unless it has 18 already; return where they end."""
    while _ZERO <= text[at] < _ZERO + 10:
        if number < _SATURATED:
            number = 10 * number + (text[at] - _ZERO)
        at += 1
    return number, at


@standalone
def _is_nan(text: Characters, at: int) -> bool:
    return (
        text[at] | _LOWER == _N
        and text[at + 1] | _LOWER == _A
        and text[at + 2] | _LOWER == _N
        and _ends_token(text[at + 3])
    )


@standalone
def _defer(table: ParsedLines, slot: int, start: int, end: int) -> None:
    table.inexact[table.counts[INEXACT]] = slot, start, end
    table.counts[INEXACT] += 1


@standalone
def _ends_token(character: int) -> bool:
    return character in (_SPACE, _TAB, _RETURN, _NEWLINE, _HASH)


@standalone
def _skip_blanks(text: Characters, at: int) -> int:
    while text[at] in (_SPACE, _TAB, _RETURN):
        at += 1
    return at


@standalone
def token_end(text: Characters, at: int) -> int:
    """Return where the token at byte `at` ends."""
    while not _ends_token(text[at]):
        at += 1
    return at


@standalone
def scatter(offsets: Positions, columns: NDArray[np.int32], values: Vector, X: Matrix) -> None:
    """Write the entries of each document into its row of X."""
    for document in range(len(offsets) - 1):
        for entry in range(offsets[document], offsets[document + 1]):
            X[document, columns[entry]] = values[entry]
