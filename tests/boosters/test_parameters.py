"""LightGBM's parameters: every name that it knows, gbrank takes for the same one."""

import lightgbm as lgb

from gbrank.boosters.lightgbm.parameters import ALIASES, TAKEN, known_names


def test_every_name_that_lightgbm_knows() -> None:
    """LightGBM's own table is not public, and may be asked in tests only."""
    table = lgb.basic._ConfigAliases._get_all_param_aliases()
    known = known_names()
    theirs = {other: main for main, others in table.items() if main in known for other in others}
    assert {name: ALIASES.get(name, name) for name in theirs} == theirs


def test_names_of_training() -> None:
    """All that gbrank sets itself is among them, and what only predicts or reads files is not."""
    assert set(TAKEN) <= known_names()
    assert "path_smooth" in known_names()
    assert "output_model" not in known_names()
