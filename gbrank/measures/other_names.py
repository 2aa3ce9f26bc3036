"""Names of measures in trec_eval, ir_measures and other libraries, and what they are here."""

import re
from typing import NamedTuple

from gbrank.common.grammar import parse, parse_options
from gbrank.common.words import WORDS

OPTIONS = {"gain", "k", "p", "threshold"}


class Elsewhere(NamedTuple):
    """A name of another library: the text of the same measure here, "" if there is none."""

    library: str
    here: str
    remark: str


def known_elsewhere(text: str) -> Elsewhere | None:
    """Look a text up: ``P_10``, ``AP(rel=2)``, ``NDCG:top=10;type=Exp`` or ``map@10-``."""
    translated = text
    for theirs, ours in WORDS["spellings"].items():
        translated = re.sub(theirs, ours, translated)
    call = parse(translated)
    try:
        options = parse_options(call.options, text)
    except ValueError:
        return None
    for library, names in WORDS["measures"].items():
        entry = names.get(call.name)
        if "k" in options:
            entry = names.get(f"{call.name}@K", entry)
        if entry is not None:
            here, _, remark = entry.partition("; ")
            if "gain" in options:
                remark = ""
            for name in options.keys() - OPTIONS:
                remark = f"without its option {name}"
                del options[name]
            return Elsewhere(library, _with_options(here, options), remark)
    return None


def _with_options(here: str, options: dict[str, object]) -> str:
    call = parse(here)
    options = parse_options(call.options, here) | options
    k = options.pop("k", None)
    cut = "" if k is None or not here else f"@{k}"
    listed = ",".join(f"{name}={value}" for name, value in options.items())
    return call.name + cut + (f"({listed})" if here and listed else "")
