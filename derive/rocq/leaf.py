"""Along the flow: what stays positive, laws as values, and that beta stays where Q lives.

Functions of beta are proved to be what they are on the leaf: the coordinates of beta are put in as
functions of the weights, and constants of the start as the laws have them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import sympy
from sympy import Expr, Symbol

from derive.rocq.flow import Flow, always
from derive.rocq.place import Place, sure
from derive.rocq.subject import Coordinate, Subject
from derive.rocq.terms import NoFile, Terms, all_of


@dataclass(frozen=True)
class Put:
    """A coordinate that Q is a function of: its name in proofs, if any, its value in weights."""

    symbol: Symbol
    name: str
    text: str
    value: Expr


class OnLeaf(Flow):
    """Writes lemmas on functions of beta along the flow.

    Attributes:
        put: the coordinates.
        told: constants of the start and weights as functions of the weights, by the laws.
        stay: functions of the weights that are proved to stay positive.
    """

    def __init__(self, m: Subject, x: Coordinate, candidates: Iterable[Expr]) -> None:
        super().__init__(m, x)
        self.put: tuple[Put, ...] = ()
        self.told = dict(self._told())
        self.stay = list[Expr]()
        begun, signs = self.w, self.w.signs
        ties = ((m.moving[i], 1, e, f"Z{i}'") for i, e in m.ties)
        self.w = self.w.knowing("", relations=ties)
        for e in candidates:
            try:
                if not signs.positive(e):
                    self.keeps("", e)
                    self.stay.append(e)
            except NoFile:
                continue
        self.w, self.along = begun, signs.with_(self.stay)

    def _told(self) -> Iterator[tuple[Symbol, Expr]]:
        m, used = self.m, set[Symbol]()
        for law in m.laws:
            value = m.at_start(law)
            symbol = next((c for c, v in m.constants if sympy.expand(v - value) == 0), None)
            if symbol is None:
                rest = sympy.expand(law - value)
                linear = (w for w in reversed(m.moving) if w not in used and rest.diff(w).is_number)
                symbol = next((w for w in linear if rest.has(w)), None)
                if symbol is None:
                    continue
                law = sympy.expand(symbol - rest / rest.diff(symbol))
                used |= {symbol, *law.free_symbols}
            yield symbol, law

    def on_leaf(self, e: Expr) -> Expr:
        """Return a function of beta as one of the weights."""
        values = {x.symbol: x.value for x in self.put}
        return e.subs(values, simultaneous=True).subs(self.told, simultaneous=True)

    def staying(self) -> Iterator[str]:
        """Yield what stays positive, and the laws."""
        yield from self.kept(self.stay)
        known = []
        for i, (symbol, law) in enumerate(self.told.items()):
            yield self.vanishes(f"law{i}", symbol - law)
            shown = f"{self.on('t')(symbol)} = {self.on('t')(law)}"
            known.append(f"assert (L{i}' : {shown}) by (generalize (law{i} t ht'); lra). ")
        self.w = self.w.knowing("".join(known).strip())

    def at_leaf(self, closing: str) -> Place:
        """Return the place of the flow where beta is that of the weights, and laws are put in."""
        own = {x.name: f"c{i}'" for i, x in enumerate(self.told)}
        put = "".join(
            f"remember ({x.text}) as {x.name} eqn:H{x.name} in *. " for x in self.put if x.name
        )
        named = "".join(
            f"remember ({self.on('t')(x)}) as {own[x.name]} eqn:D' in *. clear D'. "
            for x in self.told
        )
        names = (*(x.name for x in self.put if x.name), *own.values())
        return replace(
            self.w,
            closing=f"{closing}{put}{named}".strip(),
            names={
                **self.w.names,
                **own,
                **{x.symbol.name: x.name or f"({x.text})" for x in self.put},
            },
            values={**{x.symbol: x.value.subs(self.told) for x in self.put}, **self.told},
            first="".join(f"subst {name}; " for name in names),
        )

    def never_leaves(self, walls: Iterable[Expr], goal: str, opening: str) -> str:
        """Return the lemma that beta stays where Q lives: each wall has a sign on the leaf."""
        lines, steps = [], []
        raw = Terms({**self.w.names, **{x.symbol.name: f"({x.text})" for x in self.put}})
        for i, wall in enumerate(walls):
            place = self.at_leaf("")
            calls = place.calls(wall)
            value = sympy.factor(calls.back(calls.value(wall)))
            sure(place.signs.positive(value), value, "> 0")
            text = Terms({**place.names})
            put = f"replace ({text(wall)}) with ({text(value)}) by (FIELD). pos."
            proof = place.proof([value], [wall, value], put)
            lines.append(always(f"wall{i}'", f"0 < {raw(wall)}", proof))
            steps.append(f"exact (wall{i}' t ht')")
        proof = f"Proof. intros t ht'. {opening} {all_of(steps)} Qed.\n"
        return "".join(lines) + always("inside", goal, proof)

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
