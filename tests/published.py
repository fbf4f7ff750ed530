"""The models that tests of every stage share: outputs, start, positive symbols."""

import functools
from dataclasses import dataclass, field

from derive import Derivation, Parameterization, derive, regimes
from derive.limits.find import Regimes


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
def derive_once(parameterization: Parameterization) -> Derivation:
    """Derive what several tests look at."""
    return derive(parameterization)


@functools.cache
def regimes_once(
    p: Parameterization, variable: str, toward: tuple[int | str, ...] = (0, "oo")
) -> Regimes:
    """Find the limits that several tests look at."""
    return regimes(derive_once(p), variable, toward)


@functools.cache
def certified_once(parameterization: Parameterization) -> str:
    """Write the record with its certificate, which several tests read."""
    return derive_once(parameterization).to_json(seconds=600)
