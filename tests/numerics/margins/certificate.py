"""Certificates of largest margins, checked in fractions alone: nothing of the program is used."""

from fractions import Fraction
from itertools import product

DUAL = {"l1": lambda z: max(map(abs, z)), "linf": lambda z: sum(map(abs, z))}
NORM = {"l1": DUAL["linf"], "linf": DUAL["l1"]}


def dot(a, b):
    return sum((Fraction(x) * y for x, y in zip(a, b, strict=True)), Fraction(0))


def combined(X, y):
    """X^T y."""
    return [dot(column, y) for column in zip(*X, strict=True)]


def certifies(X, norm, w, y):
    """Is w = argmin |w| s.t. X w >= 1, by y >= 0?

    For l2: w = X^T y, and y_i = 0 where <x_i, w> > 1. Else |X^T y|_* = 1 and sum y = |w|.
    """
    margins = [dot(x, w) for x in X]
    if min(margins) < 1 or min(y) < 0:
        return False
    z = combined(X, y)
    if norm == "l2":
        return z == list(w) and all(u == 1 or a == 0 for u, a in zip(margins, y, strict=True))
    return DUAL[norm](z) == 1 and sum(y) == NORM[norm](w)


def refutes(X, y):
    """Is no w with X w > 0, by y >= 0 with sum 1 and X^T y = 0?"""
    return min(y) >= 0 and sum(y) == 1 and not any(combined(X, y))


def lifted(X, labels):
    """The rows of a predictor for each class: e_y (x) x - e_k (x) x."""
    classes = sorted(set(labels))
    rows = []
    for (x, label), k in product(zip(X, labels, strict=True), classes):
        if k != label:
            parts = {label: x, k: [-c for c in x]}
            rows.append([c for own in classes for c in parts.get(own, [0] * len(x))])
    return rows
