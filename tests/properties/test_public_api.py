"""The public face: what is exported is documented, and little is imported for it."""

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import gbrank
from cases import loop
from fresh import Fresh, without
from gbrank.measures.measure_registry import MEASURES
from gbrank.objectives.objective_registry import DEFAULT_OBJECTIVE, OBJECTIVES
from gbrank.schedules import SCHEDULES

# --- Documentation ----------------------------------------------------------------------------


def is_ours(item: Any) -> bool:
    """Return whether something is a function or class of gbrank."""
    kinds = inspect.isclass(item) or inspect.isroutine(item)
    return kinds and (item.__module__ or "").startswith("gbrank")


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties that a class defines itself."""
    for name, value in vars(cls).items():
        item = value.__func__ if isinstance(value, classmethod) else value
        method = inspect.isfunction(item) and {"self", "cls"} & set(
            inspect.signature(item).parameters
        )
        if not name.startswith("_") and (method or isinstance(item, property)):
            yield name, item


TOP = {name: getattr(gbrank, name) for name in gbrank.__all__ if is_ours(getattr(gbrank, name))}
TOP_METHODS = {
    f"{path}.{name}": item
    for path, cls in TOP.items()
    if inspect.isclass(cls)
    for name, item in members(cls)
    if inspect.isfunction(item) and not any(hasattr(base, name) for base in cls.__bases__)
}


def test_signatures_are_short() -> None:
    """Help and notebooks show the names of types, not all that NumPy takes as an array."""
    assert not [name for name, item in TOP.items() if "_typing" in str(inspect.signature(item))]


def section(item: Any, title: str) -> str:
    """Return a section of a docstring, or nothing."""
    text = inspect.getdoc(item) or ""
    match = re.search(rf"^{title}\n-+\n(.*?)(?=^[A-Z]\w+\n-+\n|\Z)", text, re.DOTALL | re.MULTILINE)
    return match[1] if match else ""


def parameters(item: Any) -> set[str]:
    """Return the names of the parameters of a function or class."""
    names = inspect.signature(item).parameters
    known = {"self", "cls", "args", "kwargs"}
    return {name for name in names if name not in known and not name.startswith("_")}


def documented_parameters(item: Any) -> set[str]:
    """Return the names that stand in front of the colons of the section, of base classes too."""
    text = "\n".join(section(cls, "Parameters") for cls in getattr(item, "__mro__", [item]))
    heads = re.findall(r"^(\S[^:\n]*?)(?: ?:.*)?$", text, re.MULTILINE)
    return {name.strip().lstrip("*") for head in heads for name in head.split(",")}


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


def test_all_is_sorted_and_complete() -> None:
    """Classes, functions and three modules."""
    assert gbrank.__all__ == sorted(gbrank.__all__)
    others = {name for name in gbrank.__all__ if not is_ours(getattr(gbrank, name))}
    assert others == {"evaluation", "plots", "schedules"}
    assert len(gbrank.__all__) <= 64


def test_an_unknown_name_is_no_attribute() -> None:
    """As of any module."""
    with pytest.raises(AttributeError, match="No gbrank attribute Nonsense"):
        gbrank.Nonsense  # noqa: B018


def test_everything_registered_is_exported() -> None:
    """Measures and objectives by gbrank, schedules by gbrank.schedules."""
    for home, registry in ((gbrank, MEASURES), (gbrank, OBJECTIVES), (gbrank.schedules, SCHEDULES)):
        for name, item in registry.items():
            if inspect.isclass(item) and name != "Multiplier":  # which is gbrank's
                assert item.__name__ in home.__all__
                assert getattr(home, item.__name__) is item


def test_the_estimator_is_imported_without_what_compiles(fresh: Fresh) -> None:
    """numba takes as long to load as LightGBM; and the default objective has one name."""
    done = fresh(without("numba") + "from gbrank import GBRanker")
    assert (done.returncode, done.stderr) == (0, "")
    assert gbrank.GBRanker().objective == DEFAULT_OBJECTIVE


# --- State ------------------------------------------------------------------------------------


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
