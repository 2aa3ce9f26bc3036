"""Do estimates from one policy's clicks agree with the log of another, whose chances are known?

python -m benchmarks.studies.open_bandit --data FOLDER
"""

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from benchmarks.studies.study import options
from benchmarks.writing import RESULTS, markdown_table
from gbrank import compare_scores
from gbrank.clicks import LoggedClicks

Vector = NDArray[np.float64]

COLUMNS = ("timestamp", "item_id", "position", "click", "propensity_score")
PARTS = 20
TEXT = """\
# Open Bandit: one policy's log against the other's

A shop showed three items at a time, chosen at random or by Bernoulli Thompson sampling (*bts*),
and logged each item's chance at each position (Saito et al. Open Bandit Dataset and Pipeline.
NeurIPS 2021). Here are the samples of 10,000 rows that the package obp 0.5.7 ships; the data set
has 26 million. A row is one item at one position, so that sessions are made of one row of each
position, in order of time, without those that have an item twice.

The clicks that bts's sessions would have got, had their items been ranked otherwise, are estimated
from bts's log by `compare_scores(clicks=LoggedClicks(...))`, with learned attention, {parts}
stretches of time as queries; and from the random policy's log, by the inverse of its known chances
for the same items at the same positions, which assumes nothing of positions. z is their difference
in standard errors of both. *popular* ranks by bts's own mean chance of an item, *rare* the other
way round, *reversed* turns each list round.
"""


def sessions(log: pd.DataFrame) -> pd.DataFrame:
    """Return sessions of one row of each position, in order of time."""
    parts = [part.sort_values("timestamp") for _, part in log.groupby("position")]
    n = min(map(len, parts))
    rows = pd.concat([part[:n].assign(session=np.arange(n)) for part in parts])
    rows = rows[rows.groupby("session")["item_id"].transform("nunique") == len(parts)]
    return rows.sort_values(["session", "position"])


def known(rows: pd.DataFrame, scores: Vector, other: pd.DataFrame) -> tuple[float, float]:
    """Return the clicks of a session ranked by scores, and the error, by another log's chances."""
    order = np.lexsort((rows["position"], -scores, rows["session"]))
    placed = rows.iloc[order].assign(position=rows["position"].to_numpy())
    keys = ["item_id", "position"]
    wanted = placed.groupby(keys).size() / placed["session"].nunique()
    shown = other.groupby("position")["click"].transform("size") * other["propensity_score"]
    share = wanted.reindex(pd.MultiIndex.from_frame(other[keys])).fillna(0).to_numpy()
    clicks = share / shown * other["click"]
    return float(clicks.sum()), float(np.sqrt((clicks**2).sum()))


def compared(bts: pd.DataFrame, other: pd.DataFrame) -> list[list[str]]:
    """Return a row of figures for each ranking, in clicks of a thousand sessions."""
    rows = sessions(bts)
    position, session = rows["position"].to_numpy(), rows["session"].to_numpy()
    chance = bts.groupby("item_id")["propensity_score"].mean()[rows["item_id"]].to_numpy()
    scores = {"bts's own": -position, "popular": chance, "rare": -chance, "reversed": position}
    query = session * PARTS // (session.max() + 1)
    logged = LoggedClicks(position, rows["item_id"].to_numpy(), query)
    found = compare_scores(scores, rows["click"].to_numpy(), session, clicks=logged)
    table = []
    for row in found.summary():
        value, error = known(rows, scores[row.ranker], other)
        margin = stats.norm.ppf(0.975) * error
        own = (row.high - row.low) / 2 / stats.norm.ppf(0.975)
        figures = 1000 * np.array(
            [row.mean, row.low, row.high, value, value - margin, value + margin]
        )
        ends = ["{:.1f} to {:.1f}".format(*figures[part]) for part in (slice(1, 3), slice(4, 6))]
        z = (row.mean - value) / np.hypot(own, error)
        table.append(
            [
                row.measure,
                row.ranker,
                f"{figures[0]:.1f}",
                ends[0],
                f"{figures[3]:.1f}",
                ends[1],
                f"{z:+.2f}",
            ]
        )
    return table


if __name__ == "__main__":
    (folder,) = options(__doc__).parse_args().data
    body, clicks = [], 0
    for campaign in ("all", "men", "women"):
        bts, other = (
            pd.read_csv(Path(folder) / policy / campaign / f"{campaign}.csv", usecols=COLUMNS)
            for policy in ("bts", "random")
        )
        clicks += int(bts["click"].sum() + other["click"].sum())
        body += [[campaign, *row] for row in compared(bts, other)]
    inside = sum(abs(float(row[-1])) < stats.norm.ppf(0.975) for row in body)
    head = ["campaign", "estimate", "ranking", "bts's log", "95%", "known chances", "95%", "z"]
    parts = [
        TEXT.strip().format(parts=PARTS),
        "```bash\npython -m benchmarks.studies.open_bandit --data FOLDER\n```",
        "Clicks of 1,000 sessions:",
        markdown_table(head, body, words=3),
        f"{inside} of {len(body)} differences are within 1.96 errors. With {clicks} clicks,\n"
        "that says little: these samples tell no ranking from another. The whole data set may.",
    ]
    (RESULTS / "open_bandit.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
