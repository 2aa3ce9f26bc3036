"""Decisions by clicks: a choice query by query, interleaving, and attention by device.

python -m benchmarks.studies.click_decisions
"""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from benchmarks.studies.clicks import LOGGERS, OLD, OWN, SEEDS, TRAINED, TREES
from benchmarks.writing import RESULTS, markdown_table
from gbrank import NDCG, GBRanker, compare_scores, make_cubic
from gbrank.clicks import Interleaved, LoggedClicks, choose_by_query, clicks_to_labels
from tests.clicked import make_clicks

Vector = NDArray[np.float64]

LABELS = (0.5, 0.2, 0.15, 0.1, 0.05)
QUERIES, DOCUMENTS, POSITIONS = 400, 12, 10
CHOSEN = 100  # queries in one log
CHANCE = 0.05  # of a click on an irrelevant document that is looked at
LOGS, SESSIONS = 12, (2, 5, 20, 100)
TESTS, EACH = 100, 5  # interleaved tests, and sessions of a query in each
MODELS = ("auto", "free")
LEADS = (0.0, 0.05, 0.1, 0.2)
TEXT = f"""\
# Decisions by clicks

{CHOSEN} queries of {DOCUMENTS} documents (`make_cubic`), of which {POSITIONS} are shown; a document
is looked at with chance 1/position, and then clicked with chance {CHANCE} to 1, by its label.

```bash
python -m benchmarks.studies.click_decisions
```
"""
CHOICE = f"""\
## `choose_by_query`

Clicks that a session gains over the live ranking (which has about 0.9), the mean of {LOGS} logs, by
the sessions of each query. The live ranking's scores are log-attractiveness plus normal noise of
width 1, those of the other one have noise of width 0.7 (better), 1.6 (worse), or 0.5 for half of
the queries and 2.5 for the others (mixed). *for all, if sure*: where the 95% interval of the mean
is above 0. *best*: with the true clicks known.
"""
INTERLEAVED = f"""\
## Interleaving

{TESTS} tests of two rankers, {CHOSEN} queries with {EACH} sessions each: the share in which the
better one is found at p < 0.05. Scores are label/2 plus normal noise of width 1; the better one's
labels count more, by a factor of 1 + 4 times the lead. *split*: each ranker in half of the
sessions, and a t-test of clicks.
"""
TRUST = """\
## Known trust

What labels that are corrected for trust in the top (Agarwal et al. 2019), with the true attention
and trust, add to NDCG@10 of those of `clicks_to_labels(model="pbm")`, where users trust the top:
the artificial logs of [clicks](clicks.md) at temperatures 0.1 and 1, with 20 sessions.
"""
DEVICES = """\
## Attention by device

What `position={"position": ..., "device": ...}` adds to NDCG@10, with its 95% interval over seeds:
the logs of [clicks](clicks.md), artificial data, temperatures 0.1 and 1, with 10 sessions of each
query on each of two devices, where attention falls with these powers of the position.
"""


def documents(seed: int) -> tuple[Vector, NDArray[np.int64]]:
    """Return the labels of some queries, and the queries."""
    _, y, qid = make_cubic(
        QUERIES, n_documents=DOCUMENTS, n_features=3, distribution=LABELS, random_state=0
    )
    kept = np.isin(qid, np.random.default_rng(seed).choice(QUERIES, CHOSEN, replace=False))
    return y[kept], qid[kept]


def attractive(y: Vector) -> Vector:
    """Return the chance of a click on a document that is looked at."""
    return np.asarray(CHANCE + (1 - CHANCE) * (2**y - 1) / 15)


def gains(kind: str, sessions: int, seed: int) -> list[float]:
    """Return what each way to choose gains in one log."""
    y, qid = documents(seed)
    rng = np.random.default_rng(seed)
    drawn, worth = rng.normal(size=len(y)), np.log(attractive(y))
    width = {"better": 0.7, "worse": 1.6, "mixed": np.where(qid % 2 == 0, 0.5, 2.5)}[kind]
    other = worth + width * drawn
    live = worth + rng.normal(size=len(y))
    # One more document, of a query of its own, makes labels of 4 the largest.
    log = make_clicks(
        np.append(y, 4), np.append(qid, -1), scores=np.append(live, 0), temperature=0.5,
        n_sessions=sessions, noise=CHANCE, random_state=seed,
    )  # fmt: skip
    own = log.rows < len(y)
    rows, clicks, session, position = (
        part[own] for part in (log.rows, log.y, log.qid, log.position)
    )
    place = np.empty_like(position)
    place[np.lexsort((-other[rows], session))] = np.sort(position.reshape(-1, POSITIONS)).ravel()
    queries, query = np.unique(qid[rows], return_inverse=True)
    true = np.bincount(query, attractive(y)[rows] * (1 / place - 1 / position)) / sessions
    logged = LoggedClicks(position, rows, qid[rows])
    scores = {"live": -position, "other": other[rows]}
    found = compare_scores(scores, clicks, session, clicks=logged).summary()
    sure = next(row for row in found if row.measure == "clicks by dr" and row.ranker == "other")
    table = choose_by_query(scores, clicks, session, clicks=logged).set_index("query")
    chosen = (table["ranker"] == "other").loc[queries].to_numpy()
    for_all = [float(true.mean()), float(true.mean()) * (sure.difference_low > 0)]
    return [*for_all, float((true * chosen).mean()), float(np.maximum(true, 0).mean())]


def draft(rng: np.random.Generator, own: Any, scores: tuple[Vector, Vector]) -> tuple[Any, Any]:
    """Return the documents of one session, and the team of each."""
    ranked = [own[np.argsort(-one[own], kind="stable")].tolist() for one in scores]
    shown: list[int] = []
    teams: list[int] = []
    while len(shown) < POSITIONS:
        first = int(rng.random() < 0.5)
        for team in (first, 1 - first)[: POSITIONS - len(shown)]:
            shown.append(next(row for row in ranked[team] if row not in shown))
            teams.append(team)
    return shown, teams


def tested(ahead: float, seed: int) -> tuple[bool, bool]:
    """Return whether one interleaved test, and one split test, find a difference."""
    y, qid = documents(seed)
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(2, len(y)))
    scores = y / 2 + noise[0], y / 2 * (1 + 4 * ahead) + noise[1]
    lists = [np.flatnonzero(qid == query) for query in np.unique(qid) for _ in range(EACH)]
    drafts = [draft(rng, own, scores) for own in lists]
    rows, teams = (np.concatenate(part) for part in zip(*drafts, strict=True))
    session = np.repeat(np.arange(len(lists)), POSITIONS)
    position = np.tile(np.arange(1, POSITIONS + 1), len(lists))
    clicks = (rng.random(len(rows)) < attractive(y)[rows] / position).astype(float)
    shown = {"first": 1 - teams, "second": teams}
    row = compare_scores(shown, clicks, session, clicks=Interleaved(qid[rows])).summary()[1]
    split: tuple[list[int], list[int]] = ([], [])
    for own in lists:
        team = int(rng.random() < 0.5)
        best = own[np.argsort(-scores[team][own])][:POSITIONS]
        clicked = rng.random(POSITIONS) < attractive(y)[best] / np.arange(1, POSITIONS + 1)
        split[team].append(int(clicked.sum()))
    return bool(row.p_t < 0.05), bool(stats.ttest_ind(*split).pvalue < 0.05)


class Log(NamedTuple):
    """Labelled data, of which a part was shown."""

    X: Vector
    y: Vector
    qid: Vector
    scores: Vector  # of what was shown

    @property
    def seen(self) -> NDArray[np.bool_]:
        """Return which documents were shown."""
        return np.asarray(self.qid < TRAINED)

    def worth(self, X: Vector, y: Vector, qid: Vector, model: str = "auto", **data: Any) -> float:
        """Return the NDCG@10 of a ranker on labels of other queries."""
        ranker = GBRanker(position_model=model, **TREES, **OWN).fit(X, y, qid=qid, **data)
        test = self.qid >= TRAINED + OLD
        return NDCG(k=10)(self.y[test], ranker.predict(self.X[test]), qid=self.qid[test])


def simulated(logger: str, seed: int) -> Log:
    """Return artificial data and how it was shown."""
    X, y, qid = make_cubic(
        160, n_documents=DOCUMENTS, n_features=5, distribution=LABELS, random_state=seed
    )
    old = (qid >= TRAINED) & (qid < TRAINED + OLD)
    shown = X[qid < TRAINED]
    scores = shown[:, 0]
    if logger == "strong":
        ranker = GBRanker("lambdarank", **TREES, **OWN).fit(X[old], y[old], qid=qid[old])
        scores = ranker.predict(shown)
    return Log(X, y, qid, 2 * scores / scores.std())


def trusting(logger: str, temperature: float, seed: int) -> list[float]:
    """Return the NDCG@10 of rankers on labels by learned and by known attention, and with trust."""
    data = simulated(logger, seed)
    X, y, qid = data.X[data.seen], data.y[data.seen], data.qid[data.seen]
    log = make_clicks(
        y, qid, scores=data.scores, temperature=temperature, n_sessions=20, noise=CHANCE,
        world="trust", random_state=seed,
    )  # fmt: skip
    frame = {"query": qid[log.rows], "document": log.rows, "position": log.position}
    found = []
    for attention in (None, {place: 1 / place for place in range(1, POSITIONS + 1)}):
        made = clicks_to_labels(pd.DataFrame({**frame, "click": log.y}), attention=attention)
        rows = made["document"].to_numpy()
        found.append(data.worth(X[rows], made["label"], qid[rows], sample_weight=made["weight"]))
    # A document of relevance g is clicked with chance looked * (g + (1 - g) * trusted).
    looked, trusted = 1 / log.position, CHANCE + 0.35 * log.position**-0.7
    documents, document = np.unique(log.rows, return_inverse=True)
    clicks, ours, others = (
        np.bincount(document, part) for part in (log.y, looked * (1 - trusted), looked * trusted)
    )
    mean = max((clicks - others).sum() / ours.sum(), 1e-6)
    precision = ours**2 / (mean * ours + others)
    apart = (clicks - others) / ours - mean
    excess = (precision * apart**2).sum() - (len(clicks) - 1)
    spread = max(excess / (precision.sum() - (precision**2).sum() / precision.sum()), 1e-6)
    weight = precision / (precision + 1 / spread)
    labels = np.log2(1 + np.maximum(mean + weight * apart, 0) / mean)
    return [*found, data.worth(X[documents], labels, qid[documents], sample_weight=weight)]


def worths(etas: tuple[float, float], logger: str, temperature: float, seed: int) -> list[float]:
    """Return the NDCG@10 of rankers that know positions, and of those that know devices too."""
    data = simulated(logger, seed)
    X, y, qid = data.X[data.seen], data.y[data.seen], data.qid[data.seen]
    logs = [
        make_clicks(
            y, qid, scores=data.scores, temperature=temperature, n_sessions=10, noise=CHANCE,
            eta=eta, random_state=2 * seed + device,
        )
        for device, eta in enumerate(etas)
    ]  # fmt: skip
    rows, clicks, position = (
        np.concatenate([getattr(log, name) for log in logs]) for name in ("rows", "y", "position")
    )
    session = np.concatenate([logs[0].qid, logs[1].qid + logs[0].qid.max() + 1])
    device = np.repeat([1, 2], [len(log.y) for log in logs])
    both = {"position": position, "device": device}
    return [
        data.worth(X[rows], clicks, session, model, position=known)
        for model, known in product(MODELS, (position, both))
    ]


def margin(gain: Vector) -> str:
    """Return a mean gain with its 95% interval over seeds."""
    half = stats.t.ppf(0.975, len(gain) - 1) * stats.sem(gain)
    return f"{gain.mean():+.3f} ± {half:.3f}"


def over_logs(worths: Callable[[str, float, int], list[float]]) -> Vector:
    """Return what rankers are worth for each seed, the mean over loggers and temperatures."""
    logs = [*product(LOGGERS, (0.1, 1.0))]
    return np.array(
        [np.mean([worths(*log, seed) for log in logs], axis=0) for seed in range(SEEDS)]
    )


if __name__ == "__main__":
    lines = []
    for kind, sessions in product(("better", "mixed", "worse"), SESSIONS):
        means = np.mean([gains(kind, sessions, seed) for seed in range(LOGS)], axis=0)
        lines.append([kind, str(sessions), *(f"{value:+.3f}" for value in means)])
    head = ["other ranking", "sessions", "for all", "for all, if sure", "by query", "best"]
    parts = [TEXT, CHOICE, markdown_table(head, lines)]
    lines = []
    for ahead in LEADS:
        shares = np.mean([tested(ahead, seed) for seed in range(TESTS)], axis=0)
        lines.append([f"{ahead:g}", *(f"{share:.2f}" for share in shares)])
    parts += [INTERLEAVED, markdown_table(["lead", "interleaved", "split"], lines)]
    *plain, more = over_logs(trusting).T
    lines = [
        [f"labels by {name} attention", margin(more - own)]
        for name, own in zip(("learned", "known"), plain, strict=True)
    ]
    parts += [TRUST, markdown_table(["over", "gain"], lines)]
    lines = []
    for etas in ((0.5, 2.0), (1.0, 1.0)):
        found = over_logs(partial(worths, etas))
        for number, model in enumerate(MODELS):
            plain, more = found[:, 2 * number : 2 * number + 2].T
            lines.append([f"{etas[0]:g} and {etas[1]:g}", model, margin(more - plain)])
    parts += [DEVICES, markdown_table(["powers", "position_model", "gain"], lines, words=2)]
    text = "\n\n".join(part.strip() for part in parts) + "\n"
    (RESULTS / "click_decisions.md").write_text(text, encoding="utf-8")
