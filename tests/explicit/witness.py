"""Models and an independent witness of min |w - w_0|^2 s.t. F(w) = beta: SLSQP from many starts."""

import random

import numpy as np

from derive import Parameterization
from derive.explicit.regularize import minimum_by_elimination, representation_cost
from derive.model.notation import Notation
from tests.witnesses.explicit import nearest
from tests.witnesses.flows import Flows


def product(rows, columns, inner, scale=""):
    """Return the entries of U V^T; *scale* multiplies its last term."""
    return [
        " + ".join(f"{scale if k == inner - 1 else ''}u{i}{k}*v{j}{k}" for k in range(inner))
        for i in range(rows)
        for j in range(columns)
    ]


def gram(size, inner):
    """Return the entries of W W^T."""
    return [
        " + ".join(f"w{i}{k}*w{j}{k}" for k in range(inner))
        for i in range(size)
        for j in range(i, size)
    ]


def read(outputs, start=None):
    """Return the map, and its outputs beta."""
    p = Parameterization.parse(outputs, start=start)
    return p, Notation(p, tuple(range(p.d))).betas


def cost_of(outputs):
    return representation_cost(*read(outputs))


def minimum(build, outputs, start=None):
    p, betas = read(outputs, start)
    return p, minimum_by_elimination(build, p, betas)


def numeric_minimum(outputs, beta, starts=40, **w0):
    """Return the least value found, from w_0 = 0 but for some; None where no F(w) = beta is met."""
    p = Parameterization.parse(outputs)
    flows = Flows.of(p, dict.fromkeys(p.start_symbols, 1.0))
    origin = np.array([w0.get(w, 0.0) for w in p.weights])
    found = nearest(flows, np.array(beta, float), origin, random.Random(0), starts)
    return found if np.isfinite(found) else None
