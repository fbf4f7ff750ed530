"""The cost R_F(beta) = min |w|^2 subject to F(w) = beta: a bound for all w, which some w attains.

"blocks" of the certificate has for each block a list of sides of each branch, or null. On a side
the conditions "where" hold of beta, and "at" is such a beta, at which signs are read. A side has

bounds: {"parts": [p_1, ..., p_n], "power": L, "q": q, "root": r} with p_j >= 0 in the weights,
    (p_1 ... p_n)^L >= q(F(w)), and r^(n L) = q(beta), r >= 0. By the inequality of the means
    p_1 + ... + p_n >= n r; and |w|^2 is at least the sum of all p_j, hence R_F >= sum n r.
weights: as functions of beta, with F(w) = beta and |w|^2 = sum n r = the R_F that is printed; null
    where |w|^2 = q(F(w)) for all w, or where no w has F(w) = beta by the sign of F.

What is shown not to be negative is a product of squares and of factors of one sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from flint import fmpq

from derive.certificate.checking.function import Function
from derive.certificate.checking.shape import are_all, keyed, summed_up
from derive.certificate.checking.signs import CONDITION, Conditions
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, PROVED, UNDECIDED, names_in, rational, require

HIGHEST = 20


class Cost:
    """F in the weights, whose outputs are called beta."""

    def __init__(self, given: JSON, outputs: Sequence[int], betas: Sequence[str]) -> None:
        self.betas, self.texts = betas, [given["outputs"][n - 1] for n in outputs]
        used = names_in(self.texts)
        require(used <= {*given["weights"]}, "F has other names than it should")
        self.weights = [w for w in given["weights"] if w in used]
        self.of = betas[0] if len(betas) == 1 else f"({', '.join(betas)})"
        space = self.space = Space(self.weights, [], 0)
        space.start = [fmpq(2 * k + 3, k + 2) for k, _ in enumerate(self.weights)]
        self.signs, self.F = Conditions(space), [space.read(text) for text in self.texts]
        require(not {*betas, "r"} & {*self.weights}, "beta has the name of another")
        require(len({*betas, "r"}) == len(betas) + 1, "beta has the name of another")
        space.names |= dict(zip(betas, self.F, strict=True))

    def is_bounded(self, f: Function) -> bool:
        """Tell whether a function of the weights is shown not to be negative."""
        return f.is_zero() or self.signs.sign_of(f) > 0

    def bound(self, bounds: JSON, beta: Space) -> tuple[Function, bool]:
        """Return what |w|^2 is at least, in beta, and whether all w attain it."""
        space, total, tight = self.space, beta.number(0), True
        rest = space.dot(space.symbols, space.symbols)
        for entry in bounds:
            parts, power = [space.read(text) for text in entry["parts"]], int(entry["power"])
            fits = 0 < power <= HIGHEST and 0 < len(parts) <= HIGHEST
            require(fits, "a bound has no such power")
            root, n = beta.read(entry["root"]), power * len(parts)
            if n > 1:
                require(all(map(self.is_bounded, parts)), "a part of |w|^2 may be negative")
                beta.positive(root, "a root")
            more = prod(parts, start=space.number(1)) ** power - space.read(entry["q"])
            require(self.is_bounded(more), "the parts of |w|^2 do not bound q(F)")
            require((root**n).same(beta.read(entry["q"])), "the root is not one of q(beta)")
            total, rest = total + root * len(parts), rest - space.sum(parts)
            tight = tight and n == 1 and more.is_zero()
        plain = all(d.is_constant() for d in space.divisors.values())
        require(plain and self.is_bounded(rest), "the parts are more than |w|^2, or have poles")
        return total, tight and rest.is_zero()

    def side(self, side: JSON, text: str | None) -> tuple[Space, list[str]]:
        """Return beta on a side, where the cost is as printed, and what was shown of it."""
        keyed(side, "side")
        require({*side["at"]} == {*self.betas}, "at gives other names than beta")
        space = Space([], self.betas, len(side["definitions"]))
        space.start = [rational(side["at"][b]) for b in self.betas]
        for entry in side["definitions"]:
            space.define(entry)
        signs = Conditions(space, side["where"])
        where = f" where {' and '.join(side['where'])}" * bool(side["where"])
        if text is None:
            require(self.has_none(side["where"]), "it is not shown that no w has F(w) = beta")
            return space, [f"no w has F(w) = {self.of}{where}"]
        lines = [f"R_F = min |w|^2 subject to F(w) = {self.of} is {text}{where}"]
        lines += self.minimum(side, text, space)
        generic = signs.apart_from(space.signs, [*space.divisors.values()])
        return space, lines + [f"as long as {condition}" for condition in generic]

    def minimum(self, side: JSON, text: str, space: Space) -> list[str]:
        """Require that the bound is what is printed, and that weights attain it; return which."""
        require(names_in([text]) <= {*self.betas}, "R_F has another name than beta")
        cost = space.read(text)
        total, tight = self.bound(side["bounds"], space)
        require(total.same(cost), f"the bound is another than {text:.60}")
        if (weights := side["weights"]) is None:
            require(tight, "no w is shown to attain the bound")
            return ["attained by every such w, where there is one"]
        named = {e["name"]: e["of"] for e in side["definitions"] if "name" in e}
        require(names_in(weights.values()) <= {*self.betas, *named}, "w has another name than beta")
        self.attains(weights, space, cost)
        lines = [f"attained by {_named(weights)}"]
        return lines + [f"where {_named(named)}"] * bool(named)

    def attains(self, weights: JSON, space: Space, cost: Function) -> None:
        """Require F(w) = beta and |w|^2 = R_F of weights that are functions of beta."""
        require({*weights} == {*self.weights}, "w has other weights than F")
        w = {name: space.read(text) for name, text in weights.items()}
        pairs = zip(self.texts, space.symbols, strict=False)
        same = all(space.read(text, w).same(b) for text, b in pairs)
        require(same, "w has another output than beta")
        require(space.dot(w.values(), w.values()).same(cost), "|w|^2 is other than R_F")

    def has_none(self, where: Sequence[str]) -> bool:
        """Tell whether a condition on beta contradicts the sign of F."""
        found = [part.groups() for text in where if (part := CONDITION.fullmatch(text))]
        signs = [(text, {"> 0": -1, "< 0": 1}.get(relation, 0)) for text, relation in found]
        return any(s and self.is_bounded(s * self.space.read(text)) for text, s in signs)


def proved(cost: Cost, said: JSON, proof: JSON) -> list[str]:
    """Return what is shown of R_F on all branches that are printed, each on all its sides."""
    keyed(said, "R_F")
    require(said["verdict"] == PROVED, "the cost is proved, and not said to be")
    shown = [f"{b} = {text}" for b, text in zip(cost.betas, cost.texts, strict=True)]
    solved = set[int]()
    for branch, sides in zip(branches(said), proof, strict=True):
        text, at = branch["closed_form"], branch["polynomial"]
        apart = said["branches"] and (at is None) != (text is None)
        require(not apart, "a branch has a cost without a polynomial, or none with one")
        are_all(between(branch, cost.betas), [side["where"] for side in sides])
        for side in sides:
            space, lines = cost.side(side, text)
            shown += lines
            if text is not None:
                r = {"r": space.read(text)}
                zeros = [space.read(P, r).is_zero() for P in said["polynomials"]]
                roots = {k for k, zero in enumerate(zeros) if zero}
                require(at is None or at in roots, "R_F does not solve its polynomial")
                solved |= roots
    require(len(solved) == len(said["polynomials"]), "a polynomial has nothing to do with R_F")
    return shown


def _named(texts: dict[str, str]) -> str:
    return ", ".join(f"{name} = {text}" for name, text in texts.items())


def branches(said: JSON) -> list[JSON]:
    """Return the branches of a cost; one that holds everywhere where it has none."""
    found, text = said["branches"], said["closed_form"]
    apart = isinstance(found, list) and not (found and text)
    require(apart, "branches have forms of their own, and are a list")
    return found or [{**dict.fromkeys(("low", "high", "polynomial")), "closed_form": text}]


def between(branch: JSON, betas: Sequence[str]) -> list[str]:
    """Return the conditions that beta is between the ends of a branch."""
    ends = [(branch[end], sign) for end, sign in (("low", ">"), ("high", "<"))]
    known = [(rational(x), sign) for x, sign in ends if x is not None]
    require(len(betas) == 1 or not known, "a branch is one of a single output")
    return [f"{betas[0]}{f' - ({x})' if x else ''} {sign} 0" for x, sign in known]


def explicit(record: JSON) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the verdict, what is proved of explicit costs, and what is not certified."""
    given, blocks, proofs = record["parameterization"], record["blocks"], record["certificate"]
    keyed(record, "explicit", {"affine"} & {*given})
    shown, left, verdicts, seen = list[str](), list[str](), list[str](), list[int]()
    for block, proof in zip(blocks, proofs["blocks"], strict=True):
        seen += block["outputs"]
        of = f" of block {', '.join(map(str, block['outputs']))}" * (len(blocks) > 1)
        verdicts += [block[part]["verdict"] for part in ("R", "R_F")]
        if proof is not None:
            require(given["vector"] is None, "a vector of open dimension has no certified cost")
            said = block["R_F"]
            shown += proved(Cost(given, block["outputs"], said["variables"]), said, proof)
        left += [f"R_F{of}"] * (proof is None) + [f"R{of}", f"the comparison of R and Q{of}"]
        left += [f"the limits of R and Q{of}"] * bool(block["limits"])
    numbers = [*range(1, len(given["outputs"]) + 1)]
    require(sorted(seen) == numbers, "blocks share out the outputs")
    if (degree := given["homogeneity_degree"]) is not None and given["vector"] is None:
        whole = Cost(given, numbers, [f"_{n}" for n in numbers])
        space = whole.space
        same = space.is_homogeneous(whole.F, degree, range(space.weights))
        require(type(degree) is int and same, "F is not homogeneous of this degree")
    left += ["the degree of F"] * (given["vector"] is not None and degree is not None)
    left += ["the start"] + ["values at single points"] * bool(record["values"])
    left += ["the outputs that are left out"] * ("affine" in given)
    summed_up(record["verdict"], verdicts)
    verdict = UNDECIDED if None in proofs["blocks"] else f"{PROVED} of R_F"
    return verdict, tuple(shown), tuple(left)
