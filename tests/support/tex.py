"""Formulas as objectives and measures declare them, as TeX."""

import re

TEX_FUNCTIONS = {"exp", "log", "max", "min"}
SYMBOLS = {
    "σ": r"\sigma ",
    "λ": r"\lambda ",
    "γ": r"\gamma ",
    "φ": r"\varphi ",
    "Δ": r"\Delta ",
    "Σ": r"\sum ",
    "Π": r"\prod ",
    "−": "-",
    "≤": r"\leq ",
    "≠": r"\neq ",
    "∝": r"\propto ",
    "⌊": r"\lfloor ",
    "⌋": r"\rfloor ",
    "½": r"\tfrac{1}{2}",
    "²": "^2",
    "⁻¹": "^{-1}",
    "ḡ": r"\bar{g}",
    "t̄": r"\bar{t}",
    "r̂": r"\hat{r}",
}
_LONGEST_FIRST = sorted(SYMBOLS, key=len, reverse=True)
_PARTS = re.compile(
    r"_(?P<index>\w+)"
    r"|(?P<words> ?[A-Za-z]{2,}(?:[ -][A-Za-z]{2,})* ?)"
    rf"|(?P<symbol>{'|'.join(map(re.escape, _LONGEST_FIRST))})"
)


def as_tex(formula: str) -> str:
    """Return a formula as TeX; words of two letters or more are text."""
    depth, tex = 0, ""
    for part in re.split(r"(, |[()\[\]{}])", formula):
        depth += (part in ("(", "[", "{")) - (part in (")", "]", "}"))
        tex += r",\quad " if part == ", " and depth == 0 else _PARTS.sub(_translated, part)
    tex = re.sub(r"(\\[a-z]+) +(?![A-Za-z ])", r"\1", tex)
    return re.sub(r"(\\[a-z]+) {2,}", r"\1 ", tex)


def _translated(found: re.Match[str]) -> str:
    if found["index"]:
        return f"_{{{found['index']}}}"
    if found["symbol"]:
        return SYMBOLS[found["symbol"]]
    words = found["words"]
    name = words.strip()
    return f"\\{name} " if name in TEX_FUNCTIONS else rf"\text{{{words}}}"
