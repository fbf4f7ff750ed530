"""The models that tests of every stage share, and what is derived once for all of them.

A derivation takes up to seconds, and a certificate more; both are kept in pytest's cache, under a
digest of the sources of the library, for the other processes and for later runs.
"""

import functools
import hashlib
import json
import os
import pickle
import shutil
import sys
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import derive as library
from derive import Derivation, Parameterization, derive, regimes
from derive.catalogue import entries
from derive.limits.find import Regimes
from derive.render.json import with_certificate


@dataclass(frozen=True)
class Model:
    """A parameterization with the verdicts that the literature and this program give it."""

    name: str
    outputs: tuple[str, ...]
    hessian: str
    warp: str
    start: dict[str, str] = field(default_factory=dict)
    positive: tuple[str, ...] = ()
    kind: str | None = "explicit"


TIED = {"p": "alpha", "m": "alpha"}

GIVEN_SIZE = tuple(entry for entry in entries() if not entry.measurements)
"""The published models of given size, or of a vector of any dimension."""

MODELS = (
    Model("linear", ("w",), "PROVED", "PROVED"),
    Model("square", ("w**2",), "PROVED", "PROVED"),
    Model("tied pair", ("p**2 - m**2",), "PROVED", "PROVED", TIED),
    Model("untied pair", ("u*v - x*y",), "PROVED", "PROVED"),
    Model("width two", ("u1*v1 + u2*v2",), "PROVED", "PROVED"),
    Model("depth 3", ("p**3 - m**3",), "PROVED", "PROVED", TIED, ("alpha",), "parametric"),
    Model("depth 5", ("p**5 - m**5",), "PROVED", "PROVED", TIED, ("alpha",), "parametric"),
    Model("neuron in R^2", ("a*u1", "a*u2"), "REFUTED", "PROVED"),
    Model("neuron in R^3", ("a*u1", "a*u2", "a*u3"), "REFUTED", "PROVED"),
    Model("neuron in R^4", ("a*u1", "a*u2", "a*u3", "a*u4"), "REFUTED", "PROVED"),
    Model("deep neuron", ("a*b*u1", "a*b*u2"), "REFUTED", "PROVED", kind="algebraic"),
    Model("W W^T", ("a**2+b**2", "a*c+b*d", "c**2+d**2"), "REFUTED", "REFUTED", kind=None),
    Model(
        "U V^T",
        ("u1*v1+u2*v2", "u1*v3+u2*v4", "u3*v1+u4*v2", "u3*v3+u4*v4"),
        "REFUTED",
        "REFUTED",
        kind=None,
    ),
)


@functools.cache
def _folder():
    """Return where results of these sources are kept."""
    digest = hashlib.sha256(f"{sys.version} {version('sympy')} {version('python-flint')}".encode())
    for path in sorted(Path(library.__file__).parent.rglob("*.*")):
        if path.suffix in (".py", ".toml", ".v"):
            digest.update(path.read_bytes())
    root = Path(__file__).parent.parent / ".pytest_cache" / "d"
    folder = root / f"derived-{digest.hexdigest()[:32]}"
    folder.mkdir(parents=True, exist_ok=True)
    for other in {*root.glob("derived-*")} - {folder}:
        shutil.rmtree(other, ignore_errors=True)
    return folder


def _kept(kind, p, find):
    """Return what is found of a parameterization, from an earlier time if there was one."""
    path = _folder() / hashlib.sha256(f"{kind} {p!r}".encode()).hexdigest()
    if path.exists():
        given, found = pickle.loads(path.read_bytes())
        if given == p:
            return found
    found = find()
    own = path.with_suffix(f".{os.getpid()}")
    path.parent.mkdir(parents=True, exist_ok=True)  # which sources that were changed since remove
    own.write_bytes(pickle.dumps((p, found)))
    own.replace(path)  # at once, as other processes may read it
    return found


def model_of(outputs, *given, **options):
    """Return a map as it is, or that of texts with what else is typed."""
    if hasattr(outputs, "fold"):
        return outputs
    return Parameterization.parse(
        [outputs] if isinstance(outputs, str) else [*outputs], *given, **options
    )


def derive_once(outputs, *given, **options) -> Derivation:
    """Derive what several tests look at: a map, or texts with the arguments of ``parse``."""
    return _derived(model_of(outputs, *given, **options))


@functools.cache
def _derived(p: Parameterization) -> Derivation:
    return _kept("derivation", p, lambda: derive(p))


def certified_once(outputs, *given, **options) -> str:
    """Write the record with its certificate, which several tests read.

    Q at its top, a sum of pieces, is left out: by it alone a piece that was changed is refused. So
    is which other proofs there are.
    """
    return _certified(model_of(outputs, *given, **options))


def record_once(outputs, *given, **options) -> dict:
    """Return the record with its certificate, to be changed."""
    return json.loads(certified_once(outputs, *given, **options))


@functools.cache
def _certified(p: Parameterization) -> str:
    def write() -> str:
        d = derive_once(p)
        if getattr(d, "potential", None) is None:  # of matrices under general measurements
            return d.to_json()
        record = with_certificate(d, seconds=600)
        return json.dumps({key: x for key, x in record.items() if key != "Q"}, indent=2)

    return _kept("pieces", p, write)


@functools.cache
def regimes_once(
    p: Parameterization, variable: str, toward: tuple[int | str, ...] = (0, "oo")
) -> Regimes:
    """Find the limits that several tests look at."""
    return regimes(derive_once(p), variable, toward)
