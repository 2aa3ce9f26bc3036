"""The registry of objectives, and objectives from their text and from users' functions.

``"ranknet"`` names an objective, ``"lambda:ndcg@10"`` a relaxation and the measure it is applied
to, ``"lambda(truncation=30):ndcg"`` one with options, ``"lambda:ndcg+listmle"`` a mixture.
"""

import inspect
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gbrank.common.checks import (
    ArgumentTypeError,
    Function,
    Vector,
    check_vector,
    quoted,
    takes_labels_first,
)
from gbrank.common.grammar import split_label, split_outside
from gbrank.common.registry import Registered, Registry
from gbrank.common.words import WORDS, by_name
from gbrank.data.documents import Documents
from gbrank.data.sampling import query_noise
from gbrank.engine.contract import Derivatives, Program
from gbrank.engine.driver import Runner
from gbrank.engine.query_loop import Outputs, share_among_equals, write_back
from gbrank.measures.measure_registry import MEASURES, get_measure

from .objective import Facts, Mixture, Objective, terms_of
from .on_label import OnLabel

# Why: docs/defaults.md. A test checks that docstring, README and pages name the same.
DEFAULT_OBJECTIVE = "noisy:ndcg"

ELSEWHERE = by_name(WORDS["objectives"])


class ObjectiveFacts(Registered):
    """A registered objective: its name, aliases, class, and the first line of its docstring."""

    @property
    def facts(self) -> Facts:
        """The facts that the class declares."""
        return self.item.declared

    @property
    def usage(self) -> str:
        """How it is written, such as "lambda:METRIC"."""
        return f"{self.name}:METRIC" if self.facts.takes_measure else self.name


def _meant(text: str) -> str | None:
    """Return what may be meant by a parameter name of another library, or by a measure; or None."""
    known = ELSEWHERE.get(text) or ELSEWHERE.get(text.partition(":")[0])  # YetiRank:mode=NDCG
    return known or (f"'lambda:{text}'" if MEASURES.has(text) else None)


OBJECTIVES = Registry("objective", ObjectiveFacts, {}, _meant, MEASURES)
register_objective = OBJECTIVES.register


UNKNOWN = Facts(formula="a user's function", shift_invariant=False, cost="?")


@dataclass(frozen=True, repr=False)
class UserObjective(Objective):
    """Base class of objectives from a user's function, with a name and facts of their own."""

    function: Function
    name: str  # type: ignore[misc]
    declared: Facts = field(default=UNKNOWN, compare=False)  # type: ignore[misc]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, repr=False)
class CustomObjective(UserObjective):
    """An objective from a function of one query; made by `custom_objective`."""

    seed: int = 0

    def runner(self, documents: Documents, n_jobs: int | None, rounds: int | None) -> Runner:
        """Make a driver that calls the function for each query."""
        function = self.function
        labels_first = takes_labels_first(function)
        random = _takes_rng(function)

        def kernel(scores: Vector, labels: Vector, sigma: float, seed: int) -> Any:
            pair = (labels, scores) if labels_first else (scores, labels)
            generator = {"rng": np.random.default_rng(seed)} if random else {}
            return function(*pair, sigma, **generator)

        kernel.__name__ = getattr(function, "__name__", "a custom objective")
        return PythonRunner(Program(kernel, documents.y, seed=self.seed), documents.queries)


def _takes_rng(function: Function) -> bool:
    """Whether a function of one query takes a random generator; refuse other functions."""
    try:
        signature = inspect.signature(function)
        random = "rng" in signature.parameters
        signature.bind(None, None, None, **({"rng": None} if random else {}))
    except ValueError:  # of one that Python cannot look into
        return False
    except TypeError:
        name = getattr(function, "__name__", "f")
        raise ArgumentTypeError(
            "objective",
            "must be a function of one query, (scores, labels, sigma) -> (loss, gradient, "
            "curvature)",
            quoted(function),
            " To use a function of (y_true, y_pred), pass lambda scores, labels, sigma: "
            f"(0.0, *{name}(labels, scores)), called for each query; change one of "
            "(preds, data) to take (scores, labels).",
        ) from None
    return random


class PythonRunner(Runner):
    """Runs a function query by query, with the driver's order, weights and checks."""

    def _run(
        self, scores: Vector, sigma: float, round: int, weights: Vector, outputs: Outputs
    ) -> None:
        function = self.program.kernel
        name = function.__name__
        noise = query_noise(self.queries.id_keys, self.program.seed, round)
        for query in range(self.queries.n_queries):
            rows, s, labels = self.best_first(query, scores)
            # Copies, so that the function may change its arguments.
            returned = function(s.copy(), labels.copy(), sigma, noise[query])
            try:
                loss, *arrays = returned
                loss = float(loss)
                g, h = (np.array(check_vector(values, "it", len(s))) for values in arrays)
            except (OverflowError, TypeError, ValueError):
                raise TypeError(
                    f"{name} must return (loss, gradient, curvature): a number and two arrays, of "
                    f"one entry per document, got {quoted(returned)}: {self.place(query, sigma)}."
                ) from None
            if not np.isfinite(np.hstack([loss, g, h])).all() or h.min() < 0:
                raise RuntimeError(
                    f"{name} must return finite numbers, and curvatures >= 0, got "
                    f"{quoted(returned)}: {self.place(query, sigma)}."
                )
            out = Derivatives(g, h)
            share_among_equals(s, labels, out)
            if outputs.values.size:
                outputs.values[query] = loss
            elif not write_back(rows, out, weights, outputs):
                raise RuntimeError(
                    f"{name} must return gradients and curvatures with finite sums: "
                    f"{self.place(query, sigma)}."
                )


def list_objectives() -> list[ObjectiveFacts]:
    """Return the facts of every registered objective, by name.

    Returns
    -------
    list of ObjectiveFacts

    Examples
    --------
    >>> from gbrank import list_objectives
    >>> [item.name for item in list_objectives()][:2]
    ['approx', 'lambda']
    """
    return OBJECTIVES.facts()


def custom_objective(
    function: Function, *, name: str | None = None, facts: Facts | None = None, seed: int = 0
) -> CustomObjective:
    """Make an objective from a function of one query.

    Parameters
    ----------
    function : callable
        ``function(scores, labels, sigma) -> (loss, gradient, curvature)`` for ONE query, plain
        Python or compiled with `numba.njit`. If its parameters are named ``(y_true, y_pred, ...)``,
        it receives labels first. Documents are in rank order: by decreasing score, tied scores by
        decreasing label. `loss` is a number to be minimized; `gradient` and `curvature`
        have one entry per document, and curvatures are nonnegative. With a parameter `rng`, it
        receives a NumPy Generator that depends on the seed, the round and the query's id.
    name : str, optional
        Registers the objective, so that strings and the command line know it.
    facts : Facts, optional
        Its known properties, such as convexity; `sigma` is the default schedule, and
        ``start="ranknet"`` begins with RankNet for half of the rounds.
    seed : int
        What the draws of `rng` depend on, besides round and query.

    Returns
    -------
    CustomObjective
        An objective for all purposes; queries, threads, weights and sigma are handled.

    Raises
    ------
    TypeError
        If `function` cannot be called.
    ValueError
        If the name exists.

    Examples
    --------
    >>> import numpy as np
    >>> from gbrank import Queries
    >>> from gbrank.extend import custom_objective
    >>> def regression(scores, labels, sigma):
    ...     error = scores - labels
    ...     return 0.5 * (error @ error), error, np.ones_like(error)
    >>> bound = custom_objective(regression).bind([0, 1], Queries.from_sizes([2]))
    >>> bound.gradients([0.0, 0.0])[0].tolist()
    [0.0, -1.0]
    """
    random = _takes_rng(function)
    facts = facts or UNKNOWN
    if random:
        facts = replace(facts, stochastic=True)
    label = name or str(getattr(function, "__name__", "custom"))
    objective = CustomObjective(function, label, facts, seed)
    if name is not None:
        register_objective(objective)
    return objective


def get_objective(objective: str | Objective | Function) -> Objective:
    """Make an objective from its string.

    Parameters
    ----------
    objective : str, Objective or callable
        ``"name"`` or ``"name:measure"``, such as "ranknet", "lambda:ndcg@10" or "lambdarank";
        options follow the name, as in "lambda(truncation=30):ndcg"; ``"+"`` mixes several by their
        weights, as in "lambda:ndcg+listmle", "0.7*lambda:ndcg+0.3*listmle" or, with schedules,
        "linear(1,0)*listnet+linear(0,1)*lambda:ndcg"; ``"[label]"`` is the label of a term, as in
        "lambda:ndcg+0.3*lambda:dcg[margin]". An objective is returned unchanged; a callable is
        converted as by `custom_objective`.

    Returns
    -------
    Objective

    Raises
    ------
    ValueError
        If there is no such objective or metric; the message lists the existing ones.

    Examples
    --------
    >>> from gbrank import get_objective
    >>> get_objective("lambda:map")
    LambdaRank(measure=AP(), truncation=None, normalize=None, ties='expected')
    """
    if isinstance(objective, Objective):
        return objective
    if not isinstance(objective, str):
        if callable(objective) and not isinstance(objective, type):
            return custom_objective(objective)
        raise ArgumentTypeError(
            "objective", "must be a name, an Objective or a function", quoted(objective)
        )
    return _from_text(objective.strip())


def first_learned(objective: Objective) -> Objective | None:
    """Return the objective that trees learn first, of a mixture that of all terms; or None."""
    if objective.facts.start == "none":
        return None
    starts = [get_objective(term.facts.start) for term, _ in terms_of(objective)]
    return replace(objective, objectives=starts) if isinstance(objective, Mixture) else starts[0]


def _from_text(text: str) -> Objective:
    """Return the objective of a text without blanks around it."""
    terms = [split_outside(term, "*") for term in split_outside(text, "+")]
    if len(terms) > 1:
        return Mixture(
            [_from_text(term[-1].strip()) for term in terms],
            ["*".join(term[:-1]) or 1.0 for term in terms],
        )
    text, label = split_label(text)
    if label is not None:
        return OnLabel(_from_text(text), label)
    if text.startswith("(") and text.endswith(")"):
        return _from_text(text[1:-1].strip())
    item, call, options = OBJECTIVES.find(text)
    if call.inner is not None:
        if not item.declared.takes_measure:
            raise ValueError(f"objective {call.name!r} takes no metric, got {quoted(text)}.")
        options["measure"] = get_measure(call.inner)
    return item(**options) if isinstance(item, type) else item
