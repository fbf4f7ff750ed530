"""The definitions of a file, and the section in which its lemmas are: there the start is at hand.

In the section ``dom'`` is ``dom`` of the start, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import sympy
from sympy import Expr

from derive.model.condition import Sign
from derive.rocq.subject import Subject
from derive.rocq.terms import ATOM, Signs, Terms, cases, conjunction, name_of, plain, said

Definitions = dict[str, tuple[str, str]]
"""Arguments and body, by name."""
ASKED = "assert (a' := asked'). unfold ok in a'. "


class Section:
    """Writes what a file is about, and states its theorem."""

    def __init__(self, m: Subject) -> None:
        self.m = m
        symbols = [name_of(s) for s in m.symbols]
        groups = (*(([name], kind) for name, kind in m.typed), (symbols, "R"))
        self.variables = " ".join(f"({' '.join(n)} : {kind})" for n, kind in groups if n)
        self.given = [*(name for name, _ in m.typed), *symbols]
        self.of_F = [name_of(s) for s in m.parameters]
        constants = {c.name: self.of(name_of(c.name)) for c, _ in m.constants}
        self.names = dict(zip(m.symbols, symbols, strict=True)) | dict(m.texts) | constants
        self.defined = tuple(self._smooth())

    @property
    def terms(self) -> Terms:
        """What writes functions of the start."""
        return Terms(self.names)

    def of(self, name: str) -> str:
        """Return a definition applied to the start."""
        return " ".join((name, *self.given))

    def of_weights(self, name: str) -> str:
        """Return a definition applied to the parameters of F."""
        return " ".join((name, *self.of_F))

    def at(self, time: str) -> dict[str, str]:
        """Return the names of weights and steering at a time, or of weights at a point w."""
        point = f"w {time}".strip()
        weights = {w: f"{point} {i}%nat" for i, w in enumerate(self.m.weights)}
        steering = {x.name: f"lam {time} {i}%nat" for i, x in enumerate(self.m.steering)}
        return self.names | steering | weights

    def on(self, time: str) -> Terms:
        """Return what writes functions of the weights at a time."""
        return Terms(self.at(time))

    @property
    def way(self) -> str:
        """What is asked of the weights at every time."""
        asked = ("defined", *["kept"] * bool(self.m.kept))
        return " /\\ ".join(f"{self.of_weights(name)} (w t)" for name in asked)

    def _smooth(self) -> Iterator[tuple[str, Expr, Sign]]:
        """Yield what F and the rates divide by and take roots and logarithms of."""
        fresh = self.on("")
        for e in (*self.m.outputs, *self.m.rates):
            fresh(e)
        above = tuple(fresh.positive.values())
        for text, e in fresh.positive.items():
            if not Signs().positive(e):
                yield text, e, Sign.POSITIVE
        factors = (f for e in fresh.divisors.values() for f in sympy.Mul.make_args(e))
        for e in dict.fromkeys(f.base if f.is_Pow else f for f in factors):
            if not e.is_number and not Signs(above).nonzero(e):
                yield fresh(e, ATOM), e, Sign.NONZERO

    # -- definitions

    def definitions(self) -> Iterator[str]:
        """Yield F, where it is defined, and what is asked of the start."""
        yield from self.define(self.of_F, self.on_flow())
        yield from self.define(self.given, self.on_start())

    def on_flow(self) -> Definitions:
        """Return definitions on the weights."""
        m, at, point = self.m, self.on(""), "(w : nat -> R)"
        rates = cases("j", [at(r) for r in m.rates]) if {*m.rates} != {1} else "1"
        defined = conjunction(said(at(e), sign) for _, e, sign in self.defined)
        return {
            "F": (f"{point}{' (i : nat)' * (m.d > 1)}", cases("i", [at(F) for F in m.outputs])),
            "rate": (f"(j : nat) {point} : R", rates),
            "defined": (f"{point} : Prop", defined),
        } | ({"kept": (f"{point} : Prop", at.above(m.kept))} if m.kept else {})

    def on_start(self) -> Definitions:
        """Return definitions on the start."""
        m, terms = self.m, self.terms
        asked = [said(terms(plain(c.of)), c.sign) for c in m.conditions]
        asked += [f"0 < {terms(e)}" for e in m.begun]
        starts = [f"w {i}%nat = {terms(v)}" for i, v in enumerate(m.start)]
        return {
            **{name_of(c.name): ("", terms(value)) for c, value in m.constants},
            "ok": (": Prop", conjunction(asked)),
            "starts": ("(w : nat -> R) : Prop", conjunction(starts)),
        }

    def define(self, given: list[str], definitions: Definitions) -> Iterator[str]:
        """Yield definitions, each with what it is given."""
        of_F = f"({' '.join(given)} : R)" if given else ""
        head = f" {self.variables if given is self.given else of_F}".rstrip()
        for name, (arguments, body) in definitions.items():
            yield f"Definition {name}{head} {arguments} := {body}.".replace("  ", " ")

    # -- the section, and the theorem

    def section(self, names: Iterable[str], of_weights: Iterable[str]) -> Iterator[str]:
        """Yield how the section of the lemmas begins, where names with a prime are of the start."""
        yield "\nSection Model."
        yield f"Variables {self.variables}." if self.given else ""
        yield f"Hypothesis asked' : {self.of('ok')}."
        called = {name: self.of(name) for name in names}
        called |= {name: self.of_weights(name) for name in of_weights}
        yield from (f"Local Notation {name}' := ({of})." for name, of in called.items())

    def arguments(self, d: str = "d") -> str:
        """Return what definitions are applied to, with a text for the dimension d."""
        return "".join(f" {d if g == 'd' else g}" for g in self.given)

    def stated(self, name: str, flow: str, claim: str, d: str = "d") -> str:
        """Return the theorem without its proof, on a flow of so many weights and outputs."""
        variables = self.variables.removeprefix("" if d == "d" else "(d : nat) ")
        args, (rate, F) = self.arguments(d), map(self.of_weights, ("rate", "F"))
        return (
            f"Theorem {' '.join((name, 'w lam', variables)).rstrip()} :\n"
            f"  flow {flow} ({rate}) ({F}) w lam -> ok{args} -> starts{args} (w 0) ->\n"
            f"  (forall t, 0 <= t -> {self.way}) ->\n  {claim}\n    (fun t => {F} (w t)) lam.\n"
        )

    def proved(
        self,
        name: str,
        flow: str,
        claim: Callable[[Callable[[str], str], str], str],
        proof: str,
        d: str = "d",
    ) -> Iterator[str]:
        """Yield what is claimed as the last lemma of the section, and as the theorem.

        The claim is a text in what a definition is called, and in the dimension.
        """
        args, inner = self.arguments(d), claim("{}'".format, "d")
        yield (
            f"Lemma proved : {inner} (fun t => F' (w t)) lam.\n"
            f"Proof using asked' from' moves' on'.\n{proof}\nQed.\nEnd Model.\n"
        )
        yield self.stated(name, flow, claim(f"{{}}{args}".format, d), d) + (
            f"Proof. intros H' A' B' on'. exact (proved{args} A' w lam B' H' on'). Qed."
        )
