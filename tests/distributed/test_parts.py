"""Tests of what Dask and Spark share."""

from itertools import permutations

from gbrank.distributed.parts import true_cause
from gbrank.parallel.collective import BoosterError, WorkersLostError


def test_the_cause_is_no_consequence_of_another_error() -> None:
    lost, booster, own = WorkersLostError("lost"), BoosterError("booster"), ValueError("own")
    for errors in permutations([lost, booster, own]):
        assert true_cause(errors) is own
    for errors in permutations([lost, booster, lost]):
        assert true_cause(errors) is booster
    assert true_cause([lost, lost]) is lost
