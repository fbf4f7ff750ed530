"""Products of series: convolutions of integers, one for several where they share a factor."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from itertools import count, islice
from operator import mul
from typing import TypeAlias

from mpmath.libmp import MPZ

from numerics.flow.fixed_point import ZERO, Integer, Rule, Series
from numerics.flow.tape import Instruction, Register

_GROWTH = 16  # bits by which coefficients in lanes may outgrow the first one
_TERMS = 20  # bits by which a sum of products may outgrow them, and its sign
_LANES = 8
Group: TypeAlias = tuple[Register, ...]
"""Products of one factor, or a single register."""


def product(out: Series, x: Series, y: Series) -> Rule:
    """Write ``out_k = sum_i x_i y_(k-i)``."""
    a, b, write = x.cells, y.cells, out.cells.append
    while not (raw := sum(map(mul, a, reversed(b)))):
        write(ZERO)
        yield
    down = out.fix(raw, x.grid + y.grid)
    while True:
        write(raw >> down)
        yield
        raw = sum(map(mul, a, reversed(b)))


def square(out: Series, x: Series) -> Rule:
    """Write ``out_k = 2 sum_(i < k/2) x_i x_(k-i)``, and the square in the middle for even k."""
    a, write, order = x.cells, out.cells.append, 0
    while not (middle := a[order // 2]):
        write(ZERO)
        yield
        order += 1
    # The first coefficient that is not 0 is of even order.
    down = out.fix(middle * middle, 2 * x.grid)
    for half in count(order // 2):
        middle = a[half]
        raw = (sum(map(mul, islice(a, half), reversed(a))) << 1) + middle * middle
        write(raw >> down)
        yield
        write(sum(map(mul, islice(a, half + 1), reversed(a))) << 1 >> down)
        yield


def products(outs: Sequence[Series], xs: Sequence[Series], y: Series) -> Rule:
    """Write ``out_k = sum_i x_i y_(k-i)`` for several x, as ``(x + 2^W z) y = x y + 2^W z y``.

    To handle integers takes longer than to multiply their digits, so that one convolution in lanes
    of W bits costs less than several, for as long as the coefficients fit.
    """
    pairs = list(zip(outs, xs, strict=True))
    apart = [product(out, x, y) for out, x in pairs]
    while any(out.exponent is None for out in outs):
        deque(map(next, apart), maxlen=0)
        yield
    size = y.bits + _GROWTH
    width = 2 * size + _TERMS
    half, known, b, wide = MPZ(1) << (width - 1), len(outs[0].cells), y.cells, list[Integer]()
    lanes = [(out.cells.append, out.grid - x.grid - y.grid, x.cells) for out, x in pairs]
    (top, over, highest), lower = lanes[-1], lanes[:-1]
    for k in count():
        packed, fits = highest[k], max(b[k].bit_length(), highest[k].bit_length()) <= size
        for _, _, a in reversed(lower):
            fits &= a[k].bit_length() <= size
            packed = (packed << width) + a[k]
        if not fits:
            break
        wide.append(packed)
        if k >= known:
            raw = sum(map(mul, wide, reversed(b)))
            for write, down, _ in lower:
                rest = (raw + half) >> width
                write((raw - (rest << width)) >> down)
                raw = rest
            top(raw >> over)
            yield
    while True:
        for write, down, a in lanes:
            write(sum(map(mul, a, reversed(b))) >> down)
        yield


def groups(instructions: Sequence[Instruction]) -> list[Group]:
    """Return all registers in an order of execution, products of one factor together."""
    levels: list[int] = []
    for i, step in enumerate(instructions):
        # Of a pair such as sin and cos, each lags behind the other.
        levels.append(max((levels[a] + 1 for a in step.args if a < i), default=0))
    uses = Counter(
        (level, a)
        for level, step in zip(levels, instructions, strict=True)
        if is_product(step)
        for a in step.args
    )
    shared: defaultdict[tuple[int, Register], list[Register]] = defaultdict(list)
    order: list[tuple[int, Group]] = []
    for i, (level, step) in enumerate(zip(levels, instructions, strict=True)):
        if is_product(step):
            factor = max(step.args, key=lambda a, level=level: (uses[level, a], a))  # type: ignore[misc]
            shared[level, factor].append(i)
        else:
            order.append((level, (i,)))
    for (level, _), members in shared.items():
        parts = (members[n : n + _LANES] for n in range(0, len(members), _LANES))
        order += [(level, tuple(part)) for part in parts]
    return [group for _, group in sorted(order)]


def is_product(step: Instruction) -> bool:
    """Tell whether it multiplies two different registers."""
    return step.op == "multiply" and step.args[0] != step.args[1]
