"""Straight-line programs of expressions and their adjoints (Griewank & Walther 2008, chapter 3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from derive.errors import InputError
from derive.language.functions import RECORDS
from derive.language.reader import template
from derive.language.tree import Algebra, Operator, Tree, evaluated

Op: TypeAlias = str
"""Of a register's arguments x, ..: constant values[0]; input number values[0]; linear, the sum of
values[i] args[i] plus values[-1]; multiply; divide; euler, ``t dx/dt``; logderivative, ``t dx/dt /
x``; exp, sin, cos, sinh, cosh of (x, euler x, the partner of the pair); power (to values[0], not an
integer) and log of (x, logderivative x); asinh, atan, ... of (x, ``t dy/dt``)."""
Register: TypeAlias = int
_ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class Instruction:
    """One operation; its place in the tape is the register that it fills."""

    op: Op
    args: tuple[Register, ...] = ()
    values: tuple[Fraction, ...] = ()


@dataclass(frozen=True, slots=True)
class Tape:
    """Instructions in the order of execution, names of the n inputs, register of each output."""

    instructions: tuple[Instruction, ...]
    inputs: tuple[str, ...]
    outputs: tuple[Register, ...]

    def unscaled(self) -> tuple[Tape, tuple[Fraction, ...]]:
        """Take the factor c out of every output ``c x``: a tape of the x, and the c."""
        found = [self.instructions[register] for register in self.outputs]
        scaled = [i.op == "linear" and len(i.args) == 1 and not i.values[-1] for i in found]
        pairs = zip(self.outputs, found, scaled, strict=True)
        outputs = [i.args[0] if s else register for register, i, s in pairs]
        factors = tuple(i.values[0] if s else _ONE for i, s in zip(found, scaled, strict=True))
        return pruned(self.instructions, self.inputs, outputs), factors


def pruned(
    instructions: Sequence[Instruction], inputs: tuple[str, ...], outputs: Sequence[Register]
) -> Tape:
    """Drop what *outputs* do not need, and number the registers anew."""
    needed: set[Register] = set()
    pending = list(outputs)
    while pending:
        register = pending.pop()
        if register not in needed:
            needed.add(register)
            pending.extend(instructions[register].args)
    number = {old: new for new, old in enumerate(sorted(needed))}
    steps = (instructions[old] for old in number)
    kept = tuple(Instruction(x.op, tuple(number[a] for a in x.args), x.values) for x in steps)
    return Tape(kept, inputs, tuple(number[register] for register in outputs))


_Pull: TypeAlias = Callable[[Register], list[tuple[Register, Register, Fraction]]]
"""Adjoint of a register -> (argument, contribution, factor) for each of its arguments."""


class Builder:
    """Builds a tape: every method returns the register of its result, equal ones shared."""

    def __init__(self, inputs: Sequence[str]) -> None:
        self.inputs = tuple(inputs)
        self._instructions: list[Instruction] = []
        self._known: dict[Instruction, Register] = {}
        self._pulls: dict[Register, _Pull] = {}
        self._pairs: dict[tuple[Op, Register], Register] = {}

    def _emit(self, op: Op, args: tuple[Register, ...], *values: Fraction) -> Register:
        instruction = Instruction(op, args, values)
        if instruction not in self._known:
            self._known[instruction] = len(self._instructions)
            self._instructions.append(instruction)
        return self._known[instruction]

    def _traced(self, register: Register, pull: _Pull) -> Register:
        """Remember how an adjoint of *register* flows back; a shared register keeps its first."""
        self._pulls.setdefault(register, pull)
        return register

    def _value(self, register: Register) -> Fraction | None:
        found = self._instructions[register]
        return found.values[0] if found.op == "constant" else None

    def constant(self, value: Fraction) -> Register:
        """Return the register of an exact constant."""
        return self._emit("constant", (), value)

    def input(self, name: str) -> Register:
        """Return the register of an input; InputError if *name* is not one."""
        if name not in self.inputs:
            raise InputError(f"{name} is not a weight; the weights are {', '.join(self.inputs)}")
        return self._emit("input", (), Fraction(self.inputs.index(name)))

    def linear(
        self, terms: Iterable[tuple[Register, Fraction]], constant: Fraction = Fraction(0)
    ) -> Register:
        """Combine linearly: ``sum_i c_i x_i + constant`` for the pairs ``(x_i, c_i)``."""
        total: dict[Register, Fraction] = {}
        for register, factor in terms:
            instruction = self._instructions[register]
            if instruction.op == "constant":
                constant += factor * instruction.values[0]
                continue
            if instruction.op == "linear" and len(instruction.args) == 1:  # look through -1*x
                constant += factor * instruction.values[1]
                register, factor = instruction.args[0], factor * instruction.values[0]
            total[register] = total.get(register, Fraction(0)) + factor
        pairs = [(register, factor) for register, factor in total.items() if factor]
        if not pairs:
            return self.constant(constant)
        if not constant and len(pairs) == 1 and pairs[0][1] == 1:
            return pairs[0][0]
        args = tuple(x for x, _ in pairs)
        register = self._emit("linear", args, *(c for _, c in pairs), constant)
        return self._traced(register, lambda adjoint: [(x, adjoint, c) for x, c in pairs])

    def total(self, registers: Iterable[Register]) -> Register:
        """Add registers."""
        return self.linear((x, _ONE) for x in registers)

    def dot(self, left: Iterable[Register], right: Iterable[Register]) -> Register:
        """Add the products of pairs."""
        return self.total(self.multiply(a, b) for a, b in zip(left, right, strict=True))

    def multiply(self, left: Register, right: Register) -> Register:
        """Multiply two registers; constant factors are taken out of the product."""
        for factor, other in ((left, right), (right, left)):
            if (value := self._value(factor)) is not None:
                return self.linear([(other, value)])
            instruction = self._instructions[factor]
            if instruction.op == "linear" and len(instruction.args) == 1:
                scale, constant = instruction.values
                if not constant:
                    return self.linear([(self.multiply(instruction.args[0], other), scale)])
        a, b = sorted((left, right))
        register = self._emit("multiply", (a, b))
        c, pairs = Fraction(2 if a == b else 1), {a: b, b: a}.items()
        return self._traced(register, lambda adj: [(x, self.multiply(adj, y), c) for x, y in pairs])

    def divide(self, left: Register, right: Register) -> Register:
        """Divide two registers; InputError if the divisor is the constant 0."""
        if (value := self._value(right)) is not None:
            if not value:
                raise InputError("an expression divides by zero")
            return self.linear([(left, 1 / value)])
        register = self._emit("divide", (left, right))

        def pull(adjoint: Register) -> list[tuple[Register, Register, Fraction]]:
            quotient = self.divide(adjoint, right)
            return [(left, quotient, _ONE), (right, self.multiply(quotient, register), -_ONE)]

        return self._traced(register, pull)

    def power(self, base: Register, exponent: Fraction) -> Register:
        """Raise to a rational exponent; an integer one by repeated squaring, defined at 0 too."""

        def pull(adjoint: Register) -> list[tuple[Register, Register, Fraction]]:
            return [(base, self.multiply(adjoint, self.power(base, exponent - 1)), exponent)]

        if exponent < 0 and exponent.denominator == 1:
            return self.divide(self.constant(_ONE), self.power(base, -exponent))
        if exponent.denominator == 1:
            result, square, rest = self.constant(_ONE), base, exponent.numerator
            doublings = not rest & (rest - 1)
            while rest:
                if rest & 1:
                    result = self.multiply(result, square)
                rest >>= 1
                square = self.multiply(square, square) if rest else square
            # Adjoints of its factors cost more products; an older register has a pull of its own.
            if not doublings and base < result:
                self._pulls[result] = pull
            return result
        register = self._emit("power", (base, self._emit("logderivative", (base,))), exponent)
        return self._traced(register, pull)

    def call(self, function: str, x: Register) -> Register:
        """Apply a function of the language; InputError if it has none of that name.

        tan and tanh keep the slope ``1/c^2``, as ``1 - (s/c)^2`` cancels where tanh is nearly 1.
        """
        match function:
            case "sqrt":
                return self.power(x, Fraction(1, 2))
            case "exp":
                y = self._emit("exp", (x, self._emit("euler", (x,))))
                return self._traced(y, lambda adj: [(x, self.multiply(adj, y), _ONE)])
            case "log":
                y = self._emit("log", (x, self._emit("logderivative", (x,))))
                return self._traced(y, lambda adj: [(x, self.divide(adj, x), _ONE)])
            case "asinh":
                inside = self.linear([(self.multiply(x, x), _ONE)], _ONE)
                return self._integral("asinh", x, self.power(inside, Fraction(-1, 2)))
            case "sin" | "cos" | "tan":
                s, c = self._pair("sin", "cos", x, -_ONE)
            case "sinh" | "cosh" | "tanh":
                s, c = self._pair("sinh", "cosh", x, _ONE)
            case _ if (record := RECORDS.get(function)) is None:
                raise InputError(f"{function} is not a function of the language")
            case _ if record.rewritten:
                return self.tree(template(record.rewritten), {"x": x})
            case _:
                return self._integral(function, x, self.tree(template(record.derivative), {"x": x}))
        if not function.startswith("tan"):
            return s if function.startswith("sin") else c
        y = self._emit("divide", (s, c))
        return self._traced(y, lambda adj: [(x, self.divide(adj, self.multiply(c, c)), _ONE)])

    def _integral(self, op: Op, x: Register, slope: Register) -> Register:
        """Emit f(x) from its slope f'(x)."""
        y = self._emit(op, (x, self.multiply(self._emit("euler", (x,)), slope)))
        return self._traced(y, lambda adj: [(x, self.multiply(adj, slope), _ONE)])

    def _pair(self, odd: Op, even: Op, x: Register, sign: Fraction) -> tuple[Register, Register]:
        """Emit sin and cos, or sinh and cosh, each of which needs the jet of the other."""
        slope = self._emit("euler", (x,))
        s = self._pairs.setdefault((odd, x), len(self._instructions))
        c = s + 1  # the register that the partner is about to get, or has
        self._emit(odd, (x, slope, c))
        self._emit(even, (x, slope, s))
        self._traced(s, lambda adj: [(x, self.multiply(adj, c), _ONE)])
        self._traced(c, lambda adj: [(x, self.multiply(adj, s), sign)])
        return s, c

    def tree(self, root: Tree, known: Mapping[str, Register] | None = None) -> Register:
        """Compile an expression in *known* names and inputs; InputError for another name."""
        given = known or {}

        def operation(operator: Operator, left: Register, right: Register) -> Register:
            if operator == "+":
                return self.total((left, right))
            return self.multiply(left, right) if operator == "*" else self.divide(left, right)

        def real_power(base: Register, exponent: Register) -> Register:
            raise InputError("an exponent needs a number: give the parameters values")

        algebra = Algebra(
            self.constant,
            lambda name: given[name] if name in given else self.input(name),
            self.power,
            self.call,
            operation,
            real_power,
        )
        return evaluated(root, algebra)

    def reverse(self, outputs: Sequence[Register], seeds: Sequence[Register]) -> list[Register]:
        """Write out reverse mode: the register of ``(J^T lambda)_j`` for every input j."""
        adjoints: defaultdict[Register, list[tuple[Register, Fraction]]] = defaultdict(list)
        for output, seed in zip(outputs, seeds, strict=True):
            adjoints[output].append((seed, _ONE))
        for register in range(max(outputs, default=-1), -1, -1):
            if register in adjoints and register in self._pulls:
                total = self.linear(adjoints[register])
                for argument, contribution, factor in self._pulls[register](total):
                    adjoints[argument].append((contribution, factor))
        return [self.linear(adjoints.get(self.input(name), [])) for name in self.inputs]

    def raised(self, rates: Sequence[Tree], slopes: Sequence[Register]) -> list[Register]:
        """Write out G^-1 times a covector; no rates stand for rates 1.

        q rates for each weight are rows of blocks of q weights, which are the diagonal of G^-1.
        """
        q, moved = len(rates) // len(slopes), list(slopes)
        for k in range(len(slopes) if q else 0):
            block = slopes[k - k % q : k - k % q + q]
            row = zip(block, rates[k * q :], strict=False)
            terms = [self.multiply(slope, self.tree(rate)) for slope, rate in row]
            moved[k] = terms[0] if q == 1 else self.total(terms)
        return moved

    def gradient(self, output: Register) -> list[Register]:
        """Write out the derivatives of one output by every input."""
        return self.reverse([output], [self.constant(_ONE)])

    def tape(self, outputs: Sequence[Register]) -> Tape:
        """Return the finished program for *outputs*."""
        return pruned(self._instructions, self.inputs, outputs)


def compile_forward(outputs: Sequence[Tree], weights: Sequence[str]) -> Tape:
    """Compile d expressions in p weights to ``F_1 .. F_d``; InputError for an unknown name.

    >>> from derive.language.tree import Name, Operation
    >>> w = Name("w")
    >>> len(compile_forward([Operation("+", Operation("*", w, w), w)], ["w"]).instructions)
    3
    """
    builder = Builder(weights)
    return builder.tape([builder.tree(output) for output in outputs])


def compile_slopes(output: Tree, weights: Sequence[str]) -> Tape:
    """Compile an expression F in p weights to F and then its p derivatives."""
    builder = Builder(weights)
    value = builder.tree(output)
    return builder.tape([value, *builder.gradient(value)])


def compile_kernel(output: Tree, weights: Sequence[str], rates: Sequence[Tree]) -> Tape:
    """Compile F in p weights to its tangent kernel ``K = dF G^-1 dF``, G^-1 of the rates."""
    builder = Builder(weights)
    slopes = builder.gradient(builder.tree(output))
    return builder.tape([builder.dot(slopes, builder.raised(rates, slopes))])
