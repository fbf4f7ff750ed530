"""Models to claim something of: F of one and of several outputs, with starts, by templates."""

import contextlib

from derive import (
    Parameterization,
    derive,
    explicit_counterpart,
    margins,
    parameterize,
    perturb,
    regimes,
)
from derive.errors import DeriveError
from derive.univariate.problem import (
    read_activation,
    read_density,
    read_potential,
    variational_problem,
)

SINGLE = (
    *("{a}**2", "{a}**2 - {b}**2", "{a}*{b}", "{a}*{b} + {c}", "{a}**2*{b}", "{a}*{b}*{c}"),
    *("{a}**3 - {b}**3", "{a}**4 - {b}**4", "{a}**3", "{a} + {a}**3", "exp({a})", "sinh({a})"),
    *("exp({a}) - exp({b})", "tanh({a})", "sigmoid({a})", "log({a}) - log({b})", "{a}*exp({b})"),
    *("{a}/{b}", "1/{a} - 1/{b}", "sqrt({a})*{b}", "{a}/sqrt(1 + {a}**2)", "softplus({a})"),
    *("{a}**2*{b}**2", "{a}*{b} + {c}*{d}", "2*{a}*{b} - {c}**2", "{a}*tanh({b})", "atan({a})"),
)
SEVERAL = (
    ("{a}*{u}", "{a}*{v}"),
    ("{a}*{u}", "{a}*{v}", "{a}*{x}"),
    ("{a}*{b}*{u}", "{a}*{b}*{v}"),
    ("{a}/({a} + {b} + {c})", "{b}/({a} + {b} + {c})"),
    ("{a}**2/({a}**2 + {b}**2 + {c}**2)", "{b}**2/({a}**2 + {b}**2 + {c}**2)"),
    ("{u}*{v} + {x}*{y}", "{u}*{y} + {x}*{v}"),
    ("{a}*{u} + {b}*{v}", "{a}*{x} + {b}*{y}", "{a}*{c} + {b}*{d}"),
    ("{a}**2 + {b}**2", "{a}*{b}"),
    ("exp({a})*{u}", "exp({a})*{v}"),
    ("{u} + {a}*{v}", "{x} + {a}*{y}"),
    ("{a}*{u}", "{a} + {u}"),
    ("{a}*{u}/sqrt({u}**2 + {v}**2)", "{a}*{v}/sqrt({u}**2 + {v}**2)"),
)
VECTORS = ("a*u", "a*b*u", "a**2*u", "sqrt(a)*u", "(a**2 - b**2)*u", "exp(a)*u", "norm(u)*u")
STARTS = ("", "", "alpha", "1", "2", "-1", "1/2", "alpha + 1", "2*alpha", "3/2")
NAMES = "abcduvxy"


def draw_model(rng):
    """Draw F and its start; numbers, and symbols that several weights share, among free ones."""
    while True:
        if rng.random() < 0.1:
            return Parameterization.parse([rng.choice(VECTORS)], vectors=["u"])
        template = (rng.choice(SINGLE),) if rng.random() < 0.6 else rng.choice(SEVERAL)
        outputs = [t.format(**dict(zip(NAMES, NAMES, strict=True))) for t in template]
        try:
            free = Parameterization.parse(outputs)
            drawn = {w: rng.choice(STARTS) for w in free.weights}
            return Parameterization.parse(outputs, {w: s for w, s in drawn.items() if s})
        except DeriveError:
            continue


def derivations(rng):
    """Draw derivations."""
    while True:
        with contextlib.suppress(DeriveError):  # F cannot move at some starts
            yield derive(draw_model(rng), timeout=20)


def _of_derivations(of):
    """Return a way to draw records that are made of derivations, where there is one."""

    def draw(rng):
        for d in derivations(rng):
            try:
                record = of(d, rng)
            except DeriveError:
                continue
            if record is not None:
                yield record

    return draw


def _in_a_symbol(d, rng):
    symbols = d.parameterization.start_symbols
    return regimes(d, rng.choice(symbols)) if symbols else None


def _perturbed(d, rng):
    return perturb(d, by=rng.choice(("decay", "momentum", "step", "noise", "decay, noise")))


def wide_nets(rng):
    """Draw settings of wide nets."""
    while True:
        potential = read_potential(rng.choice(("x**2", "x**4 + x**2", "cosh(x)")))
        density = read_density(rng.choice(("uniform", "1 - b**2", "exp(-b**2) on [-1, 1]")))
        yield variational_problem(potential, read_activation("relu"), density, scaled=False)


def designs(rng):
    """Draw designs of F for sums of terms."""
    terms = (
        "beta*log(beta)",
        "-log(beta)",
        "cosh(beta)",
        "beta**4",
        "beta*asinh(beta)",
        "exp(beta)",
    )
    while True:
        Q = " + ".join(
            f"{rng.randrange(1, 5)}*{term}" for term in rng.sample(terms, rng.choice((1, 1, 2)))
        )
        with contextlib.suppress(DeriveError):
            yield parameterize(Q)


DRAWN = {
    "derivation": derivations,
    "margins": _of_derivations(lambda d, rng: margins(d)),
    "regimes": _of_derivations(_in_a_symbol),
    "explicit": _of_derivations(lambda d, rng: explicit_counterpart(d.parameterization)),
    "perturbed": _of_derivations(_perturbed),
    "wide nets": wide_nets,
    "designs": designs,
}
"""Ways to draw records that claim something; modules of witnesses add theirs."""
