"""Parameter names of other libraries, and the equivalent of each: words.json, read once.

"elsewhere" says what to use for keywords of RankLib, LightGBM, XGBoost and CatBoost (NAME is the
word itself; those with () are callbacks; the first name of each library is the one that most people
use); "objectives" for names of objectives; "measures", by library, for names of measures (_K and
@K where a rank follows; a remark after "; ", and nothing where gbrank has none), whose
"spellings", regular expressions, are replaced by those of gbrank in turn; "set_by" for parameters
of either booster that gbrank sets itself. "lightgbm" and "xgboost" are the `Options` of these
boosters.
"vespa" lists the functions of its expressions.
"""

import json
from collections.abc import Container, Iterable, Mapping
from importlib.resources import files
from typing import Any

WORDS: dict[str, Any] = json.loads(
    files("gbrank.common").joinpath("words.json").read_text(encoding="utf-8")
)


def by_name(table: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Return a table by name, from one by what several names have in common."""
    return {name: common for common, names in table.items() for name in names}


def apart(name: str, used: Container[str]) -> str:
    """Return a name, in parentheses where it is used already."""
    while name in used:
        name = f"({name})"
    return name
