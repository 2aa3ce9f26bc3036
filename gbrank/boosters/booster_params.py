"""What users pass as `booster_params`: names and values, checked alike for each booster."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from gbrank.common.checks import quoted, unknown_names
from gbrank.common.words import WORDS, by_name
from gbrank.data.schema import Schema, column_places

# Parameters of either booster that gbrank sets itself, with what users set instead.
SET_INSTEAD = by_name(WORDS["set_by"])


class Options:
    """A booster's options, of which none is taken that a fit would not heed: see words.json.

    What an option needs is written as "boosting=dart", or "monotone_constraints" for any value.
    """

    def __init__(self, booster: str) -> None:
        words = WORDS[booster]
        self.aliases = by_name(words["aliases"])
        self.own, self.idle, self.needs = (by_name(words[key]) for key in ("own", "idle", "needs"))

    def check(
        self, user: Mapping[str, Any], given: dict[str, Any], known: Iterable[str], own: bool
    ) -> dict[str, Any]:
        """Return the user's parameters by their main names, next to those that gbrank gives.

        `own` says that the booster's own objective is trained.
        """
        checked: dict[str, Any] = {}
        for name, value in user.items():
            main = self.aliases.get(name, name)
            if main in checked:
                raise ValueError(f"booster_params must not hold {main!r} twice, got {list(user)}.")
            checked[main] = value
        pairs = list(zip(user, checked, strict=True))
        reasons = {name: self._why_not(main, given | checked, own) for name, main in pairs}
        refused = [f"{name!r}{reason}" for name, reason in reasons.items() if reason]
        unknown = [name for name, main in pairs if not reasons[name] and main not in known]
        message = f"booster_params must not hold {'; '.join(refused)}." if refused else ""
        if unknown:
            message = f"{message} {unknown_names('booster parameter', unknown, known)}".lstrip()
        if message:
            raise ValueError(message)
        return checked

    def _why_not(self, main: str, params: Mapping[str, Any], own: bool) -> str:
        """Say why an option would not be heeded; nothing if it would."""
        if main in SET_INSTEAD:
            return f": use {SET_INSTEAD[main]}"
        if main in self.idle:
            return f", which has no effect here: {self.idle[main]}"
        if main in self.own and not own:
            return f", which has no effect on an objective of gbrank: {self.own[main]}"
        wanted = self.needs[main].split("|") if main in self.needs else []
        if wanted and not any(_has(params, one) for one in wanted):
            return f", which has no effect without {' or '.join(wanted)}"
        return ""


def _has(params: Mapping[str, Any], wanted: str) -> bool:
    """Say whether parameters hold an option, with the value that `wanted` names, if any."""
    name, named, value = wanted.partition("=")
    return name in params and (not named or str(params[name]).lower() == value.lower())


def by_position(params: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """Return parameters that give columns by position, where the user's give them by name."""
    made = dict(params)

    def places(columns: Iterable[int | str], name: str) -> tuple[int, ...]:
        argument = f"{name} in booster_params"
        return column_places(columns, argument, schema.names, schema.n_features)

    name = "monotone_constraints"
    if (signs := params.get(name)) is not None:
        if isinstance(signs, Mapping):
            by_place = dict(zip(places(signs, name), signs.values(), strict=True))
            signs = [by_place.get(place, 0) for place in range(schema.n_features)]
        made[name] = _checked_signs(signs, schema.n_features)
    name = "interaction_constraints"
    if (groups := params.get(name)) is not None and not isinstance(groups, str):
        if not isinstance(groups, list | tuple) or not all(
            isinstance(group, list | tuple) and group for group in groups
        ):
            raise ValueError(
                f"{name} in booster_params must be lists of columns, such as [[0, 1], [2]], got "
                f"{quoted(groups)}."
            )
        made[name] = [[*places(group, name)] for group in groups]
    return made


def _checked_signs(signs: object, n_features: int) -> list[int]:
    """Return a sign for each feature; a text is taken as the boosters take it."""
    given = signs
    if isinstance(signs, str):
        signs = [item.strip() for item in signs.strip("()[] ").split(",")]
        signs = [int(item) if re.fullmatch(r"[+-]?\d+", item) else item for item in signs]
    if not isinstance(signs, list | tuple) or not all(
        type(sign) is int and sign in (-1, 0, 1) for sign in signs
    ):
        raise ValueError(
            "monotone_constraints in booster_params must hold -1, 0 or 1 for each feature, or map "
            f"columns to these, got {quoted(given)}."
        )
    if len(signs) != n_features:
        raise ValueError(
            f"monotone_constraints in booster_params must have {n_features} entries, one for each "
            f"feature, got {len(signs)}."
        )
    return list(signs)


def plain(value: object) -> Any:
    """Return a value with Python's own numbers in place of NumPy's, in lists and dicts too."""
    if hasattr(value, "tolist"):  # NumPy's numbers and arrays, and what is like them
        value = value.tolist()
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return type(value)(map(plain, value))
    return value
