"""Words that people know from RankLib, LightGBM, XGBoost and CatBoost, and what stands for each."""

import functools
import inspect
from collections.abc import Collection, Mapping
from typing import Any, TypeVar, cast

from gbrank.boosters import BOOSTERS
from gbrank.common.checks import ArgumentTypeError, Function, quoted, unknown_names
from gbrank.common.words import WORDS, by_name

T = TypeVar("T", bound=type)
F = TypeVar("F", bound=Function)

LIBRARIES = {name.lower(): name for name in ("RankLib", "LightGBM", "XGBoost", "CatBoost")}
DATA_SETS = {"Dataset", "DMatrix", "QuantileDMatrix", "Pool"}
TABLE: list[dict[str, Any]] = WORDS["elsewhere"]
DEFAULTS: dict[str, Any] = WORDS["defaults"]  # values that name what is done here anyway
HERE = {
    name: row["here"].replace("NAME", name).replace("`", "")
    for row in reversed(TABLE)  # where a word is in several rows, the first one counts
    for library in LIBRARIES
    for name in row.get(library, ())
}
for _booster in BOOSTERS.values():
    for _other, _main in by_name(_booster.options.aliases).items():
        if _main in HERE:
            HERE.setdefault(_other, HERE[_main])
CALLBACKS = {
    name[:-2].replace("_", "").lower(): text for name, text in HERE.items() if name[-2:] == "()"
}


def check_no_theirs(callback: object) -> None:
    """Refuse a callback of another library, with what stands for it here."""
    kind = type(callback)
    if (library := LIBRARIES.get(kind.__module__.partition(".")[0])) is not None:
        word = kind.__name__.strip("_").removesuffix("Callback")
        text = CALLBACKS.get(word.lower(), "write a function of a Round")
        raise TypeError(
            f"callbacks must not hold {library}'s {word}, got {quoted(callback)}: {text}."
        )


def check_keywords(
    owner: str, kind: str, values: Mapping[str, Any], known: Collection[str], error: type[Exception]
) -> None:
    """Refuse the keywords that a function does not have, all at once."""
    words = HERE if "GBRanker" in owner else {}  # a linear ranker has little of others' words
    sentences: list[str] = []
    unknown: list[str] = []
    for name in sorted(values.keys() - set(known)):
        lacks = kind == "argument" and f"fit({name}=" in words.get(name, "")  # as Dask's fit may
        if lacks or name not in words:
            unknown.append(name)
        elif name in DEFAULTS and values[name] == DEFAULTS[name]:
            here = f"leave it out, as {values[name]!r} is the default"
            sentences.append(f"{owner} has no {name}: {here}.")
        else:
            sentences.append(f"{owner} has no {name}: {words[name]}.")
    if unknown:
        sentences.append(unknown_names(f"{kind} of {owner}", unknown, known))
        if kind == "parameter" and words:
            sentences.append("Others of the booster's go into booster_params.")
    if sentences:
        raise error(" ".join(sentences))


def explains_words(function: F, owner: str = "", kind: str = "argument") -> F:
    """Let a function or a method say what stands for an unknown keyword; a decorator."""
    known = {*inspect.signature(function).parameters} - {"self"}

    @functools.wraps(function)
    def explaining(*values: Any, **named: Any) -> Any:
        check_keywords(owner or function.__qualname__, kind, named, known, TypeError)
        for X in (*values[:2], named.get("X")):
            library = LIBRARIES.get(type(X).__module__.partition(".")[0])
            if library is not None and type(X).__name__ in DATA_SETS:
                raise ArgumentTypeError(
                    "X",
                    "must be an array, a sparse matrix or a data frame",
                    f"{library}'s {type(X).__name__}",
                    " Pass its features as X, its labels as y, its queries as qid= or group=. In "
                    "the library's own train(), use lightgbm_fobj or xgboost_obj.",
                )
        return function(*values, **named)

    return cast(F, explaining)


def explains_parameters(cls: T) -> T:
    """Let a class say what stands for an unknown parameter; a class decorator."""
    cls.__init__ = explains_words(cls.__init__, cls.__name__, "parameter")  # type: ignore[misc]
    return cls
