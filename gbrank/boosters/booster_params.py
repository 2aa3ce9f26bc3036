"""What users pass as `booster_params`: names and values, checked alike for each booster."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from gbrank.common.checks import quoted, unknown_name
from gbrank.data.schema import Schema, column_places


def by_name(table: Mapping[str, str]) -> dict[str, str]:
    """Return a table by name, from one by what several names have in common."""
    return {name: common for common, names in table.items() for name in names.split()}


# Parameters of either booster that gbrank sets itself, by what users set instead.
SET_BY = {
    "the argument objective": "objective",
    "the argument eval_metric": "metric eval_metric disable_default_eval_metric",
    "the argument init_score": "base_score",
    "the argument n_estimators": "num_iterations num_boost_round",
    "the argument early_stopping_rounds": "early_stopping_round early_stopping_rounds",
    "the argument learning_rate": "learning_rate eta",
    "the argument num_leaves": "num_leaves max_leaves",
    "the argument max_depth": "max_depth",
    "the argument min_child_samples": "min_data_in_leaf min_child_weight",
    "the argument subsample": "bagging_fraction neg_bagging_fraction pos_bagging_fraction "
    "subsample",
    "the argument subsample, which draws in every round": "bagging_freq",
    "the argument subsample_by": "bagging_by_query",
    "the argument colsample": "feature_fraction colsample_bytree",
    "the argument extra_trees": "extra_trees",
    "the argument reg_lambda": "lambda_l2 lambda",
    "the argument random_state": "seed bagging_seed seed_per_iteration",
    "the argument n_jobs": "num_threads nthread",
    "the argument categorical_feature of fit": "categorical_feature",
    "gbrank.distributed": "machines num_machines local_listen_port machine_list_filename "
    "tree_learner",
}
SET_INSTEAD = by_name(SET_BY)


class Options:
    """A booster's options, of which none is taken that a fit would not heed.

    `other_names` has those of a main name. `own` are heeded by the booster's own objectives only,
    `idle` never, by what to do instead. `needs` are heeded where other options have a value: an
    entry such as "boosting=dart" names it, and "monotone_constraints" alone stands for any.
    """

    def __init__(
        self,
        other_names: Mapping[str, str],
        own: Mapping[str, str],
        idle: Mapping[str, str],
        needs: Mapping[str, str],
    ) -> None:
        self.aliases = by_name(other_names)
        self.own, self.idle, self.needs = by_name(own), by_name(idle), by_name(needs)

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
        for name, main in zip(user, checked, strict=True):
            self._refuse_unheeded(name, main, given | checked, own)
            if main not in known:
                raise unknown_name("booster parameter", name, known)
        return checked

    def _refuse_unheeded(self, name: str, main: str, params: Mapping[str, Any], own: bool) -> None:
        message = f"booster_params must not hold {name!r}"
        if main in SET_INSTEAD:
            raise ValueError(f"{message}: use {SET_INSTEAD[main]}.")
        if main in self.idle:
            raise ValueError(f"{message}, which has no effect here: {self.idle[main]}.")
        if main in self.own and not own:
            raise ValueError(
                f"{message}, which has no effect on an objective of gbrank: {self.own[main]}."
            )
        if main in self.needs and not any(_has(params, one) for one in self.needs[main].split("|")):
            wanted = " or ".join(self.needs[main].split("|"))
            raise ValueError(f"{message}, which has no effect without {wanted}.")


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
