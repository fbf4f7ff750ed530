"""Models with a file, how they are compiled, and what is broken in them."""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache

import pytest

from derive.catalogue import find
from derive.rocq.library import library
from tests.published import GIVEN_SIZE, derive_once

REALS = {
    "ClassicalDedekindReals.sig_not_dec",
    "ClassicalDedekindReals.sig_forall_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
}
"""The axioms of the reals."""
AXIOMS = REALS | {"Classical_Prop.classic"}
"""Those, and excluded middle, which refutations do not use."""
CATALOGUE = (
    *("deep-diagonal-3", "deep-diagonal-4", "deep-diagonal-5"),
    *("deep-neuron-balanced-3", "deep-neuron-balanced-4"),
    *("exponential", "exponentiated-gradient", "linear", "linear-neuron", "linear-neuron-plane"),
    *("neuron-layer-rates", "square"),
    *("tensor-net-2", "tensor-net-3"),
    *("tied-pair", "unnormalized-exponentiated-gradient", "untied-pair", "untied-pair-unbiased"),
    *("width-3-diagonal", "convolution-2", "weight-normalization"),
)
"""The entries that have a file: Q is a sum over coordinates, or explicit in a length."""
WITHOUT = ("multi-neuron-deep-balanced",)
"""Those whose theorem is on the mirror flow alone, without minimality."""
MODELS = {
    "product": (["u*v"], {}),
    "cube": (["w**3"], {}),
    "minus cube": (["-4*u**3"], {}),
    "sine": (["sin(u)"], {}),
    "sum of squares": (["u**2 + v**2"], {}),
    "tanh": (["tanh(u)"], {}),
    "logarithm": (["log(u)"], {}),
    "root": (["sqrt(u)"], {}),
    "asinh": (["asinh(u)"], {}),
    "sinh": (["sinh(u)"], {}),
    "cubes": (["p**3 - m**3"], {}),
    "sum of cubes": (["p**3 + m**3"], {}),
    "three cubes": (["p**3 - m**3 + q**3"], {}),
    "cubic": (["w + w**3"], {}),
    "half square": (["u**2*v"], {"u": "alpha", "v": "0"}),
    "tied three": (["a*b*u"], {"a": "alpha", "b": "alpha", "u": "0"}),
    "ratio": (["log(p) - log(m)"], {}),
    "names": (["a*x"], {"a": "at", "x": "f"}),
    "idle": (["u**2 + x0*y0"], {"x0": "0", "y0": "0"}),
    "one idle": (["u**2 + v**2 + w**2"], {"v": "0"}),
    "two squares": (["w1**2", "w2**2"], {}),
    "blocks": (["u*v", "p**2", "-w**2"], {}),
    "curve beside": (["p**3 - m**3", "x"], {}),
    "sum and product": (["x**2 + y**2", "x*y"], {}),
    "parts": (["a*b", "a*b + c"], {}),
    "neuron": (["a*c", "b*c", "c*x"], {}),
    "quadratic": (["a", "a + b + c"], {}),
    "line and product": (["a", "a*b"], {}),
    "line and logarithm": (["a", "a*b**2"], {}),
    "warped exponential": (["a", "a**2 + c"], {}),
    "warped root": (["a**2 + b**2", "a + b"], {}),
    "root of a difference": (["a", "a**2 + b**2"], {}),
    "three coupled": (["c", "a*c", "b*c"], {}),
    "line and length": (["a", "a**2 + b**2 + c**2"], {}),
    "number": (["w**2"], {"w": "2"}),
    "negative number": (["u*v"], {"u": "3", "v": "-2"}),
    "tied numbers": (["a*b*u"], {"a": "2", "b": "2", "u": "2"}),
    "tied at one rate": (["(a - b)*c"], {"a": "1", "b": "-1", "c": "0"}),
    "tied with an offset": (["(u + v)*w"], {"u": "1", "v": "2"}),
    "tied fractions": (["u**2 + v**2"], {"u": "2", "v": "1"}),
    "letter": (["u**4"], {"u": "x"}),
    "reciprocal": (["1/w"], {}),
    "half a reciprocal": (["-1/2*(1/u)"], {}),
    "reciprocal cube": (["1/w**3"], {}),
    "hyperbola": (["sqrt(u**2 + 1)"], {"u": "alpha"}),
    "half sinh": (["-1/2*sinh(u)"], {}),
    "root at a number": (["sqrt(u)"], {"u": "4"}),
    "logarithm at one": (["log(u)"], {"u": "1"}),
    "tanh at a number": (["tanh(u)"], {"u": "3"}),
    "proportion": (["u**2 + v**2"], {"u": "alpha**2", "v": "alpha"}),
}
"""Others, by name."""
VECTORS = {
    "exponential of a length": ("gam**2*v/norm(v)", {}),
    "weight normalization": ("gam*v/norm(v)", {"v": "eta"}),
    "divided by a square": ("gam*v/norm(v)**2", {}),
    "divided at two rates": ("gam*v/norm(v)**2", {"gam": "eta"}),
}
"""Functions of |v| times v, with rates: of the last three Q is an integral."""
SHARES = ("exp(v)/sum(exp(v))", "v**3/sum(v**3)", "sqrt(v)/sum(sqrt(v))", "v**p/sum(v**p)")
"""Normalised outputs of every number of entries."""
REFUTED = {
    "square of a matrix": ["a**2 + b**2", "a*c + b*d", "c**2 + d**2"],
    "line and sum": ["a", "a*b + c"],
    "products and sums": ["a*b*c", "a + b + c"],
}
"""Models without a mirror potential, whose refutation takes first derivatives."""
MEMORY = 4 << 30
LIMIT = 10.0
"""Bytes of address space, and seconds of CPU, of one file."""


@dataclass(frozen=True)
class Outcome:
    """What coqc did: whether it accepted, what it printed, and the seconds of CPU it took."""

    accepted: bool
    text: str
    seconds: float

    @property
    def axioms(self):
        """The axioms that the last line of a file prints."""
        whole = self.text.partition("Axioms:")[2]
        return set(re.findall(r"^([A-Za-z_.]+)\s*:", whole, re.MULTILINE))


def derivation(name):
    """Derive an entry of the catalogue, or one of the models above."""
    if name in MODELS:
        outputs, start = MODELS[name]
        return derive_once(outputs, start)
    if name in VECTORS:
        output, rates = VECTORS[name]
        return derive_once([output], vectors=["v"], rates=rates)
    return derive_once(find(name).read().parameterization())


def everything():
    """Derive the models above and every proved entry of the catalogue."""
    proved = [e.id for e in GIVEN_SIZE if e.verdict == "PROVED"]
    return {name: derivation(name) for name in (*proved, *MODELS, *VECTORS)}


@cache
def coqc():
    """Return the compiler; a test that needs it is skipped where there is none."""
    found = shutil.which("coqc")
    if found is None:
        pytest.skip("coqc is not installed: apt-get install coq libcoq-coquelicot")
    return found


def with_library(folder):
    """Write the library into a folder and compile it."""
    for name, text in library().items():
        (folder / name).write_text(text, encoding="utf-8")
    for name in ("Mirror", "Radial"):
        done = compiled(folder, name)
        assert done.accepted, done.text
    return folder


def compiled(folder, name, text=None):
    """Compile a file, within bounds on memory and time."""
    if text is not None:
        (folder / f"{name}.v").write_text(text, encoding="utf-8")

    def bounded():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (60, 60))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [coqc(), "-w", "none", f"{name}.v"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, preexec_fn=bounded
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Outcome(done.returncode == 0, done.stdout + done.stderr, seconds)


BROKEN = (
    *("F", "q", "dom", "starts", "range", "f", "height", "kernel", "mu"),
    *("beta", "coordinate", "phi", "p", "dp", "Q", "G", "S", "J", "K", "DK", "dual", "conserved"),
)
"""The definitions that are broken; and what is conserved."""


def mutants(text):
    """Yield broken files: one number, sign or comparison of a definition or law is another."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        defined = re.match(r"Definition (\w+).*? := ", line)
        law = re.match(r"Lemma (?:law|same)\d+'.*? -> ", line)
        start = defined or law
        if start is None or (defined and defined[1] not in BROKEN):
            continue
        what = defined[1] if defined else "law"
        head, body = line[: start.end()], line[start.end() :]
        for place, new in _broken(body):
            broken = head + body[: place.start()] + new + body[place.end() :]
            whole = "\n".join([*lines[:at], broken, *lines[at + 1 :]])
            yield f"{what}: {place[0]} at {place.start()}", whole


def _broken(body):
    for place in re.finditer(r"(?<![\w.])\d+(?![\w%]|\.\d)| [+] | - |<>|0 <(?= )", body):
        yield (
            place,
            {" + ": " - ", " - ": " + ", "<>": "=", "0 <": "0 >"}.get(
                place[0], str(int(place[0]) + 1) if place[0].isdigit() else ""
            ),
        )
