"""What holds for every test: where examples come from, and how threads wait."""

import os

from hypothesis import HealthCheck, settings

# Workers of pytest-xdist share the cores: an OpenMP thread that spins while it waits for another
# makes small trainings a hundred times slower. Read when LightGBM or XGBoost is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# Everybody draws the same examples, but for numbers that Hypothesis finds in the source of an
# editable install. `pytest --hypothesis-profile=random` draws new ones in every run.
for name, derandomize in (("same", True), ("random", False)):
    settings.register_profile(
        name,
        derandomize=derandomize,
        deadline=None,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("same")
