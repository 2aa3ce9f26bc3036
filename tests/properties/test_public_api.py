"""The public face: what is exported is documented, and importing or fitting changes no state."""

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gbrank
from cases import loop
from gbrank import AP, GBRanker, LambdaRank, lightgbm_fobj, make_cubic, xgboost_obj
from gbrank.measures.measure_registry import MEASURES
from gbrank.objectives.objective_registry import DEFAULT_OBJECTIVE, OBJECTIVES
from gbrank.schedules import SCHEDULES, geometric

X, Y, QID = make_cubic(20, n_documents=10, n_features=4, random_state=0)

# --- Documentation ----------------------------------------------------------------------------


def modules() -> list[ModuleType]:
    """Return gbrank and its public modules."""
    found = [
        info.name
        for info in pkgutil.walk_packages(gbrank.__path__, "gbrank.")
        if not any(part.startswith("_") for part in info.name.split("."))
    ]
    return [gbrank, *map(importlib.import_module, found)]


def is_ours(item: Any) -> bool:
    """Return whether something is a function or class of gbrank."""
    kinds = inspect.isclass(item) or inspect.isroutine(item)
    return kinds and (item.__module__ or "").startswith("gbrank")


def exported() -> dict[str, Any]:
    """Return every function and class whose name has no underscore, by where it is defined."""
    return {
        f"{item.__module__}.{item.__qualname__}": item
        for module in modules()
        for name, item in vars(module).items()
        if not name.startswith("_") and is_ours(item) and item.__module__ == module.__name__
    }


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties that a class defines itself."""
    for name, value in vars(cls).items():
        item = value.__func__ if isinstance(value, classmethod) else value
        method = inspect.isfunction(item) and {"self", "cls"} & set(
            inspect.signature(item).parameters
        )
        if not name.startswith("_") and (method or isinstance(item, property)):
            yield name, item


EXPORTED = exported()
MEMBERS = {
    f"{path}.{name}": item
    for path, cls in EXPORTED.items()
    if inspect.isclass(cls)
    for name, item in members(cls)
}
TOP = {name: getattr(gbrank, name) for name in gbrank.__all__ if is_ours(getattr(gbrank, name))}
TOP_METHODS = {
    f"{path}.{name}": item
    for path, cls in TOP.items()
    if inspect.isclass(cls)
    for name, item in members(cls)
    if inspect.isfunction(item) and not any(hasattr(base, name) for base in cls.__bases__)
}


def section(item: Any, title: str) -> str:
    """Return a section of a docstring, or nothing."""
    text = inspect.getdoc(item) or ""
    match = re.search(rf"^{title}\n-+\n(.*?)(?=^[A-Z]\w+\n-+\n|\Z)", text, re.DOTALL | re.MULTILINE)
    return match[1] if match else ""


def parameters(item: Any) -> set[str]:
    """Return the names of the parameters of a function or class."""
    names = inspect.signature(item).parameters
    return {name for name in names if name not in ("self", "cls", "args", "kwargs")}


def documented_parameters(item: Any) -> set[str]:
    """Return the names that stand in front of the colons of the section, of base classes too."""
    text = "\n".join(section(cls, "Parameters") for cls in getattr(item, "__mro__", [item]))
    heads = re.findall(r"^(\S[^:\n]*?)(?: ?:.*)?$", text, re.MULTILINE)
    return {name.strip().lstrip("*") for head in heads for name in head.split(",")}


def test_the_walk_finds_what_there_is() -> None:
    """So that the tests below cannot pass by finding nothing."""
    assert {"gbrank.boosters.xgboost.hook.xgboost_obj", "gbrank.ranker.GBRanker"} <= set(EXPORTED)
    assert "gbrank.ranker.GBRanker.fit" in MEMBERS
    assert "Queries.from_qid" in TOP_METHODS
    assert documented_parameters(gbrank.schedules.geometric) == {"start", "stop", "rounds", "unit"}
    assert section(gbrank.schedules.geometric, "Examples").startswith(">>>")


@loop("module", modules())
def test_modules_are_documented(module: ModuleType) -> None:
    """A summary, and names that exist."""
    assert (module.__doc__ or "").strip()
    for name in getattr(module, "__all__", []):
        assert hasattr(module, name)


@loop("path", [*EXPORTED, *MEMBERS])
def test_every_public_name_has_a_summary(path: str) -> None:
    """One sentence on the first line, of its own docstring."""
    item = {**EXPORTED, **MEMBERS}[path]
    summary = (item.__doc__ or "").strip().split("\n")[0]
    assert len(summary) > 8
    assert summary[-1] in ".:"
    assert "__init__" not in summary


@loop("name", TOP)
def test_names_of_the_package_are_explained(name: str) -> None:
    """Every parameter, what comes back, and an example that runs."""
    item = TOP[name]
    if not inspect.isabstract(item):
        assert parameters(item) <= documented_parameters(item)
        assert re.search(r"^>>> \S", section(item, "Examples"), re.MULTILINE)
    if inspect.isfunction(item) and item.__annotations__.get("return") not in (None, "None"):
        assert section(item, "Returns")


@loop("name", TOP_METHODS)
def test_methods_of_the_package_are_explained(name: str) -> None:
    """Every parameter, and what comes back."""
    item = TOP_METHODS[name]
    assert parameters(item) <= documented_parameters(item)
    if item.__annotations__.get("return") not in (None, "None"):
        assert section(item, "Returns")


@loop("name", {**TOP, **TOP_METHODS})
def test_signatures_are_readable(name: str) -> None:
    """`help` shows the names of types, not what NumPy means by them."""
    item = {**TOP, **TOP_METHODS}[name]
    assert "_typing" not in str(inspect.signature(item))


def test_all_is_sorted_and_complete() -> None:
    """Classes, functions and four modules: those of the stub, and what registers itself."""
    stub = Path(gbrank.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    named = set(re.findall(r" (\w+) as \1,?$", stub, re.MULTILINE))
    registered = {
        item.__name__ for item in {**MEASURES, **OBJECTIVES}.values() if inspect.isclass(item)
    }
    assert named - {"__version__"} <= set(gbrank.__all__) <= named | registered
    assert gbrank.__all__ == sorted(gbrank.__all__)
    others = {name for name in gbrank.__all__ if not is_ours(getattr(gbrank, name))}
    assert others == {"datasets", "evaluation", "plots", "schedules"}
    assert len(gbrank.__all__) <= 63


def test_names_that_are_not_there() -> None:
    """An AttributeError, as of any module, registered by a user or not."""
    for name in ("GBRank", "_private", "__wrapped__"):
        with pytest.raises(AttributeError, match=name):
            getattr(gbrank, name)


def test_everything_registered_is_exported() -> None:
    """Measures and objectives by gbrank, schedules by gbrank.schedules."""
    for home, registry in (
        (gbrank, MEASURES),
        (gbrank, OBJECTIVES),
        (gbrank.schedules, SCHEDULES),
    ):
        for item in registry.values():
            if inspect.isclass(item):
                assert item.__name__ in home.__all__
                assert getattr(home, item.__name__) is item


def test_the_estimator_is_imported_without_what_compiles() -> None:
    """numba takes as long to load as LightGBM; and the default objective has one name."""
    code = "import sys; from gbrank import GBRanker; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert gbrank.GBRanker().objective == DEFAULT_OBJECTIVE


def test_version() -> None:
    """Numbers and dots."""
    assert re.fullmatch(r"\d+\.\d+(\.\d+)?((a|b|rc|\.dev)\d+)?", gbrank.__version__)


# --- State ------------------------------------------------------------------------------------

SNAPSHOT = """
import locale, logging, os, random, signal, sys, threading, warnings
import lightgbm, narwhals, numba, numpy as np, scipy.sparse, sklearn.base, tqdm, xgboost
import sklearn.utils.validation

def snapshot():
    return {
        "warnings": list(warnings.filters),
        "showwarning": warnings.showwarning,
        "logging": (logging.root.level, list(logging.root.handlers), logging.root.disabled),
        "numpy errors": np.geterr(),
        "numpy print": np.get_printoptions(),
        "environment": dict(os.environ),
        "numpy random": [str(part) for part in np.random.get_state()],
        "random": random.getstate(),
        "threads": threading.active_count(),
        "numba threads": numba.get_num_threads(),
        "hooks": (sys.excepthook, threading.excepthook, sys.getrecursionlimit()),
        "locale": locale.setlocale(locale.LC_ALL),
        "path": list(sys.path),
        "interrupt": signal.getsignal(signal.SIGINT),
        "folder": os.getcwd(),
    }
"""
IMPORT = """
before = snapshot()
import gbrank
from gbrank import *
assert set(dir(gbrank)) - {"__version__"} <= set(gbrank.__all__)
after = snapshot()
changed = [name for name in before if before[name] != after[name]]
assert not changed, changed
"""


@pytest.mark.slow
def test_import_changes_no_state() -> None:
    """In a new process, once the libraries that gbrank stands on are there."""
    done = subprocess.run([sys.executable, "-c", SNAPSHOT + IMPORT], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_import_loads_what_is_needed() -> None:
    """The package by itself, and the command's help, load no heavy library."""
    heavy = "{'lightgbm', 'matplotlib', 'numba', 'numpy', 'scipy', 'sklearn', 'xgboost'}"
    lines = [
        "import sys, gbrank",
        f"assert not {heavy} & set(sys.modules)",
        "from gbrank.commands.cli import main",
        "try: main(['--help'])",
        f"finally: assert not {heavy} & set(sys.modules)",
    ]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_fit_changes_no_state(booster: str) -> None:
    """Nor does a fit with samples, a validation set, and extreme numbers."""
    names: dict[str, Any] = {}
    exec(SNAPSHOT, names)
    before = names["snapshot"]()
    ranker = GBRanker(booster=booster, n_estimators=3, subsample=0.5, validation_fraction=0.2,
                      sigma=1e-200, random_state=0, n_jobs=1)  # fmt: skip
    ranker.fit(X, Y, qid=QID).predict(X)
    after = names["snapshot"]()
    assert [name for name in before if before[name] != after[name]] == []


def test_two_rankers_share_nothing() -> None:
    """D3: other gains in a second ranker change nothing of the first one."""
    first = GBRanker(n_estimators=3, n_jobs=1).fit(X, Y, qid=QID)
    before, scores = first.score(X, Y, QID), first.predict(X)
    other = GBRanker(LambdaRank("ndcg(gain='linear')"), eval_metric="dcg(gain='linear')", n_jobs=1)
    other.set_params(n_estimators=3).fit(X, 9 * Y, qid=QID)
    assert first.score(X, Y, QID) == before
    assert_array_equal(first.predict(X), scores)


# --- An estimator of scikit-learn -------------------------------------------------------------


def test_estimator_parameters() -> None:
    """get_params, set_params, clone, repr and tags; fit changes no parameter."""
    params = {"objective": LambdaRank(AP(), truncation=3), "sigma": geometric(1, 0.1),
              "eval_metric": ["ndcg@5", AP()], "booster_params": {"max_bin": 63}}  # fmt: skip
    ranker = clone(GBRanker(**params, n_estimators=3, n_jobs=1))
    before = ranker.get_params()
    assert {name: before[name] for name in params} == params
    ranker.fit(X, Y, qid=QID)
    assert ranker.get_params() == before
    assert ranker.set_params(num_leaves=4, booster="xgboost") is ranker
    assert ranker.fit(X, Y, qid=QID).num_leaves == 4
    assert "LambdaRank" in repr(ranker)
    if hasattr(BaseEstimator, "__sklearn_tags__"):  # from scikit-learn 1.6 on
        assert ranker.__sklearn_tags__().requires_fit
    assert not hasattr(clone(ranker), "best_iteration_")


def test_pipelines_and_cross_validation() -> None:
    """qid reaches the ranker, by the step's name or by metadata routing."""
    ranker = GBRanker(n_estimators=5, n_jobs=1, eval_metric="ndcg@3", random_state=0)
    pipeline = make_pipeline(StandardScaler(), ranker).fit(X, Y, gbranker__qid=QID)
    expected = clone(ranker).fit(StandardScaler().fit_transform(X), Y, qid=QID)
    assert_array_equal(pipeline.predict(X), expected.predict(StandardScaler().fit_transform(X)))
    with config_context(enable_metadata_routing=True):
        routed = clone(ranker).set_fit_request(qid=True).set_score_request(qid=True)
        values = cross_val_score(make_pipeline(StandardScaler(), routed), X, Y, cv=GroupKFold(4),
                                 params={"qid": QID, "groups": QID})  # fmt: skip
    assert values.shape == (4,)
    assert ((values > 0.2) & (values <= 1)).all()


@pytest.mark.parametrize("make", [lightgbm_fobj, xgboost_obj])
def test_hooks_have_one_signature_too(make: Any) -> None:
    """Keyword-only options beside objective and sigma, as GBRanker's."""
    kinds = {name: item.kind for name, item in inspect.signature(make).parameters.items()}
    assert list(kinds) == ["objective", "sigma", "start", "rounds", "curvature", "n_jobs", "watch"]
    assert kinds["start"] is kinds["rounds"] is kinds["n_jobs"] is inspect.Parameter.KEYWORD_ONLY
    assert np.isfinite(make().stages[0].rounds or 0)
