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
    {"derive.checking", "derive.check"},
    {
        "derive.errors",
        "derive.folder",
        "derive.verdict",
        "derive.language",
        "derive.sandbox",
        "derive.output",
    },
    {"derive.exact"},
    {"derive.stages"},
    {"derive.roads"},
    {"derive.records"},
    {"derive.derivation", "derive.joint", "derive.radial"},
    {
        "derive.inverse",
        "derive.explicit",
        "derive.asymptotics",
        "derive.fixed_beta",
        "derive.radial_regimes",
    },
    {"derive.render", "derive.certifying"},
    {"derive.options", "derive.request", "derive.running"},
    {"derive.catalogue"},
    {"derive.audit"},
    {
        "derive.inverse_cli",
        "derive.check_cli",
        "derive.experiment_cli",
        "derive.explicit_cli",
        "derive.figure_cli",
        "derive.regimes_cli",
        "derive.regularizer_cli",
    },
    {"derive.catalogue_cli", "derive.audit_cli"},
    {"derive.cli"},
    {"derive.__main__"},
]
# Q in symbols asks for Q in numbers on demand; the command line knows both packages.
ALLOWED_TO_USE_NUMERICS = {
    "derive.records",
    "derive.stages.radial_potential",
    "derive.audit_cli",
    "derive.experiment_cli",
    "derive.figure_cli",
    "derive.regimes_cli",
    "derive.regularizer_cli",
}
# Finished records offer their own rendering on demand.
LAZY = {
    ("derive.derivation", "derive.render"),
    ("derive.radial", "derive.render"),
    ("derive.asymptotics", "derive.render"),
    ("derive.stages.width", "derive.render"),
    ("derive.inverse.record", "derive.render"),
    ("derive.explicit.record", "derive.render"),
}


def layer(module: str) -> int | None:
    for position, names in enumerate(LAYERS):
        if any(module == name or module.startswith(name + ".") for name in names):
            return position
    return None


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
    strays = [m for m in MODULES if m.startswith("derive.") and layer(m) is None]
    assert strays == []


@pytest.mark.parametrize("module", sorted(MODULES))
def test_imports_point_down(module):
    own = layer(module)
    for name in imports(MODULES[module], only_top=False):
        if name.startswith("numerics") and module.startswith("derive"):
            assert module in ALLOWED_TO_USE_NUMERICS, f"{module} imports {name}"
        if own is None or layer(name) is None:
            continue
        if any(module == a and name.startswith(b) for a, b in LAZY):
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


@pytest.mark.parametrize("statement", ["import derive.cli", "import derive, derive.language"])
def test_the_door_is_light(statement):
    program = f"{statement}; import sys; print([m for m in ('sympy', 'numpy') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == "[]"


def test_numerics_reads_records_only():
    allowed = (
        "derive.asymptotics",
        "derive.derivation",
        "derive.explicit",
        "derive.records",
        "derive.stages",
        "derive.errors",
        "derive.folder",
        "derive.language",
        "derive.verdict",
        "derive.exact.balls",
    )
    for module, path in MODULES.items():
        if module.startswith("numerics"):
            for name in imports(path, only_top=False):
                assert name.startswith(("numerics", *allowed)) or name == "derive", (
                    f"{module} imports {name}"
                )
