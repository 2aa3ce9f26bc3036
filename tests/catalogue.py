"""The catalogue: the declared facts of every registered objective and measure, as Markdown.

    python tests/catalogue.py objectives > docs/objectives.md
    python tests/catalogue.py measures > docs/measures.md
    python tests/catalogue.py howto/migration > docs/howto/migration.md

write the pages; tests/commands/test_catalogue.py checks them.
"""

import inspect
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING, fields
from typing import Any

from gbrank.commands.options import documented_parameters
from gbrank.common.table import Table
from gbrank.extend import Measure
from gbrank.fit.known_elsewhere import LIBRARIES, TABLE
from gbrank.measures.measure_registry import MeasureFacts, list_measures
from gbrank.objectives.objective_registry import ObjectiveFacts, get_objective, list_objectives
from tex import as_tex

NOTE = "<!-- Written by `python tests/catalogue.py {kind}`. Do not edit. -->"
OBJECTIVES_INTRODUCTION = """\
An objective is a loss of each query's scores; training minimises it. `GBRanker()` trains
`"noisy:ndcg"` ([why](defaults.md)). Where a name says MEASURE, any of the measures that the entry
lists may stand, as in `lambda:ndcg@10`; without one it is `ndcg`. Options stand in parentheses
behind the name, as in `lambda(truncation=30):ndcg`, or go to the class:
`LambdaRank(NDCG(), truncation=30)`. `gbrank list` prints all that is registered.

A plus mixes objectives: `lambda:ndcg+listmle` with equal weights,
`0.2*lambda:ndcg+0.8*listmle` with others, `linear(1,0)*listnet+linear(0,1)*lambda:ndcg` with
weights that follow schedules of the rounds. [Your own](extending.md) is a function of one query.

If an entry does not say otherwise, labels are floats ≥ 0, σ is in units of score and 1 by default,
the loss is not convex in the scores, the gradient is its exact derivative, nothing is drawn at
random, a constant on all scores of a query changes nothing, and training may start from equal
scores. `ties` and `no_relevant` of the measure play no part. Documents of equal score get the mean
over all their orders, so that the order of rows changes no bit of a gradient. *Annealed* objectives
begin with `ranknet`, for half of the rounds; then σ falls from 0.3 to 0.1 standard deviations of
the scores within queries.

In the formulas, s is a document's score, y its label, r its rank from 1, m the number of the
query's documents and σ the width of the relaxation; M is the measure, G(y) its gain, D(r) its
discount, and x what a document is worth to it: its gain, or 1 if it is relevant, else 0."""
MEASURES_INTRODUCTION = """\
A measure says what a ranking is worth: a value for each query, averaged over queries, the higher
the better. `ndcg@10` counts the first 10 ranks only. Options stand in parentheses at the end, as in
`ndcg@5(gain=linear)`, or go to the class:

```python
from gbrank import NDCG, get_measure

y, qid = [2, 0, 1, 0, 1], ["a", "a", "a", "b", "b"]  # labels and queries of five documents
scores = [0.3, 0.1, 0.4, 0.2, 0.9]
NDCG(k=10)(y, scores, qid=qid)  # mean over queries
NDCG(k=10, gain="linear").per_query(y, scores, qid=qid)
get_measure("map@5")(y, scores, qid=qid, query_weight={"a": 2, "b": 1})
```

`lambda` and `noisy` train every measure; the [list of objectives](objectives.md) says which ones
the others take. [Your own](extending.md) is a function of one query.

In the formulas, y_r is the label of the document at rank r, and k the last rank that counts;
rel_r is 1 if that document is relevant, else 0; R documents are relevant and N are not; G(y) is the
gain of a label, and D(r) the discount of a rank. Labels are floats ≥ 0 if an entry does not say
otherwise. All measures have the first three of these parameters, several the others:"""
MIGRATION = """\
# Coming from LightGBM, XGBoost or CatBoost

Write what you are used to. A keyword of these libraries' rankers that has another name here gets an
error that says what to use: in the constructor, in `fit`, `predict` and `set_params`, and as an
option of `gbrank train`.

```python
>>> from gbrank import GBRanker, make_cubic
>>> GBRanker(eval_at=5)
Traceback (most recent call last):
TypeError: GBRanker has no eval_at: use GBRanker(eval_metric=["ndcg@1", "ndcg@5"]).
>>> GBRanker(max_bin=255)
Traceback (most recent call last):
TypeError: GBRanker has no max_bin: use GBRanker(booster_params={"max_bin": ...}).

```

What most training scripts do, here:

```python
>>> X, y, qid = make_cubic(100, n_documents=20, random_state=0)
>>> train, valid = qid < 80, qid >= 80
>>> ranker = GBRanker(
...     "lambda:ndcg@10",
...     n_estimators=100,
...     learning_rate=0.1,
...     eval_metric=["ndcg@5", "map"],  # the first one decides early stopping
...     early_stopping_rounds=10,
...     booster_params={"max_bin": 127},
...     random_state=0,
... )
>>> ranker = ranker.fit(
...     X[train], y[train], qid=qid[train], eval_set=[(X[valid], y[valid])], eval_qid=[qid[valid]]
... )
>>> sorted(ranker.evals_result_["valid_0"])
['map', 'ndcg@5']

```

- Queries are `qid`, in any order, or `group`, sizes of consecutive queries, for either booster.
- XGBRanker's `sample_weight` has a weight for each query: that is `query_weight` here;
  `sample_weight` has one for each document.
- [The notebook](../../notebooks/migration.ipynb) trains the same model with LightGBM, XGBoost and
  gbrank, goes on from a model that you have, and goes back.
- Defaults differ: [why they are what they are](../defaults.md), and
  [known differences](../differences.md).
- Measures of [ir_measures and ranx](tables.md#trec-runs-and-qrels).

## Words

What stands here for the words of other libraries. What has () is a callback. The errors also know
RankLib's options, and the words that only CatBoost has."""
LABELS, SIGMA = "floats ≥ 0", ("score", "1")
ANNEALED = ("score", "geometric(0.3, 0.1, unit='spread')")
# What most objectives are, and what an entry says where one is not.
COMMON = {
    "convex": (False, "Convex in the scores"),
    "differentiable": (True, "The gradient is not the exact derivative of the loss"),
    "stochastic": (False, "Drawn at random"),
    "shift_invariant": (True, "A constant on all scores of a query matters"),
    "needs_start": (False, "Needs initial scores, as its gradient is zero where all scores tie"),
}
SEVERAL = 2  # measures: a parameter of as many is explained once


def objectives_page() -> str:
    """Return the catalogue of objectives."""
    entries = map(_objective, list_objectives())
    return _page("objectives", [OBJECTIVES_INTRODUCTION], entries)


def measures_page() -> str:
    """Return the catalogue of measures."""
    common = _common_parameters()
    entries = (_measure(item, common) for item in list_measures())
    return _page("measures", [MEASURES_INTRODUCTION, _table(common)], entries)


def migration_page() -> str:
    """Return what stands for the words of other libraries."""
    note = NOTE.format(kind="howto/migration")
    return f"{note}\n\n{MIGRATION}\n\n{_migration_table()}\n"


def _migration_table() -> str:
    """Return the table, by what stands here, as a migration guide."""

    def codes(names: Iterable[str]) -> str:
        return ", ".join(f"`{name}`" for name in names)

    shown = {name: title for name, title in LIBRARIES.items() if name != "ranklib"}
    rows = [
        [row["here"].removeprefix("use "), *(codes(row.get(library, ())) for library in shown)]
        for row in TABLE
        if row.keys() & shown.keys() - {"catboost"}
    ]
    head = ["gbrank", *shown.values()]
    return Table(head, rows, words=range(len(head))).to_markdown()


def _page(kind: str, introduction: Iterable[str], entries: Iterable[Iterator[str]]) -> str:
    parts = [NOTE.format(kind=kind), f"# {kind.capitalize()}", *introduction]
    return "\n\n".join([*parts, *(part for entry in entries for part in entry)]) + "\n"


def _objective(item: ObjectiveFacts) -> Iterator[str]:
    facts = item.facts
    yield from _head(item, facts.formula)
    lines = [*_declared(facts.source, facts.labels, item.cls), f"- Cost of a query: {facts.cost}."]
    if facts.fast != "none":
        lines.append(f"- Cost of a long one: {facts.fast}.")
    if facts.sigma_unit == "none":
        lines.append("- σ plays no part.")
    elif (facts.sigma_unit, str(facts.sigma)) == ANNEALED:
        lines.append("- Annealed.")
    elif (facts.sigma_unit, str(facts.sigma)) != SIGMA:
        lines.append(f"- Annealed; σ is in units of {facts.sigma_unit}, by default {facts.sigma}.")
    lines += [f"- {text}." for name, (usual, text) in COMMON.items()
              if getattr(facts, name) != usual]  # fmt: skip
    if facts.takes_measure:
        names = [measure.name for measure in list_measures()]
        taken = [measure.name for measure in list_measures() if _takes(item, measure)]
        lines.append(f"- Measures: {'all' if taken == names else _codes(taken)}.")
    yield "\n".join(lines)
    if rows := [row for row in _parameters(item.cls) if row[0] != "`measure`"]:
        yield _table(rows)


def _measure(item: MeasureFacts, common: Sequence[Sequence[str]]) -> Iterator[str]:
    yield from _head(item, item.cls.formula)
    rows = _parameters(item.cls)
    of_all = [f"`{field.name}`" for field in fields(Measure)]
    names = [row[0] for row in rows if row in common and row[0] not in of_all]
    lines = _declared(item.cls.source, item.cls.labels, item.cls)
    yield "\n".join([*lines, *([f"- Parameters: {', '.join(names)}."] if names else [])])
    if others := [row for row in rows if row not in common]:
        yield _table(others)


def _takes(objective: ObjectiveFacts, measure: MeasureFacts) -> bool:
    try:
        get_objective(f"{objective.name}:{measure.name}")
    except ValueError:
        return False
    return True


def _head(item: ObjectiveFacts | MeasureFacts, formula: str) -> Iterator[str]:
    yield f"## `{item.usage.replace(' or ', '` or `')}`"
    if item.aliases:
        yield f"Also {_codes(item.aliases)}."
    # The docstring up to its first section.
    yield re.split(r"\n\n\S[^\n]*\n---", inspect.cleandoc(item.cls.__doc__ or ""))[0]
    if formula:
        yield f"$$\n{as_tex(formula)}\n$$"


def _declared(source: str, labels: str, cls: type) -> list[str]:
    lines = [f"- Class: `{cls.__module__.split('.')[0]}.{cls.__name__}`.", f"- Source: {source}."]
    return lines if labels == LABELS else [*lines, f"- Labels: {labels}."]


def _parameters(cls: type[Any]) -> list[list[str]]:
    """Return name, type, default and meaning of each parameter."""
    documented = documented_parameters(cls)
    rows = []
    for item in fields(cls):
        default = item.default if item.default_factory is MISSING else item.default_factory()
        if item.name != "name" and item.compare and default is not MISSING:
            kind, text = documented.get(item.name, ("", ""))
            shown = repr(default) if isinstance(default, str) else str(default)
            rows.append([f"`{item.name}`", kind, f"`{shown}`", text])
    return rows


def _common_parameters() -> list[list[str]]:
    """Return the parameters that several measures have."""
    counts = Counter(tuple(row) for item in list_measures() for row in _parameters(item.cls))
    return [list(row) for row, n_measures in counts.items() if n_measures >= SEVERAL]


def _table(rows: Iterable[Sequence[str]]) -> str:
    return Table(["parameter", "type", "default", "what it is"], [*rows], range(4)).to_markdown()


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    pages = {
        "objectives": objectives_page,
        "measures": measures_page,
        "howto/migration": migration_page,
    }
    print(pages[sys.argv[1]](), end="")
