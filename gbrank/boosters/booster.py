"""A booster as gbrank knows it before its library is loaded."""

import re
from dataclasses import dataclass
from importlib import import_module
from pkgutil import resolve_name

from gbrank.data.schema import Schema

from .booster_params import Options
from .interface import Model, NewTrainer, Params, TreeSettings


@dataclass(frozen=True)
class Booster:
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
