"""A witness of other costs: their minimum over the weights from many starts."""

import numpy as np
import sympy
from scipy.optimize import minimize

from tests.witnesses import Refuted, witness


@witness("fibre cost")
def least(f, statement, rng):
    """Minimise the cost, or tr K, subject to F(w) = beta at some beta on both sides."""
    block, tried = statement.values["block"], 0
    p, (b,) = f.parameterization, block.beta
    k = 0 if p.d == 1 else int(b.name.removeprefix("beta")) - 1
    names = {x: sympy.Symbol(x) for x in p.weights}
    F = p.outputs[k].xreplace({x: names[x.name] for x in p.outputs[k].free_symbols})
    w = sorted(F.free_symbols, key=str)
    if f.cost == "trace-K":
        h = sum(sympy.diff(F, x) ** 2 for x in w)
    else:
        h = sympy.sympify(f.cost, locals={**{x.name: x for x in w}, "abs": sympy.Abs})
        h = h.subs({sympy.Symbol(x): 0 for x in p.weights if names[x] not in w})
    F, h = (sympy.lambdify(w, g, "numpy") for g in (F, h))
    for beta in (rng.uniform(0.3, 3), -rng.uniform(0.3, 3)):
        C = block.sides[beta > 0]
        held = {"type": "eq", "fun": lambda v, beta=beta: float(F(*v)) - beta}
        found = []
        for _ in range(40):
            start = np.array([rng.gauss(0, 1.5) for _ in w])
            with np.errstate(all="ignore"):
                run = minimize(lambda v: h(*v), start, constraints=[held], method="SLSQP",
                               options={"ftol": 1e-14, "maxiter": 500})  # fmt: skip
            if run.success and abs(held["fun"](run.x)) < 1e-8:
                found.append(float(run.fun))
        if C is None:
            if found:
                raise Refuted(f"F takes {beta}")
            continue
        said = float(C) * abs(beta) ** float(block.power)
        tried += 1
        if not found or abs(min(found) / said - 1) > 1e-5:
            raise Refuted(f"the least cost at {beta} is {min(found, default=None)}, not {said}")
    return tried
