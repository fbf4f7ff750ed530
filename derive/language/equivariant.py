"""Outputs in vectors whose dimension is left open: sums of scalar multiples of vectors."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass, field
from fractions import Fraction

from derive.errors import LanguageError
from derive.language.budget import DEFAULT, Budget
from derive.language.build import Builder, Built
from derive.language.literals import read_number
from derive.language.parser import Reading, applied, stripped, syntax_tree
from derive.language.screen import ARRAY_FUNCTIONS, check_characters, check_syntax
from derive.language.tree import Tree, fold

_ASK = "give a dimension, for instance --vector {name}:3"


@dataclass(frozen=True, slots=True)
class VectorForm:
    """sum_v phi_v v over vectors v.

    Attributes:
        coefficients: each vector with phi_v, in scalars and norms of vectors.
        norms: each vector with the name that stands for its norm.
    """

    coefficients: tuple[tuple[str, Tree], ...]
    norms: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Value:
    """A scalar, or the coefficients of a vector."""

    scalar: Built | None = None
    vector: dict[str, Built] = field(default_factory=dict)


def vector_form(text: str, vectors: Collection[str], budget: Budget = DEFAULT) -> VectorForm:
    """Read one output that is linear in vectors of open dimension, or raise LanguageError.

    >>> vector_form("a*u", ["u"]).norms
    (('u', 'norm_u'),)
    """
    check_characters(text, budget)
    check_syntax(text, 0, budget, ARRAY_FUNCTIONS)
    source, offset = stripped(text, 0)
    root = syntax_tree(source, offset)
    used = {node.id for node in ast.walk(root) if isinstance(node, ast.Name)}
    norms = {}
    for name in sorted(vectors):
        norms[name] = f"norm_{name}"
        while norms[name] in used:
            norms[name] += "_"
    reader = _Reader(source, offset, Builder(budget), norms)
    value = fold(root, reader.parts, reader.combine)
    if value.scalar is not None:
        name = min(vectors)
        raise LanguageError(f"the output is a number, not a vector: {_ASK.format(name=name)}")
    return VectorForm(
        tuple((name, phi.tree) for name, phi in value.vector.items()),
        tuple((name, norm) for name, norm in norms.items() if name in used),
    )


@dataclass(frozen=True, slots=True)
class _Reader(Reading):
    norms: dict[str, str]

    def combine(self, node: ast.expr, operands: list[_Value]) -> _Value:
        column, build = self.column(node), self.builder
        match node, operands:
            case ast.Name(id=name), _:
                if name in self.norms:
                    return _Value(None, {name: build.number(Fraction(1))})
                return _Value(build.name(name, column))
            case ast.UnaryOp(op=ast.UAdd()), [operand]:
                return operand
            case ast.UnaryOp(), [operand]:
                return self._scaled(operand, build.number(Fraction(-1)), column)
            case ast.Call(func=ast.Name(id=function)), _:
                return self._call(function, operands, column)
            case ast.BinOp(op=operator), [left, right]:
                return self._binary(operator, left, right, column)
        return _Value(build.number(read_number(self.written(node), build.budget, column), column))

    def _call(self, function: str, operands: list[_Value], column: int) -> _Value:
        build = self.builder
        if function in ("norm", "dot"):
            vectors = [self._single(v) for v in operands]
            name = vectors[0] or ""
            if vectors != [name] * (2 if function == "dot" else 1) or not name:
                raise self._refusal(column)
            norm = build.name(self.norms[name], column)
            return _Value(norm if function == "norm" else build.power(norm, Fraction(2), column))
        if len(operands) != 1 or operands[0].scalar is None:
            raise self._refusal(column)
        return _Value(applied(build, function, operands[0].scalar, column))

    def _single(self, value: _Value) -> str | None:
        """Return the name of a vector that stands alone."""
        if value.scalar is None and len(value.vector) == 1:
            ((name, phi),) = value.vector.items()
            return name if phi.size.value == 1 else None
        return None

    def _binary(self, operator: ast.operator, left: _Value, right: _Value, column: int) -> _Value:
        match operator:
            case ast.Add():
                return self._sum(left, right, column)
            case ast.Sub():
                minus = self._scaled(right, self.builder.number(Fraction(-1)), column)
                return self._sum(left, minus, column)
            case ast.Mult() if left.scalar is not None:
                return self._scaled(right, left.scalar, column)
            case ast.Mult() if right.scalar is not None:
                return self._scaled(left, right.scalar, column)
            case ast.Div() if right.scalar is not None:
                return self._divided(left, right.scalar, column)
            case ast.Pow() if left.scalar is not None and right.scalar is not None:
                value = right.scalar.size.value
                if value is None:
                    return _Value(self.builder.real_power(left.scalar, right.scalar, column))
                return _Value(self.builder.power(left.scalar, value, column))
        raise self._refusal(column)

    def _sum(self, left: _Value, right: _Value, column: int) -> _Value:
        build = self.builder
        if left.scalar is not None and right.scalar is not None:
            return _Value(build.operation("+", left.scalar, right.scalar, column))
        if left.scalar is not None or right.scalar is not None:
            raise LanguageError("a number and a vector cannot be added", column)
        total = dict(left.vector)
        for name, phi in right.vector.items():
            known = total.get(name)
            total[name] = phi if known is None else build.operation("+", known, phi, column)
        return _Value(None, total)

    def _divided(self, value: _Value, divisor: Built, column: int) -> _Value:
        build = self.builder
        if value.scalar is not None:
            return _Value(build.operation("/", value.scalar, divisor, column))
        one = build.operation("/", build.number(Fraction(1)), divisor, column)
        return self._scaled(value, one, column)

    def _scaled(self, value: _Value, factor: Built, column: int) -> _Value:
        build = self.builder
        if value.scalar is not None:
            return _Value(build.operation("*", factor, value.scalar, column))
        scaled = {
            name: factor if phi.size.value == 1 else build.operation("*", factor, phi, column)
            for name, phi in value.vector.items()
        }
        return _Value(None, scaled)

    def _refusal(self, column: int) -> LanguageError:
        ask = _ASK.format(name=min(self.norms))
        return LanguageError(f"not of the form phi(..., norm(u))*u: {ask}", column)
