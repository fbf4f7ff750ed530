"""What the names in F are: weights, parameters, start symbols; entries of vectors and matrices."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial, reduce

from derive.errors import InputError
from derive.exact.signs import Signs
from derive.exact.towers import tower
from derive.language import parse_expression, parse_name
from derive.language.reader import Value
from derive.language.tree import (
    Call,
    Name,
    Number,
    Operation,
    Power,
    RealPower,
    Tree,
    children,
    exponent_names,
    fold,
    names,
    substituted,
    walk,
    with_parts,
)

PI = tower.PI
"""The name of the number."""


def read_tree(value: object, what: str) -> Tree:
    """Return text, an exact number, a SymPy expression or a tree as a tree."""
    return fold(_read(value, what), children, lambda x, parts: _one_word(with_parts(x, parts)))


def _one_word(node: Tree) -> Tree:
    """Return log(x + sqrt(x^2 + 1)) as asinh(x): the same function has one name."""
    match node:
        case Call("log", Operation("+", left, right)):
            for x, root in ((left, right), (right, left)):
                square, one = Power(x, Fraction(2)), Number(Fraction(1))
                sums = (Operation("+", square, one), Operation("+", one, square))
                if root in [Power(s, Fraction(1, 2)) for s in sums]:
                    return Call("asinh", x)
    return node


def _read(value: object, what: str) -> Tree:
    if isinstance(value, str):
        return parse_expression(value)
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return Number(Fraction(value))
    if hasattr(value, "free_symbols"):
        from derive.language import from_sympy

        return from_sympy(value)
    if isinstance(value, float):
        raise InputError(f"{what} is the float {value!r}: write it as text or as an exact Fraction")
    if isinstance(value, Tree):
        return value
    raise InputError(f"{what} is of type {type(value).__name__}: give text or a SymPy expression")


def read_parameters(trees: tuple[Tree, ...], declared: tuple[str, ...]) -> tuple[str, ...]:
    """Return the declared parameters, which a penalty may use, the names in exponents, and pi.

    What is proved for every positive value of a parameter is proved for pi; and as pi is
    transcendental, what is refuted by an identity between polynomials fails for pi as well. The
    sine of a multiple of pi is another matter, and refused.
    """
    used = names(trees)
    for node in (node for tree in trees for node in walk(tree) if PI in used):
        match node:
            case Call("sin" | "cos" | "tan" as function, inner) if PI in names((inner,)):
                other = "write a parameter, as with --parameter c, in its place"
                raise InputError(f"pi under {function} is not covered: {other}")
    own = (PI,) if PI in used else ()
    return tuple(dict.fromkeys((*declared, *exponent_names(trees), *own)))


def read_weights(
    trees: tuple[Tree, ...], parameters: tuple[str, ...], given: Sequence[object] | None
) -> tuple[str, ...]:
    """Return the weights as given, else the other names in the outputs as they appear."""
    free = tuple(name for name in names(trees) if name not in parameters)
    if not free:
        raise InputError(
            f"no weight is left: names in exponents are parameters ({', '.join(parameters)}); "
            "for a weight in an exponent write exp(exponent*log(base))"
        )
    if given is None:
        return free
    ordered = tuple(parse_name(str(w), "weight") for w in given)
    if PI in ordered:
        raise InputError(
            "pi is the number: no weight, and not covered beside a vector of open dimension"
        )
    for name in free:
        if name not in ordered:
            raise InputError(f"the outputs use {name}, which is not among the weights")
    if len(set(ordered)) != len(ordered):
        raise InputError("a weight is named twice")
    for name in parameters:
        if name in ordered:
            raise InputError(f"{name} is in an exponent, so it is a parameter, not a weight")
    return ordered


def positive_bases(trees: tuple[Tree, ...], weights: tuple[str, ...]) -> tuple[str, ...]:
    """Return the weights under roots, under real powers, or in a logarithm."""
    found = [b.name for b in bases(trees) if isinstance(b, Name) and b.name in weights]
    return tuple(dict.fromkeys(found))


def bases(trees: tuple[Tree, ...]) -> Iterator[Tree]:
    """Yield what has to be positive: under roots and real powers, and in logarithms."""
    return (base for base, _ in powers(trees))


def powers(trees: tuple[Tree, ...]) -> Iterator[tuple[Tree, Fraction | None]]:
    """Yield the same with the exponent of a root, None of others."""
    for tree in trees:
        for node in walk(tree):
            match node:
                case RealPower(inner, _) | Call("log", inner):
                    yield inner, None
                case Power(inner, exponent) if exponent.denominator > 1:
                    yield inner, exponent


def read_starts(
    weights: tuple[str, ...], parameters: tuple[str, ...], start: Mapping[str, object]
) -> tuple[tuple[str, Tree], ...]:
    """Return the start of every weight: as given, else a new symbol ``<weight>_0``."""
    given = {name: read_tree(value, f"the start of {name}") for name, value in start.items()}
    for name, tree in given.items():
        if name not in weights:
            raise InputError(
                f"start: there is no weight {name} (the weights are {', '.join(weights)})"
            )
        for symbol in names((tree,)):
            if symbol in weights:
                raise InputError(
                    f"start: the value of {name} uses the weight {symbol}; "
                    "use numbers or new symbols such as alpha"
                )
    taken = {*weights, *parameters}
    return tuple((w, given.get(w, Name(unused(f"{w}_0", taken, "0")))) for w in weights)


def unused(name: str, taken: Collection[str], more: str = "_") -> str:
    """Return a name that is not taken, with underscores, or *more*, at its end."""
    while name in taken:
        name += more
    return name


def read_positive(
    declared: tuple[str, ...],
    trees: tuple[Tree, ...],
    start: tuple[tuple[str, Tree], ...],
    parameters: tuple[str, ...],
) -> tuple[str, ...]:
    """Return the names that are positive: declared, or where F is defined, and their starts."""
    weights, values = zip(*start, strict=True)
    known = (*weights, *(n for n in names(values) if n not in parameters), *parameters)
    for name in declared:
        if name not in known:
            raise InputError(
                f"positive: {name} is neither a weight nor a start symbol ({', '.join(known)})"
            )
    # F is defined only where bases of roots and real powers, and arguments of log, are > 0.
    own = [name for name in known if name == PI]
    needed = (*declared, *positive_bases(trees, weights), *own)
    narrowed = [x.name for weight, x in start if weight in needed and isinstance(x, Name)]
    return tuple(dict.fromkeys((*needed, *narrowed)))


def independent_entries(arrays: Sequence[Value]) -> tuple[Tree, ...]:
    """Return the entries row by row; of a symmetric matrix those on and above the diagonal."""
    found: list[Tree] = []
    for array in arrays:
        n = array.shape[0] if _is_symmetric(array) else 0
        above = [array.trees[i * n + j] for i in range(n) for j in range(i, n)]
        found += above or array.trees
    return tuple(found)


def _is_symmetric(array: Value) -> bool:
    if len(array.shape) != 2 or array.shape[0] != array.shape[1]:
        return False
    n = array.shape[0]
    parameters = exponent_names(array.trees)
    weights = [name for name in names(array.trees) if name not in parameters]
    try:
        elements = tower.build_elements(array.trees, weights, parameters)
    except ZeroDivisionError:
        raise InputError("an output divides by an expression that is zero") from None
    return all(elements[i * n + j] == elements[j * n + i] for i in range(n) for j in range(i))


def oriented(tree: Tree, start: Mapping[str, Tree], positive: frozenset[str]) -> Tree:
    """Return an expression with (x^n)^e, n even, as (s x)^(n e), s the sign of x at the start.

    And with (x/y)^p as (s x)^p (t y)^-p, with the signs of both. Flows from there end at x = 0,
    where such a power is not smooth. The root stays as it is where that sign is not known, and
    where n e is whole, as for sqrt(x^2), of which s x alone would not tell that the flow ends.
    """
    one = Number(Fraction(1))

    def sign(x: Tree) -> int:
        return _sign(substituted(x, start), positive)

    def side(x: Tree, s: int) -> Tree:
        return x if s > 0 else negative(x)

    def combine(node: Tree, parts: list[Tree]) -> Tree:
        match node := with_parts(node, parts):
            case Power(Power(x, n), e) if n % 2 == 0 and (n * e).denominator > 1:
                if s := sign(x):
                    return Power(side(x, s), n * e)
            case RealPower(base, e):
                signs = [(x, sign(x), n) for x, n in _multiplied(base, e)]
                if len(signs) > 1 and all(s for _, s, _ in signs):
                    sides = ((side(x, s), n) for x, s, n in signs)
                    powers: list[Tree] = [RealPower(x, n) for x, n in sides if x != one]
                    return reduce(partial(Operation, "*"), powers or [one])
        return node

    return fold(tree, children, combine)


def negative(x: Tree) -> Tree:
    """Return -x."""
    return Number(-x.value) if isinstance(x, Number) else Operation("*", Number(Fraction(-1)), x)


def _multiplied(tree: Tree, e: Tree) -> Iterator[tuple[Tree, Tree]]:
    """Yield the factors of a power of a product, each with its exponent."""
    match tree:
        case Operation("*" | "/" as operator, a, b):
            yield from _multiplied(a, e)
            yield from _multiplied(b, e if operator == "*" else negative(e))
        case _:
            yield tree, e


def _sign(value: Tree, positive: frozenset[str]) -> int:
    """Return the sign of an expression in start symbols; 0: not known."""
    try:
        (element,) = tower.build_elements([value], names((value,)), positive=positive)
    except (InputError, ZeroDivisionError):
        return 0
    return Signs(positive).strict(element)
