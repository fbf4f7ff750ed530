"""What is said of records of every room withstands its witnesses; a row is a record."""

import functools
from collections import Counter
from fractions import Fraction

import pytest

from derive import Parameterization, explicit_counterpart, margins, perturb, scale_start
from derive.inverse.parameterize import parameterize
from derive.limits.find import regimes
from derive.limits.random_width import random_width
from derive.optimizers.optimizer import optimizers
from derive.univariate.problem import (
    read_activation,
    read_density,
    read_potential,
    variational_problem,
)
from tests.models import LIMITS, lines, read
from tests.published import derive_once
from tests.witnesses import withstood

TIED = {"p": "alpha", "m": "alpha"}
ENTROPY = "p*log(p) + m*log(m)"


def explicit(line):
    outputs, start = read(line)
    arrays = {"W": (2, 2)} if "W" in line else {}
    return explicit_counterpart(Parameterization.parse(outputs, start, arrays=arrays))


def explicit_at(line):
    p = Parameterization.parse(*read(line))
    return explicit_counterpart(p, at={"beta": Fraction(3), "a": Fraction(1)})


def margin(line):
    outputs, _, rates = line.partition(" at ")
    rates = dict(x.split("=") for x in rates.split(", ")) if rates else {}
    outputs, start = read(outputs)
    powers = ["D"] if "D" in line else []
    return margins(derive_once(outputs, start, parameters=powers, rates=rates))


def scaled(line):
    """Return the limits as alpha tends to 0 and to infinity; a free start is scaled by it."""
    outputs, start = read(line)
    names = [x for x in start.values() if x.isidentifier()]
    p = Parameterization.parse(outputs, start, names, parameters=["D"] if "D" in line else [])
    p = p if "alpha" in p.start_symbols else scale_start(p, "alpha")
    return regimes(derive_once(p), "alpha")


@functools.cache
def perturbed(line):
    """Return what becomes of "F by decay, noise | mirror psi", or penalty h, or rates."""
    F, _, rest = line.partition(" by ")
    by, *given = rest.split(" | ")
    given = dict(x.split(" ", 1) for x in given)
    process, penalty = given.pop("process", None), given.pop("penalty", None)
    if "rates" in given:
        given["rates"] = dict(x.split("=") for x in given["rates"].split(", "))
    return perturb(derive_once(F.split(", "), **given), by, process=process, penalty=penalty)


def wide_net(density):
    setting = read_potential("x**4 + x**2"), read_activation("relu"), read_density(density)
    return variational_problem(*setting, scaled=False)


def wide_start(output):
    return random_width(Parameterization.parse([output]))


UPDATES = {o.update.id: o for o in optimizers().found}
MAKERS = {  # how a record is made of a row, and of which kinds something has to be tried
    "explicit": (explicit, ()),
    "explicit at beta": (explicit_at, ("value",)),
    "margin": (margin, ()),
    "limit": (scaled, ("limit", "start kernel")),
    "graded": (scaled, ("graded", "ruling weights")),
    "wide start": (wide_start, ("width law", "width moments", "wide starts")),
    "design": (parameterize, ()),
    "optimizer": (UPDATES.get, ()),
    "perturbed": (perturbed, ()),
    "wide net": (wide_net, ()),
}
ROWS = {  # of most the first is tried by default
    "explicit": """
        w**2
        p**2 - m**2 from p=a, m=a
        w**4 - w**2 from w=2
        u*v
        u*v from u=1, v=1
        u*v*w from u=1, v=1, w=0
        u**2*v from u=1, v=0
        a*u1, a*u2
        W*T(W)
        w
        w**3 - 3*w from w=3
        p**2 - m**2/2 from p=a, m=a
        p**3 - m**3 from p=a, m=a
        u*v from u=a, v=2*a
        u**2*v from u=a, v=a
        u*v + w from u=1, v=1, w=0
        u*v - w**2 from u=a, v=a, w=a
        w**4 - 2*w**2 from w=1/2
        u**2 + v**2 from u=1, v=2
        a*b*c from a=x, b=2*x, c=x
        x*y*(x + y) from x=a, y=a
        x**2*y**2 from x=a, y=2*a
        x + x*y from x=0, y=0
        u1*v1 + u2*v2 from u1=a, v1=a, u2=0, v2=a
        a0*b0 + a1*b1, a0*b1 + a1*b0 from a0=1, b0=1, a1=0, b1=0
        a**2, a*b from a=1, b=1
    """,
    "explicit at beta": "p**2 - m**2 from p=a, m=a",
    "margin": """
        p**2 - m**2 from p=alpha, m=alpha
        p**3 - m**3 from p=alpha, m=alpha
        p**D - m**D from p=alpha, m=alpha
        p**2 - m**2/2
        log(p) - log(m) from p=alpha, m=alpha
        1/p - 1/m from p=alpha, m=alpha
        p**(3/2) - m**(3/2) from p=alpha, m=alpha
        w
        u*v*w
        sinh(w)
        a*u1, a*u2 from u1=0, u2=0
        a + b, a - 2*b
        W + a*b
        a*b, c
        u*v at v=1/4
        p**2 - m**2 at p=2, m=3
        a*u1, a*u2 at a=5/2
        W + a*b at W=2, a=3
        a*b, c at a=1/3, c=2
        w**2 at w=3
    """,
    "limit": "\n".join(line.partition(": ")[0] for line in lines(LIMITS))
    + """
        1/p - 1/m from p=alpha, m=alpha
        log(p) - log(m) from p=alpha, m=alpha
        p**2 - m**2 from p=alpha, m=s
        u*v from u=alpha, v=2*alpha
        sinh(w) from w=alpha
        exp(p) - exp(m) from p=alpha, m=alpha
        a*u1, a*u2 from a=2*alpha, u1=alpha, u2=0
        u*v + x*y, u*y + v*x from u=alpha, v=0, x=0, y=0
        u*v - x*y from u=alpha, x=alpha, v=beta0, y=beta0
        p**4 - m**4 from p=alpha, m=2*alpha
        u*v - x*y from u=alpha, v=1, x=alpha, y=1
        w**2 + z**2 from w=alpha, z=2*alpha
        u*v + x**2 - y**2 from u=alpha, v=0, x=alpha, y=alpha
        p**2 - m**2 from p=alpha, m=1
        p**2 - m**2 from p=1, m=alpha
        u*v from u=alpha, v=1
        u*v from u=alpha, v=-alpha
        u*v*2 - 5
        u*exp(v) from u=1/2, v=alpha
        p**3 - m**3 from p=alpha, m=alpha**2
        p**3 - m**3 from p=alpha, m=1
        p**2 - 2*m**2 from p=alpha, m=alpha
        p**3 - m**3 + 2 from p=alpha, m=alpha
        a*u, a*v from a=alpha, u=alpha, v=0
        a*u, a*v from a=alpha, u=1, v=0
        a*u, a*v + a*u from a=alpha, u=alpha, v=0
        a**2*u, a**2*v from a=alpha, u=alpha, v=2*alpha
        a*b*u, a*b*v from a=alpha, b=alpha**2, u=alpha, v=0
        a*c - b*d, a*d + b*c from a=alpha, b=0, c=alpha, d=alpha
        u*x + v*y, u*y + v*x from u=alpha, v=0, x=1, y=0
        c*x/sqrt(x**2 + y**2), c*y/sqrt(x**2 + y**2) from c=alpha, x=1, y=0
    """,
    "graded": """
        W + a*b
        a*b*d + c
        a*b + c*d*e
        a**2*b + c
    """,
    "wide start": """
        u*v
        p**2 - m**2
    """,
    "design": """
        beta*log(beta) - beta
        beta**2 + beta**(3/2)
        beta*asinh(beta/2) - sqrt(4 + beta**2)
        -log(beta)
        cosh(beta)
        beta**4 + beta**2
        -beta**2
    """,
    "optimizer": "\n".join(UPDATES),
    "perturbed": """
        p**2 - m**2 by decay, momentum, step
        a*u1, a*u2 by noise
        u*v by decay | penalty u**2 + v**4
        u*v by decay | penalty u**2*v**2
        a*u1, a*u2 by decay | penalty a**2
        p**D - m**D by decay | penalty p**2/2 + m**2
        p**2 - m**2 by decay | penalty (p**2 + 3*m**2)/2
        p**2 - m**2 by decay | penalty p**4 + m**2
        p**2 - m**2 by decay | penalty (p**2 - m**2)**2
    """,
    "wide net": """
        uniform
        1 - b**2
        exp(-b**2) on [-1, 1]
    """,
}
PERTURBED = """
    p**2 - m**2; p**3 - m**3; a*u1, a*u2; p**D - m**D; w**2; w**3; u*v; u*v*w; u**2*v; u**2*v**2
    p**2 - 4*m**2; p**2 - m**2/2; p**4 - m**4; u*v - x*z; p1**2 + p2**2 - m1**2 - m2**2; sinh(w)
    exp(p) - exp(-m); w + w**3; a*b*u1, a*b*u2; a*b + c; u1*v1 + u2*v2, u1*v2 + u2*v1
"""
GIVEN = [
    ("p - m", f"mirror {ENTROPY}"),
    ("p - m", "mirror cosh(p) + cosh(m)"),
    ("p**2 - m**2", f"mirror {ENTROPY}"),
    *(("u*v", f"mirror {x}") for x in ("u*log(u) + v*log(v)", "u**4/12 + v**4/12")),
    ("u*v", "mirror -log(u) - log(v)"),
    ("p**2 - m**2", "rates p=p, m=m"),
    ("a*u1, a*u2, a*u3", "rates a=3"),
]
BY = (
    *("decay", "momentum", "step", "noise", "decay, noise", "decay, momentum", "momentum, step"),
    *("decay, momentum, step", "decay, step", "momentum, noise", "decay, momentum, noise"),
)


def rows():
    """Yield a room and a row; also of every perturbation of many models."""
    for room, text in ROWS.items():
        for n, line in enumerate(lines(text)):
            slow = n > (room == "perturbed") or room in ("optimizer", "explicit at beta")
            yield pytest.param(room, line, marks=[pytest.mark.slow] * slow)
    many = [(F.strip(), "") for line in lines(PERTURBED) for F in line.split(";")]
    for F, given in [*many, *GIVEN]:
        for by in BY:
            line = f"{F} by {by}" + (f" | {given}" if given else "")
            both = ("mirror", "preconditioned") if given.startswith("mirror") else ("",)
            for process in both:
                whole = line + (f" | process {process}" if process else "")
                if whole not in lines(ROWS["perturbed"]):
                    yield pytest.param("perturbed", whole, marks=pytest.mark.slow)


@pytest.mark.parametrize(("room", "line"), [*rows()])
def test_statements_withstand_their_witnesses(room, line):
    make, needed = MAKERS[room]
    record = make(line)
    trials = Counter()
    for seed in range(1, 5):
        trials += withstood(record, seed)
        if trials.total() and all(trials[kind] for kind in needed):
            return
    pytest.fail(f"nothing was tried of some: {trials}")
