"""A booster as gbrank knows it before its library is loaded: what it declares, and its options.

Options that users pass as `booster_params` are checked alike for each booster.
"""

import math
import re
from ast import literal_eval
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pkgutil import resolve_name
from typing import Any, NamedTuple

from gbrank.common.checks import LARGEST_FLOAT, ArgumentError, check_integer, quoted, unknown_names
from gbrank.common.words import WORDS, by_name
from gbrank.data.schema import Schema, find_columns

from .interface import Model, NewTrainer, Params, TreeSettings

LARGEST_INT32 = 2**31 - 1
TRUTH = {"true": True, "false": False}  # as boosters read them in texts


class Options(NamedTuple):
    """A booster's options; one that would have no effect in a fit is refused.

    Where an option is meant with one value only, it is written as "boosting=dart".

    Parameters
    ----------
    aliases : mapping of str to list of str
        The other names of an option.
    idle : mapping of str to list of str
        Options that have no effect in gbrank, by what to do instead.
    needs : mapping of str to list of str
        Options that have an effect with another one only, by that one; "a|b" is either.
    stateful : sequence of str
        Those with a state between rounds that no checkpoint keeps.
    by_threads : sequence of str
        Those with which trees depend on the number of threads.
    of_leaves : sequence of str
        Those with which a leaf is no Newton step of the documents in it, as `refit` takes it.
    """

    aliases: Mapping[str, Sequence[str]] = {}
    idle: Mapping[str, Sequence[str]] = {}
    needs: Mapping[str, Sequence[str]] = {}
    stateful: Sequence[str] = ()
    by_threads: Sequence[str] = ()
    of_leaves: Sequence[str] = ()

    def check(
        self, user: Mapping[str, Any], defaults: Params, known: Iterable[str], schema: Schema
    ) -> Params:
        """Check the user's parameters beside gbrank's; give main names, and columns by position.

        Texts are read as boosters do: "(1, -1)", "[[0, 1], [2]]".
        """
        mains = by_name(self.aliases)
        checked: Params = {}
        for name, value in user.items():
            if not isinstance(name, str) or not _is_held(value):
                raise ArgumentError(
                    "booster_params",
                    "must map names to finite values, with integers of at most 32 bits",
                    f"{name!r}: {quoted(value)}",
                )
            checked[mains.get(name, name)] = TRUTH.get(str(value).lower(), value)
        if len(checked) < len(user):
            raise ValueError(f"booster_params must not hold a parameter twice, got {list(user)}.")
        refused: list[str] = []
        unknown: list[str] = []
        for name, main in zip(user, checked, strict=True):
            if reason := self._why_not(main, defaults | checked):
                refused.append(f"{name!r}{reason}")
            elif main not in known:
                unknown.append(str(name))
        messages = []
        if refused:
            messages.append(f"booster_params must not hold {'; '.join(refused)}.")
        if unknown:
            messages.append(unknown_names("booster parameter", unknown, known))
        if messages:
            raise ValueError(" ".join(messages))
        for name, read in READERS.items():
            if name in checked:
                value = checked[name]
                if isinstance(value, str):
                    with suppress(ValueError, SyntaxError):
                        value = literal_eval(value)
                checked[name] = read(value, f"{name} in booster_params", schema)
        return checked

    def _why_not(self, main: str, params: Mapping[str, Any]) -> str:
        wanted = by_name(self.needs).get(main)
        if wanted and not options_in_use(wanted.split("|"), params):
            return f", which has no effect without {wanted.replace('|', ' or ')}"
        if (other := by_name(WORDS["set_by"]).get(main)) is not None:
            return f": use {other}"
        if (instead := by_name(self.idle).get(main)) is not None:
            return f", which has no effect here: {instead}"
        return ""

    def check_state(self, settings: TreeSettings, params: Mapping[str, Any]) -> list[str]:
        """List the options in use with a state between rounds; refuse what cannot be with it."""
        options = options_in_use(self.stateful, params)
        if settings.early_stopping and any(option.endswith("=dart") for option in options):
            raise ValueError(
                "early_stopping_rounds must be None with boosting='dart': later rounds rescale "
                "earlier trees, so an earlier model cannot be recovered."
            )
        if settings.resumable and options:
            raise ValueError(
                f"checkpoint must be None with {' and '.join(options)}: the booster's state "
                "between rounds cannot be saved."
            )
        return options


class Booster(NamedTuple):
    """The declaration of a booster, whose library is loaded when a fit or a model needs it.

    Parameters
    ----------
    name : str
        The value of `GBRanker`'s parameter `booster`.
    title : str
        The library's name in messages.
    library : str
        The module that is imported as the library.
    file : re.Pattern of bytes
        Matches the beginning of the library's model files, and of no other booster's.
    options : Options
        What is known of its parameters.
    random_thresholds : bool
        Whether it implements `extra_trees`.
    params_name, trainer_name, model_name : str
        Where a function and two classes are, as "package.module:name": the function checks
        `TreeSettings` for a `Schema` and returns the library's parameters, the classes are a
        `NewTrainer` and a `Model`.
    """

    name: str
    title: str
    library: str
    file: re.Pattern[bytes]
    options: Options
    random_thresholds: bool
    params_name: str
    trainer_name: str
    model_name: str

    def params(self, settings: TreeSettings, schema: Schema) -> Params:
        """Translate settings into the library's parameters; refuse what it would not use."""
        return resolve_name(self.params_name)(settings, schema)

    @property
    def version(self) -> str:
        """The version of the library."""
        return str(import_module(self.library).__version__)

    @property
    def trainer(self) -> NewTrainer:
        """The class of trainers."""
        return resolve_name(self.trainer_name)

    @property
    def model(self) -> type[Model]:
        """The class of models."""
        return resolve_name(self.model_name)


def options_in_use(options: Iterable[str], params: Mapping[str, Any]) -> list[str]:
    """List those of some options that parameters hold, with the value that they name, if any."""
    in_use = []
    for option in options:
        name, named, value = option.partition("=")
        values = ("true", "1", "+") if value == "True" else (value,)
        if name in params and (not named or str(params[name]).lower() in values):
            in_use.append(option)
    return in_use


def _is_held(value: object) -> bool:
    """Tell whether boosters hold all numbers of a value: LightGBM reads 2**32 + 5 as 5."""
    if isinstance(value, list | tuple):
        return all(map(_is_held, value))
    most = LARGEST_INT32 if isinstance(value, int) else LARGEST_FLOAT
    return not isinstance(value, int | float) or abs(value) <= most


def whole_number(
    params: Mapping[str, Any], name: str, default: int, low: int, high: float = math.inf
) -> int:
    """Check a parameter that must be a whole number in this range."""
    return check_integer(params.get(name, default), f"{name} in booster_params", low, high)


def _signs(value: object, argument: str, schema: Schema) -> tuple[int, ...]:
    """Check a sign for each feature."""
    signs = value
    n = schema.n_features
    if isinstance(value, Mapping):
        places = find_columns(value, argument, schema.feature_names, n)
        by_place = dict(zip(places, value.values(), strict=True))
        signs = [by_place.get(place, 0) for place in range(n)]
    listed = signs if isinstance(signs, list | tuple) else ()
    if len(listed) != n or not all(sign in (-1, 0, 1) for sign in listed):
        raise ArgumentError(
            argument,
            f"must hold -1, 0 or 1 for each of {n} features, or map columns to these",
            quoted(value),
        )
    for place in schema.categorical:
        if listed[place] != 0:  # LightGBM would end the process, XGBoost ignore it
            raise ArgumentError(
                argument,
                "must be 0 for columns of categories, which have no order",
                f"{listed[place]} for column {schema.feature_names[place]!r}",
            )
    return (*map(int, listed),)  # XGBoost takes no list


def _groups(value: object, argument: str, schema: Schema) -> list[list[int]]:
    """Check the columns of each group."""
    lists = value if isinstance(value, list | tuple) else ()
    if not lists or not all(isinstance(group, list | tuple) and group for group in lists):
        raise ArgumentError(
            argument, "must be lists of columns, such as [[0, 1], [2]]", quoted(value)
        )
    names = schema.feature_names
    return [find_columns(group, argument, names, schema.n_features) for group in lists]


READERS = {"monotone_constraints": _signs, "interaction_constraints": _groups}
