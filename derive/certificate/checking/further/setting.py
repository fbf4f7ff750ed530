"""The setting of limits: the start of a derivation that was checked, and coordinates near it."""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq

from derive.certificate.checking.domain import ends
from derive.certificate.checking.further.near import Near
from derive.certificate.checking.shape import keyed
from derive.certificate.checking.signs import Conditions
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, names_in, rational, require
from derive.certificate.checking.theorem import Checker


class Setting:
    """A record of regimes, whose derivation was checked: *shown* and *open* are what is said."""

    def __init__(self, record: JSON, state: Checker) -> None:
        keyed(record, "regimes")
        self.record, self.state, self.space = record, state, state.space
        self.shown, self.open = list[str](), list[str]()
        self.given = record["derivation"]["parameterization"]
        self.pieces = record["derivation"]["potential"]["pieces"]
        plain = not {"vector", "equivalent_start", "affine"} & {*self.given}
        require(plain and record["vector"] is None, "limits of this kind of model are not checked")
        self.constants = self.space.given[self.space.weights :]
        require(record["variable"] in self.constants, "the variable is no symbol of the start")
        self._at_start()
        self.degree = None
        if (said := record["homogeneity"]) is not None:  # 2 D - 2 for the time
            D = self.degree = self.space.read(said["degree"])
            same = self.space.read(said["time_exponent"]).same(D * 2 - 2)
            same = same and self.space.is_homogeneous(state.flow.F, D, state.free)
            require(same, "F is not homogeneous of this degree")

    def _at_start(self) -> None:
        """Require what is said of the start: F, K and beta there, and the conditions on it."""
        record, space, state = self.record, self.space, self.state
        for key in ("outputs", "start"):
            require(record[key] == self.given[key], f"the {key} are other than of the derivation")
        texts = [text for piece in self.pieces for text in piece["assumptions"]]
        require(record["assumptions"] == [*dict.fromkeys(texts)], "the assumptions are others")
        self.kernel = record["kernel_at_start"]
        if record["certificate"]["definitions"] is None:
            self.kernel = None
            self.open.append("K, and beta, at the start")
            return
        for entry in record["certificate"]["definitions"]:
            space.define(entry)
        K = [[space.at_start(k) for k in row] for row in state.flow.K]
        state.equal(state.table(self.kernel), K, "K at the start")
        beta = [space.at_start(f) for f in state.flow.F]
        state.equal(state.table([record["beta_0"]]), [beta], "beta_0")
        unbiased = all(b.is_zero() for b in beta)
        require(record["unbiased"] is unbiased, "whether beta_0 = 0 is another")
        self.shown.append(f"K(w_0) = {record['kernel_at_start']}, beta_0 = {record['beta_0']}")

    def conditions(self, space: Space, where: Sequence[str]) -> Conditions:
        """Return conditions on coordinates and constants."""
        signs, texts = Conditions(space, where), [*self.state.conditions, *self.state.assumed]
        signs.take([*texts, f"{self.record['variable']} > 0"], self.constants)
        return signs

    def near(self, said: JSON, side: JSON) -> Near:
        """Return coordinates and constants, in numbers."""
        x = said["coordinates"]
        fresh = not {*x} & {*self.space.given} and len({*x}) == len(x) == len(self.given["beta"])
        require(fresh, "a coordinate has the name of another")
        space = Near(x, self.constants, len(side["definitions"]) + 1)
        at = [rational(side["at"][name]) for name in x]
        space.at([*at, *self.space.start[self.space.weights : self.space.size]])
        moved = {*(said["origin"] or ())} - {"0"} or said["basis"]
        require(not moved or x != self.given["beta"], "coordinates have the names of beta")
        return space

    def places(self, said: JSON) -> dict[str, str]:
        """Return what beta = origin + basis x is in other coordinates than beta."""
        x, betas = said["coordinates"], self.given["beta"]
        texts = [said["origin"] or (), *(said["basis"] or ())]
        fixed = set[str]().union(*map(names_in, texts)) <= {*self.constants}
        require(fixed, "an origin or a basis is not constant")
        if x == betas:  # where nothing is moved
            return {}
        rows = said["basis"] or [[str(int(a == b)) for a in betas] for b in betas]
        origins = said["origin"] or ["0" for _ in betas]
        sums = (" + ".join(f"({c})*{n}" for c, n in zip(row, x, strict=True)) for row in rows)
        triples = zip(betas, origins, sums, strict=True)
        return {beta: f"({origin}) + {total}" for beta, origin, total in triples}

    def rises(self, piece: JSON) -> bool:
        """Tell whether h' is not 0 between the ends of a curve beta = h(z): one z for each beta."""
        z, at = piece["curve"]["parameter"], self.space.start[self.space.weights : self.space.size]
        alone = Space([z], self.constants, 0)  # z = 0 at the start
        alone.start, alone.w0 = [fmpq(0), *at], alone.symbols[:1]
        slope = alone.read(piece["curve"]["beta"]).derivative(0)
        signs = self.conditions(alone, [f"{form} > 0" for form in ends(piece)])
        missing = signs.missing([slope * slope], [*alone.divisors.values()])
        return not missing and not signs.generic

    def holds(self, where: Sequence[str], space: Near) -> list[str]:
        """Require the conditions that signs near the limit need; return where nothing is said."""
        signs, kept = self.conditions(space, where), [space.lead(f)[1] for f in space.signs]
        require(all(f.at(space.start) > 0 for f in kept), "a sign is another near the limit")
        divisors = [space.lead(space.of(p))[1].top for p in [*space.divisors.values()]]
        needed = signs.apart_from([*kept, *space.kept_signs], divisors)
        on = f"where {' and '.join(where)}: " * bool(where)
        return [f"{on}as long as {text}" for text in needed]
