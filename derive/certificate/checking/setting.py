"""The setting of limits: the start of a derivation that was checked, and coordinates near it."""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq

from derive.certificate.checking.cost import keyed
from derive.certificate.checking.domain import ends
from derive.certificate.checking.function import Function
from derive.certificate.checking.near import Near
from derive.certificate.checking.signs import CONDITION, Conditions
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, Rejected, rational, require
from derive.certificate.checking.theorem import Checker

KEYS = {
    "regimes": "format version verdict derivation outputs start variable vector kernel_at_start "
    "beta_0 unbiased assumptions homogeneity decided_by_kernel_at_start limits warped_time "
    "certificate",
    "homogeneity": "degree time_exponent",
    "limit": "limit given regime Q gradient shape degree curve coordinates origin basis steep "
    "reached_above_0_only unit relative_error error_is_sharp verdict",
    "certificate": "format version definitions limits",
    "covariance": "exponent definitions order",
}
INSIDE = [fmpq(0), fmpq(1, 2), fmpq(-1, 2), fmpq(2), fmpq(-2)]


class Setting:
    """A record of regimes, whose derivation was checked: *shown* and *open* are what is said."""

    def __init__(self, record: JSON, state: Checker) -> None:
        keyed(record, KEYS["regimes"])
        keyed(record["certificate"], KEYS["certificate"])
        self.record, self.state, self.space = record, state, state.space
        self.shown, self.open = list[str](), list[str]()
        self.given = record["derivation"]["parameterization"]
        self.pieces = record["derivation"]["potential"]["pieces"]
        plain = not {"vector", "equivalent_start", "affine"} & {*self.given}
        require(plain and record["vector"] is None, "limits of this kind of model are not checked")
        self.constants = self.space.given[self.space.weights :]
        require(record["variable"] in self.constants, "the variable is no symbol of the start")
        self.at_start()
        self.homogeneity()

    def at_start(self) -> None:
        """Require what is said of the start: F, K and beta there, and the conditions on it."""
        record, space, flow = self.record, self.space, self.state.flow
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
        K = [[space.at_start(self.state.factor * k) for k in row] for row in flow.K]
        said = [[space.read(text) for text in row] for row in self.kernel]
        self.state.equal(said, K, "K at the start")
        beta = [space.at_start(f) for f in flow.F]
        self.state.equal([[space.read(text) for text in record["beta_0"]]], [beta], "beta_0")
        unbiased = all(b.is_zero() for b in beta)
        require(record["unbiased"] is unbiased, "whether beta_0 = 0 is another")
        self.shown.append(f"K(w_0) = {record['kernel_at_start']}, beta_0 = {record['beta_0']}")

    def homogeneity(self) -> None:
        """Require Euler's identity for F with the degree that is said, 2 D - 2 for the time."""
        said, space, self.degree = self.record["homogeneity"], self.space, None
        if said is not None:
            keyed(said, KEYS["homogeneity"])
            D = self.degree = space.read(said["degree"])
            time = space.read(said["time_exponent"]) - D * space.number(2) + space.number(2)
            same = self.state.is_homogeneous(self.state.flow.F, D) and time.is_zero()
            require(same, "F is not homogeneous of this degree")

    def conditions(self, space: Space, where: Sequence[str]) -> Conditions:
        """Return conditions on coordinates and constants."""
        signs, known = Conditions(space, where), {*self.constants}
        texts = [*self.state.conditions, *self.state.assumed]
        stated = [text for text in texts if CONDITION.fullmatch(text)]
        signs.take([*stated, f"{self.record['variable']} > 0"], known)
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
        if x == betas:  # where nothing is moved
            return {}
        rows = said["basis"] or [[str(int(a == b)) for a in betas] for b in betas]
        origin = said["origin"] or ["0" for _ in betas]
        sums = (" + ".join(f"({c})*{n}" for c, n in zip(row, x, strict=True)) for row in rows)
        pairs = zip(origin, sums, strict=True)
        return dict(zip(betas, (f"({o}) + {total}" for o, total in pairs), strict=True))

    def rises(self, piece: JSON) -> bool:
        """Tell whether h' is not 0 between the ends of a curve beta = h(z): one z for each beta."""
        z, at = piece["curve"]["parameter"], self.space.start[self.space.weights : self.space.size]
        for x in INSIDE:
            alone = Space([z], self.constants, 0)
            alone.start, alone.w0 = [x, *at], alone.symbols[:1]
            slope = alone.read(piece["curve"]["beta"]).derivative(0)
            try:
                signs = self.conditions(alone, [f"{form} > 0" for form in ends(piece)])
            except Rejected:
                continue
            return (
                not signs.missing([slope * slope], [*alone.divisors.values()]) and not signs.generic
            )
        return False

    def holds(self, where: Sequence[str], space: Near) -> list[str]:
        """Require the conditions that signs near the limit need; return where nothing is said."""
        signs = self.conditions(space, where)
        kept = [space.lead(f)[1] for f in space.signs]
        require(all(f.at(space.start) > 0 for f in kept), "a sign is another near the limit")
        divisors = [
            space.lead(Function(space, p, space.one))[1] for p in [*space.divisors.values()]
        ]
        missing = signs.missing([*kept, *space.kept_signs], [f.top for f in divisors])
        stated = all(text.endswith(" != 0") for text in missing)
        require(stated, f"a condition is used that is not stated: {'; '.join(missing):.200}")
        on = f"where {' and '.join(where)}: " * bool(where)
        return [
            f"{on}as long as {text}" for text in (*(f"{p} != 0" for p in signs.generic), *missing)
        ]
