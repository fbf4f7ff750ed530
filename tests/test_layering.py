"""Imports go one way: errors and language, exact, stages, derivation, render, cli; no cycles."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in ("derive", "numerics")
    for path in sorted((ROOT / package).rglob("*.py"))
}
LAYERS = [
    # The checker of certificates stands on its own: python-flint and the standard library.
    {"derive.certificate.checking"},
    {
        "derive.errors",
        "derive.folder",
        "derive.printable",
        "derive.verdict",
        "derive.language",
    },
    {"derive.exact"},
    # The stages of a derivation; their order among each other is not settled yet.
    {"derive.model", "derive.weights", "derive.potential", "derive.regimes"},
    {"derive.roads"},
    {"derive.records"},
    {"derive.derivation", "derive.joint"},
    {
        "derive.inverse",
        "derive.explicit",
        "derive.regimes.find",
        "derive.regimes.plane",
        "derive.regimes.predictor_limit",
    },
    {"derive.render", "derive.certificate.writing"},
    {"derive.catalogue"},
    {"derive.catalogue.audit"},
    {"derive.cli"},
    {"derive.cli.catalogue", "derive.cli.audit"},
    {"derive.cli.main"},
    {"derive.__main__"},
]
# Q in symbols asks for Q in numbers on demand; the command line knows both packages.
ALLOWED_TO_USE_NUMERICS = {
    "derive.records",
    "derive.cli.audit",
    "derive.cli.matrix_factorization",
    "derive.cli.figure",
    "derive.cli.regimes",
    "derive.cli.regularizer",
    "derive.cli.session",
    "derive.cli.sparse_regression",
}


def layer(module: str) -> int | None:
    """Return the position of the room that the module is in, the innermost one that is named."""
    found = {
        name: position
        for position, names in enumerate(LAYERS)
        for name in names
        if module == name or module.startswith(name + ".")
    }
    return found[max(found, key=len)] if found else None


def imports(path: Path, only_top: bool) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if only_top else ast.walk(tree)
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name in MODULES}


def test_every_module_of_derive_has_a_layer():
    rooms = ("derive.certificate", "derive.cli")
    strays = [m for m in MODULES if m.startswith("derive.") and m not in rooms and layer(m) is None]
    assert strays == []


@pytest.mark.parametrize("module", sorted(MODULES))
def test_imports_point_down(module):
    own = layer(module)
    for name in imports(MODULES[module], only_top=False):
        if name.startswith("numerics") and module.startswith("derive"):
            assert module in ALLOWED_TO_USE_NUMERICS, f"{module} imports {name}"
        if own is None or layer(name) is None:
            continue
        assert layer(name) <= own, f"{module} imports {name}, which is above it"


def test_there_is_no_import_cycle():
    graph = {m: imports(path, only_top=True) - {m} for m, path in MODULES.items()}
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join((*path, module))
        if module in done:
            return
        for name in sorted(graph[module]):
            visit(name, (*path, module))
        done.add(module)

    for module in sorted(graph):
        visit(module, ())


@pytest.mark.parametrize("statement", ["import derive.cli.main", "import derive, derive.language"])
def test_the_door_is_light(statement):
    program = f"{statement}; import sys; print([m for m in ('sympy', 'numpy') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == "[]"


def test_numerics_reads_records_only():
    allowed = (
        "derive.derivation",
        "derive.explicit",
        "derive.records",
        "derive.model",
        "derive.potential",
        "derive.regimes",
        "derive.weights",
        "derive.errors",
        "derive.folder",
        "derive.language",
        "derive.verdict",
        "derive.exact.balls",
        "derive.exact.elementary_signs",
    )
    for module, path in MODULES.items():
        if module.startswith("numerics"):
            for name in imports(path, only_top=False):
                assert name.startswith(("numerics", *allowed)) or name == "derive", (
                    f"{module} imports {name}"
                )
