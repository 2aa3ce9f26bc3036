"""What stands where: no circle of imports, one meaning per file name, boosters in their folders."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import gbrank
from gbrank.commands.cli import COMMANDS
from gbrank.measures.custom_measure import CustomMeasure
from gbrank.objectives.objective_registry import CustomObjective
from sources import FILES, ROOT, nodes

MODULES = {
    ".".join(("gbrank", *file.relative_to(ROOT).with_suffix("").parts)).removesuffix(
        ".__init__"
    ): file
    for file in FILES
}
# Each booster has its own.
SAME_NAMES = {
    "hook.py",
    "library.py",
    "parameters.py",
    "trainer.py",
    "trained_model.py",
    "errors.py",
}


def folder_of(file: Path) -> str:
    """Return the package that a file is in."""
    return ".".join(("gbrank", *file.relative_to(ROOT).parts[:-1]))


def imported(file: Path) -> Iterator[str]:
    """Yield what a file imports, in functions too: modules, and names of modules."""
    for node in nodes(file):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = [node.module] if node.module else []
            if node.level:
                parts.insert(0, folder_of(file))
            yield from (".".join([*parts, alias.name]) for alias in node.names)


def module_of(name: str) -> str:
    """Return the module that a name is of, or is."""
    return name if name in MODULES else name.rpartition(".")[0]


def room_of(module: str) -> str:
    """Return the folder or file at the package's top that a module is in."""
    return ".".join(module.split(".")[:2])


@cache
def arrows() -> dict[str, set[str]]:
    """Return the modules of gbrank that each one imports."""
    return {
        module: {module_of(name) for name in imported(file) if name.split(".")[0] == "gbrank"}
        for module, file in MODULES.items()
    }


def test_the_walk_finds_what_there_is() -> None:
    """So that the tests below cannot pass by finding nothing."""
    assert "gbrank.engine.driver" in arrows()["gbrank.measures.measure"]
    assert set().union(*arrows().values()) <= set(MODULES)
    assert room_of("gbrank.boosters.xgboost.hook") == "gbrank.boosters"


def test_a_folder_imports_its_own_modules_relatively_and_all_others_absolutely() -> None:
    """One way to import each module."""
    for file in FILES:
        for node in nodes(file):
            if isinstance(node, ast.ImportFrom):
                assert node.level <= 1, file
                assert not f"{node.module}.".startswith(f"{folder_of(file)}."), file


def test_no_circle_of_files() -> None:
    """Lazy imports included; the error lists the circle."""
    assert set(TopologicalSorter(arrows()).static_order()) == set(MODULES)


def test_no_circle_of_folders() -> None:
    """They stand one above the other: no arrow runs up."""
    rooms: dict[str, set[str]] = {room_of(module): set() for module in MODULES}
    for module, others in arrows().items():
        rooms[room_of(module)] |= {room_of(other) for other in others} - {room_of(module)}
    assert set(TopologicalSorter(rooms).static_order()) == set(rooms)


def listed_rooms() -> list[str]:
    """Return the folders and files of the page's table, from the bottom up."""
    page = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.split("## What lives where")[1].split("\n## ")[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return [name.removesuffix(".py") for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def test_folders_import_from_those_above_them_in_the_page() -> None:
    """The list of docs/architecture.md is whole, and its order is that of imports."""
    rooms = [f"gbrank.{name}" for name in listed_rooms()]
    assert {room_of(module) for module in MODULES} - set(rooms) == {"gbrank", "gbrank.__main__"}
    places = {room: place for place, room in enumerate(rooms)}
    pairs = {(room_of(module), room_of(other)) for module in MODULES for other in arrows()[module]}
    for importer, other in pairs:
        if importer in places and other in places:
            assert places[other] <= places[importer], (importer, other)


def test_a_file_name_stands_for_one_thing() -> None:
    """But for those that each booster has."""
    names = Counter(file.name for file in MODULES.values())
    assert {name for name, n in names.items() if n > 1} <= {"__init__.py"} | SAME_NAMES


def defined(file: Path) -> set[str]:
    """Return the classes, functions and types that a file defines for others."""
    names = set()
    for node in nodes(file)[0].body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return {name for name in names if not name.startswith("_") and not name.isupper()}


def test_a_name_stands_for_one_thing() -> None:
    """Classes, functions and types, but for what each booster has, and commands."""
    rooms: dict[str, set[str]] = {}
    for module, file in MODULES.items():
        own = module.replace("lightgbm", "BOOSTER").replace("xgboost", "BOOSTER")
        commands = {function.rpartition(":")[2] for function in COMMANDS.values()}
        for name in defined(file) - (commands if module.startswith("gbrank.commands.") else set()):
            rooms.setdefault(name, set()).add(own)
    assert {name: where for name, where in rooms.items() if len(where) > 1} == {}


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_each_booster_is_known_in_its_folder_only(booster: str) -> None:
    """Nothing of the library is imported elsewhere."""
    importers = {
        module
        for module, file in MODULES.items()
        if any(name.split(".")[0] == booster for name in imported(file))
    }
    own = f"gbrank.boosters.{booster}"
    assert importers
    assert {module for module in importers if not f"{module}.".startswith(f"{own}.")} == set()


TALKING = ("gbrank.common.collective", "gbrank.data.sums")
TALK = {"data", "measures", "objectives", "boosters", "fit", "distributed"}


def test_what_talks_to_other_workers() -> None:
    """Can be told by what it imports, and stands in few folders."""
    rooms = {
        room_of(module).removeprefix("gbrank.")
        for module, others in arrows().items()
        if any(other in TALKING for other in others)
    }
    assert rooms == TALK
    text = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8")
    rule = text.split("**Workers**")[1].split("\n- ")[0]
    assert set(re.findall(r"`(\w+)`", rule)) == TALK


def asked_for(file: Path) -> set[str]:
    """Return the classes that a file's `isinstance` and `issubclass` name."""
    calls = (node for node in nodes(file) if isinstance(node, ast.Call))
    return {
        name.id
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id in ("isinstance", "issubclass")
        for name in ast.walk(call.args[1])
        if isinstance(name, ast.Name)
    }


def test_facts_are_asked_for_and_not_classes() -> None:
    """Of measures and objectives, but where a class stands, and in the registries of functions."""
    registered = {item.cls for item in (*gbrank.list_measures(), *gbrank.list_objectives())}
    own = {cls.__name__: cls.__module__ for cls in {*registered, CustomMeasure, CustomObjective}}
    for module, file in MODULES.items():
        asked = {name for name in asked_for(file) & own.keys() if own[name] != module}
        assert asked <= ({"CustomMeasure", "CustomObjective"} if "registry" in module else set())
