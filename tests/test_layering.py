"""The shape of the program: imports go one way, and files and functions fit in the head.

Imports count wherever they stand: at the top, inside functions, and for annotations alone.
"""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.cli.commands import printed_by

ROOT = Path(__file__).parent.parent
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in ("derive", "numerics")
    for path in sorted((ROOT / package).rglob("*.py"))
}
# From the bottom to the top: a room imports itself and what stands before it.
LAYERS = [
    # The checker of certificates stands on its own: python-flint and the standard library.
    {"derive.certificate.checking"},
    {
        "derive.clock",
        "derive.errors",
        "derive.folder",
        "derive.lazy",
        "derive.option",
        "derive.printable",
        "derive.sources",
        "derive.statement",
        "derive.verdict",
        "derive.language",
    },
    {"derive.exact"},
    {"derive.model"},
    {"derive.weights"},
    {"derive.potential"},
    {"derive.roads"},
    {"derive.records", "derive.outcome", "derive.mirror_map", "derive.programming"},
    {"derive.joint"},
    {"derive.entrywise"},
    {"derive.derivation"},
    {"derive.claims", "derive.components", "derive.copying"},
    {"derive.limits", "derive.explicit", "derive.inverse", "derive.optimizers"},
    {"derive.separable"},
    {"derive.matrices"},
    {"derive.perturbed", "derive.univariate"},
    {"derive.comparison"},
    {"derive.rocq"},
    {"derive.render", "derive.certificate.writing"},
    {"derive.catalogue"},
    {"derive.catalogue.audit"},
    {"derive.atlas"},
    {"derive.cli"},
    {"derive.cli.main"},
    {"derive.__main__"},
    # For tests of others, on top of everything: nothing of the program knows it.
    {"derive.testing"},
]
# Q without a closed form is evaluated by the Taylor integrator, which knows nothing of Q.
INTEGRATOR = ("builder", "jets", "taylor")
NUMERIC_LAYERS = [
    {"numerics.evaluate.numbers"},
    {f"numerics.integrator.{name}" for name in INTEGRATOR},
    {"numerics.evaluate"},
    {"numerics.interpolants"},
    {"numerics.margins"},
    {"numerics.integrator"},
    {"numerics.optimizers"},
    {"numerics.confirm"},
    {"numerics.matrices", "numerics.univariate"},
    {"numerics.experiments"},
    {"numerics.figures"},
]
# The command line and the tests of others know both packages; symbols ask for numbers by name.
ASKS_NUMERICS = ("derive.cli.", "derive.testing.")
NUMERICS_READS = (
    "derive.errors",
    "derive.verdict",
    "derive.folder",
    "derive.lazy",
    "derive.option",
    "derive.printable",
    "derive.language",
    "derive.exact.balls",
    "derive.exact.elementary_signs",
    "derive.model",
    "derive.weights",
    "derive.potential",
    "derive.records",
    "derive.mirror_map",
    "derive.programming",
    "derive.components",
    "derive.copying",
    "derive.derivation",
    "derive.separable",
    "derive.perturbed",
    "derive.limits",
    "derive.explicit",
    "derive.optimizers",
    "derive.univariate",
)
LONGEST_FILE, FULLEST_FOLDER, MOST_BRANCHES, MOST_ARGUMENTS = 500, 24, 15, 5
BRANCHES = (ast.If, ast.For, ast.While, ast.ExceptHandler, ast.IfExp, ast.comprehension, ast.Assert)


def positions(layers):
    """Return the position of the room of each module, the innermost one that is named, if any."""
    named = {name: position for position, names in enumerate(layers) for name in names}
    found = {}
    for module in MODULES:
        parts = module.split(".")
        rooms = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
        found[module] = next((named[room] for room in rooms if room in named), None)
    return found


@cache
def nodes(module):
    return [*ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8")))]


@cache
def imports(module):
    found = set()
    for node in nodes(module):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name in MODULES and name != module}


def test_every_module_has_a_room():
    rooms = ("derive", "derive.certificate", "numerics")
    found = positions(LAYERS + NUMERIC_LAYERS)
    assert [m for m in MODULES if m not in rooms and found[m] is None] == []


def test_imports_point_down():
    upward = [
        (module, name)
        for found in map(positions, (LAYERS, NUMERIC_LAYERS))
        for module in MODULES
        for name in imports(module)
        if None not in (own := found[module], theirs := found[name]) and theirs > own
    ]
    assert upward == []


def test_the_packages_meet_where_they_should():
    pairs = [(module, name) for module in MODULES for name in imports(module)]
    asking = [m for m, name in pairs if m.startswith("derive") and name.startswith("numerics")]
    read = [n for m, n in pairs if m.startswith("numerics") and n.startswith("derive.")]
    assert [module for module in asking if not module.startswith(ASKS_NUMERICS)] == []
    assert [name for name in read if not name.startswith(NUMERICS_READS)] == []


def test_there_is_no_import_cycle():
    graph = {m: imports(m) for m in MODULES if MODULES[m].name != "__init__.py"}
    done = set()

    def visit(module, path):
        assert module not in path, " -> ".join((*path, module))
        if module not in done:
            for name in sorted(graph.get(module, ())):
                visit(name, (*path, module))
            done.add(module)

    for module in sorted(graph):
        visit(module, ())


def test_files_and_folders_are_small():
    lengths = {m: len(p.read_text(encoding="utf-8").splitlines()) for m, p in MODULES.items()}
    assert [m for m, n in lengths.items() if n > LONGEST_FILE] == []
    folders = Counter(path.parent for path in MODULES.values())
    assert [str(folder) for folder, n in folders.items() if n > FULLEST_FOLDER] == []


def branches(function):
    nodes = list(ast.walk(function))
    conditions = sum(len(n.values) - 1 for n in nodes if isinstance(n, ast.BoolOp))
    return 1 + conditions + sum(isinstance(n, BRANCHES) for n in nodes)


def test_each_file_of_tests_has_a_name_of_its_own():
    """Else pytest collects one of them alone, with an error that running it by itself hides."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


def test_functions_fit_in_the_head():
    functions = [
        (f"{module}.{node.name}", node)
        for module in MODULES
        for node in nodes(module)
        if isinstance(node, ast.FunctionDef)
    ]
    assert [name for name, node in functions if branches(node) > MOST_BRANCHES] == []
    many = [
        name
        for name, node in functions
        if len([a for a in node.args.args if a.arg not in ("self", "cls")]) > MOST_ARGUMENTS
    ]
    assert many == []


def test_the_map_names_files_that_are_there():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    known = [str(path.relative_to(ROOT)) for path in MODULES.values()]
    named = re.findall(r"`([\w/]+\.py)`", text)
    assert [n for n in named if not any(f"/{k}".endswith(f"/{n}") for k in known)] == [
        "tests/test_layering.py"
    ]


@pytest.mark.parametrize("statement", ["import derive.cli.main", "import derive, derive.language"])
def test_the_door_is_light(statement):
    program = f"{statement}; import sys; print([m for m in ('sympy', 'numpy') if m in sys.modules])"
    assert printed_by(program) == "[]\n"
