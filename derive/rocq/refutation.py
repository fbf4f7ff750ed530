"""The theorem that there is no Q and no warp, from one rational start.

With H = Hess Q and g > 0, H(F(w)) K(w) = g(w) 1 for all w near w_0. This and its derivatives in
each weight are linear in H, T = dH/dbeta, g and dg at w_0, with rational coefficients; where a
combination of them says g = 0 there is none. That takes F without conserved quantities: weights
near w_0 are then all reached.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement, product

import sympy
from sympy import Expr, Rational, Symbol

from derive.derivation import Derivation
from derive.language import to_sympy
from derive.rocq.subject import refuse
from derive.rocq.terms import NoFile, Terms, cases, each, plain
from derive.verdict import Verdict

LARGEST = 60
"""Derivatives of entries of K that fit into ten seconds."""
Entry = tuple[int, ...]
"""The place of an equation: i, k, or m, i, k."""


def _inside(d: Derivation) -> None:
    """Refuse F with more than weights that start where they like, or that do not reach all near.

    Raises:
        NoFile: the reason.
    """
    p, laws, none = d.parameterization, d.conserved, "no file is written of a refutation"
    free = all(str(to_sympy(tree)) == f"{w}_0" for w, tree in p.start)
    beside = (p.vectors, p.affine, p.rates, p.parameters)
    refuse(
        {
            f"{none} with rates, parameters or vectors": any(beside) or not p.geometry.is_diagonal,
            f"{none} of so many outputs and weights": p.p * p.d**2 > LARGEST,
            f"{none} on the leaf of a start alone": (
                not free or laws.finding.verdict is not Verdict.PROVED or bool(laws.count)
            ),
        }
    )


class Refutation:
    """Writes the file on F that has no mirror potential."""

    def __init__(self, d: Derivation) -> None:
        p = d.parameterization
        _inside(d)
        self.F = [plain(to_sympy(tree)) for tree in p.trees]
        self.w = [Symbol(name, real=True) for name in p.weights]
        if not all(f.is_polynomial(*self.w) for f in self.F):
            raise NoFile("no file is written of a refutation whose outputs are no polynomials")
        self.J = [[f.diff(w) for w in self.w] for f in self.F]
        self.K = [[sum(map(sympy.Mul, a, b), sympy.S.Zero) for b in self.J] for a in self.J]
        self.start, self.used = self._found(d)

    def _found(self, d: Derivation) -> tuple[list[Rational], list[Entry]]:
        """Return a rational start, and equations there of which a combination is g = 0.

        Raises:
            NoFile: there are none.
        """
        printed = [dict(e.point) for e in d.warping.finding.evidence if not e.holds]
        points = [[Rational(e[w.name]) for w in self.w] for e in printed if len(e) == len(self.w)]
        points.append([Rational(k + 1) for k, _ in enumerate(self.w)])
        for point in points:
            if (used := self._contradiction(point)) is not None:
                return point, used
        raise NoFile("no file is written of a refutation that takes second derivatives")

    def _contradiction(self, point: Sequence[Rational]) -> list[Entry] | None:
        """Return the equations of which a combination says g = 0."""
        equations, unknown = self._equations(point)
        A, _ = sympy.linear_eq_to_matrix([*equations.values()], unknown)
        # mu A = e_g: a combination of the equations is g = 0
        whole = A.T.row_join(sympy.eye(len(unknown))[:, :1])
        reduced, pivots = whole.rref()
        if len(equations) in pivots:
            return None
        entries = [*equations]
        return [entries[c] for r, c in enumerate(pivots) if reduced[r, -1] != 0]

    def _equations(self, point: Sequence[Rational]) -> tuple[dict[Entry, Expr], list[Symbol]]:
        """Return H K - g 1, and its derivatives in each weight, and g with the other unknowns."""
        n, p, at = range(len(self.F)), range(len(self.w)), dict(zip(self.w, point, strict=True))
        g, h = Symbol("g"), [Symbol(f"h{m}") for m in p]
        H, T = ({x: Symbol(f"{sorted(x)}") for x in product(n, repeat=r)} for r in (2, 3))
        K, J = (sympy.Matrix(M).subs(at) for M in (self.K, self.J))
        rows = dict[Entry, Expr]()
        for i, k in product(n, repeat=2):
            one = int(i == k)
            rows[i, k] = sympy.Add(*(H[i, j] * K[j, k] for j in n)) - g * one
            for m, w in enumerate(self.w):
                terms = (H[i, j] * self.K[j][k].diff(w).subs(at) for j in n)
                moved = (T[i, j, e] * J[e, m] * K[j, k] for j, e in product(n, repeat=2))
                rows[m, i, k] = sympy.Add(*terms, *moved) - h[m] * one
        return rows, [g, *h, *dict.fromkeys((*H.values(), *T.values()))]

    # -- the file

    def theorem(self, name: str) -> Iterator[str]:
        """Yield the whole file after its head."""
        n, p = len(self.F), len(self.w)
        at = Terms({w.name: f"w {i}%nat" for i, w in enumerate(self.w)})
        start = Terms({})
        J = cases("a", [cases("k", [at(e) for e in row]) for row in self.J])
        K = cases("i", [cases("j", [at(e) for e in row]) for row in self.K])
        values = dict(zip(self.w, self.start, strict=True))
        slopes = ([[e.diff(w).subs(values) for e in row] for row in self.K] for w in self.w)
        tables = (cases("j", [cases("k", [start(e) for e in row]) for row in K]) for K in slopes)
        DK = cases("m", [*tables])
        yield f"Definition F (w : nat -> R) (i : nat) := {cases('i', [at(f) for f in self.F])}."
        yield f"Definition start (k : nat) : R := {cases('k', [start(x) for x in self.start])}."
        yield f"Definition J (a : nat) (w : nat -> R) (k : nat) := {J}."
        yield f"Definition K (i j : nat) (w : nat -> R) := {K}."
        yield f"Definition DK (m j k : nat) : R := {DK}.\n"
        ring = "evar_last; [diff|cbv beta; ring]"
        first = f"unfold partial, upd, F, J; cbv beta iota delta [Nat.eqb]; {ring}"
        flat = "unfold line, kron, start; cbv beta iota delta [Nat.eqb]"
        yield (
            f"Theorem {name} : no_potential {p} {n} F start.\n"
            f"Proof.\n  apply (no_potential_by {p} {n} F J K DK start).\n"
            f"  - intros w a k ha' hk'. {each('a', [each('k', [first] * p)] * n)}.\n"
            "  - intros w a i ha' hi'. unfold F, line, J, K.\n"
            f"    {each('a', [each('i', [f'cbv beta iota; {ring}'] * n)] * n)}.\n"
            f"  - intros m j k hm' hj' hk'. unfold K, DK. {flat}.\n"
            f"    {each('m', [each('j', [each('k', [f'cbv beta iota; {ring}'] * n)] * n)] * p)}.\n"
            f"  - intros H T g h P' S' T' E' D'.\n    {' '.join(self._facts())}\n    lra.\nQed."
        )

    def _facts(self) -> Iterator[str]:
        """Yield commands that note symmetries, and the equations that are used, in numbers."""
        n = range(len(self.F))
        for i, j in combinations_with_replacement(n, 2):
            yield f"assert (S{i}{j}' := S' {i}%nat {j}%nat ltac:(lia) ltac:(lia))."
        for x in product(n, repeat=3):
            at, label = " ".join(f"{i}%nat" for i in x), "".join(map(str, x))
            if [*x] != sorted(x):
                known = f"T' {at} ltac:(lia) ltac:(lia) ltac:(lia)"
                yield f"destruct ({known}) as [A{label}' B{label}']."
        for entry in self.used:
            at, kind = "".join(f" {x}%nat" for x in entry), "E" if len(entry) == 2 else "D"
            label = f"{kind}{''.join(map(str, entry))}'"
            yield (
                f"assert ({label} := {kind}'{at}{' ltac:(lia)' * len(entry)}). "
                f"cbn [Sum] in {label}. unfold K, J, DK, start, kron in {label}. "
                f"cbv beta iota delta [Nat.eqb] in {label}."
            )
