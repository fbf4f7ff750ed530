"""Names that are printed in beta: constants of the flow, and roots with their branches."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from derive.certificate.checking.function import Function, not_zero
from derive.certificate.checking.signs import Conditions
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, names_in, require

STARTS = re.compile(r"the real root that starts at (.+)")
CONTINUED = "the root on the branch of the start"
LARGEST = ("the largest real root", "the length of beta")


class Printed:
    """Define what is printed: each name is fixed by beta on the leaf, not just any function there.

    *known* are the names that formulas in beta may use; others are aids of the proof.
    """

    def __init__(
        self, space: Space, betas: Sequence[str], F: Sequence[Function], said: JSON, proof: JSON
    ) -> None:
        self.space, self.leaf, self.slopes = space, Conditions(space), proof.get("slopes") or {}
        roots = self.roots = {root["symbol"]: root for root in said["roots"]}
        constants, short = said["constants"], said.get("abbreviations", {})
        names, defined = {*constants, *roots, *short}, set[str]()
        given = [*constants, *short, *(root["symbol"] for root in said["roots"])]
        require(len(names) == len(given), "a name is given twice")
        for name, f in zip(betas, F, strict=True):
            require(name not in space.names, f"the name {name!s:.40} is given twice")
            space.names[name] = f
        for entry in proof["definitions"]:
            space.define(entry)
            if (name := entry.get("name")) in constants:
                self._constant(name, constants[name])
            elif name in names:
                text = short[name] if name in short else roots[name]["polynomial"]
                fixed = names_in([text]) <= {*space.fixed, *betas, *defined, name}
                require(fixed, f"{name} uses a name that is not fixed by beta")
            if name in short:
                same = space.names[name].same(space.read(short[name]))
                require(same, f"{name} is not {short[name]:.60}")
            defined |= {name} & names
        require(defined == names, "a name that is printed is not defined")
        self.known = {*space.fixed, *betas, *roots, *short}

    def _constant(self, name: str, value: str) -> None:
        """Accept a constant of the flow, with its value at the start."""
        space = self.space
        require(names_in([value]) <= space.fixed, f"the value of {name} is not one of the start")
        space.vanish_at_start(space.names[name] - space.read(value), name)
        require(space.kept(space.names[name]), f"{name} is not conserved")
        space.fixed.add(name)

    def branches(self) -> None:
        """Require of every root that it is on the branch that is printed, and its formula."""
        for name, root in self.roots.items():
            self._branch(name, root)
            if (text := root["explicit"]) is not None:
                own = names_in([text]) <= self.known - {name}
                require(own, f"the formula of {name} uses another name")
                same = self.space.read(text).same(self.space.names[name])
                require(same, f"{name} is not {text:.60}")

    def _branch(self, name: str, root: JSON) -> None:
        """Require that a name is the root of its polynomial P that is printed.

        It is the largest, all along the leaf, if all derivatives of P there have one sign: P(r + x)
        has no zero x > 0. It is the only one if P' has one sign everywhere.
        """
        space, said, above = self.space, root["branch"], root["real_roots_above"]
        P, last = space.root(name, root["polynomial"])
        degree, image = int(P.degrees()[last]), space.names[name]
        slopes, images = [P.derivative(last)], [*space.symbols[:last], image]
        while len(slopes) < degree:
            slopes.append(slopes[-1].derivative(last))
        at = [space.of(p).into(images) for p in slopes]
        for k, text in enumerate(self.slopes.get(name, ())):
            given = space.read(text) * math.factorial(k + 1)
            at[k] = given if at[k].same(given) else at[k]
        if said in LARGEST:
            signs = [self.leaf.sign_of(f) for f in at]
            shown = len({*signs}) == 1 and all(signs)
        elif said == "the only real root":
            shown = all(self.leaf.sign(p) for p, n in slopes[0].factor()[1] if n % 2)
        elif said == "the root":
            shown = degree == 1
        else:
            starts = STARTS.fullmatch(said)
            require(starts or said == CONTINUED, f"{said!s:.60} is no branch")
            if starts:
                space.vanish_at_start(image - space.read(starts[1]), f"{name} less its start")
                require(name in self.leaf.meet, f"no condition keeps {name} from other roots")
            simple = not_zero(at[0].at(space.start)) and above is None
            require(simple, f"{name} is not shown to be simple, or said to be more")
            return
        require(shown and above == 0, f"{name} is not shown to be {said}")
