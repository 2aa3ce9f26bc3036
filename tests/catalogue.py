"""The catalogue: the declared facts of every registered objective and measure, as Markdown.

    python tests/catalogue.py objectives > docs/objectives.md
    python tests/catalogue.py measures > docs/measures.md
    python tests/catalogue.py howto/migration > docs/howto/migration.md

write the pages; tests/commands/test_catalogue.py checks them.
"""

import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, fields
from typing import Any

from gbrank.commands.parameters import documented_parameters
from gbrank.common.table import Table
from gbrank.fit.known_elsewhere import LIBRARIES, TABLE
from gbrank.measures.measure_registry import MeasureFacts, list_measures
from gbrank.objectives.objective_registry import ObjectiveFacts, get_objective, list_objectives
from tex import as_tex

NOTE = "<!-- Written by `python tests/catalogue.py {kind}`. Do not edit. -->"
OBJECTIVES_INTRODUCTION = """\
An objective is a loss of each query's scores; training minimises it. Where a string says
MEASURE, any of the measures that the entry names may stand, as in `lambda:ndcg@10`. Options stand
in parentheses behind the name, as in `lambda(truncation=30):ndcg`, or go to the class.

A plus mixes objectives: `lambda:ndcg+listmle` with equal weights,
`0.2*lambda:ndcg+0.8*listmle` with others, `linear(1,0)*listnet+linear(0,1)*lambda:ndcg` with
weights that follow schedules of the rounds.

In the formulas, s is a document's score, y its label, r its rank from 1, m the number of the
query's documents and σ the width of the relaxation; M is the measure, G(y) its gain, D(r) its
discount, and x what a document is worth to it: its gain, or 1 if it is relevant, else 0."""
MEASURES_INTRODUCTION = """\
A measure says what a ranking is worth: a value for each query, averaged over queries, the higher
the better. `ndcg@10` counts the first 10 ranks only. Options stand in parentheses at the end, as in
`ndcg@5(gain=linear)`, or go to the class.

In the formulas, y_r is the label of the document at rank r, and k the last rank that counts;
rel_r is 1 if that document is relevant, else 0; R documents are relevant and N are not; G(y) is the
gain of a label, and D(r) the discount of a rank."""
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

## Words

What stands here for the words of other libraries. What has () is a callback. The errors are made of
this table."""
ANSWERS = {
    "convex": "Convex in the scores",
    "differentiable": "The gradient is the exact derivative of the loss",
    "stochastic": "Drawn at random",
    "shift_invariant": "A constant on all scores of a query changes nothing",
    "needs_start": "Needs initial scores, as its gradient is zero where all scores tie",
}


def objectives_page() -> str:
    """Return the catalogue of objectives."""
    return _page("objectives", OBJECTIVES_INTRODUCTION, map(_objective, list_objectives()))


def measures_page() -> str:
    """Return the catalogue of measures."""
    return _page("measures", MEASURES_INTRODUCTION, map(_measure, list_measures()))


def migration_page() -> str:
    """Return what stands for the words of other libraries."""
    note = NOTE.format(kind="howto/migration")
    return f"{note}\n\n{MIGRATION}\n\n{_migration_table()}\n"


def _migration_table() -> str:
    """Return the table, by what stands here, as a migration guide."""

    def codes(names: Iterable[str]) -> str:
        return ", ".join(f"`{name}`" for name in names)

    rows = [
        [row["here"].removeprefix("use "), *(codes(row.get(library, ())) for library in LIBRARIES)]
        for row in TABLE
    ]
    head = ["gbrank", *LIBRARIES.values()]
    return Table(head, rows, words=range(len(head))).to_markdown()


def _page(kind: str, introduction: str, entries: Iterable[Iterator[str]]) -> str:
    parts = [NOTE.format(kind=kind), f"# {kind.capitalize()}", introduction]
    return "\n\n".join([*parts, *(part for entry in entries for part in entry)]) + "\n"


def _objective(item: ObjectiveFacts) -> Iterator[str]:
    facts = item.facts
    yield from _head(item, facts.formula)
    lines = [*_common(facts.source, facts.labels, item.cls), f"- Cost of a query: {facts.cost}."]
    if facts.fast != "none":
        lines.append(f"- Cost of a long one: {facts.fast}.")
    unit = "plays no part" if facts.sigma_unit == "none" else f"is in units of {facts.sigma_unit}"
    lines.append(f"- σ {unit}; where none is given it is {facts.sigma}.")
    if facts.start != "none":
        lines.append(f"- Begins with {facts.start}, for half of the rounds.")
    for name, text in ANSWERS.items():
        lines.append(f"- {text}: {'yes' if getattr(facts, name) else 'no'}.")
    yield "\n".join(lines)
    if facts.takes_measure:
        taken = [measure.name for measure in list_measures() if _takes(item, measure)]
        yield f"Measures: {_codes(taken)}."
    yield from _parameters(item.cls)


def _measure(item: MeasureFacts) -> Iterator[str]:
    yield from _head(item, item.cls.formula)
    yield "\n".join(_common(item.cls.source, item.cls.labels, item.cls))
    taking = [objective.name for objective in list_objectives() if _takes(objective, item)]
    yield f"Trained by: {_codes(taking)}."
    yield from _parameters(item.cls)


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


def _common(source: str, labels: str, cls: type) -> list[str]:
    class_line = f"- Class: `{cls.__module__.split('.')[0]}.{cls.__name__}`."
    return [class_line, *([f"- Source: {source}."] if source else []), f"- Labels: {labels}."]


def _parameters(cls: type[Any]) -> Iterator[str]:
    documented = documented_parameters(cls)
    rows = []
    for item in fields(cls):
        default = item.default if item.default_factory is MISSING else item.default_factory()
        if item.name != "name" and item.compare and default is not MISSING:
            kind, text = documented.get(item.name, ("", ""))
            shown = repr(default) if isinstance(default, str) else str(default)
            rows.append([f"`{item.name}`", kind, f"`{shown}`", text])
    if rows:
        yield Table(["parameter", "type", "default", "what it is"], rows, range(4)).to_markdown()


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    pages = {
        "objectives": objectives_page,
        "measures": measures_page,
        "howto/migration": migration_page,
    }
    print(pages[sys.argv[1]](), end="")
