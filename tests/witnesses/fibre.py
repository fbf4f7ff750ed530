"""A witness of other costs: their minimum over the weights from many starts."""

from fractions import Fraction

import numpy as np
import sympy
from scipy.optimize import minimize

from derive.model.notation import rational
from derive.verdict import Verdict
from tests.witnesses import Refuted, witness

FINE = {"ftol": 1e-14, "maxiter": 500}


class Fibre:
    """Copies of some outputs in numbers: F, and the cost, tr K S or log det X K X^T by F alone."""

    def __init__(self, f, outputs, copies=1, rows=None):
        p = f.parameterization
        names = {x: sympy.Symbol(x) for x in p.weights}
        own = [
            p.outputs[k].xreplace({x: names[x.name] for x in p.outputs[k].free_symbols})
            for k in outputs
        ]
        w = sorted(set().union(*(F.free_symbols for F in own)), key=str)
        self.size, self.copies, self.cost = len(w), copies, f.cost
        self._F = sympy.lambdify(w, own, "numpy")
        self._J = sympy.lambdify(w, sympy.Matrix(own).jacobian(w), "numpy")
        self.X = np.eye(len(own) * copies) if rows is None else np.array(rows, float)
        if f.cost == "max":
            self._h = lambda *v: np.abs(v).max()
        elif not f.cost.endswith("-K"):
            h = sympy.sympify(f.cost, locals={**{x.name: x for x in w}, "abs": sympy.Abs})
            h = h.subs({sympy.Symbol(x): 0 for x in p.weights if names[x] not in w})
            self._h = sympy.lambdify(w, h, "numpy")

    def F(self, v):
        return np.concatenate([self._F(*x) for x in v.reshape(self.copies, -1)]).astype(float)

    def h(self, v):
        parts = v.reshape(self.copies, -1)
        if not self.cost.endswith("-K"):
            return sum(self._h(*x) for x in parts)
        K = np.zeros((len(self.X.T),) * 2)
        for i, x in enumerate(parts):
            J = np.array(self._J(*x), float)
            d = len(J)
            K[i * d : i * d + d, i * d : i * d + d] = J @ J.T
        seen = self.X @ K @ self.X.T
        return np.trace(seen) if self.cost == "trace-K" else np.linalg.slogdet(seen)[1]

    def _largest(self, start, held):
        """Minimise t over |w_k| <= t."""
        n, ends = len(start), np.vstack([np.eye(len(start)), -np.eye(len(start))])
        equal = {"type": "eq", "fun": lambda v: held["fun"](v[:n])}
        below = {"type": "ineq", "fun": lambda v: v[n] - ends @ v[:n]}
        begin = np.append(start, np.abs(start).max())
        run = minimize(
            lambda v: v[n], begin, constraints=[equal, below], method="SLSQP", options=FINE
        )
        run.x = run.x[:n]
        return run

    def least(self, beta, rng, low=None):
        """Return the least cost at beta; of weights that are no less than *low*, nor at a start."""
        found = self.lowest(beta, rng, low)
        return None if found is None else float(found.fun)

    def lowest(self, beta, rng, low=None):
        """Return the run of the minimiser that ends lowest, None where none ends above beta."""
        bounds = None if low is None else [(low, None)] * (self.size * self.copies)
        held = {"type": "eq", "fun": lambda v: self.F(v) - beta}
        found = []
        for _ in range(16):
            start = np.array([rng.gauss(0, 1.5) for _ in range(self.size * self.copies)])
            start = start if low is None else low + np.abs(start - low)
            with np.errstate(all="ignore"):
                run = self._largest(start, held) if self.cost == "max" else minimize(
                    self.h, start, constraints=[held], bounds=bounds,
                    method="SLSQP", options=FINE)  # fmt: skip
            if run.success and np.abs(held["fun"](run.x)).max() < 1e-8:
                found.append(run)
        return min(found, key=lambda run: run.fun, default=None)


def compared(found, said, beta, attained=True):
    """Refute a least cost that is another; an infimum where less is found."""
    if found is None or (attained and abs(found - said) > 1e-5 * max(1, abs(said))):
        raise Refuted(f"the least cost at {beta} is {found}, not {said}")
    if found < said - 1e-5 * max(1, abs(said)):
        raise Refuted(f"less than the infimum {said} is {found}, at {beta}")


def at(R, betas, beta):
    return float(R.subs(dict(zip(betas, beta, strict=True))))


def of_power(block, C):
    """Return C |beta|^p."""
    return C * sympy.Abs(block.beta[0]) ** block.power


def said(f, R):
    """Return the least cost of a formula, which for log det K is that of det K."""
    if f.cost != "log-det-K":
        return R
    return sympy.log(R) if R != 0 else -sympy.oo


def by_root(fibre, block, rng):
    """Compare the root of the polynomial at rational beta; all of its roots where none is said."""
    tried = 0
    for sign in (1, -1):
        beta = [
            Fraction(sign * rng.choice((1, 1, -1)) * rng.randrange(3, 30), 10) for _ in block.beta
        ]
        found = fibre.least(np.array(beta, float), rng)
        point = {str(b): x for b, x in zip(block.beta, beta, strict=True)}
        if block.finding.verdict is Verdict.PROVED:
            value = block.minimum.at(point)
            if value is None and found is not None:
                raise Refuted(f"F takes {beta}")
            if value is not None and found is not None:
                compared(found, float(value.ball.mid()), beta)
        elif found is not None:
            P = [sympy.Poly(e.subs({b: rational(x) for b, x in zip(block.beta, beta, strict=True)}))
                 for e in block.minimum.equations]  # fmt: skip
            roots = [complex(r) for f in P for r in f.nroots(maxsteps=200)]
            if min(abs(r - found) for r in roots) > 1e-5 * max(1, abs(found)):
                raise Refuted(f"{found}, least at {beta}, is no root")
        tried += found is not None
    return tried


@witness("envelope")
def multipliers(f, statement, rng):
    """Take slopes of the cost, and of the least cost, at the least weights."""
    block, p = statement.values["block"], f.parameterization
    outputs = [0] if p.d == 1 else [int(b.name.removeprefix("beta")) - 1 for b in block.beta]
    rows = np.array(f.X, float)[:, outputs] if f.X and p.d > 1 else None
    fibre, step = Fibre(f, outputs, rows=rows), 1e-4
    beta = np.array([rng.uniform(0.3, 3) for _ in outputs])
    runs = [fibre.lowest(beta + s * step * e, rng) for e in np.eye(len(beta)) for s in (1, -1)]
    if (run := fibre.lowest(beta, rng)) is None or None in runs:
        return 0
    above, below = np.array([x.fun for x in runs]).reshape(-1, 2).T
    if np.abs(above + below - 2 * run.fun).max() > step:  # a kink of R
        return 0
    slopes = np.array([(fibre.h(run.x + step * e) - fibre.h(run.x - step * e)) / (2 * step)
                       for e in np.eye(len(run.x))])  # fmt: skip
    wanted = np.array(fibre._J(*run.x), float).T @ (above - below) / (2 * step)
    if np.abs(slopes - wanted).max() > 2e-2 * (1 + np.abs(wanted).max()):
        raise Refuted(f"at the least w above {beta} grad h is {slopes}, not {wanted}")
    return 1


@witness("fibre cost")
def least(f, statement, rng):
    """Minimise the cost, tr K or det K subject to F(w) = beta at some beta on all sides."""
    f = getattr(f, "derivation", f)
    block, tried = statement.values["block"], 0
    p = f.parameterization
    outputs = [0] if p.d == 1 else [int(b.name.removeprefix("beta")) - 1 for b in block.beta]
    rows = np.array(f.X, float)[:, outputs] if f.X and p.d > 1 else None
    fibre = Fibre(f, outputs, rows=rows)
    if block.minimum is not None:
        return by_root(fibre, block, rng)
    for sign in (1, -1):
        beta = [sign * rng.uniform(0.3, 3) * rng.choice((1, 1, -1)) for _ in outputs]
        C, found = block.sides[beta[0] > 0], fibre.least(np.array(beta), rng)
        if block.formula is None and C is None:
            if found is not None:
                raise Refuted(f"F takes {beta}")
            continue
        if found is None and not block.signs:
            continue
        R = said(f, of_power(block, C) if C is not None else block.formula)
        tried += 1
        compared(found, at(R, block.beta, beta), beta, block.attained)
        if (C := block.kept[beta[0] > 0]) is not None:
            least_kept = fibre.least(np.array(beta), rng, 0)
            compared(least_kept, at(said(f, of_power(block, C)), block.beta, beta), beta)
    return tried


def by_parts(f, fibre, beta, X, rng):
    """Compare the sum of S_jj R(beta_j) over copies."""
    (block,), found = f.blocks, fibre.least(beta, rng)
    points = [{block.beta[0].name: Fraction(str(x))} for x in beta]
    parts = [
        at(of_power(block, block.sides[1]), block.beta, [x])
        if block.minimum is None
        else float(block.minimum.at(point).ball.mid())
        for x, point in zip(beta, points, strict=True)
    ]
    compared(found, float((X**2).sum(0) @ np.array(parts)), beta)
    return 1


@witness("cost on data", "constant cost")
def on_data(f, statement, rng):
    """Minimise over the weights of all copies; twice, at two beta that fit the data alike."""
    p, X = f.parameterization, np.array(f.X or np.eye(len(f.betas)), float)
    copies = len(f.betas) // p.d
    if len(p.blocks) > 1:
        return 0
    fibre = Fibre(f, range(p.d), copies, X)
    beta = np.array([rng.uniform(0.3, 2) for _ in f.betas])
    attained = all(block.attained for block in f.blocks)
    if f.R is None:
        return by_parts(f, fibre, np.round(beta, 3), X, rng)
    compared(fibre.least(beta, rng), at(f.R, f.betas, beta), beta, attained)
    if statement.kind == "constant cost":
        away = np.linalg.svd(X)[2][-1] * (len(X) < len(beta))
        said = float(statement.values["k"]) * np.linalg.norm(X @ beta)
        compared(fibre.least(beta + 0.7 * away, rng), said, beta)
    return 1
