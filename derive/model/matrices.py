"""Matrices of open size: F = sum_t c_t A_t B_t^T, and what its measurements have in common.

beta = F(w) is known by y_i = <X_i, beta> alone. Where one orthonormal basis O, or two, O and H,
have X_i = O diag(a_i) H^T for all i, the rows a_k of O^T A and b_k of H^T B meet in

    b_k = (O^T beta H)_kk = sum_t c_t <a_k, b_k>,   <X_i, beta> = sum_k a_ik b_k,

and no other rows: with the symmetric M of this quadratic form gradient flow is w_k' = 2 lambda_k M
w_k, w_k all rows k one above the other. In the eigenspaces of M, of eigenvalue mu, the part of w_k
keeps its direction, so that its length n_mu alone moves, and **b_k = sum_mu mu n_mu^2**: one output
in as many weights as M has eigenvalues other than 0.

Of L >= 3 factors, F = W_1 ... W_L, that needs a start: from W_l = O_{l-1} D O_l^T, with one
diagonal D and orthonormal columns of O_0 = O, ..., O_L = H, the flow keeps to that form, as W_l' =
(W_1 ... W_{l-1})^T X (W_{l+1} ... W_L)^T = O_{l-1} D^(L-1) diag(a) O_l^T, and **b_k = d_k^L** for
every k where no factor is narrower than beta; else some b_k stay 0. (Derived here.)
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, TypeAlias

import sympy
from flint import fmpq, fmpq_mat

from derive.errors import InputError
from derive.exact.field.function_field import RationalFunction
from derive.exact.towers.tower import build_elements
from derive.language import parse_expression
from derive.language.arguments import parse_array_outputs
from derive.language.arrays import entry_names
from derive.language.tree import Tree, names

Rows: TypeAlias = tuple[tuple[Fraction, ...], ...]
MEASUREMENTS = ("commuting", "diagonal", "one", "general")
OURS = frozenset("GOHXKQMSFZ")
"""Names that the page has for bases, measurements and others."""
SHAPE = re.compile(r"\s*([A-Za-z]\w*?|\d+)\s*x\s*([A-Za-z]\w*|\d+)\s*")
FACTOR = re.compile(r"\s*(?:T\(\s*([A-Za-z]\w*)\s*\)|([A-Za-z]\w*))\s*")
CHAIN = re.compile(
    rf"\s*(-?)\s*(?:(\d+(?:/\d+)?)\s*\*)?{FACTOR.pattern}(?:\*{FACTOR.pattern}){{2,}}"
)
FORM = "write F as a sum of products such as W*T(W) or U*T(V), of matrices with as many columns"
ROWS = (2, 3)
"""Rows of the matrices by which F is read."""
LETTERS = {1: ("w",), 2: ("x", "z")}


@dataclass(frozen=True, repr=False)
class MatrixMap:
    """beta = F(w) of matrices of open size.

    Attributes:
        text: F as it was given.
        shapes: the rows and the columns of each matrix, as they were given.
        measurements: of which kind they are, one of ``MEASUREMENTS``.
        terms: c_t with A_t and B_t.
        given: the X_i, each row by row, where they are given.

    >>> from derive.language import to_text
    >>> p = MatrixMap.parse(["U*T(V)"], {"U": "n x r", "V": "m x r"}, "commuting")
    >>> p.terms, to_text(p.of_one_entry)
    ((('U', 'V', Fraction(1, 1)),), '(x**2 - z**2)/2')
    """

    begin: ClassVar[str] = "from any start"
    argument: ClassVar[str] = (
        "with `<X_i, F> = sum_k a_ik b_k` the rows `k` in the bases obey `w_k' = 2 lambda_k M "
        "w_k`, with the symmetric `M` of the quadratic form `b_k`, and in its eigenspaces only "
        "lengths move"
    )
    fold: ClassVar[str] = "derive.matrices:derive_matrices"
    """The stages by which it is derived."""

    text: str
    shapes: tuple[tuple[str, tuple[str, str]], ...]
    measurements: str
    terms: tuple[tuple[str, str, Fraction], ...]
    given: Rows = ()

    def __repr__(self) -> str:
        """Return the code that makes it."""
        shapes = {name: " x ".join(shape) for name, shape in self.shapes}
        rows = [[str(x) for x in row] for row in self.given]
        return f"MatrixMap.parse({[self.text]}, {shapes}, {rows or self.measurements!r})"

    @classmethod
    def parse(
        cls,
        outputs: Sequence[str],
        matrices: Mapping[str, str],
        measurements: str | Sequence[Sequence[object]],
        *,
        others: Iterable[object] = (),
    ) -> MatrixMap:
        """Read F, ``{"W": "n x r"}``, and the kind of measurements, or each X_i row by row.

        Args:
            others: what was given besides; there must be nothing.

        Raises:
            LanguageError: a text is not an expression.
            InputError: F is not of this form, or sizes do not fit.
        """
        if any(others):
            raise InputError("matrices of open size go with measurements alone")
        kind = measurements if isinstance(measurements, str) else "general"
        if kind not in MEASUREMENTS:
            raise InputError(f"measurements: choose one of {', '.join(MEASUREMENTS)}")
        if len(outputs) != 1:
            raise InputError("with matrices of open size give one output, such as W*T(W)")
        read = AlignedMap.read if _is_chain(outputs, matrices) else cls.read
        found = read(outputs[0].strip(), _read_sizes(matrices), kind)
        return found if isinstance(measurements, str) else found.measured_by(measurements)

    @classmethod
    def read(cls, text: str, shapes: Mapping[str, tuple[str, str]], kind: str) -> MatrixMap:
        """Read a sum of products whose sizes fit."""
        if len({columns for _, columns in shapes.values()}) != 1:
            raise InputError(FORM)
        terms = _read_terms(text, shapes)
        found = cls(text, tuple(shapes.items()), kind, terms)
        if {rows for a, b, _ in terms for rows in (shapes[a][0], shapes[b][0])} - {*found.size}:
            raise InputError("terms of F have different sizes")
        if found.is_square and found.size[0] != found.size[1]:
            raise InputError(f"{found.text} is no matrix of one size")
        return found

    def measured_by(self, rows: Sequence[Sequence[object]]) -> MatrixMap:
        """Return the same F under given measurements, which have common bases or have none."""
        given = [[Fraction(str(x)) for x in row] for row in rows]
        if len({*map(len, given)}) != 1:
            raise InputError("give measurements as rows of as many numbers")
        n, m = self.size_for(len(given[0]))
        X = [fmpq_mat(n, m, [fmpq(x.numerator, x.denominator) for x in row]) for row in given]
        if self.terms and {*self.terms} == {(b, a, c) for a, b, c in self.terms}:
            X = [(x + x.transpose()) / 2 for x in X]
        if fmpq_mat([x.entries() for x in X]).rref()[1] < len(X):
            raise InputError("the measurements depend linearly on each other: drop some")
        kind = "commuting" if _have_bases(X, self.is_square) else "general"
        read = tuple(tuple(Fraction(int(c.p), int(c.q)) for c in x.entries()) for x in X)
        return replace(self, measurements=kind, given=read)

    def size_for(self, count: int) -> tuple[int, int]:
        """Return the rows and columns of beta, which has that many entries; else InputError."""
        n, m = (int(x) if x.isdigit() else 0 for x in self.size)
        if not n and self.size[0] == self.size[1]:
            n = m = math.isqrt(count)
        if n * m != count:
            raise InputError(f"no size fits rows of {count} numbers: U:2xr,V:3xr has rows of 6")
        return n, m

    def shapes_at(self, n: int, m: int, r: int) -> dict[str, tuple[int, int]]:
        """Return the rows and columns of each matrix where beta has n rows and m columns."""
        return {x: (n if x in self.lefts else m, r) for x in self.names}

    @property
    def lefts(self) -> tuple[str, ...]:
        """The A_t."""
        return tuple(dict.fromkeys(a for a, _, _ in self.terms))

    @property
    def rights(self) -> tuple[str, ...]:
        """The B_t."""
        return tuple(dict.fromkeys(b for _, b, _ in self.terms))

    @property
    def formula(self) -> str:
        """F in our notation."""
        terms = [(c, f"{a} {b}^T") for a, b, c in self.terms]
        signed = (
            (("- " if c < 0 else "+ "), "" if abs(c) == 1 else f"{abs(c)} ", x) for c, x in terms
        )
        return " ".join(map("".join, signed)).removeprefix("+ ")

    @property
    def is_square(self) -> bool:
        """Whether a matrix stands on both sides, so that O = H."""
        return bool({*self.lefts} & {*self.rights})

    @property
    def size(self) -> tuple[str, str]:
        """The rows and the columns of beta."""
        rows = dict(self.shapes)
        (a, b, _), *_ = self.terms
        return rows[a][0], rows[b][0]

    @property
    def columns(self) -> str:
        """The columns of the matrices."""
        return self.shapes[0][1][1]

    @property
    def names(self) -> tuple[str, ...]:
        """The matrices."""
        return tuple(dict.fromkeys((*self.lefts, *self.rights)))

    @property
    def form(self) -> sympy.Matrix:
        """M, in the order of the names."""
        M, at = sympy.zeros(len(self.names)), self.names.index
        for a, b, c in self.terms:
            half = sympy.Rational(c.numerator, 2 * c.denominator)
            M[at(a), at(b)] += half
            M[at(b), at(a)] += half
        return M

    @property
    def eigenspaces(self) -> tuple[tuple[sympy.Rational, tuple[sympy.Matrix, ...]], ...]:
        """Each eigenvalue of M but 0, from the largest, with an orthonormal basis."""
        found = [(mu, v) for mu, _, v in self.form.eigenvects() if mu != 0]
        if not all(mu.is_rational for mu, _ in found):
            raise InputError("the quadratic form of F has eigenvalues that are not rational")
        ordered = sorted(found, key=lambda pair: -pair[0])
        return tuple((mu, tuple(sympy.GramSchmidt(v, orthonormal=True))) for mu, v in ordered)

    @property
    def lengths(self) -> tuple[str, ...]:
        """The names of n_mu."""
        count = len(self.eigenspaces)
        return LETTERS.get(count) or tuple(f"w{k}" for k in range(1, count + 1))

    @property
    def of_one_entry(self) -> Tree:
        """b_k in the lengths n_mu."""
        values = [mu for mu, _ in self.eigenspaces]
        scale = abs(values[0]) if len({abs(mu) for mu in values}) == 1 else sympy.Integer(1)
        pairs = zip(values, self.lengths, strict=True)
        text = " + ".join(f"({mu / scale})*{n}**2" for mu, n in pairs)
        tidy = text.replace("(1)*", "").replace("+ (-1)*", "- ")
        p, q = scale.p, scale.q
        whole = tidy if scale == 1 else f"({tidy})/{q}" if p == 1 else f"({tidy})*{p}/{q}"
        return parse_expression(whole)

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """What each n_mu is of the rows, in lower case: u_k of E^T U."""
        found = []
        for name, (_, vectors) in zip(self.lengths, self.eigenspaces, strict=True):
            norms = [_norm(vector, self.names) for vector in vectors]
            whole = norms[0] if len(norms) == 1 else f"sqrt({' + '.join(f'{x}**2' for x in norms)})"
            found.append((name, whole))
        return tuple(found)

    @property
    def kept(self) -> str:
        """What the flow keeps."""
        parts = ", ".join(f"`{of}`" for _, of in self.parts)
        return f"the parts of the rows in {parts} keep their directions"

    @property
    def rows(self) -> tuple[str, ...]:
        """What letters of the parts mean."""
        most = self.size[0] if self.size[0] == self.size[1] else f"min({', '.join(self.size)})"
        bases = ("H^T" if x in self.rights and not self.is_square else "O^T" for x in self.names)
        return tuple(
            f"`{x.lower()}_k` is row `k` of `{basis} {x}`, for `k = 1, ..., {most}`"
            for x, basis in zip(self.names, bases, strict=True)
        )

    @property
    def scaled(self) -> dict[str, str]:
        """The start of the lengths from alpha W_1."""
        return {n: f"alpha*{n}_1" for n in self.lengths}

    @property
    def asked(self) -> tuple[str, ...]:
        """What is asked of the sizes."""
        return ()

    @property
    def positive(self) -> str:
        """That all parts of the rows are there."""
        return f"all {', '.join(f'`{x}`' for x in self.lengths)} are above 0"

    @property
    def small(self) -> str:
        """That start of the matrices."""
        start = ", ".join(f"`{x}_0 = alpha {x}_1`" for x in self.names)
        return f"{start} with `alpha -> 0`, where {self.positive}"

    @property
    def among(self) -> str:
        """Which beta there are."""
        signs = {mu > 0 for mu, _ in self.eigenspaces}
        return "`beta`" if len(signs) > 1 else f"`beta {'>=' if signs == {True} else '<='} 0`"

    @property
    def is_product(self) -> bool:
        """Whether F = c U V^T."""
        return len(self.terms) == 1 and not self.is_square


@dataclass(frozen=True)
class AlignedMap(MatrixMap):
    """beta = c W_1 ... W_L of three matrices or more, some transposed, from aligned starts.

    >>> shapes = {"U": "n x r", "B": "s x r", "V": "s x m"}
    >>> p = MatrixMap.parse(["U*T(B)*V"], shapes, "commuting")
    >>> p.formula, p.size, p.scaled
    ('U B^T V', ('n', 'm'), {'d': 'alpha'})
    """

    begin = "from `W_l(0) = O_{l-1} D O_l^T`, with one diagonal `D > 0` and `O_0 = O`, `O_L = H`"
    argument = (
        "the factors `W_l` keep to this form, as `W_l' = O_{l-1} D^(L-1) diag(lambda) O_l^T` with "
        "`lambda_k = sum_i a_ik s_i`"
    )

    lengths = ("d",)
    parts = (("d", "D_kk"),)
    kept = "`beta = O diag(b) H^T`: the `|b_k|` are its singular values, and `Q` is a sum over `k`"
    small = "`W_l(0) = alpha O_{l-1} O_l^T` with `alpha -> 0`"

    @classmethod
    def read(cls, text: str, shapes: Mapping[str, tuple[str, str]], kind: str) -> MatrixMap:
        """Read a product whose sizes fit."""
        found = cls(text, tuple(shapes.items()), kind, ())
        sizes = found.sizes
        if len({*found.names}) < len(sizes) or {*found.names} != {*shapes}:
            raise InputError("a product of three matrices or more has each once")
        if any(left[1] != right[0] for left, right in itertools.pairwise(sizes)):
            raise InputError("neighbours in a product have columns and rows of one size")
        if any(x.isdigit() and y.isdigit() and int(x) < int(y) for x, y in found.inner):
            raise InputError("a product as narrow as this has no entries b_k for all rows")
        return found

    @property
    def inner(self) -> Iterator[tuple[str, str]]:
        """Sizes where factors meet, and the least of beta, below which some b_k stays 0."""
        n, m = self.size
        numbers = sorted((x for x in {n, m} if x.isdigit()), key=int)
        least = n if n == m else numbers[0] if len(numbers) == 2 else f"min({n}, {m})"
        yield from ((rows, least) for rows, _ in self.sizes[1:] if rows not in (n, m))

    @property
    def asked(self) -> tuple[str, ...]:
        """That no factor is narrower than beta."""
        open_ = (f"`{x} >= {y}`" for x, y in self.inner if not (x + y).isdigit())
        return tuple(dict.fromkeys(open_))

    @property
    def factors(self) -> tuple[tuple[str, bool], ...]:
        """The matrices in their order, and whether each is transposed."""
        return tuple((a or b, bool(a)) for a, b in FACTOR.findall(self.text))

    @property
    def names(self) -> tuple[str, ...]:
        """The matrices."""
        return tuple(name for name, _ in self.factors)

    @property
    def sizes(self) -> tuple[tuple[str, ...], ...]:
        """The rows and the columns of each factor."""
        shapes = dict(self.shapes)
        return tuple(shapes.get(x, ("", ""))[:: -1 if turned else 1] for x, turned in self.factors)

    @property
    def size(self) -> tuple[str, str]:
        """The rows and the columns of beta."""
        return self.sizes[0][0], self.sizes[-1][1]

    def shapes_at(self, n: int, m: int, r: int) -> dict[str, tuple[int, int]]:
        """Return the rows and columns of each matrix where inner sizes are r."""
        ends = (n, *[r] * (len(self.factors) - 1), m)
        pairs = zip(self.factors, itertools.pairwise(ends), strict=True)
        return {x: (b, a) if turned else (a, b) for (x, turned), (a, b) in pairs}

    @property
    def formula(self) -> str:
        """F in our notation."""
        words = (f"{x}^T" if turned else x for x, turned in self.factors)
        return " ".join([*[str(self.coefficient)] * (self.coefficient != 1), *words])

    @property
    def of_one_entry(self) -> Tree:
        """b_k in d_k."""
        head = f"({self.coefficient})*" * (self.coefficient != 1)
        return parse_expression(f"{head}d**{len(self.factors)}")

    @property
    def coefficient(self) -> Fraction:
        """The number c."""
        read = CHAIN.fullmatch(self.text)
        return Fraction(f"{read[1]}{read[2] or 1}") if read else Fraction(1)

    @property
    def among(self) -> str:
        """Which beta there are."""
        return f"`beta` with all `b_k {'>=' if self.coefficient > 0 else '<='} 0`"

    @property
    def rows(self) -> tuple[str, ...]:
        """That letters stand for the factors."""
        return (f"`W_1, ..., W_{len(self.factors)}` are the factors in their order",)

    @property
    def scaled(self) -> dict[str, str]:
        """The start of d at alpha."""
        return {"d": "alpha"}


def _norm(vector: sympy.Matrix, letters: Sequence[str]) -> str:
    """Return |sum_A e_A a_k| as text."""
    first = next(x for x in vector if x)
    scale = max(map(abs, vector)) * sympy.sign(first)
    parts = [(x / scale, f"{a.lower()}_k") for x, a in zip(vector, letters, strict=True) if x]
    signs = ((("- " if x < 0 else "+ "), "" if abs(x) == 1 else f"{abs(x)}*", a) for x, a in parts)
    whole = f"|{' '.join(map(''.join, signs)).removeprefix('+ ')}|"
    return whole if abs(scale) == 1 else f"{whole}/{1 / abs(scale)}"


def _have_bases(X: Sequence[fmpq_mat], one: bool) -> bool:
    """Tell whether two orthonormal bases, or *one*, diagonalise all: X X'^T, X^T X' symmetric."""
    pairs = itertools.combinations_with_replacement(X, 2)
    products = (z for x, y in pairs for z in (x * y.transpose(), x.transpose() * y))
    return all(z == z.transpose() for z in [*products, *(X if one else ())])


def _is_chain(outputs: Sequence[str], matrices: Mapping[str, str]) -> bool:
    """Tell whether the output is a product of three matrices or more."""
    factors = {x for pair in FACTOR.findall(outputs[0]) for x in pair if x}
    return len(outputs) == 1 and CHAIN.fullmatch(outputs[0]) is not None and factors <= {*matrices}


def _read_sizes(given: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the rows and the columns of each matrix."""
    if taken := sorted(OURS & {*given}):
        raise InputError(f"{taken[0]} is what the page calls something else: choose a name")
    found = {name: SHAPE.fullmatch(text) for name, text in given.items()}
    shapes = {name: (shape[1], shape[2]) for name, shape in found.items() if shape is not None}
    if wrong := sorted({*given} - {*shapes}):
        raise InputError(f"the size of {wrong[0]} is written n x r")
    return shapes


def _read_terms(
    text: str, shapes: Mapping[str, tuple[str, str]]
) -> tuple[tuple[str, str, Fraction], ...]:
    """Return c_t, A_t and B_t, of which every entry of F is made."""
    sizes = list(dict.fromkeys(rows for rows, _ in shapes.values()))
    rows = dict(zip(sizes, ROWS, strict=False))
    given = {name: (rows.get(size, 0), 2) for name, (size, _) in shapes.items()}
    (value,) = parse_array_outputs([text], given)
    if len(sizes) > len(ROWS) or len(value.shape) != 2:
        raise InputError(FORM)
    weights = [x for name, shape in given.items() for x in entry_names(name, shape)]
    if {*names(value.trees)} - {*weights}:
        raise InputError(f"{FORM}, without other weights")
    corner = build_elements(value.trees[1:2], weights)[0]
    terms = tuple(x for x in _products(given, value.shape, corner) if x[2])
    whole = " + ".join(f"({c})*{a}*T({b})" for a, b, c in terms)
    if not terms:
        raise InputError(FORM)
    (written,) = parse_array_outputs([whole], given)
    entries = build_elements((*value.trees, *written.trees), weights)
    if entries[: len(value.trees)] != entries[len(value.trees) :]:
        raise InputError(FORM)
    return terms


def _products(
    given: Mapping[str, tuple[int, int]], shape: tuple[int, ...], corner: RationalFunction
) -> Iterator[tuple[str, str, Fraction]]:
    """Yield c, A and B of the products that fit, by the entry of row 1 and column 2."""
    positions = corner.field.positions
    for a, b in itertools.product(given, repeat=2):
        if (given[a][0], given[b][0]) == shape:
            c = corner.partial(positions[f"{a}11"]).partial(positions[f"{b}21"])
            if not c.is_constant():
                raise InputError(FORM)
            yield a, b, c.value()
