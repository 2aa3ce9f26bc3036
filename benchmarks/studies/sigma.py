"""Sigma: how wide, in which unit, under which curvature, and whether annealing pays.

python -m benchmarks.studies.sigma --data mq2008 ohsumed
"""

from benchmarks.named_rankers import ranker_from_name
from benchmarks.studies.curvature import Blend
from benchmarks.studies.study import study
from gbrank import GBRanker, get_objective
from gbrank.schedules import constant, geometric

TEXT = """\
# How wide to smooth: from scratch, a fixed width is best

Each objective with fixed widths and with widths that fall, in score units (absolute) or relative to
the standard deviation of scores within queries (spread). Falling widths reach their last value in
the round that is named, and stay there. Without initial scores, an objective that bounds its steps
by σ, as ApproxRank and TieRank do, learns the same rankings at every fixed absolute σ: the scores
scale with σ, and their growth does the annealing. SmoothRank's unit is a squared score. "flat"
gives every document the mean curvature.
"""

FIXED = {f"spread {width:g}": constant(width, unit="spread") for width in (0.3, 1, 3, 10, 30)}
FALLING = {
    f"spread {start:g} to {stop:g} in {n}": geometric(start, stop, rounds=n, unit="spread")
    for start, stop, n in (
        (3, 0.3, 150), (10, 1, 150), (30, 3, 150), (100, 10, 150), (10, 3, 150), (30, 10, 150),
        (10, 1, 50), (30, 3, 50),
    )
}  # fmt: skip
ABSOLUTE = {
    "absolute 1": constant(1),
    "absolute 1 to 0.1 in 150": geometric(1, 0.1, rounds=150),
}
ALL = {**ABSOLUTE, **FIXED, **FALLING}
FEW = {name: ALL[name] for name in ("absolute 1", "spread 3", "spread 10 to 1 in 150")}
SOME = {**FEW, "spread 1": ALL["spread 1"], "spread 10": ALL["spread 10"]}

# Which schedules with the objective's own curvature, and which with a flat one.
OBJECTIVES = {
    "approx:ndcg": (ALL, SOME),
    "smooth:ndcg": (ALL, SOME),
    "tie:ndcg": (ALL, {}),
    "tie(phi='linear'):ndcg": (SOME, {}),
    "soft:ndcg": (FEW, {}),
}


def with_sigma(objective: str, flat: bool, schedule: object) -> GBRanker:
    """Return a ranker with this schedule."""
    ranker = ranker_from_name(objective).set_params(sigma=schedule)
    return ranker.set_params(objective=Blend(get_objective(objective), 0.0)) if flat else ranker


if __name__ == "__main__":
    rankers = {
        f"{objective}{', flat' if flat else ''}, {name}": with_sigma(objective, flat, schedule)
        for objective, schedules in OBJECTIVES.items()
        for flat in (False, True)
        for name, schedule in schedules[flat].items()
    }
    study("sigma", TEXT, rankers)
