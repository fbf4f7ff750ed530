"""Mutation testing: break one place of what proofs rest on, and see whether a test fails.

    python -m tests.mutants --sample 60 --seed 1
    python -m tests.mutants --only derive/weights/hessian.py --sample 10

A mutant changes one operator, number, condition or statement. First the tests are run as they are,
each file alone, to see which lines it runs; a mutant is put to the files that run the line that is
broken, for at most three times as long as they took. Left alone are texts, the messages of errors,
``strict=`` of ``zip``, which only guards against faults of the program itself, and seeds of random
numbers, of which any will do. Of the tools that there are, mutmut leaves out functions with
decorators (our cached properties) and first runs the whole suite, cosmic-ray changes annotations,
which nothing evaluates; neither draws a sample.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import copy
import json
import os
import py_compile
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import unified_diff
from functools import cache
from itertools import accumulate
from pathlib import Path

import mpmath  # noqa: F401 - in memory before the forks, as are the others
import pytest
import scipy  # noqa: F401
import sympy  # noqa: F401

ROOT = Path(__file__).parent.parent
# What is broken, and the tests that should notice, those that know it best first.
WHOLE = (
    *("tests/test_models.py", "tests/test_derivation.py", "tests/render"),
    *("tests/catalogue/test_catalogue.py", "tests/properties/test_properties_metric.py"),
    "tests/certificate/test_certificate.py",
)
SUBJECTS = {
    "derive/exact": ("tests/exact", "tests/weights", *WHOLE),
    "derive/weights": ("tests/weights", "tests/model", *WHOLE),
    "derive/potential": ("tests/potential", "tests/roads", *WHOLE),
    "derive/certificate/checking": ("tests/certificate",),
    "numerics/integrator": ("tests/numerics/integrator", "tests/model"),
}
# Of the flows, the Taylor integrator: not other engines, and not what is integrated.
LEFT_OUT = (*("__init__.py", "implicit.py"), *("gradient_flow.py", "perturbed.py", "watch.py"))
LONGEST = 900
"""The seconds that one test file may take as the program is."""
OPERATORS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.Mod: ast.Add,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
WORDS = (ast.JoinedStr, ast.Raise)
"""What is not looked into: texts, and the messages of errors."""


@dataclass(frozen=True)
class Mutant:
    """A file with one place changed."""

    path: Path
    line: int
    source: str
    changed: str

    def __str__(self):
        pair = self.source.splitlines(), self.changed.splitlines()
        lines = [
            x for x in unified_diff(*pair, n=0, lineterm="") if x[:2] not in ("--", "++", "@@")
        ]
        return "\n".join([f"{self.path}:{self.line}", *("    " + line for line in lines)])


def variants(node):
    """Yield what is replaced at a node, itself or a part of it, and by what."""
    match node:
        case ast.Compare(ops=[op, *more]) if type(op) in OPERATORS:
            yield node, replaced(node, ops=[OPERATORS[type(op)](), *more])
        case ast.BinOp(op=op) | ast.BoolOp(op=op) if type(op) in OPERATORS:
            yield node, replaced(node, op=OPERATORS[type(op)]())
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield node, operand
        case ast.Constant(value=bool(value)):
            yield node, ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield node, ast.Constant(value + 1)
        case ast.IfExp(test=test) | ast.If(test=test) | ast.While(test=test):
            if not isinstance(test, ast.Compare):
                yield test, ast.UnaryOp(ast.Not(), test)
        case ast.comprehension(ifs=[test, *_]):
            yield test, ast.Constant(True)
        case ast.Continue():  # at the end of a loop it does nothing
            yield node, ast.Break()
        case ast.Raise() | ast.AugAssign() | ast.Break() | ast.Expr(ast.Call()):
            yield node, ast.Pass()


def replaced(node, **fields):
    """Return a node with other fields."""
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def places(node):
    """Yield the nodes that are run: no annotations, decorators or texts."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "msg"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not is_left(child):
                yield child
                if not isinstance(child, WORDS):
                    yield from places(child)


def is_left(node):
    """Tell whether a node is ``strict=``, or a seed of random numbers."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "Random"
    return isinstance(node, ast.keyword) and node.arg == "strict"


def functions(body):
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            yield statement
        elif isinstance(statement, ast.ClassDef):
            yield from functions(statement.body)


def mutants(path):
    """Yield all mutants of the functions of a file."""
    source = (ROOT / path).read_text(encoding="utf-8")
    lines = source.encode().splitlines(keepends=True)
    offsets = list(accumulate(map(len, lines), initial=0))
    for function in functions(ast.parse(source).body):
        for node in places(function):
            for place, new in variants(node):
                first = offsets[place.lineno - 1] + place.col_offset
                last = offsets[place.end_lineno - 1] + place.end_col_offset
                text = ast.unparse(new)
                text = text if isinstance(new, ast.Pass | ast.Break | ast.Constant) else f"({text})"
                parts = source.encode()[:first], text.encode(), source.encode()[last:]
                changed = b"".join(parts).decode()
                yield Mutant(path, place.lineno, source, changed)


def subject_of(path):
    return next(subject for subject in SUBJECTS if path.is_relative_to(subject))


def suite_of(path, tree):
    """Return the test files that may know a room."""
    folders = SUBJECTS[subject_of(path)]
    return [str(f) for t in folders for f in sorted((tree / t).rglob("test_*.py")) or [tree / t]]


def copied(tree):
    """Copy the program and its tests, compiled; what is changed later is compiled again."""
    for name in ("derive", "numerics", "tests", "examples", "docs"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, tree)
    mode = py_compile.PycInvalidationMode.CHECKED_HASH
    compileall.compile_dir(tree, quiet=2, invalidation_mode=mode)


def fate(tests, tree, limit, watched=()):
    """Return what the tests say within seconds, in a fork that has the libraries in memory.

    Which of the lines *watched*, of a file and with a number, are run, is left in a file.
    """
    if not (child := os.fork()):
        try:
            os.setsid()
            quiet = os.open(tree / "last.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            os.chdir(tree)
            sys.path[0] = str(tree)
            sys.dont_write_bytecode = True
            options = ("-x", "-n", "0", "-p", "no:cacheprovider", "--tb=short")
            with noted(watched, tree / "run.json"):
                status = pytest.main([*options, *tests])
            sys.stdout.flush()
        except BaseException:
            traceback.print_exc()
            status = 1
        os._exit(status)
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return "killed" if os.waitstatus_to_exitcode(status) else "SURVIVED"
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "out of time"


@cache
def lines_of(code):
    return frozenset(line for *_, line in code.co_lines() if line is not None)


@contextmanager
def noted(watched, file):
    """Write down which of some lines are run."""
    left = {path: {line for p, line in watched if p == path} for path, _ in watched}
    found = []

    def note(frame, _event, _):
        path = frame.f_code.co_filename
        if path not in left or left[path].isdisjoint(lines_of(frame.f_code)):
            return None
        if frame.f_lineno in left[path]:
            left[path].remove(frame.f_lineno)
            found.append((path, frame.f_lineno))
        return note

    if left:
        sys.settrace(note)
    yield
    sys.settrace(None)
    file.write_text(json.dumps(found))


@dataclass(frozen=True)
class Known:
    """A test file as the program is: how long it takes, and the lines that it runs."""

    file: str
    seconds: float
    lines: Sequence[Sequence[str | int]]


def known(files, tree, drawn):
    """Run the tests as the program is."""
    watched, found = [(str(tree / m.path), m.line) for m in drawn], []
    for file in files:
        begin = time.monotonic()
        if (end := fate([file], tree, LONGEST, watched)) != "SURVIVED":
            print(f"left out, as it is {end} without mutants: {file}", flush=True)
            continue
        lines = json.loads((tree / "run.json").read_text())
        found.append(Known(file, time.monotonic() - begin, lines))
    return found


def put_to_test(mutant, tests, tree):
    """Return what becomes of a mutant: by the tests of its name first, then by the fast ones."""
    place, among = [str(tree / mutant.path), mutant.line], suite_of(mutant.path, tree)
    able = [t for t in tests if place in t.lines and t.file in among]
    if not able:
        return "NOT RUN"
    words = set(mutant.path.stem.split("_"))
    able.sort(key=lambda t: (not words & set(Path(t.file).stem.split("_")), t.seconds))
    (tree / mutant.path).write_text(mutant.changed, encoding="utf-8")
    end = fate([t.file for t in able], tree, 30 + 3 * sum(t.seconds for t in able))
    (tree / mutant.path).write_text(mutant.source, encoding="utf-8")
    return end


def main():
    parser = argparse.ArgumentParser(description="Mutants of what proofs rest on, and their fate.")
    parser.add_argument("--sample", type=int, default=60, help="how many are drawn")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[""], help="the beginnings of paths")
    given = parser.parse_args()
    files = [f.relative_to(ROOT) for s in SUBJECTS for f in sorted((ROOT / s).rglob("*.py"))]
    chosen = [f for f in files if f.name not in LEFT_OUT and str(f).startswith(tuple(given.only))]
    found = [m for f in chosen for m in mutants(f)]
    drawn = random.Random(given.seed).sample(found, min(given.sample, len(found)))
    print(f"{len(drawn)} of {len(found)} mutants of {len(chosen)} files", flush=True)
    fates = Counter()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder).resolve()
        copied(tree)
        tests = known(sorted({f for m in drawn for f in suite_of(m.path, tree)}), tree, drawn)
        for mutant in drawn:
            begin = time.monotonic()
            end = put_to_test(mutant, tests, tree)
            print(f"{end} in {time.monotonic() - begin:.0f} s: {mutant}", flush=True)
            fates[end] += 1
    print(", ".join(f"{n} {name}" for name, n in fates.items()))


if __name__ == "__main__":
    main()
