"""Where lemmas are proved, and their three kinds: what moves, what is equal, what is positive.

A lemma is on expressions in symbols, whose texts and values the place has. What proves it is read
off the expressions: that they are defined, the rules of their functions, and one tactic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import sympy
from sympy import Expr, Symbol

from derive.rocq.calls import Calls
from derive.rocq.terms import NoFile, Signs, Terms

Relation = tuple[Symbol, int, Expr, str]
"""A symbol, n, the expression that its n-th power is, and what the equation is called."""
DERIVE = "evar_last; [diff|cbv beta]. FIELD."


@dataclass(frozen=True)
class Place:
    """Where lemmas are proved: what things are called there, and what is known.

    Attributes:
        names: texts of symbols.
        signs: what is known of signs, once the opening is run.
        head: for what the lemmas hold.
        opening: the commands with which a proof begins.
        bound, point: the variable of derivatives, and where they are taken.
        along: texts of symbols as functions of the variable.
        moving: symbols that depend on it.
        rates: how fast these move.
        values: what some symbols are equal to, as their texts say.
        relations: equations for powers of symbols.
        split: whether logarithms of products are sums of logarithms.
        numbers: functions that are rational numbers here.
    """

    names: Mapping[str, str]
    signs: Signs
    head: str = ""
    opening: str = ""
    bound: str = "z"
    point: str = "z"
    along: Mapping[str, str] = field(default_factory=dict)
    moving: tuple[Symbol, ...] = ()
    rates: tuple[Expr, ...] = ()
    values: Mapping[Symbol, Expr] = field(default_factory=dict)
    relations: tuple[Relation, ...] = ()
    split: bool = False
    numbers: tuple[Expr, ...] = ()

    def knowing(
        self, commands: str, signs: Iterable[Expr] = (), relations: Iterable[Relation] = ()
    ) -> Place:
        """Return the place where commands have shown more."""
        return replace(
            self,
            opening=f"{self.opening} {commands}".strip(),
            signs=self.signs.with_(signs),
            relations=(*self.relations, *relations),
        )

    @property
    def terms(self) -> Terms:
        """What writes expressions here."""
        return Terms({**self.names})

    # -- lemmas

    def moves(
        self, label: str, e: Expr, slope: Expr, shown: str = "", read: Iterable[Expr] = ()
    ) -> str:
        """Return the lemma on the derivative of a function, shown as a text that has more parts.

        Raises:
            NoFile: that it is that does not follow by the rules.
        """
        if not self.calls(rate := self.rate(e), slope).vanishes(rate - slope):
            raise NoFile(f"that {e} moves with {slope} does not follow by the rules here")
        function = Terms({**self.names, **self.along})(e)
        goal = f"is_derive (fun {self.bound} => {function}) {self.point} "
        goal += f"({shown or self.terms(slope)})"
        parts = [e, *read, *([] if shown else [slope]), *self.rates]
        return self.lemma(label, goal, parts, [*parts, *self.slopes(e)], DERIVE)

    def rate(self, e: Expr) -> Expr:
        """Return the derivative of a function, of what symbols are equal to by the chain rule."""
        own = [*zip(self.moving, self.rates, strict=False)] or [(self.moving[-1], sympy.S.One)]
        along = {x: sympy.Add(*(r * v.diff(w) for w, r in own)) for x, v in self.values.items()}
        return sympy.Add(*(r * e.diff(x) for x, r in (*own, *along.items())))

    def smooth(self, label: str, e: Expr) -> str:
        """Return the lemma that a function has a derivative."""
        function = Terms({**self.names, **self.along})(e)
        goal = f"ex_derive (fun {self.bound} => {function}) {self.point}"
        return self.lemma(label, goal, [e, *self.rates], self.slopes(e), "eexists. diff.")

    def slopes(self, e: Expr) -> list[Expr]:
        """Return what has the functions that a derivative has."""
        return [*self.rates, *(e.diff(x) for x in self.moving)]

    def positive(self, label: str, e: Expr, first: str = "") -> str:
        """Return the lemma that an expression is positive, in a form that shows it.

        Raises:
            NoFile: there is no such form.
        """
        return self.lemma(label, f"0 < {self.terms(e)}", *self.seen(e, first))

    def nonnegative(self, label: str, e: Expr) -> str:
        """Return the lemma that an expression is not negative, by its form or another.

        Raises:
            NoFile: that is not so by its form.
        """
        put = self.put(e)
        forms = (e, sympy.cancel(put), sympy.factor(put), put)
        form = sure(next(filter(self.signs.nonnegative, forms), None), e, ">= 0")
        put = f"replace ({self.terms(e)}) with ({self.terms(form)}) by (FIELD). " * (form != e)
        return self.lemma(label, f"0 <= {self.terms(e)}", [e, form], [e, form], f"{put}nn.")

    def seen(self, e: Expr, first: str = "") -> tuple[list[Expr], list[Expr], str]:
        """Return what is written and read in the proof that an expression is positive, and it."""
        form = sure(self.form(e), e, "> 0")
        put = f"replace ({self.terms(e)}) with ({self.terms(form)}) by (FIELD). " * (form != e)
        return [form], [e, form], f"{first}{put}pos."

    def form(self, e: Expr) -> Expr | None:
        """Return a form of an expression that is positive, if there is one."""
        for shown in (e, self.put(e)):
            if (form := self.signs.form(shown)) is not None:
                return form
        calls = self.calls(e)
        return self.signs.form(sympy.factor(calls.back(calls.value(e))))

    def lemma(
        self, label: str, goal: str, written: Iterable[Expr], read: Iterable[Expr], *ends: str
    ) -> str:
        """Return a lemma with its proof."""
        return f"Lemma {label} : {self.head}{goal}.\n{self.proof(written, read, *ends)}"

    def proof(self, written: Iterable[Expr], read: Iterable[Expr], *ends: str) -> str:
        """Return a proof: opening, what is defined, the names of functions, and the ends.

        In the ends ``FIELD`` is what proves an identity.

        Raises:
            NoFile: something that must be positive is not so by its form.
        """
        needs = self.terms
        for e in written:
            needs(e)
            for x, value in self.values.items():
                if e.has(x) and x.name in needs.names:
                    needs(value)
        calls = self.calls(*read)
        lines = [f"{self.opening} hyps.".strip()]
        for text, e in needs.positive.items():
            self._sure(calls.signs.positive, e, "> 0")
            lines.append(f"assert (0 < {text}) by pos.")
        for text, e in needs.divisors.items():
            if not e.is_number:
                lines.append(f"assert ({text} <> 0) by ({self._nonzero(text, e, calls.signs)}).")
        ends = tuple(end.replace("FIELD", calls.field()) for end in ends)
        steps = "\n  ".join((*lines, *calls.lines, *ends))
        return f"Proof.\n  {steps}\nQed.\n"

    def _nonzero(self, text: str, e: Expr, signs: Signs) -> str:
        """Return what proves that an expression is not 0, by its form or that of its factors."""
        if signs.nonzero(e) or signs.nonzero(self.put(e)):
            return "nz"
        factored = sympy.factor(e)
        self._sure(signs.nonzero, factored, "!= 0")
        return f"replace {text} with ({self.terms(factored)}) by ring; nz"

    def put(self, e: Expr) -> Expr:
        """Return an expression where symbols are what they are equal to."""
        return e.subs(self.values, simultaneous=True)

    def _sure(self, check: Callable[[Expr], bool], e: Expr, what: str) -> None:
        sure(e if check(e) or check(self.put(e)) else None, e, what)

    def calls(self, *read: Expr) -> Calls:
        """Return the functions in some expressions as names."""
        calls = Calls(Terms({**self.names}), self.signs, self.values, self.split)
        calls.know(self.relations)
        calls.read(*self.numbers, *read)
        return calls


def sure(form: Expr | None, e: Expr, what: str) -> Expr:
    """Return what shows something of an expression.

    Raises:
        NoFile: there is nothing.
    """
    if form is None:
        raise NoFile(f"that {e} {what} does not follow from its form")
    return form
