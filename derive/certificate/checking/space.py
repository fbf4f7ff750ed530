"""Names of a certificate: weights, constants and calls, with what they stand for on the leaf."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any, TypeAlias

from flint import fmpq, fmpz_mpoly

from derive.certificate.checking.function import (
    Function,
    Value,
    ball,
    constant,
    evaluated,
    leading,
    not_zero,
    remainder,
    root_of,
)
from derive.certificate.checking.reading import INFINITY, Call, Reading
from derive.certificate.checking.text import (
    JSON,
    NAME,
    Rejected,
    names_in,
    rational,
    require,
    tree_of,
)

ROOTS = 100
Scope: TypeAlias = dict[str, Any]
SHAPES = (
    *("main zero", "name of", "is name", "is name value"),
    *("is of", "from is of", "from is of sin"),
)

# The derivative of f = kind(u) by u; e is the exponent of a power.
SLOPES = {
    "exp": "f",
    "log": "1/u",
    "atan": "1/(u**2 + 1)",
    "cos": "0",
    "asinh": "1/sqrt(u**2 + 1)",
    "sin": "cos(u)",
    "power": "f*e/u",
    "erf": "2*exp(-u**2)/sqrt(4*atan(1))",  # pi may be a name
    "erfi": "2*exp(u**2)/sqrt(4*atan(1))",
    "Ei": "exp(u)/u",
    "Li2": "-log(1 - u)/u",
}


class Space(Reading):
    """Weights, constants and generators, with their values at a start in numbers.

    ``fixed`` are the given and the printed constants, ``laws`` what else the flow keeps, by values.
    ``above`` has, by the end of an integral over x, what functions f(x) are on the leaf there.
    """

    def __init__(self, weights: Sequence[str], constants: Sequence[str], room: int) -> None:
        super().__init__(weights, constants, room)
        self.w0: list[Function] = []
        self.fixed, self.reserved, self.leads = set(constants), {INFINITY}, list[Function]()
        self.laws = dict[str, JSON]()
        self.fields = self.identity(self.weights)
        self.above: dict[str, dict[str, JSON]] = {}

    def beside(self, names: Sequence[str], constants: Sequence[str], room: int) -> Space:
        """Return a space of other names."""
        return Space(names, constants, room)

    def call_at(self, k: int) -> Call | None:
        """Return the call that variable k is, if it is one."""
        at = k - self.size
        return self.generators[at] if 0 <= at < len(self.generators) else None

    def calls_in(self, f: Function) -> Iterator[Call]:
        """Return the calls in a function."""
        return filter(None, map(self.call_at, f.variables))

    def along(self, x: Sequence[Function], f: Function) -> Function:
        """Return <x, grad f>."""
        used = [(k, xk) for k, xk in enumerate(x) if not xk.top.is_zero()]
        return self.sum(xk * f.derivative(k) for k, xk in used)

    def kept(self, f: Function) -> bool:
        """Tell whether the flow keeps a function."""
        return all(self.along(x, f).is_zero() for x in self.fields)

    def values(self, start: Sequence[Value]) -> list[Value]:
        """Return the values of all names, given those of weights and constants."""
        found = list(start)
        for call in self.generators:
            found.append(value_of(call, found))
        return found

    def started(self, at: dict[str, str]) -> list[Value]:
        """Return the values of all names at a start in numbers."""
        given: list[Value] = [rational(at.get(name)) for name in self.given[self.weights :]]
        known = self.values([*[fmpq(0)] * self.weights, *given])  # with the calls of constants
        return self.values([*(w.at(known) for w in self.w0), *given])

    def at_start(self, f: Function) -> Function:
        """Return a function at w_0, in constants; calls at w_0 are plain or among the known."""
        if constant(f) is not None or f.top.is_zero():
            return f
        images = [*self.w0, *self.symbols[self.weights :]]
        for j in f.variables:
            if (call := self.call_at(j)) is not None:
                u = self.at_start(call.argument)
                images[j] = self._call_at_start(call.kind, u, call.exponent)
        return f.into(images)

    def _call_at_start(self, kind: str, u: Function, exponent: Function) -> Function:
        """Return a call at w_0; an integral runs over nothing there."""
        x = constant(u := self._of_roots(u))
        value = fmpq(0) if kind[0] == "I" else None if x is None else ball(kind, x, fmpq(0))
        if isinstance(value, fmpq):
            return self.number(value)
        fixed = (c for c in self.known if all(map(self.is_of_constants, (c.argument, c.image))))
        image = self.among(fixed, Call(kind, u, exponent))
        if image is None:
            raise Rejected(f"the value of a call of {kind:.60} at the start is not known")
        return image

    def near_start(self, f: Function) -> Function:
        """Return a function at w_0, where a call that is not known at w_0 stays what it is."""
        try:
            f = self.at_start(f)
        except Rejected:
            f = f.into([*self.w0, *self.symbols[self.weights :]])
        return self._of_roots(f)

    def _of_roots(self, f: Function) -> Function:
        """Return a function with the powers of roots lowered by their relations."""
        sides = [f.top, f.bottom]
        for relation, k in self.relations[::-1]:
            if k >= self.size and leading(relation, k).is_one():  # what is left is the same
                sides = [remainder(p, relation, k)[0] for p in sides]
        return Function(self, *sides)

    def parts(self, p: fmpz_mpoly, k: int, A: fmpz_mpoly) -> tuple[fmpz_mpoly, fmpz_mpoly]:
        """Return a and b of p = a + b r, where variable k is the root r of A."""
        root = self.symbols[k].top
        p, _ = remainder(p, root**2 - A, k)
        b = p.derivative(k)
        return p - b * root, b

    def conjugates(self, p: fmpz_mpoly) -> Iterator[tuple[Function, Function]]:
        """Yield q = a - b r and p q = a^2 - b^2 A for each square root r of A in p = a + b r.

        A norm p q that is 0 shows nothing of p.
        """
        for k, (kind, A, exponent, root) in enumerate(self.generators, self.size):
            if kind == "power" and root_of(exponent) == 2 and A.bottom.is_one() and root.uses(k):
                a, b = self.parts(p, k, A.top)
                norm = self._of_roots(self.of(a**2 - b**2 * A.top))
                if not (b.is_zero() or norm.top.is_zero()):
                    yield self.of(a) - self.of(b) * root, norm

    def quotient(self, f: Function, p: fmpz_mpoly) -> Function:
        """Return f/p, where that is so without p in the denominator by a conjugate f q/(p q)."""
        for q, norm in self.conjugates(p):
            over = self._of_roots(f * q)
            h = Function(self, over.top, over.bottom * norm.top)
            if f.same(h * self.of(p)):
                return h
        return Function(self, f.top, f.bottom * p)

    def vanish_at_start(self, f: Function, what: str) -> None:
        """Require that a function is 0 at w_0."""
        require(self.at_start(f).is_zero(), f"{what} is not 0 at the start")

    def relate(self, entries: Sequence[JSON]) -> None:
        """Add what is 0 on the leaf: 0 at w_0, with derivatives that are 0 where all are."""
        found = []
        for entry in entries:
            text, main = entry["zero"], entry["main"]
            f, k = self.read(text), self.symbols.index(self.names[main])
            lead = leading(f.top, k)
            self.vanish_at_start(f, f"{text:.60}")
            gives = f.top.degrees()[k] > 0 and not_zero(evaluated(lead, self.start))
            require(gives, f"{text:.60} does not give {main} at the start")
            found.append((f, k))
            self.leads.append(self.of(lead**2))
        self.relations += [(f.top, k) for f, k in found]
        for k, call in enumerate(self.generators, self.size):
            for earlier in filter(partial(self._is_there, call, k), self.known):
                self.relations.append(((call.image - earlier.image).top, k))
        # f' = q f along the fields, and q is regular at the start: f stays 0.
        for (f, _), x in product(found, self.fields):
            slope = self.along(x, f)
            regular = not_zero(evaluated(f.bottom * slope.bottom, self.start))
            require(slope.is_zero() and regular, "what is 0 at the start does not stay 0")

    def _is_there(self, call: Call, k: int, other: Call) -> bool:
        """Tell whether call k is an earlier one, as what is 0 on the leaf makes it."""
        earlier = other.kind == call.kind and all(j < k for j in other.image.variables)
        alike = earlier and call.exponent.same(other.exponent)
        alike = alike and self._agree(other.argument, call.argument, 1)
        return alike and not call.image.same(other.image)

    def without_ties(self, f: Function) -> Function:
        """Return a function on the leaf in the weights that no relation gives linearly."""
        images = list(self.symbols[: self.weights])
        for relation, k in self.relations:
            g = self.of(relation)
            if k < self.weights and relation.degrees()[k] == 1:
                rest = self.of(relation - leading(relation, k) * images[k].top)
                images[k] = -rest / g.partial(k)
        return f.into(images) if any(f.uses(k) for _, k in self.relations) else f

    def scope(self) -> Scope:
        """Return what definitions change."""
        held = vars(self).items()
        return {k: copy.copy(x) for k, x in held if isinstance(x, dict | list | set)}

    def leave(self, before: Scope) -> None:
        """Forget the definitions since *before*."""
        vars(self).update(before)

    def define(self, entry: JSON) -> None:
        """Add a definition: a name for a function or a new call, what a call is, or a relation."""
        require(" ".join(sorted(entry)) in SHAPES, "a definition has the wrong entries")
        if "zero" in entry:
            self.relate([entry])
            return
        if "name" in entry:
            name = entry["name"]
            require(name not in {*self.names, *self.reserved}, "a name is given twice")
            require(NAME.fullmatch(name), "a name is letters, digits and underscores")
        if "of" not in entry:
            self.names[name] = self.read(entry["is"])
            if "value" in entry:
                self._keep(name, entry["value"])
        elif "is" not in entry:
            self._define_generator(name, self.call(entry["of"]), entry["of"])
        else:
            self._define_call(entry, self.call(entry["of"]))

    def _keep(self, name: str, value: JSON) -> None:
        """Require that a name is what the flow keeps, of a *value* at w_0."""
        require(names_in([value]) <= self.fixed, f"the value of {name} is not one of the start")
        self.vanish_at_start(self.names[name] - self.read(value), name)
        require(self.kept(self.names[name]), f"{name} is not conserved")
        self.laws[name] = value

    def _define_generator(self, name: str, call: Call, text: str) -> None:
        """Add a generator, with the relation of a root, or of a sine to its cosine."""
        kind, argument, exponent, _ = call
        require(self.is_of_constants(exponent), "an exponent changes with the weights")
        k, value = self.size + len(self.generators), value_of(call, self.start)
        require(k < len(self.symbols), "there are more definitions than room for them")
        image = self.symbols[k]
        inner = [argument.derivative(i) for i in range(self.weights)]
        slope = (
            self.integrand(text, argument)
            if kind[0] == "I"
            else self.read(SLOPES[kind], {"f": image, "u": argument, "e": exponent})
        )
        moving = any(not x.top.is_zero() for x in inner)
        waits = kind == "cos" and moving  # its derivative is that of a sine to come
        self.slopes.append([] if waits else [slope * x if moving else x for x in inner])
        if kind == "power":
            self.signs.append(argument)
            if n := root_of(exponent):
                self.relations.append(((image**n - argument).top, k))
        elif kind == "sin":
            cosine = self.find("cos", argument)
            self.relations.append(((image**2 + cosine**2 - 1).top, k))
            if cosine in self.symbols:
                self.slopes[self.symbols.index(cosine) - self.size] = [-image * x for x in inner]
        self.names[name] = image
        for known in (self.generators, self.known):
            known.append(call._replace(image=image))
        self.start.append(value)

    def integrand(self, text: str, upper: Function) -> Function:
        """Return by what the integral of f(x) from a, which is b at the start, to b grows with b.

        That is f(b); of (b - x)/f(x) it is the integral of 1/f.
        """
        node: Any = tree_of(text)
        f, x, low, high = (ast.unparse(argument) for argument in node.args)
        require(x not in self.names and NAME.fullmatch(x), "an integral runs over a new name")
        self.vanish_at_start(upper - self.read(low), "what an integral runs over")
        above, below = quotient_of(node.args[0])
        if above == f"{high} - {x}":
            return self.read(f"Integral({below}, {x}, {low}, {high})")
        require(names_in([f, low]) <= self.fixed | {x}, "an integrand is of x and of constants")
        also = {x: upper}
        for name, of in self.above.get(high, {}).items():
            if (called := f"{name}({x})") in f:
                also[f"_{name}"] = self.read(of)
                f = re.sub(rf"\b{re.escape(called)}", f"_{name}", f)
        require(also.keys().isdisjoint(self.names), "a name is reserved")
        return self.read(f, also)

    def _define_call(self, entry: JSON, call: Call) -> None:
        """Add a call that is shown to be a known function."""
        require(self.is_of_constants(call.exponent), "an exponent changes with the weights")
        image = self.read(entry["is"])
        sine = self.read(entry["sin"]) if "sin" in entry else None
        parts = [(self.call(t), rational(n)) for t, n in entry.get("from", ())]
        # an angle would be known up to turns
        plain = call.kind in ("exp", "log", "power", "asinh", "cos")
        plain = plain and (call.kind == "cos") == (sine is not None)
        same = plain and self.is_call(call, image, parts, sine)
        require(same, f"{entry['of']} is not shown to be {entry['is']:.60}")
        self.known.append(call._replace(image=image))
        if sine is not None:
            self.known.append(call._replace(kind="sin", image=sine))

    def root(self, name: str, polynomial: str) -> tuple[fmpz_mpoly, int]:
        """Return the polynomial in the variable of a spare symbol that a name is a root of."""
        k = len(self.symbols) - 1
        require(self.size + len(self.generators) <= k, "no symbol is left for a root")
        require(self.read(polynomial).is_zero(), f"{name} does not solve its polynomial")
        P = self.read(polynomial, {name: self.symbols[k]}).top
        require(0 < P.degrees()[k] <= ROOTS, f"the polynomial of {name} has too high a degree")
        return P, k


def quotient_of(node: ast.expr) -> tuple[str, str]:
    """Return f and 1/g of a quotient f/g that is written so."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)):
        return ast.unparse(node), "1"
    inverse = ast.BinOp(ast.Constant(1), ast.Div(), node.right)
    return ast.unparse(node.left), ast.unparse(inverse)


def value_of(call: Call, values: Sequence[Value]) -> Value:
    """Return the value of a call, given those of names; an integral runs over nothing there."""
    kind, argument, exponent, _ = call
    x = fmpq(0) if kind[0] == "I" else ball(kind, argument.at(values), exponent.at(values))
    require(isinstance(x, fmpq) or x.is_finite(), f"{kind} has no real value there")
    return x
