"""Straight-line programs of coefficient recurrences: Griewank & Walther 2008, chapter 13."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

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

    def take(self, positions: Iterable[int]) -> Tape:
        """Keep the outputs at *positions* only, and the instructions that they need."""
        return pruned(self.instructions, self.inputs, [self.outputs[i] for i in positions])

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
