"""Options of boosters that users pass as `booster_params`, checked alike for each booster."""

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from gbrank.common.argument_error import ArgumentError
from gbrank.common.checks import LARGEST_FLOAT, quoted, unknown_names
from gbrank.common.words import WORDS, by_name
from gbrank.data.schema import Schema, column_places

# Parameters of either booster that gbrank sets itself, with what users set instead.
SET_INSTEAD = by_name(WORDS["set_by"])
LARGEST_INT32 = 2**31 - 1
TRUTH = {"true": True, "false": False}  # as boosters read them in texts


class Options:
    """A booster's options, of which none is taken that a fit would not heed: see words.json.

    What an option needs is written as "boosting=dart", or "monotone_constraints" for any value.
    """

    def __init__(self, booster: str) -> None:
        words = WORDS[booster]
        self.aliases = by_name(words["aliases"])
        self.idle, self.needs = (by_name(words[key]) for key in ("idle", "needs"))
        self._stateful: list[str] = words["stateful"]

    def check(
        self, user: Mapping[str, Any], defaults: dict[str, Any], known: Iterable[str]
    ) -> dict[str, Any]:
        """Return the user's parameters by their main names, beside the defaults of gbrank."""
        checked: dict[str, Any] = {}
        for name, value in user.items():
            main = self.aliases.get(name, name)
            if main in checked:
                raise ValueError(f"booster_params must not hold {main!r} twice, got {list(user)}.")
            if not _is_held(value):
                demand = f"must be finite, and an integer at most {LARGEST_INT32} in size"
                raise ArgumentError(f"{name} in booster_params", demand, quoted(value))
            checked[main] = TRUTH.get(str(value).lower(), value)
        pairs = list(zip(user, checked, strict=True))
        reasons = {name: self._why_not(main, defaults | checked) for name, main in pairs}
        refused = [f"{name!r}{reason}" for name, reason in reasons.items() if reason]
        unknown = [name for name, main in pairs if not reasons[name] and main not in known]
        message = f"booster_params must not hold {'; '.join(refused)}." if refused else ""
        if unknown:
            message = f"{message} {unknown_names('booster parameter', unknown, known)}".lstrip()
        if message:
            raise ValueError(message)
        return checked

    def _why_not(self, main: str, params: Mapping[str, Any]) -> str:
        """Return why an option would not be heeded; nothing if it would."""
        if main in SET_INSTEAD:
            return f": use {SET_INSTEAD[main]}"
        if main in self.idle:
            return f", which has no effect here: {self.idle[main]}"
        wanted = self.needs[main].split("|") if main in self.needs else []
        if wanted and not any(_has(params, one) for one in wanted):
            return f", which has no effect without {' or '.join(wanted)}"
        return ""

    def stateful(self, params: Mapping[str, Any]) -> list[str]:
        """Return the options in use with which a booster has a state that no checkpoint keeps."""
        return [option for option in self._stateful if _has(params, option)]


def _has(params: Mapping[str, Any], wanted: str) -> bool:
    """Return whether parameters hold an option, with the value that `wanted` names, if any."""
    name, named, value = wanted.partition("=")
    return name in params and (not named or str(params[name]).lower() == value.lower())


def _is_held(value: object) -> bool:
    """Return whether boosters hold all numbers of a value: LightGBM takes 2**32 + 5 for 5."""
    if isinstance(value, list | tuple):
        return all(map(_is_held, value))
    most = LARGEST_INT32 if isinstance(value, int) else LARGEST_FLOAT
    return not isinstance(value, int | float) or abs(value) <= most


def by_position(params: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """Return parameters that give columns by position, where the user's give them by name."""
    constraints = {"monotone_constraints": _signs, "interaction_constraints": _groups}
    return {
        name: constraints[name](value, schema) if name in constraints else value
        for name, value in params.items()
    }


def _places(columns: Iterable[int | str], name: str, schema: Schema) -> list[int]:
    argument = f"{name} in booster_params"
    return [*column_places(columns, argument, schema.names, schema.n_features)]


def _signs(value: object, schema: Schema) -> list[int]:
    """Return a sign for each feature; a text is taken as the boosters take it."""
    signs, name, n = value, "monotone_constraints", schema.n_features
    if isinstance(signs, str):
        signs = [item.strip() for item in signs.strip("()[] ").split(",")]
        signs = [int(item) if re.fullmatch(r"[+-]?\d+", item) else item for item in signs]
    if isinstance(signs, Mapping):
        by_place = dict(zip(_places(signs, name, schema), signs.values(), strict=True))
        signs = [by_place.get(place, 0) for place in range(n)]
    listed = signs if isinstance(signs, list | tuple) else ()
    if len(listed) != n or not all(type(one) is int and one in (-1, 0, 1) for one in listed):
        raise ArgumentError(
            f"{name} in booster_params",
            f"must hold -1, 0 or 1 for each of {n} features, or map columns to these",
            quoted(value),
        )
    for place in schema.categorical:
        if listed[place] != 0:  # LightGBM would end the process, XGBoost ignore it
            column = repr(schema.names[place]) if schema.names else str(place)
            raise ArgumentError(
                f"{name} in booster_params",
                "must be 0 for columns of categories, which have no order",
                f"{listed[place]} for column {column}",
            )
    return list(listed)


def _groups(value: object, schema: Schema) -> list[list[int]]:
    """Return the positions in each group of columns; a text is taken as the boosters take it."""
    groups, name = value, "interaction_constraints"
    if isinstance(groups, str):
        with suppress(ValueError):
            groups = json.loads(f"[{groups}]")  # LightGBM's "[0, 1], [2]"
        match groups:
            case [[[*_], *_] as nested]:  # XGBoost's "[[0, 1], [2]]"
                groups = nested
    if (
        not isinstance(groups, list | tuple)
        or not groups
        or not all(isinstance(group, list | tuple) and group for group in groups)
    ):
        raise ArgumentError(
            f"{name} in booster_params",
            "must be lists of columns, such as [[0, 1], [2]]",
            quoted(value),
        )
    return [_places(group, name, schema) for group in groups]
